//! pi sessions: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}"#;

/// A message, behind the entry `parent`.
fn entry(id: &str, parent: &str, message: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{message}}}"#)
}

fn user(id: &str, parent: &str, text: &str) -> String {
    entry(
        id,
        parent,
        &format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#),
    )
}

/// An answer that calls these tools. The tool's name is the call's id, too.
fn answer(id: &str, parent: &str, tools: &[&str]) -> String {
    let calls = tools.iter().map(|tool| {
        format!(r#",{{"type":"toolCall","id":"{tool}","name":"{tool}","arguments":{{"n":1}}}}"#)
    });
    let calls: String = calls.collect();
    let content = format!(
        r#"[{{"type":"thinking","thinking":"Hm"}},{{"type":"text","text":"Look."}}{calls}]"#
    );
    entry(id, parent, &format!(r#"{{"role":"assistant","content":{content}}}"#))
}

fn result(id: &str, parent: &str, call: &str, failed: bool) -> String {
    let content = r#"[{"type":"text","text":"x"}]"#;
    entry(
        id,
        parent,
        &format!(
            r#"{{"role":"toolResult","toolCallId":"{call}","content":{content},"isError":{failed}}}"#
        ),
    )
}

#[test]
fn the_calls_of_one_message_share_a_step() {
    let lines = [
        HEADER,
        r#"{"type":"model_change","id":"m","parentId":null}"#,
        &user("u", "m", "Go"),
        &answer("a", "u", &["ls", "cat"]),
        &result("r", "a", "ls", false),
        &result("q", "r", "cat", true),
        &answer("b", "q", &["ls"]),
        &entry("c", "b", r#"{"role":"bashExecution","command":"ls"}"#),
        &answer("d", "c", &[]),
    ];
    let reading = reading(lines.join("\n").as_bytes(), None);
    let expected = [
        "main User: Go",
        "main Assistant: Look.",
        "#0 main/1 ls {\"n\":1}",
        "#1 main/1 cat {\"n\":1}",
        "#0 main -> \"x\"",
        "#1 main -> failed \"x\"",
        "main Assistant: Look.",
        "#2 main/2 ls {\"n\":1}",
        "main Assistant only: Look.",
    ];
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.session.as_deref()), (Format::PI, Some("s")));
    assert_eq!((trace.errors, trace.skipped), (Some(1), 0));
}

#[test]
fn branches_that_were_given_up_are_left_out() {
    let lines = [
        HEADER,
        &user("u", "", "Go"),
        &answer("a", "u", &["ls"]),
        &result("r", "a", "ls", false),
        &user("v", "u", "Go on"),
        r#"{"type":"message""#,
        &answer("b", "v", &["cat"]),
        r#"{"type":"label","id":"l","parentId":"b","targetId":"a"}"#,
    ];
    let expected =
        ["main User: Go", "main User: Go on", "main Assistant: Look.", "#0 main/1 cat {\"n\":1}"];
    let reading = reading(lines.join("\n").as_bytes(), None);
    assert_eq!(reading.events, expected);
    assert_eq!(reading.end.map(|trace| trace.skipped), Ok(1));
}

#[test]
fn an_unknown_parent_is_the_line_before_and_a_cycle_ends() {
    let table = [
        (vec![user("u", "s", "1"), answer("a", "gone", &["ls"])], 1),
        (vec![user("u", "a", "1"), answer("a", "u", &["ls"])], 1),
        (vec![answer("a", "a", &["ls"]), answer("a", "a", &["cat"])], 2),
        // The oldest sessions are no tree.
        (vec![answer("a", "", &["ls"]).replace(r#""id":"a","parentId":null,"#, "")], 1),
    ];
    for (lines, calls) in table {
        let input = [vec![HEADER.to_owned()], lines].concat().join("\n");
        let found = reading(input.as_bytes(), None).end.map(|trace| trace.calls);
        assert_eq!(found, Ok(calls), "{input}");
    }
}

#[test]
fn a_session_beyond_the_limit_is_read_in_the_order_of_the_file() {
    let long = "x".repeat(unstuck_trace::LINE_BYTES_MAX / 2);
    let lines = [
        HEADER,
        &user("u", "", "Go"),
        &answer("a", "u", &["ls"]),
        &user("v", "u", &long),
        &user("w", "v", &long),
        &answer("b", "w", &["cat"]),
    ];
    let found = reading(lines.join("\n").as_bytes(), None).end.map(|trace| trace.calls);
    assert_eq!(found, Ok(2));
}

#[test]
fn a_call_that_cannot_be_read_costs_only_itself() {
    let content = r#"[{"type":"toolCall","id":"a"},{"type":"toolCall","id":"b","name":"ls"}]"#;
    let message = format!(r#"{{"role":"assistant","content":{content}}}"#);
    let reading = reading([HEADER, &entry("a", "", &message)].join("\n").as_bytes(), None);
    assert_eq!(reading.events, ["#0 main/1 ls null"]);
    assert_eq!(reading.problems(), ["line 2: a toolCall block needs the field `name`"]);
}
