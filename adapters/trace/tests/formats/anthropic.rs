//! Anthropic messages: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

#[test]
fn a_request_body_is_read_as_the_service_reads_it() {
    let input = br#"{"model":"m","system":"Be brief.","messages":[
{"role":"user","content":"Look"},
{"role":"assistant","content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Both."},
 {"type":"tool_use","id":"c","name":"read","input":{"path":"a"}},
 {"type":"tool_use","id":"c","name":"read","input":{"path":"b"}},{"type":"text","text":"At once."}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"first","is_error":true},
 {"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"second"}],"is_error":false},
 {"type":"tool_result","tool_use_id":"c","content":"third"},
 {"type":"text","text":"Go on"}]},
{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"read","input":{"path":"b"}}]},
{"role":"assistant","content":[{"type":"tool_use","id":"d","name":"read","input":{"path":"d"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"d"}]},
{"role":"assistant","content":"Hm."},
{"role":"assistant","content":[{"type":"text","text":"Done."}]}],
"tools":[{"name":"read","input_schema":{}}]}"#;
    let reading = reading(input, None);
    let expected = [
        "main User: Look",
        "main Assistant: Both.",
        r#"#0 main/1 read {"path":"a"}"#,
        r#"#1 main/1 read {"path":"b"}"#,
        "main Assistant: At once.",
        "#0 main -> failed \"first\"",
        "#1 main -> \"second\"",
        "main User: Go on",
        r#"#2 main/2 read {"path":"b"}"#,
        r#"#3 main/2 read {"path":"d"}"#,
        "#3 main -> \"\"",
        "main Assistant only: Hm.",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.errors, trace.workers), (Format::ANTHROPIC, Some(1), 1));
}

#[test]
fn tools_of_the_provider_are_no_calls() {
    let input = br#"[
{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},
 {"type":"web_search_tool_result","tool_use_id":"s","content":[]},
 {"type":"mcp_tool_use","id":"m","name":"x","input":{}},{"type":"mcp_tool_result","tool_use_id":"m"},
 {"type":"text","text":"Found."}]}]"#;
    assert_eq!(reading(input, None).events, ["main Assistant only: Found."]);
}

#[test]
fn a_message_that_cannot_be_read_costs_only_itself() {
    let table = [
        ("7", "line 2: expected a JSON object, found a number"),
        (r#"{"content":"x"}"#, "line 2: a message needs the field `role`"),
        (
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"c"}]}"#,
            "line 2: a tool_use block needs the field `name`",
        ),
    ];
    for (bad, problem) in table {
        let input = format!(
            "[{{\"role\":\"user\",\"content\":\"a\"}},\n{bad},{{\"role\":\"user\",\"content\":\"b\"}}]"
        );
        let reading = reading(input.as_bytes(), Some(Format::ANTHROPIC));
        assert_eq!(reading.events, ["main User: a", "main User: b"]);
        assert_eq!(reading.problems(), [problem]);
    }
}
