//! `unstuck scan` without a path: it finds the sessions of the agents in the user's home folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::harness::{CLEAN, Folder, Ran, program_at, runs, stuck};

/// Runs `unstuck scan --format jsonl` without a path, with the home folder `home`.
fn scan_home(home: &Path, options: &[&str], variables: &[(&str, &Path)]) -> Ran {
    let mut command = program_at(home);
    command.envs(variables.iter().copied()).args(["scan", "--format", "jsonl"]).args(options);
    Ran::by(&mut command)
}

/// A session of Claude Code.
fn claude() -> String {
    let name = "claude-code/6f1c0de0-0001-4000-8000-000000000000.jsonl";
    fs::read_to_string(runs().join(name)).expect("a recorded run")
}

/// A session of each of the other agents.
const CODEX: &str = include_str!("sessions/codex.jsonl");
const GEMINI: &str = include_str!("sessions/gemini.json");
const COPILOT: &str = include_str!("sessions/copilot.jsonl");
const QWEN: &str = include_str!("sessions/qwen.jsonl");
const PI: &str = include_str!("sessions/pi.jsonl");

/// A home folder with a session of each agent, and with other files of the agents.
fn home() -> Folder {
    let home = Folder::new();
    home.file(".claude/projects/-a/1.jsonl", claude());
    home.file(".claude/projects/-a/sessions-index.json", "{}");
    home.file(".claude/history.jsonl", "{}");
    home.file(".codex/sessions/2026/11/22/rollout-1.jsonl", CODEX);
    home.file(".gemini/tmp/a/chats/session-1.json", GEMINI);
    home.file(".gemini/tmp/a/logs.json", "[]");
    home.file(".copilot/session-state/s/events.jsonl", COPILOT);
    home.file(".qwen/projects/-a/chats/1.jsonl", QWEN);
    home.file(".qwen/projects/-a/meta.jsonl", "{}");
    home.file(".pi/agent/sessions/-a/1.jsonl", PI);
    home
}

/// Returns the formats of the sessions in the output, in their order.
fn formats(ran: &Ran) -> Vec<String> {
    let format = |line: &serde_json::Value| line["format"].as_str().expect("a format").to_owned();
    ran.lines().iter().map(format).collect()
}

#[test]
fn every_agent_is_read_and_named() {
    let home = home();
    let ran = scan_home(home.path(), &[], &[]);
    let expected = ["claude-code", "codex", "gemini", "copilot", "qwen", "pi"];
    assert_eq!(formats(&ran), expected, "{}", ran.err);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let place = |folder| home.path().join(folder).display().to_string();
    let expected = [
        ("Claude Code", ".claude/projects"),
        ("Codex", ".codex/sessions"),
        ("Gemini CLI", ".gemini/tmp"),
        ("GitHub Copilot CLI", ".copilot/session-state"),
        ("Qwen Code", ".qwen/projects"),
        ("pi", ".pi/agent/sessions"),
    ];
    let expected: Vec<_> =
        expected.map(|(title, folder)| format!("{title}: 1 session in {}", place(folder))).into();
    assert_eq!(ran.err.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_format_selects_its_agent() {
    let home = home();
    assert_eq!(formats(&scan_home(home.path(), &["--from", "codex"], &[])), ["codex"]);
    scan_home(home.path(), &["--from", "openai"], &[]).fails(64, "whose folder is known");
}

#[test]
fn old_sessions_are_left_out() {
    let home = home();
    for old in [".codex/sessions/2026/11/22/rollout-1.jsonl", ".pi/agent/sessions/-a/1.jsonl"] {
        let file = fs::File::options().write(true).open(home.path().join(old)).expect("a session");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("a time");
    }
    let ran = scan_home(home.path(), &["--since", "1h"], &[]);
    assert_eq!(formats(&ran), ["claude-code", "gemini", "copilot", "qwen"]);
    assert!(!ran.err.contains("Codex"), "{}", ran.err);
    // Without any new one there is nothing to read, which is no error.
    let ran = scan_home(home.path(), &["--since", "1h", "--from", "codex"], &[]);
    assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let ran = scan_home(home.path(), &["--quiet"], &[]);
    assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "no remark either");
}

#[test]
fn the_exit_code_reflects_what_the_sessions_contain() {
    let home = Folder::new();
    home.file(".codex/sessions/rollout-1.jsonl", "no rollout");
    assert_eq!(scan_home(home.path(), &[], &[]).exit, 3);
    home.file(".codex/sessions/rollout-1.jsonl", stuck());
    assert_eq!(scan_home(home.path(), &[], &[]).exit, 1);
}

#[test]
fn environment_variables_move_the_agents_folders() {
    let (home, moved) = (home(), Folder::new());
    moved.file("c/projects/-b/2.jsonl", claude());
    moved.file("x/sessions/2.jsonl", CODEX);
    // The variable of Gemini CLI names the folder around its own. The name of a folder above the
    // sessions makes no file a session.
    moved.file("chats/.gemini/tmp/b/chats/2.jsonl", GEMINI);
    moved.file("chats/.gemini/tmp/b/logs.json", "[]");
    moved.file("p/session-state/t/2.jsonl", COPILOT);
    moved.file("q/projects/-b/chats/2.jsonl", QWEN);
    moved.file("pi/sessions/-b/2.jsonl", PI);
    let variables = [
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "COPILOT_HOME",
        "QWEN_HOME",
        "PI_CODING_AGENT_DIR",
    ];
    let folders = ["c", "x", "chats", "p", "q", "pi"].map(|folder| moved.path().join(folder));
    let set: Vec<_> = variables.into_iter().zip(folders.iter().map(PathBuf::as_path)).collect();
    let ran = scan_home(home.path(), &[], &set);
    let paths: Vec<_> = ran.lines().iter().map(|line| line["path"].to_string()).collect();
    assert_eq!(paths.len(), 6, "{}", ran.out);
    assert!(paths.iter().all(|path| path.ends_with("2.jsonl\"")), "{}", ran.out);
    let empty = variables.map(|variable| (variable, Path::new("")));
    let ran = scan_home(home.path(), &[], &empty);
    assert_eq!(formats(&ran).len(), 6, "an empty variable counts as unset: {}", ran.err);
}

#[test]
fn without_any_session_the_searched_folders_are_listed() {
    let home = Folder::new();
    fs::create_dir_all(home.path().join(".claude/projects")).expect("a folder");
    home.file(".gemini/tmp/a/logs.jsonl", CLEAN);
    let ran = scan_home(home.path(), &[], &[]);
    assert_eq!((ran.exit, ran.out.as_str()), (64, ""));
    insta::assert_snapshot!(ran.err.replace(&home.path().display().to_string(), "HOME"));
}
