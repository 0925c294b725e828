//! `unstuck status` and `unstuck report`: the sessions that are watched, and their findings.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Folder, Ran, program_at};
use crate::hook::answered;

/// The program, with its state in `folder`.
fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = program_at(folder.path());
    command.env("UNSTUCK_STATE_DIR", folder.path().join("state")).env_remove("UNSTUCK");
    command.args(arguments);
    command
}

fn status(folder: &Folder, options: &[&str]) -> Ran {
    let words: Vec<_> = ["status"].iter().chain(options).copied().collect();
    Ran::by(&mut command(folder, &words))
}

fn report(folder: &Folder, options: &[&str]) -> Ran {
    let words: Vec<_> = ["report"].iter().chain(options).copied().collect();
    Ran::by(&mut command(folder, &words))
}

/// Sends one event of Claude Code to the hook.
fn happens(folder: &Folder, event: &Value) {
    happens_with(folder, event, &[]);
}

/// Sends one event to the hook, which has these options. Returns its answer.
fn happens_with(folder: &Folder, event: &Value, options: &[&str]) -> String {
    let words: Vec<_> = ["hook", "claude-code"].iter().chain(options).copied().collect();
    answered(&mut command(folder, &words), event.to_string().as_bytes())
}

/// Sends a call that fails in the same way each time.
fn fails(folder: &Folder, session: &str, n: usize) {
    fails_with(folder, session, n, &[]);
}

fn fails_with(folder: &Folder, session: &str, n: usize, options: &[&str]) -> String {
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
    happens_with(folder, &call("PreToolUse"), options);
    let mut failure = call("PostToolUseFailure");
    failure["error"] = "make: *** No rule to make target SECRET".into();
    happens_with(folder, &failure, options)
}

/// Ends a session.
fn ends(folder: &Folder, session: &str) {
    let event =
        json!({ "session_id": session, "hook_event_name": "SessionEnd", "reason": "other" });
    happens(folder, &event);
}

#[test]
fn a_state_that_cannot_be_read_is_not_called_empty() {
    let folder = Folder::new();
    for run in [status, report] {
        assert_eq!(run(&folder, &[]).exit, 0);
    }
    folder.file("state", "no folder");
    for run in [status, report] {
        let ran = run(&folder, &[]);
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{}", ran.err);
        assert!(ran.err.contains("the sessions cannot be read: "), "{}", ran.err);
    }
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
    assert!(human.contains(&format!("\n  {id}  ")), "{human}");
    insta::assert_snapshot!(human);
}

#[test]
fn without_sessions_the_next_step_is_named() {
    let folder = Folder::new();
    let ran = status(&folder, &[]).quiet(0);
    insta::assert_snapshot!(ran.out);
    assert_eq!(status(&folder, &["--format", "jsonl", "--all"]).out, "");
}

#[test]
fn findings_outlive_their_session() {
    let folder = Folder::new();
    let nothing = report(&folder, &[]).quiet(0);
    assert!(nothing.out.starts_with("Nothing found in 7 days. No session was"), "{}", nothing.out);
    fails(&folder, "healthy", 0);
    ends(&folder, "healthy");
    let ran = report(&folder, &["--days", "1"]);
    assert_eq!(ran.out, "Nothing found in 24 hours, in 1 watched session.\n");

    for n in 0..7 {
        fails(&folder, "5f1c7a90-0000-4000-8000-000000000000", n);
    }
    let live = status(&folder, &[]).out;
    let before = report(&folder, &[]).out;
    ends(&folder, "5f1c7a90-0000-4000-8000-000000000000");
    let over = status(&folder, &[]).quiet(0);
    assert_eq!(over.out, live.replace("calls, seen", "calls, ended"));
    let session = &status(&folder, &["--format", "jsonl"]).lines()[0];
    assert_eq!((&session["ended"], &session["calls"]), (&true.into(), &7.into()));

    let ran = report(&folder, &[]).quiet(0);
    assert_eq!(ran.out, before);
    insta::assert_snapshot!(ran.out);
    let jsonl = report(&folder, &["--format", "jsonl"]);
    let said: Vec<_> = jsonl.lines().into_iter().map(|line| line["said"].clone()).collect();
    assert_eq!(said, ["nudge", "warning", "refusal", "refusal"]);
    let calls: Vec<_> = jsonl.lines().into_iter().map(|line| line["call"].clone()).collect();
    assert_eq!(calls, [3, 5, 6, 7]);
    let journal = std::fs::read_to_string(folder.path().join("state/findings.jsonl"));
    for text in [&over.out, &ran.out, &jsonl.out, &journal.expect("a journal")] {
        assert!(!text.contains("SECRET") && !text.contains("make"), "{text}");
    }
}

#[test]
fn what_would_have_been_said_is_listed_while_hooks_only_observe() {
    let folder = Folder::new();
    for n in 0..8 {
        fails_with(&folder, "5f1c7a90", n, &["--observe"]);
    }
    let live = status(&folder, &[]).out;
    let said = ": would have nudged,\n                    warned, 2 × refused, stopped; ";
    assert!(live.contains(said), "{live}");
    let findings = status(&folder, &["--format", "jsonl"]).only_line()["findings"].clone();
    let findings = findings.as_array().expect("a list").clone();
    assert!(findings.iter().all(|one| one["observed"] == true), "{findings:?}");
    ends(&folder, "5f1c7a90");
    let text = report(&folder, &[]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    let counts = "1 session, 1 loop: only observed: 1 nudge, 1 warning, 2 refusals, 1 stop";
    assert!(text.contains(counts), "{text}");
}

#[test]
fn a_journal_that_cannot_be_written_does_not_disturb_the_hook() {
    let folder = Folder::new();
    folder.file("state/findings.jsonl/a", "");
    for n in 0..7 {
        fails(&folder, "5f1c7a90", n);
    }
    assert!(status(&folder, &[]).out.contains("2 × refused"));
    ends(&folder, "5f1c7a90");
    let log = std::fs::read_to_string(folder.path().join("state/hook.log")).expect("a log");
    assert!(log.lines().all(|line| line.contains("findings.jsonl: ")), "{log}");
    assert!(report(&folder, &[]).out.starts_with("Nothing found in 7 days."));
}

#[test]
fn a_call_without_a_finding_does_not_touch_the_journal() {
    let folder = Folder::new();
    for n in 0..2 {
        fails(&folder, "5f1c7a90", n);
    }
    assert!(!folder.path().join("state/findings.jsonl").exists());
    fails(&folder, "5f1c7a90", 2);
    assert!(folder.path().join("state/findings.jsonl").exists());
}

#[test]
fn calls_that_come_back_after_a_stop_are_counted() {
    let folder = Folder::new();
    for n in 0..11 {
        fails(&folder, "5f1c7a90", n);
    }
    let again = "3 calls came back after a stop, and stayed refused\n";
    assert!(status(&folder, &[]).out.ends_with(again), "{}", status(&folder, &[]).out);
    let before = report(&folder, &[]).out;
    assert!(before.contains("5 refusals, 1 stop\n"), "{before}");
    ends(&folder, "5f1c7a90");
    assert!(status(&folder, &[]).out.ends_with(again));
    assert_eq!(report(&folder, &[]).out, before);
}

#[test]
fn the_effect_of_each_note_is_reported() {
    let folder = Folder::new();
    let begin = |session: &str| {
        let event = json!({
            "session_id": session, "hook_event_name": "SessionStart", "source": "startup", "model": "opus",
        });
        happens(&folder, &event);
    };
    // One agent leaves the loop at once, one goes on until it is refused, and one is not told.
    begin("left");
    (0..3).for_each(|n| fails(&folder, "left", n));
    (0..5).for_each(|n| works(&folder, "left", n, &[]));
    begin("never");
    (0..6).for_each(|n| fails(&folder, "never", n));
    ends(&folder, "never");
    for n in 0..4 {
        fails_with(&folder, "alone", n, &["--observe"]);
    }
    (0..5).for_each(|n| works(&folder, "alone", n, &["--observe"]));
    let ran = report(&folder, &["--effect", "--format", "jsonl"]);
    let line = |line: &Value| {
        let member = |name: &str| line[name].as_str().unwrap_or("-").to_owned();
        ["session", "said", "model", "effect"].map(member).join(" ")
    };
    assert_eq!(
        ran.lines().iter().map(line).collect::<Vec<_>>(),
        [
            "left nudge opus left",
            "never nudge opus never",
            "never warning opus never",
            "never refusal opus ended",
            "alone nudge - left",
        ],
        "{}",
        ran.out
    );
    insta::assert_snapshot!(report(&folder, &["--effect"]).out);
    assert!(!report(&folder, &["--format", "jsonl"]).out.contains("\"effect\":"));
}

#[test]
fn wordings_of_notes_are_compared() {
    let folder = Folder::new();
    let variants = "[messages]\nvariants = [\"named\", \"unnamed\", \"observe\"]\n";
    let path = folder.file("unstuck.toml", format!("preset = \"balanced\"\n{variants}"));
    let options = ["--config", path.to_str().expect("UTF-8")];
    let mut answers = BTreeMap::new();
    for session in (0..12).map(|n| format!("session-{n}")) {
        let [_, _, answer] = [0, 1, 2].map(|n| fails_with(&folder, &session, n, &options));
        answers.insert(session, answer);
    }
    let lines = report(&folder, &["--effect", "--format", "jsonl"]).lines();
    let mut seen = BTreeSet::new();
    for line in &lines {
        let answer = &answers[line["session"].as_str().expect("a session")];
        let wording = line["wording"].as_str();
        assert_eq!(line["observed"], wording.is_none(), "{line}");
        let expected = match wording {
            Some("named") => "You have made the same `Bash` call 3 times",
            Some("unnamed") => "You have made the same call 3 times",
            _ => "",
        };
        assert!(answer.contains(expected) && answer.is_empty() == expected.is_empty(), "{answer}");
        seen.insert(wording);
    }
    assert_eq!((lines.len(), seen.len()), (12, 3), "{lines:?}");
    let text = report(&folder, &["--effect"]).out;
    for row in ["\nnamed ", "\nunnamed ", "\nnot told: none "] {
        assert!(text.contains(row), "{text}");
    }
}

/// Returns what the status line shows for this input.
fn shown(folder: &Folder, input: &str) -> String {
    let ran = Ran::by_reading(&mut command(folder, &["status", "--line"]), input.as_bytes());
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{input}");
    ran.out
}

/// Sends a call that works.
fn works(folder: &Folder, session: &str, n: usize, options: &[&str]) {
    for event in ["PreToolUse", "PostToolUse"] {
        let payload = json!({
            "session_id": session, "hook_event_name": event, "tool_name": "Read", "tool_use_id": format!("w{n}"),
            "tool_input": { "file_path": format!("src/{n}.rs") }, "tool_response": format!("fn f{n}() {{}}"),
        });
        happens_with(folder, &payload, options);
    }
}

#[test]
fn a_status_line_counts_what_is_known_of_its_session() {
    let folder = Folder::new();
    let line = |session: &str| {
        shown(
            &folder,
            &json!({ "session_id": session, "model": { "id": "m" }, "version": "2" }).to_string(),
        )
    };
    assert_eq!(line("a"), "", "nobody watches it");
    works(&folder, "a", 0, &[]);
    assert_eq!(line("a"), "unstuck: no loop\n");
    for n in 0..3 {
        fails(&folder, "a", n);
    }
    assert_eq!(line("a"), "unstuck: 1 loop\n");
    // The agent reads the note and does something else.
    (1..5).for_each(|n| works(&folder, "a", n, &[]));
    assert_eq!(line("a"), "unstuck: 1 loop\n", "it may come back");
    works(&folder, "a", 5, &[]);
    assert_eq!(line("a"), "unstuck: 1 loop, 1 freed\n");
    // It comes back, and calls are refused.
    for n in 3..10 {
        fails(&folder, "a", n);
    }
    assert_eq!(line("a"), "unstuck: 1 loop, 2 calls saved\n");
    // Another session and another worker have loops of their own.
    assert_eq!(line("b"), "");
    for n in 0..3 {
        let mut failure = json!({
            "session_id": "a", "agent_id": "sub", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": "npm ci" }, "tool_use_id": format!("s{n}"),
        });
        happens(&folder, &failure);
        failure["hook_event_name"] = "PostToolUseFailure".into();
        failure["error"] = "403 Forbidden".into();
        happens(&folder, &failure);
    }
    assert_eq!(line("a"), "unstuck: 2 loops, 2 calls saved\n");
    ends(&folder, "a");
    assert_eq!(line("a"), "");
}

/// Where a run was stopped, nobody knows whether the agent would have left the loop, and a hook that only observes has
/// freed and saved nothing.
#[test]
fn a_status_line_claims_nothing_that_is_not_known() {
    for (options, expected) in
        [(&[][..], "unstuck: 1 loop, 5 calls saved\n"), (&["--observe"], "unstuck: 1 loop\n")]
    {
        let folder = Folder::new();
        for n in 0..10 {
            fails_with(&folder, "s", n, options);
        }
        (0..6).for_each(|n| works(&folder, "s", n, options));
        assert_eq!(shown(&folder, r#"{"session_id":"s"}"#), expected, "{options:?}");
        for odd in [
            "",
            "{",
            "[]",
            r#"{"session_id":7}"#,
            r#"{"session_id":"../../s"}"#,
            &"x".repeat(1 << 20),
        ] {
            assert_eq!(shown(&folder, odd), "", "{options:?}");
        }
    }
}
