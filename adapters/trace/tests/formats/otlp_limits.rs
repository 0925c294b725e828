//! Spans of OpenTelemetry that would take too much memory.

use std::collections::BTreeSet;

use allocation_counter::measure;
use serde_json::{Value, json};
use unstuck_trace::otlp::{Assembler, Limits, Record, What, spans_of_json};

use crate::otlp::{call_in, request, span_of};

/// Returns a span that lasts from the second `begin` to the second `end`.
fn span(trace: u64, ids: [u64; 2], times: [u64; 2], texts: &[(&str, &str)]) -> Value {
    span_of(trace, ids, times.map(|seconds| 1000 * seconds), texts)
}

/// Takes in spans at a time, and returns the records that have settled then.
fn at(assembler: &mut Assembler, now: u64, spans: &[Value]) -> Vec<Record> {
    let broken = spans_of_json(request(spans).as_bytes(), &mut |span| assembler.push(span, now));
    assert_eq!(broken, Ok(0));
    let mut records = Vec::new();
    assembler.settled(now, &mut |record| records.push(record));
    records
}

#[test]
fn long_names_are_cut_and_stay_different() {
    let long = "n".repeat(1 << 20);
    let calls: Vec<Value> = (1..=3)
        .map(|n| {
            let name = if n == 3 { "short".to_owned() } else { format!("{long}{n}") };
            let texts = [
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.conversation.id", name.as_str()),
                ("gen_ai.agent.name", name.as_str()),
                ("gen_ai.tool.name", name.as_str()),
            ];
            span(n, [n, 0], [n, n + 1], &texts)
        })
        .collect();
    let mut assembler = Assembler::new(Limits::default());
    at(&mut assembler, 0, &calls);
    let records = at(&mut assembler, 60_000, &[]);
    let of = |name: fn(&Record) -> &str| {
        let names: BTreeSet<String> =
            records.iter().map(|record| name(record).to_owned()).collect();
        assert_eq!(names.len(), 3);
        assert!(names.contains("short") && names.iter().all(|name| name.len() <= 256), "{names:?}");
    };
    of(|record| &record.session);
    of(|record| &record.worker);
    of(|record| match &record.what {
        What::Call(call) => &call.tool,
        _ => "",
    });
}

#[test]
fn a_trace_whose_spans_have_gone_takes_little_memory() {
    const TRACES: u64 = 1000;
    let mut assembler = Assembler::new(Limits::default());
    let kept = measure(|| {
        for n in 1..=TRACES {
            let texts = [("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", "read")];
            at(&mut assembler, 0, &[span(n, [n, 0], [n, n + 1], &texts)]);
        }
        let records = at(&mut assembler, 60_000, &[]);
        assert_eq!(records.len() as u64, TRACES);
    });
    let each = kept.bytes_current / TRACES.cast_signed();
    assert!(each < 2500, "{each} bytes of a trace");
}

/// Returns the span of `LangChain` around a call with a path, and the span of the call.
fn around_and_call(trace: u64, path: &str) -> [Value; 2] {
    let asked = format!(r#"[{{"name":"read","args":{}}}]"#, json!({"path": path}));
    let around = [("openinference.span.kind", "CHAIN"), ("input.value", &*asked)];
    let call =
        [("openinference.span.kind", "TOOL"), ("tool.name", "read"), ("input.value", "a.txt")];
    [span(trace, [2, 0], [1, 9], &around), span(trace, [3, 2], [2, 3], &call)]
}

#[test]
fn arguments_around_a_call_wait_for_it() {
    let named = Some(r#"{"path":"a.txt"}"#);
    let [around, call] = around_and_call(1, "a.txt");
    // The usual order, and an order in which the span around has waited long enough before its call has.
    for (first, second) in [(&call, &around), (&around, &call)] {
        let mut assembler = Assembler::new(Limits::default());
        at(&mut assembler, 0, std::slice::from_ref(first));
        at(&mut assembler, 5_000, std::slice::from_ref(second));
        let mut records = at(&mut assembler, 10_000, &[]);
        records.extend(at(&mut assembler, 15_000, &[]));
        assert_eq!(call_in(records).args.as_deref(), named);
    }
    // After its call, or without one, a span around waits no longer. A later call finds no arguments there.
    let mut assembler = Assembler::new(Limits::default());
    at(&mut assembler, 0, std::slice::from_ref(&around));
    assert!(at(&mut assembler, 10_000, &[]).is_empty());
    at(&mut assembler, 11_000, std::slice::from_ref(&call));
    let call = call_in(at(&mut assembler, 30_000, &[]));
    assert_eq!(call.args.as_deref(), Some("a.txt"));
}

#[test]
fn spans_around_calls_leave_when_memory_is_short() {
    let mut assembler = Assembler::new(Limits { bytes: 10_000, ..Limits::default() });
    let path = "x".repeat(3000);
    for trace in 1..=100 {
        let [around, _] = around_and_call(trace, &path);
        at(&mut assembler, 0, &[around]);
    }
    for trace in [1, 100] {
        let [_, call] = around_and_call(trace, &path);
        at(&mut assembler, 0, &[call]);
    }
    let args = |record: Record| match record.what {
        What::Call(call) => call.args.unwrap_or_default().len(),
        _ => 0,
    };
    let records = at(&mut assembler, 10_000, &[]);
    let [first, latest] = <[Record; 2]>::try_from(records).expect("two calls").map(args);
    assert_eq!(first, "a.txt".len(), "the arguments around the first call are forgotten");
    assert!(latest > path.len(), "the latest ones are there");
}

#[test]
fn the_count_of_remembered_spans_does_not_drift() {
    let limits = Limits { spans: 100, ..Limits::default() };
    let mut assembler = Assembler::new(limits);
    let call = [("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", "read")];
    for trace in 1..=500 {
        let now = trace * 20_000;
        at(&mut assembler, now, &[span(trace, [3, 2], [2, 3], &call)]);
        at(&mut assembler, now + 10_000, &[]);
        // The span above its call becomes known. So the span above that one stands for the worker, too.
        at(&mut assembler, now + 10_000, &[span(trace, [2, 1], [1, 4], &[])]);
    }
    let counts = assembler.counts();
    assert_eq!(counts.spans, 1000);
    // A trace takes eight: two spans, two that stand for a worker, and four for itself.
    assert!((974..=990).contains(&counts.forgotten_spans), "{counts:?}");
}

#[test]
fn long_names_count_as_spans() {
    let forgotten = |length: usize| {
        let mut assembler = Assembler::new(Limits { spans: 600, ..Limits::default() });
        for trace in 1..=100 {
            let name = format!("{}{trace}", "n".repeat(length));
            let agent = [("gen_ai.operation.name", "invoke_agent"), ("gen_ai.agent.name", &*name)];
            at(&mut assembler, 0, &[span(trace, [1, 0], [1, 2], &agent)]);
        }
        assembler.counts().forgotten_spans
    };
    // A trace with one span takes five, and two more for a long name.
    assert_eq!(forgotten(3), 0);
    assert!(forgotten(600) > 0);
    let of_one_trace = |is_same: bool| {
        let mut assembler = Assembler::new(Limits { spans: 400, ..Limits::default() });
        let spans: Vec<Value> = (1..=200)
            .map(|n| {
                let name = format!("{}{}", "n".repeat(600), if is_same { 0 } else { n });
                let texts = [("gen_ai.agent.name", &*name)];
                span(1, [n, 0], [n, n + 1], &texts)
            })
            .collect();
        at(&mut assembler, 0, &spans);
        assembler.counts().forgotten_spans
    };
    assert_eq!(of_one_trace(true), 0);
    assert!(of_one_trace(false) > 0);
}

/// Returns the call of a tool with a list of empty values as its arguments.
fn with_list(id: u64, length: usize) -> String {
    let texts = [("tool.name", "read"), ("input.value", "LIST")];
    let list = vec!["{}"; length].join(",");
    let list = format!(r#"{{"arrayValue":{{"values":[{list}]}}}}"#);
    span(7, [id, 0], [1, 2], &texts).to_string().replace(r#"{"stringValue":"LIST"}"#, &list)
}

#[test]
fn lists_of_a_request_share_its_room() {
    let read = |lengths: &[usize]| {
        let spans = (1..).zip(lengths).map(|(id, length)| with_list(id, *length));
        let spans: Vec<String> = spans.collect();
        let request = request(&[json!("SPANS")]).replace("\"SPANS\"", &spans.join(","));
        let mut read = Vec::new();
        let broken = spans_of_json(request.as_bytes(), &mut |span| {
            assert!(span.attributes.contains_key("tool.name"));
            read.push(span.attributes.contains_key("input.value"));
        });
        assert_eq!(broken, Ok(0));
        read
    };
    // A list that alone is too long is left out, and those that fit are read.
    assert_eq!(read(&[1000, 100_000, 1000]), [true, false, true]);
    let read = read(&[50_000; 30]);
    assert_eq!(read, (0..30).map(|n| n < 20).collect::<Vec<_>>());
}

#[test]
fn events_of_a_request_are_limited() {
    let mut events = span(7, [1, 0], [1, 2], &[]);
    events["events"] = json!("EVENTS");
    let list = vec![r#"{"name":""}"#; 200_000].join(",");
    let request = request(&[events]).replace("\"EVENTS\"", &format!("[{list}]"));
    let mut count = 0;
    let broken = spans_of_json(request.as_bytes(), &mut |span| count += span.events.len());
    assert_eq!(broken, Ok(0));
    assert!((100_000..110_000).contains(&count), "{count}");
}

#[test]
fn a_session_of_a_resource_is_cut_before_its_spans_share_it() {
    let span = span(7, [1, 0], [1, 2], &[]);
    let mut request: Value = serde_json::from_str(&request(&[span])).expect("JSON");
    let attribute = |key: &str| json!({"key": key, "value": {"stringValue": "x".repeat(1 << 20)}});
    request["resourceSpans"][0]["resource"] =
        json!({"attributes": [attribute("session.id"), attribute("process.command_args")]});
    let mut lengths = Vec::new();
    let broken = spans_of_json(request.to_string().as_bytes(), &mut |span| {
        lengths.extend(span.resource.values().map(|value| value.as_str().map(str::len)));
    });
    assert_eq!((broken, lengths), (Ok(0), vec![Some(256)]));
}
