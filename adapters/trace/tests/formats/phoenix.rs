//! Spans of Phoenix: one small case for each trap that real files set.

use crate::reading::reading;
use serde_json::{Value, json};
use unstuck_trace::{Format, Tokens};

/// Returns a span that begins in this second.
fn span(id: &str, parent: Option<&str>, begin: u64, kind: &str, attributes: &Value) -> Value {
    json!({
        "id": "U3Bhbjox", "name": "a span", "context": {"trace_id": "t", "span_id": id},
        "span_kind": kind, "parent_id": parent, "attributes": attributes,
        "start_time": format!("1970-01-01T00:00:{begin:02}.5+00:00"),
        "end_time": format!("1970-01-01T00:00:{begin:02}.6+00:00"),
        "status_code": "OK", "status_message": "", "events": [],
    })
}

/// Returns a trace with a question, two calls, and an answer. The newest span comes first, as in a page.
fn spans() -> Vec<Value> {
    let question = json!([{"message": {"role": "user", "content": "Go"}}]);
    let answer = json!({"llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Done."});
    let mut failed = span("d", Some("a"), 3, "TOOL", &json!({"tool": {"name": "cat"}}));
    failed["attributes"]["input"] = json!({"value": {"p": 2}, "mime_type": "application/json"});
    failed["status_code"] = "ERROR".into();
    failed["status_message"] = "ValueError: no".into();
    let first = json!({"tool.name": "ls", "input.value": "{\"p\":1}", "output.value": "a.rs"});
    vec![
        span("n", Some("a"), 4, "LLM", &answer),
        failed,
        span("c", Some("a"), 2, "TOOL", &first),
        span("m", Some("a"), 1, "LLM", &json!({"llm": {"input_messages": question}})),
        span("a", None, 0, "AGENT", &json!({"session": {"id": "s1"}})),
    ]
}

const EXPECTED: [&str; 6] = [
    "a span User: Go",
    r#"#0 a span/1 ls {"p":1}"#,
    r#"#0 a span -> "a.rs""#,
    r#"#1 a span/1 cat {"p":2}"#,
    r#"#1 a span -> failed "ValueError: no""#,
    "a span Assistant only: Done.",
];

#[test]
fn spans_are_read_in_every_document_and_in_lines() {
    let spans = spans();
    let lines = spans.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let inputs = [
        lines,
        json!(spans).to_string(),
        json!({"data": spans, "next_cursor": null}).to_string(),
        json!({"traceId": "t", "spans": spans, "status": "ERROR"}).to_string(),
        json!([{"traceId": "t", "spans": spans}]).to_string(),
    ];
    for input in inputs {
        let reading = reading(input.as_bytes(), None);
        assert_eq!(reading.events, EXPECTED, "{input}");
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.format, trace.errors), (Format::PHOENIX, Some(1)));
        assert_eq!((trace.session.as_deref(), trace.skipped), (Some("s1"), 0));
        assert_eq!((trace.begin, trace.end), (Some(1500), Some(4500)));
    }
    let pretty = format!("{:#}", json!([{"traceId": "t", "spans": spans}]));
    assert_eq!(reading(pretty.as_bytes(), None).events.len(), EXPECTED.len());
}

#[test]
fn a_table_has_attributes_in_its_columns() {
    let input = r#"[
        {"name":"llm","context.span_id":"m","context.trace_id":"t","parent_id":"a","start_time":1000,"end_time":2000,
         "status_code":"OK","attributes.openinference.span.kind":"LLM","attributes.llm.token_count.prompt":22.0,
         "attributes.llm.token_count.completion":3.0,"attributes.tool.name":null,
         "attributes.llm.input_messages":[{"message.role":"user","message.content":"Go"}]},
        {"name":"ls","context.span_id":"c","context.trace_id":"t","parent_id":"a","start_time":3000,"end_time":null,
         "status_code":"OK","attributes.openinference.span.kind":"TOOL","attributes.tool.name":"ls",
         "attributes.input.value":"{\"p\":1}","attributes.output.value":"a.rs","attributes.llm.token_count.prompt":null},
        {"name":"x","context.trace_id":"t"}]"#;
    let reading = reading(input.as_bytes(), None);
    let expected = ["main User: Go", r#"#0 main/1 ls {"p":1}"#, r#"#0 main -> "a.rs""#];
    assert_eq!(reading.events, expected);
    assert_eq!(reading.problems(), ["line 9: a span needs the field `span_id`"]);
    let tokens = reading.end.expect("a trace").tokens;
    assert_eq!(tokens, Some(Tokens { input: 22, cached: 0, output: 3 }));
}

#[test]
fn spans_that_the_sdk_prints_are_read() {
    let input = r#"[{"name":"execute_tool ls","context":{"trace_id":"0x0af7651916cd43dd8448eb211c80319c",
        "span_id":"0xb7ad6b7169203331","trace_state":"[]"},"kind":"SpanKind.INTERNAL","parent_id":null,
        "start_time":"1970-01-01T00:00:01.000001Z","end_time":"1970-01-01T00:00:02.000001Z",
        "status":{"status_code":"ERROR","description":"no"},"events":[],"links":[],
        "attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"ls"},"resource":{}}]"#;
    let reading = reading(input.as_bytes(), None);
    assert_eq!(reading.events, ["#0 main/1 ls absent", r#"#0 main -> failed "no""#]);
    let session = reading.end.expect("a trace").session;
    assert_eq!(session.as_deref(), Some("0af7651916cd43dd8448eb211c80319c"));
}

#[test]
fn results_that_are_missing_are_unknown() {
    let call = |id, begin| span(id, None, begin, "TOOL", &json!({"tool.name": "ls"}));
    let input = json!([call("1", 1), call("2", 2)]).to_string();
    let events = reading(input.as_bytes(), None).events;
    let cuts: Vec<_> = events.iter().filter_map(|event| event.split_once("\"\" +")).collect();
    let [(_, first), (_, second)] = cuts[..] else { panic!("{events:?}") };
    assert_ne!(first, second);
}

#[test]
fn deep_and_long_attributes_are_passed() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(3000), "}".repeat(3000));
    let long = "k".repeat(3000);
    let input = format!(
        r#"[{{"context":{{"trace_id":"t","span_id":"s"}},"span_kind":"TOOL",
            "attributes":{{"a":{deep},"{long}":{{"b":1}},"tool":{{"name":"ls"}},"output.value":"x"}}}}]"#
    );
    let reading = reading(input.as_bytes(), None);
    assert_eq!(reading.events, ["#0 main/1 ls absent", r#"#0 main -> "x""#]);
}
