//! Spans of OpenTelemetry: the dialects of SDKs, and spans in any order.

use crate::reading::reading;
use proptest::prelude::*;
use serde_json::{Value, json};
use unstuck_trace::Format;
use unstuck_trace::otlp::{
    Assembler, Counts, Limits, Record, Span, Status, ToolCall, What, spans_of_json,
};

/// Returns a request with these spans.
pub(crate) fn request(spans: &[Value]) -> String {
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string()
}

/// Returns attributes with these texts.
fn attributes(texts: &[(&str, &str)]) -> Value {
    texts.iter().map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect()
}

/// Returns a span of a trace with a parent, or without one if that is 0. The times are in milliseconds.
pub(crate) fn span_of(
    trace: u64,
    [id, parent]: [u64; 2],
    [begin, end]: [u64; 2],
    texts: &[(&str, &str)],
) -> Value {
    let nanoseconds = |milliseconds: u64| (milliseconds * 1_000_000).to_string();
    json!({
        "traceId": format!("{trace:032x}"),
        "spanId": format!("{id:016x}"),
        "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") },
        "name": "a span",
        "startTimeUnixNano": nanoseconds(begin),
        "endTimeUnixNano": nanoseconds(end),
        "attributes": attributes(texts),
    })
}

fn span(id: u64, parent: u64, times: (u64, u64), texts: &[(&str, &str)]) -> Value {
    span_of(7, [id, parent], times.into(), texts)
}

/// Returns a span with some members replaced.
fn with(mut span: Value, members: Value) -> Value {
    if let (Value::Object(span), Value::Object(members)) = (&mut span, members) {
        span.extend(members);
    }
    span
}

const TOOL: (&str, &str) = ("gen_ai.operation.name", "execute_tool");
const AGENT: (&str, &str) = ("gen_ai.operation.name", "invoke_agent");
const MODEL: (&str, &str) = ("gen_ai.operation.name", "chat");

/// Returns the call of a tool with these arguments, which returns `ok`.
fn call(id: u64, parent: u64, times: (u64, u64), tool: &str, args: &str) -> Value {
    let texts = [
        TOOL,
        ("gen_ai.tool.name", tool),
        ("gen_ai.tool.call.arguments", args),
        ("gen_ai.tool.call.result", "ok"),
    ];
    span(id, parent, times, &texts)
}

fn agent(id: u64, parent: u64, times: (u64, u64), name: &str) -> Value {
    span(id, parent, times, &[AGENT, ("gen_ai.agent.name", name)])
}

/// Returns an answer of a model to a person's message.
fn answer(id: u64, parent: u64, times: (u64, u64), prompt: &str, said: &str) -> Value {
    let message =
        |role, text| json!([{"role": role, "parts": [{"type": "text", "content": text}]}]);
    let (input, output) = (message("user", prompt).to_string(), message("assistant", said));
    let output = if said.is_empty() { "[]".to_owned() } else { output.to_string() };
    let texts = [MODEL, ("gen_ai.input.messages", &input), ("gen_ai.output.messages", &output)];
    span(id, parent, times, &texts)
}

/// Returns an assembler that got some requests at once.
fn assembled(requests: &[String], limits: Limits) -> Assembler {
    let mut assembler = Assembler::new(limits);
    for request in requests {
        let broken = spans_of_json(request.as_bytes(), &mut |span| assembler.push(span, 0));
        assert_eq!(broken, Ok(0));
    }
    assembler
}

fn word(record: &Record) -> String {
    let Record { worker, step, what, .. } = record;
    match what {
        What::Call(call) => format!("{worker}/{step} {}", call.tool),
        What::Said(text) => format!("{worker} says {text}"),
        What::Prompt(text) => format!("{worker} hears {text}"),
        What::Usage(tokens) => format!("{worker} pays {}", tokens.total()),
    }
}

/// Returns the records of a request, in words.
fn words(spans: &[Value]) -> Vec<String> {
    let mut words = Vec::new();
    let mut assembler = assembled(&[request(spans)], Limits::default());
    assembler.flush(&mut |record| words.push(word(&record)));
    words
}

/// Returns the only call among records.
pub(crate) fn call_in(records: Vec<Record>) -> ToolCall {
    let calls = records.into_iter().filter_map(|record| match record.what {
        What::Call(call) => Some(call),
        _ => None,
    });
    let [call] = calls.collect::<Vec<_>>().try_into().expect("one call");
    call
}

/// Decodes the only span of a request.
fn decoded(request: &str) -> Span {
    let mut spans = Vec::new();
    assert_eq!(spans_of_json(request.as_bytes(), &mut |span| spans.push(span)), Ok(0), "{request}");
    let [span] = spans.try_into().expect("one span");
    span
}

#[test]
fn writers_differ_in_numbers_names_and_ids() {
    let plain = request(&[with(
        span(9, 3, (1, 2), &[TOOL, ("gen_ai.tool.call.id", "c")]),
        json!({"status": {"code": 2, "message": "no"}}),
    )]);
    let in_base64 = |id: &str, base64: &str| plain.replace(id, base64);
    let trace = format!("{:032x}", 7);
    let spellings = [
        format!("[{plain}]"),
        plain
            .strip_prefix("{\"resourceSpans\":")
            .and_then(|list| list.strip_suffix('}'))
            .expect("a list")
            .to_owned(),
        plain.replace("\"1000000\"", "1000000"),
        plain.replace("\"code\":2", r#""code":"STATUS_CODE_ERROR""#),
        plain.replace("resourceSpans", "resource_spans").replace("scopeSpans", "scope_spans"),
        plain
            .replace("traceId", "trace_id")
            .replace("spanId", "span_id")
            .replace("parentSpanId", "parent_span_id")
            .replace("startTimeUnixNano", "start_time_unix_nano")
            .replace("endTimeUnixNano", "end_time_unix_nano")
            .replace("stringValue", "string_value"),
        plain.replace("scopeSpans", "instrumentationLibrarySpans"),
        in_base64(&trace, "AAAAAAAAAAAAAAAAAAAABw=="),
        in_base64("0000000000000009", "AAAAAAAAAAk="),
    ];
    let expected = decoded(&plain);
    assert_eq!(
        (expected.status, expected.begin, expected.end),
        (Status::Error, 1_000_000, 2_000_000)
    );
    assert_eq!((expected.id, expected.parent), (9_u64.to_be_bytes(), Some(3_u64.to_be_bytes())));
    for spelling in &spellings {
        assert_eq!(decoded(spelling), expected, "{spelling}");
    }
}

#[test]
fn members_may_come_in_any_order() {
    let text = r#"{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","attributes":[ATTRIBUTE]}"#;
    let scope = r#""scope":{"name":"lib"}"#;
    let resource =
        r#""resource":{"attributes":[{"key":"session.id","value":{"stringValue":"s"}}]}"#;
    let usual = r#"{"key":"tool.name","value":{"stringValue":"ls"}}"#;
    let unusual = r#"{"value":{"stringValue":"ls"},"key":"tool.name"}"#;
    let usual = text.replace("ATTRIBUTE", usual);
    let unusual = text.replace("ATTRIBUTE", unusual);
    let usual = decoded(&format!(
        r#"{{"resourceSpans":[{{{resource},"scopeSpans":[{{{scope},"spans":[{usual}]}}]}}]}}"#
    ));
    let unusual = decoded(&format!(
        r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{unusual}],{scope}}}],{resource}}}]}}"#
    ));
    assert_eq!((&*usual.scope, &usual.attributes["tool.name"]), ("lib", &json!("ls")));
    assert_eq!(usual.resource["session.id"], json!("s"));
    assert_eq!(usual, unusual);
}

#[test]
fn broken_spans_are_skipped_and_reported() {
    let good = call(1, 0, (1, 2), "read", "{}");
    let bad = [
        json!(7),
        json!({"traceId": "", "spanId": "0000000000000002"}),
        json!({"traceId": format!("{:032x}", 7), "spanId": "0000000000000000"}),
        json!({"traceId": format!("{:032x}", 7), "spanId": "nonsense"}),
    ];
    let mut spans = bad.to_vec();
    spans.push(good);
    let mut found = 0;
    let broken = spans_of_json(request(&spans).as_bytes(), &mut |_| found += 1);
    assert_eq!((broken, found), (Ok(4), 1));
    let reading = reading(request(&spans).as_bytes(), None);
    assert_eq!(reading.events.len(), 2);
    assert_eq!(reading.problems(), ["line 1: a span needs the field `traceId` or `spanId`"]);
    for text in ["{}", "[7]", "{\"resourceSpans\":7}", "\"x\"", "{\"resourceSpans\":[", "\u{feff}"]
    {
        assert!(spans_of_json(text.as_bytes(), &mut |_| {}).is_err(), "{text}");
    }
    assert!(spans_of_json(b"\xff", &mut |_| {}).is_err());
}

#[test]
fn spans_arrive_live_and_keep_their_worker() {
    let mut assembler = Assembler::new(Limits::default());
    let mut heard = Vec::new();
    let mut at = |now: u64, spans: &[Value], heard: &mut Vec<String>| {
        let broken =
            spans_of_json(request(spans).as_bytes(), &mut |span| assembler.push(span, now));
        assert_eq!(broken, Ok(0));
        assembler.settled(now, &mut |record| heard.push(word(&record)));
        assembler.counts()
    };
    at(1_000, &[call(3, 2, (20, 30), "b", "{}"), call(4, 8, (20, 30), "x", "{}")], &mut heard);
    at(2_000, &[call(5, 2, (1, 10), "a", "{}")], &mut heard);
    assert_eq!(heard, Vec::<String>::new(), "the first call may still be on its way");
    at(11_000, &[], &mut heard);
    assert_eq!(heard, ["main/1 a", "main/2 b", "main 0000000000000008/3 x"]);
    heard.clear();
    // Now the spans above arrive: a cycle of the first agent, and the other agent.
    let above =
        [span(2, 1, (0, 40), &[]), agent(1, 0, (0, 90), "fixer"), agent(8, 0, (0, 90), "other")];
    at(12_000, &above, &mut heard);
    at(13_000, &[call(6, 1, (50, 60), "c", "{}"), call(7, 8, (50, 60), "y", "{}")], &mut heard);
    let counts = at(99_000, &[call(5, 2, (1, 10), "a", "{}")], &mut heard);
    assert_eq!(heard, ["main/4 c", "main 0000000000000008/5 y"]);
    assert_eq!(counts, Counts { spans: 9, duplicates: 1, ..Counts::default() });
    heard.clear();
    at(99_000, &[call(9, 1, (2, 3), "late", "{}")], &mut heard);
    assert_eq!(at(199_000, &[], &mut heard).late, 1);
    assert_eq!(heard, ["main/6 late"]);
}

#[test]
fn memory_is_bounded_in_bytes_spans_and_workers() {
    let text = json!({"text": "x".repeat(1000)}).to_string();
    let calls = (1..=100).map(|id| call(id, 0, (id, id + 1), "read", &text));
    let requests: Vec<String> = calls.map(|call| request(&[call])).collect();
    let limits = Limits { bytes: 20_000, ..Limits::default() };
    let mut assembler = assembled(&requests, limits);
    assert!((80..100).contains(&assembler.counts().hurried), "{:?}", assembler.counts());
    let mut begins = Vec::new();
    assembler.flush(&mut |record| begins.push(record.begin));
    assert!(begins.len() == 100 && begins.is_sorted());

    let limits = Limits { spans: 20, ..Limits::default() };
    let mut assembler = assembled(&requests, limits);
    let counts = assembler.counts();
    assert!((80..100).contains(&counts.forgotten_spans), "{counts:?}");
    let mut calls = 0;
    assembler.flush(&mut |_| calls += 1);
    assert_eq!(calls, 100, "what is forgotten has been delivered");

    let agents = (1..=100).flat_map(|id| {
        [
            agent(1000 + id, 0, (id, id + 1), "fixer"),
            call(id, 1000 + id, (id, id + 1), "read", "{}"),
        ]
    });
    let limits = Limits { workers: 10, ..Limits::default() };
    let mut assembler = assembled(&[request(&agents.collect::<Vec<_>>())], limits);
    let mut workers = std::collections::BTreeSet::new();
    assembler.flush(&mut |record| _ = workers.insert(record.worker));
    assert_eq!(workers.len(), 100, "a forgotten name is not given again");
    assert!(assembler.counts().forgotten_workers > 80);
}

#[test]
fn a_long_chain_of_spans_is_read() {
    let chain: Vec<Value> = (1..=2000)
        .map(|id| span(id, id + 1, (1, 2), &[]))
        .chain([call(9000, 1, (1, 2), "a", "{}")])
        .collect();
    assert_eq!(words(&chain), ["main/1 a"]);
}

/// The spans of a small run with two agents, which come in any order and on any lines.
fn run() -> Vec<Value> {
    vec![
        agent(1, 0, (0, 90), "boss"),
        answer(2, 1, (1, 2), "go", "I look."),
        call(3, 1, (3, 6), "read", r#"{"path":"a"}"#),
        call(4, 1, (4, 5), "read", r#"{"path":"b"}"#),
        call(5, 1, (10, 60), "ask", "{}"),
        agent(6, 5, (11, 59), "helper"),
        answer(7, 6, (12, 13), "look", ""),
        call(8, 6, (20, 30), "read", r#"{"path":"c"}"#),
        call(9, 1, (70, 80), "read", r#"{"path":"d"}"#),
    ]
}

proptest! {
    #[test]
    fn the_order_and_the_lines_of_a_file_do_not_matter(
        spans in Just(run()).prop_shuffle(),
        cuts in proptest::collection::vec(any::<bool>(), 9),
    ) {
        let expected = reading(request(&run()).as_bytes(), None).events;
        prop_assert_eq!(expected.len(), 13);
        let mut lines = vec![Vec::new()];
        for (span, cut) in spans.into_iter().zip(cuts) {
            if cut {
                lines.push(Vec::new());
            }
            lines.last_mut().expect("a line").push(span);
        }
        let lines: Vec<String> = lines.iter().map(|spans| request(spans)).collect();
        prop_assert_eq!(&reading(lines.join("\n").as_bytes(), None).events, &expected);
        let array = format!("[{}]", lines.join(","));
        prop_assert_eq!(&reading(array.as_bytes(), Some(Format::OTLP)).events, &expected);
    }
}
