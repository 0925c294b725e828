//! `unstuck scan` for people: the digest of many runs, runs by their time, and colours.

use std::fs;
use std::path::PathBuf;

use crate::harness::{CLEAN, Folder, Ran, program, record, runs, scan, unstuck};

/// Returns a folder with `clean` runs without a loop, and a run with `calls` calls of a loop for each of
/// `stuck`.
fn folder(clean: usize, stuck: &[usize]) -> Folder {
    let folder = Folder::new();
    for n in 0..clean {
        folder.file(&format!("clean-{n:02}.jsonl"), CLEAN);
    }
    for calls in stuck {
        let call = record("bash", r#"{"command":"make"}"#, "no rule", true);
        folder.file(&format!("stuck-{calls:02}.jsonl"), call.repeat(*calls));
    }
    folder
}

/// Returns the names of the files in the lines about runs, in their order.
fn names(ran: &Ran) -> Vec<String> {
    let words = ["stuck  ", "clean  ", "empty  "];
    let lines = ran.out.lines().filter(|line| words.iter().any(|word| line.starts_with(word)));
    let name = |line: &str| {
        let path = line.split("  ").nth(1).expect("a path");
        PathBuf::from(path).file_stem().expect("a name").to_string_lossy().into_owned()
    };
    lines.map(name).collect()
}

#[test]
fn many_runs_begin_with_a_digest() {
    let few = folder(15, &[4, 5, 6, 7, 8]);
    let ran = scan(few.path(), &[]);
    assert!(ran.out.starts_with("clean  ") && !ran.out.contains("What recurs"), "{}", ran.out);
    let many = folder(16, &[4, 5, 6, 7, 8]);
    let ran = scan(many.path(), &[]);
    assert!(ran.out.starts_with("21 runs: 5 stuck, 16 clean\n\nWhat recurs in 5 stuck runs\n"));
    assert!(ran.out.contains("    5  the same call in a row, failing\n"), "{}", ran.out);
    assert!(ran.out.contains("Spent after the first finding: 15 calls\n"), "{}", ran.out);
    assert_eq!(names(&ran).len(), 21, "the runs come after it");
    assert!(ran.out.ends_with("\n21 runs: 5 stuck, 16 clean\n"), "{}", ran.out);
    let clean = scan(folder(21, &[]).path(), &[]);
    assert!(clean.out.starts_with("21 runs: 0 stuck, 21 clean\nclean  "), "{}", clean.out);
}

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
