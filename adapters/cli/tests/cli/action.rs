//! The action for GitHub: its script works as the runner starts it.

use std::env;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{CLEAN, Folder, Ran, in_environment_of, program, stuck};

/// Returns the script of the step that scans.
fn script() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("action/action.yml");
    let action = fs::read_to_string(path).expect("the action");
    let (_, script) = action.split_once("      run: |\n").expect("a script");
    let lines = script.lines().map(|line| line.strip_prefix("        ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Runs the script as GitHub's runner does, with these inputs.
fn run(folder: &Folder, paths: &str, options: &str) -> Ran {
    let script = folder.file("script.sh", script());
    let bin = Path::new(env!("CARGO_BIN_EXE_unstuck")).parent().expect("a folder");
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([bin.to_owned()].into_iter().chain(env::split_paths(&path)));
    let mut command = in_environment_of(&program(), "bash");
    command.args(["--noprofile", "--norc", "-e", "-o", "pipefail"]).arg(script);
    command.current_dir(folder.path()).env("PATH", path.expect("a path"));
    command.env("PATHS", paths).env("OPTIONS", options);
    command.env("RUNNER_TEMP", folder.path().join("temp dir"));
    command.env("GITHUB_OUTPUT", folder.path().join("output"));
    command.env("GITHUB_STEP_SUMMARY", folder.path().join("summary.md"));
    Ran::by(&mut command)
}

#[test]
fn the_script_scans_and_names_its_reports() {
    let folder = Folder::new();
    folder.file("runs/stuck.jsonl", stuck());
    folder.file("clean.jsonl", CLEAN);
    let ran = run(&folder, "runs clean.jsonl", "--fail-on never").quiet(0);
    assert!(ran.out.starts_with("::error file=runs/stuck.jsonl,title="), "{}", ran.out);
    assert!(ran.out.ends_with("::notice title=unstuck::2 runs: 1 stuck, 1 clean\n"), "{}", ran.out);
    let summary = fs::read_to_string(folder.path().join("summary.md")).expect("a summary");
    assert!(summary.starts_with("## unstuck: 1 of 2 runs stuck\n"), "{summary}");

    let output = fs::read_to_string(folder.path().join("output")).expect("outputs");
    let named = |name: &str| {
        let line = output.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
        fs::read_to_string(line.expect(name)).expect("a report")
    };
    let log: Value = serde_json::from_str(&named("sarif")).expect("JSON");
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(1));
    assert!(named("junit").contains("tests=\"2\" failures=\"1\""));
    assert_eq!(named("jsonl").lines().count(), 2);

    // The lines of this scan are the baseline of the next one.
    fs::write(folder.path().join("night.jsonl"), named("jsonl")).expect("a baseline");
    let ran = run(&folder, "runs", "--baseline night.jsonl --fail-on new").quiet(0);
    assert!(ran.out.starts_with("::warning file=runs/stuck.jsonl,"), "{}", ran.out);
}

#[test]
fn a_stuck_run_fails_the_step() {
    let folder = Folder::new();
    folder.file("runs/stuck.jsonl", stuck());
    assert_eq!(run(&folder, "runs", "").exit, 1);
    assert_eq!(run(&folder, "missing", "").exit, 3);
}
