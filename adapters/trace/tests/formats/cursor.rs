//! The printed lines of Cursor's command line: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::{Event, Format, read};

const INIT: &str = r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/a","session_id":"s","model":"Auto","permissionMode":"default"}"#;
const USER: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Go"}]},"session_id":"s"}"#;

fn says(text: &str, more: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}]}},"session_id":"s"{more}}}"#
    )
}

fn call(id: &str, how: &str, call: &str) -> String {
    format!(
        r#"{{"type":"tool_call","subtype":"{how}","call_id":"{id}","tool_call":{{{call}}},"session_id":"s"}}"#
    )
}

fn started(id: &str) -> String {
    call(id, "started", r#""shellToolCall":{"args":{"command":"ls"}}"#)
}

fn completed(id: &str, result: &str) -> String {
    call(
        id,
        "completed",
        &format!(r#""shellToolCall":{{"args":{{"command":"ls"}},"result":{result}}}"#),
    )
}

#[test]
fn calls_are_read_and_the_lines_are_not_taken_for_claude_code() {
    let lines = [
        INIT,
        USER,
        r#"{"type":"thinking","subtype":"delta","text":"hm","session_id":"s"}"#,
        &says("I look.", ""),
        &started("a"),
        &started("b"),
        &completed(
            "b",
            r#"{"failure":{"exitCode":1,"stdout":"x","stderr":"y","executionTime":7}}"#,
        ),
        &completed("a", r#"{"success":{"exitCode":0,"stdout":"x","stderr":""}}"#),
        &started("c"),
        &completed("c", r#"{"rejected":{"reason":"no"}}"#),
        &says("Done.", ""),
        r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s"}"#,
    ];
    let expected = [
        "main User: Go",
        "main Assistant: I look.",
        r#"#0 main/1 shell {"command":"ls"}"#,
        r#"#1 main/1 shell {"command":"ls"}"#,
        r#"#1 main -> failed "x\ny""#,
        r#"#0 main -> "x""#,
        r#"#2 main/2 shell {"command":"ls"}"#,
        r#"#2 main -> "no""#,
        "main Assistant only: Done.",
    ];
    // Without its first lines, a stream is known by its calls.
    for (lines, expected) in [(&lines[..], &expected[..]), (&lines[4..], &expected[2..])] {
        let reading = reading(lines.join("\n").as_bytes(), None);
        assert_eq!(reading.events, expected);
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.format, trace.errors), (Format::CURSOR, Some(1)));
        assert_eq!(trace.session.as_deref(), Some("s"));
    }
}

#[test]
fn a_call_far_behind_the_beginning_makes_no_other_format() {
    let thought = r#"{"type":"thinking","subtype":"delta","text":"hm","session_id":"s"}"#;
    let thoughts = vec![thought; 2_000].join("\n");
    let end = completed("a", r#"{"success":{"content":"x"}}"#);
    for begin in [INIT.to_owned(), thoughts.clone()] {
        let input = [begin, USER.to_owned(), thoughts.clone(), end.clone()].join("\n");
        let trace = reading(input.as_bytes(), None).end.expect("a trace");
        assert_eq!((trace.format, trace.calls), (Format::CURSOR, 1));
    }
}

#[test]
fn a_tool_is_named_by_its_member_or_by_itself() {
    let success = r#""result":{"success":{"content":"x"}}"#;
    let table = [
        (
            format!(r#""readToolCall":{{"args":{{"path":"a"}},{success}}},"toolCallId":"1""#),
            r#"read {"path":"a"}"#,
        ),
        (
            format!(r#""shellToolCall":{{"args":{{"command":"ls","toolCallId":"t1"}},{success}}}"#),
            r#"shell {"command":"ls"}"#,
        ),
        (
            format!(
                r#""mcpToolCall":{{"args":{{"name":"s-f","toolName":"f","toolCallId":"1","args":{{"a":1}}}},{success}}}"#
            ),
            r#"f {"a":1}"#,
        ),
        (
            format!(r#""function":{{"name":"f","arguments":"{{\"a\":1}}"}},{success}"#),
            r#"f {"a":1}"#,
        ),
        (format!(r#""function":{{"name":"f","arguments":"a"}},{success}"#), r#"f text "a""#),
    ];
    for (shape, expected) in table {
        let events = reading(call("1", "completed", &shape).as_bytes(), None).events;
        assert_eq!(events.first(), Some(&format!("#0 main/1 {expected}")), "{shape}");
    }
}

#[test]
fn the_text_of_a_result_is_what_it_says() {
    let table = [
        (r#"{"success":{"content":"a"}}"#, r#""a""#),
        (r#"{"success":{"path":"a","linesAdded":1}}"#, r#""{\"path\":\"a\",\"linesAdded\":1}""#),
        (r#"{"success":{"exitCode":0,"stdout":"","stderr":""}}"#, r#""""#),
        (r#"{"success":{"exitCode":2,"stdout":"a"}}"#, r#"failed "a""#),
        (r#"{"error":{"errorMessage":"gone"}}"#, r#"failed "gone""#),
        (r#"{"fileNotFound":{}}"#, r#"failed "{}""#),
        ("{}", r#""""#),
    ];
    for (result, expected) in table {
        let events = reading(completed("1", result).as_bytes(), None).events;
        assert_eq!(events.last(), Some(&format!("#0 main -> {expected}")), "{result}");
    }
}

#[test]
fn a_refusal_is_no_failure() {
    let mut refused = Vec::new();
    let line = completed("a", r#"{"rejected":{"reason":"no"}}"#);
    let trace = read(line.as_bytes(), None, &mut |event| {
        if let Event::Outcome(outcome) = event {
            refused.push((outcome.refused, outcome.failed));
        }
    });
    assert_eq!(refused, [(true, false)]);
    assert_eq!(trace.expect("a trace").errors, Some(0));
}

#[test]
fn words_in_pieces_are_one_message_and_the_whole_is_no_second_one() {
    let piece = r#","timestamp_ms":1"#;
    let whole = r#","timestamp_ms":2,"model_call_id":"m""#;
    let lines = [
        INIT.to_owned(),
        says("I ", piece),
        says("look.", piece),
        says("I look.", whole),
        started("a"),
        says("Do", piece),
        says("ne.", piece),
        says("Done.", ""),
        says("More.", ""),
    ];
    let expected = [
        "main Assistant: I look.",
        r#"#0 main/1 shell {"command":"ls"}"#,
        "main Assistant only: Done.\nMore.",
    ];
    assert_eq!(reading(lines.join("\n").as_bytes(), None).events, expected);
}
