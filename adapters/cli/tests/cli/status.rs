//! `unstuck report --effect`: the wordings of notes. `console/status.txt` has the other reports about hooks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::harness::{Folder, Ran, program};
use crate::hook::{Hooks, Wire};

/// Sends three calls of a session that fail alike. Returns the answer to the last.
fn fails(hooks: &Hooks, session: &str) -> String {
    let wire = Wire("claude-code");
    let tell = |mut event: Value| {
        event["session_id"] = session.into();
        hooks.tell(event.to_string())
    };
    let call = |n: usize| {
        let id = n.to_string();
        tell(wire.before(&id, "make"));
        tell(wire.after(&id, "make", "make: *** No rule to make target"))
    };
    (0..3).map(call).fold(String::new(), |_, answer| answer)
}

#[test]
fn wordings_of_notes_are_compared() {
    let folder = Folder::new();
    let variants = "[messages]\nvariants = [\"named\", \"unnamed\", \"observe\"]\n";
    let path = folder.file("unstuck.toml", format!("preset = \"balanced\"\n{variants}"));
    let hooks = Hooks::of("claude-code").with(&["--config", path.to_str().expect("UTF-8")]);
    let sessions = (0..12).map(|n| format!("session-{n}"));
    let answers: BTreeMap<_, _> =
        sessions.map(|session| (session.clone(), fails(&hooks, &session))).collect();
    let report = |options: &[&str]| {
        let mut command = program();
        command.env("UNSTUCK_STATE_DIR", hooks.folder()).args(["report", "--effect"]);
        Ran::by(command.args(options))
    };
    let lines = report(&["--format", "jsonl"]).lines();
    let mut seen = BTreeSet::new();
    for line in &lines {
        let answer = &answers[line["session"].as_str().expect("a session")];
        let wording = line["wording"].as_str();
        assert_eq!(line["observed"], wording.is_none(), "{line}");
        let expected = match wording {
            Some("named") => "You have made the same `run` call 3 times",
            Some("unnamed") => "You have made the same call 3 times",
            _ => "",
        };
        assert!(answer.contains(expected) && answer.is_empty() == expected.is_empty(), "{answer}");
        seen.insert(wording);
    }
    assert_eq!((lines.len(), seen.len()), (12, 3), "{lines:?}");
    let text = report(&[]).out;
    for row in ["\nnamed ", "\nunnamed ", "\nnot told: none "] {
        assert!(text.contains(row), "{text}");
    }
}
