//! Snapshots of the output for people.

use std::path::Path;
#[cfg(unix)]
use std::process::Command;

#[cfg(unix)]
use crate::harness::Folder;
use crate::harness::{Ran, echo, labels, program, runs, unstuck, unstuck_reading};

/// Runs the program in the folder of recorded runs, so that the text contains no path of this
/// machine.
fn printed(words: &[&str]) -> String {
    let output = program().current_dir(runs()).args(words).output().expect("a program that starts");
    let Ran { exit, out, err } = Ran::of(output);
    format!("{out}{err}exit {exit}\n")
}

#[test]
fn a_streak() {
    insta::assert_snapshot!(printed(&["scan", "native/stuck-edit.jsonl"]));
}

#[test]
fn a_cycle() {
    insta::assert_snapshot!(printed(&["scan", "native/stuck-parallel.jsonl"]));
}

#[test]
fn a_recurrence() {
    insta::assert_snapshot!(printed(&["scan", "native/stuck-lap-of-three.jsonl"]));
}

#[test]
fn talk() {
    insta::assert_snapshot!(printed(&["scan", "native/stuck-talk.jsonl"]));
}

#[test]
fn an_echo() {
    insta::assert_snapshot!(unstuck_reading(&["scan", "-"], echo().as_bytes()).out);
}

#[test]
fn a_worker() {
    insta::assert_snapshot!(printed(&["scan", "native/stuck-worker.jsonl"]));
}

#[test]
fn several_files_one_of_another_format() {
    let other = "claude-code/6f1c0de0-0001-4000-8000-000000000000.jsonl";
    let (first, last) = ("native/healthy-fix.jsonl", "native/healthy-poll.jsonl");
    insta::assert_snapshot!(printed(&["scan", "--from", "native", first, other, last]));
}

#[test]
fn lines_for_programs() {
    insta::assert_snapshot!(printed(&["scan", "--format", "jsonl", "native/stuck-worker.jsonl"]));
}

#[test]
fn scores() {
    let labels = Path::new("..").join(labels().file_name().expect("a name"));
    let labels = labels.to_str().expect("UTF-8");
    insta::assert_snapshot!(printed(&["eval", "--labels", labels, "."]));
}

#[test]
fn wrongly_judged_runs() {
    let labels = Path::new("..").join(labels().file_name().expect("a name"));
    let labels = labels.to_str().expect("UTF-8");
    insta::assert_snapshot!(printed(&["eval", "--labels", labels, ".", "--preset", "graduated"]));
}

#[test]
fn presets() {
    insta::assert_snapshot!(unstuck(["presets"]).out);
}

#[test]
fn one_preset() {
    insta::assert_snapshot!(unstuck(["presets", "nudge"]).out);
}

#[cfg(feature = "fleet")]
#[test]
fn help_for_scan() {
    insta::assert_snapshot!(unstuck(["scan", "--help"]).out);
}

#[test]
fn help_for_view() {
    insta::assert_snapshot!(unstuck(["view", "--help"]).out);
}

#[test]
fn help_for_eval() {
    insta::assert_snapshot!(unstuck(["eval", "--help"]).out);
}

#[cfg(feature = "fleet")]
#[test]
fn help_for_install() {
    insta::assert_snapshot!(unstuck(["install", "--help"]).out);
}

#[test]
fn help_for_doctor_and_report() {
    let help = ["doctor", "report"].map(|command| unstuck([command, "--help"]).out);
    insta::assert_snapshot!(help.join("\n"));
}

#[test]
fn help_for_json() {
    insta::assert_snapshot!(unstuck(["json", "--help"]).out);
}

#[cfg(feature = "fleet")]
#[test]
fn help_for_hook() {
    insta::assert_snapshot!(unstuck(["hook", "--help"]).out);
}

#[cfg(unix)]
#[test]
fn the_example_in_the_help_of_hook_works() {
    let help = unstuck(["hook", "--help"]).out;
    let line = &help[help.find("echo '").expect("a line")..];
    let state = Folder::new();
    let programs = Path::new(env!("CARGO_BIN_EXE_unstuck")).parent().expect("a folder");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", line]).env("PATH", programs).env("UNSTUCK_STATE_DIR", state.path());
    let ran = Ran::of(shell.env_remove("UNSTUCK").output().expect("a shell"));
    assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    assert!(state.path().join("sessions").is_dir(), "the event is understood");
}

#[cfg(feature = "fleet")]
#[test]
fn help_for_swarm_watch() {
    insta::assert_snapshot!(unstuck(["swarm", "watch", "--help"]).out);
}

#[cfg(feature = "fleet")]
#[test]
fn short_help() {
    insta::assert_snapshot!(unstuck(["-h"]).out);
}
