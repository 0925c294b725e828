//! `unstuck status`: the sessions that are watched, and their findings.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Folder, Ran, at_home, program};

/// The program, with its state in `folder`.
fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = program();
    at_home(&mut command, folder.path());
    command.env("UNSTUCK_STATE_DIR", folder.path().join("state")).env_remove("UNSTUCK");
    command.args(arguments);
    command
}

fn status(folder: &Folder, options: &[&str]) -> Ran {
    let words: Vec<_> = ["status"].iter().chain(options).copied().collect();
    Ran::of(command(folder, &words).output().expect("a program that starts"))
}

/// Sends one event of Claude Code to the hook.
fn happens(folder: &Folder, event: &Value) {
    let mut command = command(folder, &["hook", "claude-code"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a program that starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(event.to_string().as_bytes()).expect("a reader");
    drop(stdin);
    let ran = Ran::of(child.wait_with_output().expect("a program that ends"));
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
}

/// Sends a call that fails in the same way each time.
fn fails(folder: &Folder, session: &str, n: usize) {
    let call = |event: &str| {
        json!({
            "session_id": session,
            "cwd": "/src/project",
            "hook_event_name": event,
            "tool_name": "Bash",
            "tool_input": { "command": "make SECRET" },
            "tool_use_id": format!("toolu_{n}"),
        })
    };
    happens(folder, &call("PreToolUse"));
    let mut failure = call("PostToolUseFailure");
    failure["error"] = "make: *** No rule to make target SECRET".into();
    happens(folder, &failure);
}

#[test]
fn findings_are_listed_without_arguments_and_results() {
    let folder = Folder::new();
    for n in 0..7 {
        fails(&folder, "5f1c7a90-0000-4000-8000-000000000000", n);
    }
    fails(&folder, "another", 0);
    let human = status(&folder, &[]);
    let jsonl = status(&folder, &["--format", "jsonl"]);
    for ran in [&human, &jsonl] {
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
        assert!(!ran.out.contains("SECRET") && !ran.out.contains("make"), "{}", ran.out);
    }
    let mut lines = jsonl.lines();
    lines.sort_by_key(|line| line["calls"].as_u64());
    let summary = |line: &Value| {
        let findings = line["findings"].as_array().map(Vec::len);
        (line["session"].clone(), line["worker"].clone(), line["calls"].clone(), findings > Some(0))
    };
    let session = "5f1c7a90-0000-4000-8000-000000000000";
    let summaries: Vec<_> = lines.iter().map(summary).collect();
    let expected = [("another", 1, false), (session, 7, true)];
    assert_eq!(
        summaries,
        expected.map(|(id, calls, is_found)| (id.into(), "main".into(), calls.into(), is_found))
    );
    // Both sessions were active at nearly the same time, so their order may differ.
    let found = human.out.split_inclusive('\n').filter(|line| !line.contains("another"));
    insta::assert_snapshot!(found.collect::<String>());
}

#[test]
fn a_cycle_is_one_line_with_its_length_and_its_laps() {
    let folder = Folder::new();
    for n in 0..14 {
        let path = ["a", "b"][n % 2];
        let call = |event: &str| {
            json!({
                "session_id": "5f1c7a90",
                "hook_event_name": event,
                "tool_name": "Read",
                "tool_input": { "file_path": path },
                "tool_response": format!("the text of {path}"),
                "tool_use_id": format!("toolu_{n}"),
            })
        };
        happens(&folder, &call("PreToolUse"));
        happens(&folder, &call("PostToolUse"));
    }
    let jsonl = status(&folder, &["--format", "jsonl"]).lines();
    let findings = jsonl[0]["findings"].as_array().expect("a list");
    let last = findings.last().expect("a finding");
    assert_eq!((&last["kind"], &last["period"]), (&"cycle".into(), &2.into()));
    let human = status(&folder, &[]).out;
    let id = last["loop"].as_str().expect("an id");
    assert!(human.contains(&format!("\n  {}  ", &id[..8])), "{human}");
    insta::assert_snapshot!(human);
}

#[test]
fn without_sessions_the_next_step_is_named() {
    let folder = Folder::new();
    let ran = status(&folder, &[]);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(ran.out);
    assert_eq!(status(&folder, &["--format", "jsonl", "--all"]).out, "");
}
