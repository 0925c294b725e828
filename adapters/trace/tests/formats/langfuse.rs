//! Traces of Langfuse: one small case for each trap that real files set.

use crate::reading::reading;
use serde_json::{Value, json};
use unstuck_trace::{Format, Tokens};

/// Returns an observation that begins in this second, with some members more.
fn observation(id: &str, begin: u64, kind: &str, more: Value) -> Value {
    let mut observation = json!({
        "id": id, "traceId": "t", "type": kind, "name": "ls", "parentObservationId": "a",
        "startTime": format!("1970-01-01T00:00:{begin:02}.500Z"),
        "endTime": format!("1970-01-01T00:00:{begin:02}.600Z"),
        "level": "DEFAULT", "statusMessage": null, "metadata": {},
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut observation, more) {
        all.extend(more);
    }
    observation
}

/// Returns the observations of a trace with a question, two calls, and an answer.
fn observations() -> Vec<Value> {
    let question = json!({"input": {"messages": [{"role": "user", "content": "Go"}]}, "output": null,
        "usageDetails": {"input": 5, "output": 2, "total": 7}});
    let failed =
        json!({"input": "{\"p\":2}", "output": null, "level": "ERROR", "statusMessage": "no"});
    vec![
        observation(
            "n",
            4,
            "GENERATION",
            json!({"output": {"role": "assistant", "content": "Done."}}),
        ),
        observation("d", 3, "TOOL", failed),
        observation("c", 2, "TOOL", json!({"input": {"p": 1}, "output": "a.rs"})),
        observation("m", 1, "GENERATION", question),
        observation("a", 0, "AGENT", json!({"name": "coder", "parentObservationId": null})),
    ]
}

const EXPECTED: [&str; 6] = [
    "coder User: Go",
    r#"#0 coder/1 ls {"p":1}"#,
    r#"#0 coder -> "a.rs""#,
    r#"#1 coder/1 ls {"p":2}"#,
    r#"#1 coder -> failed "no""#,
    "coder Assistant only: Done.",
];

#[test]
fn observations_are_read_in_every_document_and_in_lines() {
    let all = observations();
    let lines = all.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let inputs = [
        (lines, None),
        (json!(all).to_string(), None),
        (json!({"data": all, "meta": {"page": 1}}).to_string(), None),
        (
            json!({"id": "t", "sessionId": "s1", "observations": all, "scores": []}).to_string(),
            Some("s1"),
        ),
        (json!([{"id": "t", "sessionId": "s1", "observations": all}]).to_string(), Some("s1")),
    ];
    for (input, session) in inputs {
        let reading = reading(input.as_bytes(), None);
        assert_eq!(reading.events, EXPECTED, "{input}");
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.format, trace.errors), (Format::LANGFUSE, Some(1)));
        assert_eq!(trace.tokens, Some(Tokens { input: 5, cached: 0, output: 2 }));
        let named = trace.session.filter(|_| session.is_some());
        assert_eq!((named.as_deref(), trace.skipped), (session, 0));
    }
}

#[test]
fn rows_of_a_bucket_have_other_names() {
    let input = concat!(
        r#"{"id":"c","trace_id":"t","session_id":"s1","type":"TOOL","name":"ls","parent_observation_id":null,"#,
        r#""start_time":"1970-01-01 00:00:01.000000","end_time":"1970-01-01 00:00:02.000000","input":"{\"p\":1}","#,
        r#""output":"a.rs","level":"DEFAULT","status_message":null}"#,
        "\n",
        r#"{"id":"d","trace_id":"u","session_id":"s2","type":"TOOL","name":"ls","start_time":"1970-01-01 00:00:03.000000"}"#,
        "\n",
        r#"{"id":"e","trace_id":"u","name":"ls","start_time":"1970-01-01 00:00:03.000000"}"#,
    );
    let reading = reading(input.as_bytes(), None);
    let events =
        [r#"#0 main/1 ls {"p":1}"#, r#"#0 main -> "a.rs""#, "begin s2", "#1 main/2 ls absent"];
    assert_eq!(reading.events[..4], events);
    // The second result is not in the file.
    assert!(reading.events[4].starts_with(r#"#1 main -> "" +"#), "{:?}", reading.events);
    assert_eq!(reading.problems(), ["line 3: an observation needs the field `type`"]);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.session.as_deref(), trace.begin), (Some("s1"), Some(1000)));
}

#[test]
fn observations_of_spans_keep_their_attributes() {
    let attributes = json!({"attributes": {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ls",
        "gen_ai.tool.call.arguments": "{\"p\":1}", "gen_ai.tool.call.result": "a.rs"}});
    for metadata in [attributes.to_string().into(), attributes] {
        let span =
            observation("c", 1, "SPAN", json!({"metadata": metadata, "name": "execute_tool ls"}));
        let reading = reading(json!([span]).to_string().as_bytes(), None);
        assert_eq!(reading.events.len(), 2, "{:?}", reading.events);
        assert!(reading.events[0].ends_with(r#" ls {"p":1}"#), "{:?}", reading.events);
        assert!(reading.events[1].ends_with(r#" -> "a.rs""#), "{:?}", reading.events);
    }
}

#[test]
fn a_result_of_langchain_shows_a_tool_among_spans() {
    let result =
        json!({"content": "a.rs", "type": "tool", "tool_call_id": "c7", "status": "error"});
    for output in [result.to_string().into(), result] {
        let messages = json!({"output": {"messages": [output]}});
        let span = json!({"input": "{'p': 1}", "output": output});
        let input =
            json!([observation("b", 1, "SPAN", messages), observation("c", 2, "SPAN", span)]);
        let events = reading(input.to_string().as_bytes(), None).events;
        assert_eq!(events.len(), 2, "{events:?}");
        assert!(events[0].ends_with(r#" ls text "{'p': 1}""#), "{events:?}");
        assert!(events[1].ends_with(r#" -> failed "a.rs""#), "{events:?}");
    }
}

#[test]
fn a_bad_observation_costs_no_other_one() {
    let tool = |id, begin| observation(id, begin, "TOOL", json!({"input": {}, "output": "x"}));
    let all = json!([tool("c", 1), {"id": "d", "type": 7}, tool("e", 2)]);
    let reading = reading(json!([{"id": "t", "observations": all}]).to_string().as_bytes(), None);
    assert_eq!(reading.events.len(), 4, "{:?}", reading.events);
    assert_eq!(reading.problems(), ["line 1: an observation needs the field `type`"]);
}

#[test]
fn a_trace_without_tools_has_no_call() {
    let span = observation("c", 1, "SPAN", json!({"input": {"p": 1}, "output": "a.rs"}));
    let input = json!({"id": "t", "observations": [span, "an id"]}).to_string();
    let trace = reading(input.as_bytes(), None).end.expect("a trace");
    assert_eq!((trace.format, trace.calls), (Format::LANGFUSE, 0));
}
