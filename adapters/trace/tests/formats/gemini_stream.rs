//! The printed lines of Gemini CLI: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

const TIME: &str = r#""timestamp":"2026-11-21T21:33:55.048Z""#;

fn line(kind: &str, rest: &str) -> String {
    format!(r#"{{"type":"{kind}",{TIME},{rest}}}"#)
}

fn says(role: &str, text: &str) -> String {
    line("message", &format!(r#""role":"{role}","content":"{text}","delta":true"#))
}

fn call(id: &str) -> String {
    line("tool_use", &format!(r#""tool_name":"sh","tool_id":"{id}","parameters":{{"a":1}}"#))
}

fn result(id: &str, rest: &str) -> String {
    line("tool_result", &format!(r#""tool_id":"{id}",{rest}"#))
}

#[test]
fn calls_results_and_words_in_pieces() {
    let lines = [
        line("init", r#""session_id":"s","model":"m""#),
        says("user", "Go"),
        says("assistant", "I "),
        says("assistant", "look."),
        call("a"),
        call("b"),
        result("a", r#""status":"success","output":"x""#),
        result("b", r#""status":"error","error":{"type":"t","message":"no"}"#),
        result("none", r#""status":"success","output":"x""#),
        call("c"),
        result("c", r#""status":"success""#),
        says("assistant", "Do"),
        says("assistant", "ne."),
        line("error", r#""severity":"warning","message":"Loop detected""#),
        line("result", r#""status":"success","stats":{}"#),
    ];
    let expected = [
        "main User: Go",
        "main Assistant: I look.",
        r#"#0 main/1 sh {"a":1}"#,
        r#"#1 main/1 sh {"a":1}"#,
        r#"#0 main -> "x""#,
        r#"#1 main -> failed "no""#,
        r#"#2 main/2 sh {"a":1}"#,
        r#"#2 main -> """#,
        "main Assistant only: Done.",
    ];
    for lines in [&lines[..], &lines[1..]] {
        let reading = reading(lines.join("\n").as_bytes(), None);
        assert_eq!(reading.events, expected);
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.format, trace.errors), (Format::GEMINI_STREAM, Some(1)));
    }
}

#[test]
fn a_call_without_a_name_costs_no_other_line() {
    let lines = [call("a"), line("tool_use", r#""tool_id":"b""#), call("c")];
    let reading = reading(lines.join("\n").as_bytes(), None);
    assert_eq!(reading.events.len(), 2);
    assert_eq!(reading.problems(), ["line 2: a tool_use line needs the field `tool_name`"]);
}
