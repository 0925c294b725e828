//! Messages of `AutoGen`: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::{Format, Tokens};

const MESSAGES: [&str; 8] = [
    r#"{"source":"user","type":"TextMessage","content":"Go","models_usage":null,"metadata":{}}"#,
    r#"{"source":"coder","type":"ThoughtEvent","content":"Both."}"#,
    r#"{"source":"coder","type":"ToolCallRequestEvent","models_usage":{"prompt_tokens":5,"completion_tokens":2},"created_at":"1970-01-01T00:00:01Z","content":[{"id":"a","name":"ls","arguments":"{\"p\":1}"},{"id":"b","name":"cat","arguments":"{\"p\":2}"},{"id":"c"}]}"#,
    r#"{"source":"coder","type":"ToolCallExecutionEvent","content":[{"content":"a.rs","name":"ls","call_id":"a","is_error":false},{"content":"no","name":"cat","call_id":"b","is_error":true}]}"#,
    r#"{"source":"coder","type":"ToolCallSummaryMessage","content":"a.rs\nno"}"#,
    r#"{"source":"user_proxy","type":"TextMessage","content":"Go on"}"#,
    r#"{"source":"critic","type":"TextMessage","content":"Good."}"#,
    r#"{"source":"critic","type":"StopMessage","content":"stop"}"#,
];

const EXPECTED: [&str; 8] = [
    "main User: Go",
    "coder Assistant: Both.",
    r#"#0 coder/1 ls {"p":1}"#,
    r#"#1 coder/1 cat {"p":2}"#,
    r#"#0 coder -> "a.rs""#,
    r#"#1 coder -> failed "no""#,
    "coder User: Go on",
    "critic Assistant only: Good.",
];

#[test]
fn messages_are_read_in_every_document_and_in_lines() {
    let list = MESSAGES.join(",");
    let inputs = [
        MESSAGES.join("\n"),
        format!("[{list}]"),
        format!(r#"{{"messages":[{list}],"stop_reason":null}}"#),
    ];
    for input in inputs {
        let reading = reading(input.as_bytes(), None);
        assert_eq!(reading.events, EXPECTED, "{input}");
        let problems = reading.problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].ends_with("a tool call needs the field `name`"), "{problems:?}");
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.format, trace.errors), (Format::AUTOGEN, Some(1)));
        assert_eq!(trace.tokens, Some(Tokens { input: 5, cached: 0, output: 2 }));
    }
}

#[test]
fn lines_of_the_log_stand_among_others() {
    let call = |tool: &str, result: &str| {
        format!(
            "{{\"type\":\"ToolCall\",\"tool_name\":\"{tool}\",\"arguments\":{{\"p\":1}},\
             \"result\":{result},\"agent_id\":\"coder/1\"}}\n"
        )
    };
    let model = "{\"type\":\"LLMCall\",\"messages\":[],\"response\":{},\
                 \"prompt_tokens\":5,\"completion_tokens\":2,\"agent_id\":\"coder/1\"}\n";
    let calls = [call("ls", "\"x\""), call("cat", "null"), model.to_owned(), call("ls", "\"x\"")];
    let expected = [
        r#"#0 coder/1/1 ls {"p":1}"#,
        r#"#0 coder/1 -> "x""#,
        r#"#1 coder/1/1 cat {"p":1}"#,
        r#"#2 coder/1/2 ls {"p":1}"#,
        r#"#2 coder/1 -> "x""#,
    ];
    let log = format!("starting\n{model}{}", calls.concat());
    let found = reading(log.as_bytes(), None);
    assert_eq!(found.events, expected);
    let trace = found.end.expect("a trace");
    assert_eq!((trace.format, trace.errors), (Format::AUTOGEN, None));
    assert_eq!(trace.tokens.map(Tokens::total), Some(14));
    // Without the calls of the model, nobody knows which calls belong together.
    let log = format!("starting\n{}{}", calls[0], calls[0]);
    let events = reading(log.as_bytes(), None).events;
    assert_eq!(events[2], r#"#1 coder/1/2 ls {"p":1}"#);
}
