//! Exit codes: one meaning each, and never 2.

use std::ffi::OsStr;
use std::fs;

use serde_json::Value;

use crate::harness::{Folder, Ran, labels, listed, program, runs, scan, scanned, unstuck};

/// Command lines that are wrong, and what their errors say. RUNS stands for the folder of recorded runs, so that the
/// path itself is right, and LABELS for their labels.
const REFUSED: &str = include_str!("refused.txt");

/// The actions of `--fail-on`, the mildest first.
const ACTIONS: [&str; 5] = ["nudge", "warn", "block", "start_over", "stop"];

#[test]
fn a_wrong_command_line_is_a_usage_error_that_says_what_would_be_right() {
    let (runs, labels) = (runs(), labels());
    for line in REFUSED.lines() {
        let (words, says) = line.split_once(" => ").unwrap_or((line, ""));
        let ran = unstuck(words.split_whitespace().map(|word| match word {
            "RUNS" => runs.as_os_str(),
            "LABELS" => labels.as_os_str(),
            "''" => OsStr::new(""),
            word => OsStr::new(word),
        }));
        assert_eq!((ran.exit, ran.out.as_str()), (64, ""), "{line}: {}", ran.err);
        assert!(says.split(" … ").all(|says| ran.err.contains(says)), "{line}: {}", ran.err);
        let is_told = ["Usage: unstuck", "--help"].iter().any(|help| ran.err.contains(help));
        assert!(is_told || !says.is_empty(), "{line}: {}", ran.err);
        assert!(ran.err.starts_with("error: ") || words.is_empty(), "{line}: {}", ran.err);
    }
}

#[test]
fn the_version_is_that_of_the_program() {
    assert_eq!(unstuck(["--version"]).out, concat!("unstuck ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn the_exit_code_follows_the_mildest_action_that_fails() {
    for label in listed(&labels()) {
        let path = runs().join(label["file"].as_str().expect("a file"));
        let found = scanned(&path).only_line()["findings"].clone();
        let rank = |finding: &Value| ACTIONS.iter().position(|&action| finding["action"] == action);
        let worst = found.as_array().expect("findings").iter().map(rank).max().flatten();
        for (least, action) in ACTIONS.into_iter().enumerate() {
            let ran = scan(&path, &["--fail-on", action]);
            let fails = worst.is_some_and(|worst| worst >= least);
            assert_eq!(ran.exit, i32::from(fails), "{} {action}", path.display());
        }
        let ran = scan(&path, &["--fail-on", "never"]);
        assert_eq!(ran.exit, 0, "{} never", path.display());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_4() {
    let folder = Folder::new();
    let run = folder.file("run.jsonl", "{\"type\":\"call\",\"tool\":\"t\",\"args\":{}}\n");
    Ran::by(program().args(["scan", "-o", "/dev/full"]).arg(run)).fails(4, "/dev/full");
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_4() {
    for line in [
        &["--help"][..],
        &["-h"],
        &["--version"],
        &["help"],
        &["scan", "--help"],
        #[cfg(feature = "fleet")]
        &["swarm", "watch", "--help"],
        &["man"],
        &["completions", "bash"],
        &["presets"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").expect("a full device");
        let ran = Ran::by(program().args(line).stdout(full));
        assert_eq!(ran.exit, 4, "{line:?}: {}", ran.err);
        assert!(ran.err.contains("standard output: cannot be written"), "{}", ran.err);
    }
}
