//! `unstuck scan --effect`: what agents did after the notes that their transcripts have.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{Folder, unstuck};

/// A session of Claude Code in which the third failure of a call is followed by a note, and then by this many other calls.
fn session(folder: &Folder, others: usize) -> PathBuf {
    let line = |fields: Value| {
        let mut line =
            json!({ "sessionId": "s", "uuid": "u", "timestamp": "2026-01-01T00:00:00Z" });
        let all = line.as_object_mut().expect("an object");
        all.extend(fields.as_object().expect("an object").clone());
        line.to_string()
    };
    let call = |n: usize, command: &str, result: &str, failed: bool| {
        let id = format!("toolu_{n}");
        let asked = json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]);
        let answer = json!([{ "type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed }]);
        let asked =
            json!({ "type": "assistant", "message": { "id": format!("m{n}"), "content": asked } });
        let answer = json!({ "type": "user", "message": { "content": answer } });
        [line(asked), line(answer)].join("\n")
    };
    let note = json!({ "type": "hook_additional_context", "content": ["[unstuck] You have made the same call."] });
    let note = line(json!({ "type": "attachment", "attachment": note }));
    let failures = (0..3).map(|n| call(n, "make", "make: *** No rule to make target", true));
    let rest = (3..3 + others).map(|n| call(n, &format!("cat {n}"), &format!("text {n}"), false));
    let lines: Vec<_> = failures.chain([note]).chain(rest).collect();
    folder.file(&format!("{others}.jsonl"), lines.join("\n"))
}

#[test]
fn a_scan_shows_what_came_after_the_notes() {
    let folder = Folder::new();
    let left = session(&folder, 5);
    session(&folder, 4);
    let path = left.to_str().expect("UTF-8");
    let line = |options: &[&str]| {
        let ran = unstuck(["scan", "--format", "jsonl", path].iter().chain(options));
        ran.lines()[0].clone()
    };
    let effects = &line(&["--effect"])["effects"];
    let found = &line(&[])["findings"][0];
    let expected = json!([{
        "rule": found["rule"], "action": "nudge", "loop": found["loop"], "at_call": 2, "told": true, "effect": "left",
    }]);
    assert_eq!(*effects, expected);
    assert_eq!(line(&[])["effects"], Value::Null, "nobody asked");

    let human = unstuck(["scan", "--effect", folder.path().to_str().expect("UTF-8")]).out;
    let (_, tables) = human.split_once("\nAll runs: ").expect("tables below the runs");
    insta::assert_snapshot!(tables);

    let page = unstuck(["scan", "--format", "html", folder.path().to_str().expect("UTF-8")]).out;
    for effect in ["the loop was left within two calls", "the run ended"] {
        assert!(page.contains(&format!("After the nudge at #2: <b>{effect}</b>.")), "{effect}");
    }
    assert!(page.contains("100 % (21–100)"), "the overview has the share");
}
