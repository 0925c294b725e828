//! `unstuck scan` for people: the digest of many runs, runs by their time, and colours.

use std::fs;

use crate::harness::{Folder, program, runs, unstuck};

#[test]
fn colours_are_chosen() {
    let path = runs().join("native/stuck-edit.jsonl");
    for (option, variable, coloured) in [
        ("--color=auto", None, false),
        ("--color=auto", Some(("CLICOLOR_FORCE", "1")), true),
        ("--color=always", Some(("NO_COLOR", "1")), true),
        ("--color=never", Some(("CLICOLOR_FORCE", "1")), false),
    ] {
        let mut command = program();
        command.envs(variable).args(["scan", option]).arg(&path);
        let output = command.output().expect("a program that starts");
        assert_eq!(output.stdout.contains(&0x1b), coloured, "{option}, {variable:?}");
    }
    let missing = |option| {
        let output = program().args(["scan", option, "missing.jsonl"]).output();
        output.expect("a program that starts").stderr
    };
    assert!(missing("--color=always").contains(&0x1b) && !missing("--color=auto").contains(&0x1b));
    // A file has none.
    let folder = Folder::new();
    let out = folder.path().join("out.txt");
    let ran = unstuck([
        "scan".as_ref(),
        path.as_os_str(),
        "--color=always".as_ref(),
        "-o".as_ref(),
        out.as_os_str(),
    ]);
    assert_eq!(ran.exit, 1);
    assert!(!fs::read(&out).expect("a report").contains(&0x1b));
}
