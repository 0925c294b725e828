//! Spans of OpenTelemetry, as SDKs describe the runs of agents.

use unstuck_trace::otlp::{Assembler, Limits, Record, What, spans_of_json};

/// Returns the records of some requests that arrive in this order.
fn records(requests: &[&str]) -> Vec<Record> {
    let mut assembler = Assembler::new(Limits::default());
    for request in requests {
        let broken = spans_of_json(request.as_bytes(), &mut |span| assembler.push(span, 0));
        assert_eq!(broken, Ok(0));
    }
    let mut records = Vec::new();
    assembler.flush(&mut |record| records.push(record));
    records
}

/// Returns a request with these spans.
fn request(spans: &[String]) -> String {
    format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","))
}

/// Returns a span of the trace `t` with these attributes, written as `key=value`.
fn span(id: u8, parent: Option<u8>, times: (u64, u64), attributes: &[&str]) -> String {
    let parent = parent.map_or(String::new(), |parent| format!("{parent:016x}"));
    let attributes = attributes.iter().filter_map(|attribute| attribute.split_once('='));
    let attributes = attributes.map(|(key, value)| {
        let value = serde_json::json!({ "stringValue": value });
        format!(r#"{{"key":"{key}","value":{value}}}"#)
    });
    let attributes = attributes.collect::<Vec<_>>().join(",");
    let (begin, end) = times;
    format!(
        r#"{{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"{id:016x}","parentSpanId":"{parent}",
            "name":"a span","startTimeUnixNano":"{begin}","endTimeUnixNano":"{end}",
            "attributes":[{attributes}]}}"#
    )
}

/// Returns the attributes of a call.
const fn call<'a>(tool: &'a str, args: &'a str) -> [&'a str; 3] {
    ["gen_ai.operation.name=execute_tool", tool, args]
}

#[test]
fn calls_are_in_order_with_their_agent_and_step() {
    let agent =
        ["gen_ai.operation.name=invoke_agent", "gen_ai.agent.name=fixer", "session.id=run-7"];
    let read = call("gen_ai.tool.name=read", r#"gen_ai.tool.call.arguments={"path":"a"}"#);
    let test = call("gen_ai.tool.name=test", "gen_ai.tool.call.arguments={}");
    let spans = [
        span(4, Some(1), (50, 60), &test),
        span(3, Some(1), (12, 40), &read),
        span(2, Some(1), (10, 20), &read),
        span(1, None, (0, 100), &agent),
        span(2, Some(1), (10, 20), &read),
    ];
    let words: Vec<_> = records(&[&request(&spans)])
        .into_iter()
        .map(|record| {
            let What::Call(call) = record.what else { return "no call".to_owned() };
            let (session, worker, step) = (record.session, record.worker, record.step);
            format!("{session} {worker} {step} {} {:?}", call.tool, call.args)
        })
        .collect();
    let expected = [
        r#"run-7 fixer 1 read Some("{\"path\":\"a\"}")"#,
        r#"run-7 fixer 1 read Some("{\"path\":\"a\"}")"#,
        r#"run-7 fixer 2 test Some("{}")"#,
    ];
    assert_eq!(words, expected);
}
