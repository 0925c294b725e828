//! Snapshots of help texts and of lists.

#[cfg(unix)]
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

#[cfg(unix)]
use crate::harness::Folder;
#[cfg(unix)]
use crate::harness::Ran;
use crate::harness::unstuck;

#[test]
fn presets_and_help() {
    for (name, words) in [
        ("presets", "presets"),
        ("one_preset", "presets nudge"),
        ("help_for_view", "view --help"),
        ("help_for_eval", "eval --help"),
        ("help_for_json", "json --help"),
        ("help_for_tune", "tune --help"),
        #[cfg(feature = "fleet")]
        ("help_for_scan", "scan --help"),
        #[cfg(feature = "fleet")]
        ("help_for_install", "install --help"),
        #[cfg(feature = "fleet")]
        ("help_for_hook", "hook --help"),
        #[cfg(feature = "fleet")]
        ("help_for_swarm_watch", "swarm watch --help"),
        #[cfg(feature = "fleet")]
        ("help_for_watch", "watch --help"),
        #[cfg(feature = "fleet")]
        ("short_help", "-h"),
    ] {
        insta::assert_snapshot!(name, unstuck(words.split(' ')).out);
    }
    let help = ["doctor", "report"].map(|command| unstuck([command, "--help"]).out);
    insta::assert_snapshot!("help_for_doctor_and_report", help.join("\n"));
    let pages = ["--help", "begin --help", "now --help", "list --help", "restore --help"];
    let page = |words: &str| unstuck(["start-over"].into_iter().chain(words.split(' '))).out;
    insta::assert_snapshot!("help_for_start_over", pages.map(page).join("\n"));
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
    let ran = Ran::by(shell.env_remove("UNSTUCK"));
    assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    assert!(state.path().join("sessions").is_dir(), "the event is understood");
}
