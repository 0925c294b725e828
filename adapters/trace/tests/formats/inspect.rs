//! Logs of Inspect: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

#[test]
fn each_sample_is_a_run_and_ids_recur() {
    let call = r#"{"event":"tool","id":"c0","function":"ls","arguments":{"p":1},"result":"x"}"#;
    let input = format!(
        r#"{{"version":2,"status":"success","eval":{{"task":"t"}},"plan":{{}},"samples":[
            {{"id":"a","epoch":1,"input":"Go","messages":[{{"role":"user","content":"Go"}}],"events":[{call}]}},
            {{"id":7,"epoch":1,"events":[{call}]}},
            {{"id":7,"epoch":2,"events":[]}},
            7],"reductions":[{{"samples":[1]}}]}}"#
    );
    let reading = reading(input.as_bytes(), None);
    let expected = [
        "#0 main/1 ls {\"p\":1}",
        "#0 main -> \"x\"",
        "begin 7_epoch_1",
        "#1 main/2 ls {\"p\":1}",
        "#1 main -> \"x\"",
        "begin 7_epoch_2",
    ];
    assert_eq!(reading.events, expected);
    assert_eq!(reading.problems(), ["line 5: expected a JSON object, found a number"]);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.runs), (Format::INSPECT, 3));
    assert_eq!(trace.session.as_deref(), Some("a_epoch_1"));
}

#[test]
fn a_sample_without_events_before_the_first_run_is_none() {
    let input = br#"{"eval":{},"samples":[
        {"id":"a","epoch":1,"events":[],"messages":[]},
        {"id":"b","epoch":1,"events":[{"event":"tool","function":"ls"}]},
        {"id":"c","epoch":1,"events":[]}]}"#;
    let reading = reading(input, None);
    assert_eq!(reading.events, ["#0 main/1 ls null", "begin c_epoch_1"]);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.runs, trace.session.as_deref()), (2, Some("b_epoch_1")));
}

#[test]
fn events_have_calls_results_and_words() {
    let input = br#"[
        {"event":"sample_init","timestamp":"1970-01-01T00:00:01Z","sample":{"input":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Go"}]}]}},
        {"event":"model","output":{"choices":[{"message":{"content":[{"type":"reasoning","reasoning":"Hm."},{"type":"text","text":"Both."}],"tool_calls":[{"id":"a"},{"id":"b"}]}}]}},
        {"event":"tool","id":"a","function":"ls","arguments":{},"result":[{"type":"text","text":"x"}],"events":[]},
        {"event":"tool","id":"b","function":"cat","arguments":{},"result":"","error":{"type":"unknown","message":"no"}},
        {"event":"model","output":{"choices":[]},"pending":true},
        {"event":"tool","id":"a","function":"rm","arguments":{},"result":"","error":{"type":"approval","message":"Rejected"}},
        {"event":"tool","id":"a","function":"rm","arguments":{},"result":"half","failed":true},
        {"event":"tool","id":"a","function":"rm","arguments":{},"pending":true,"result":""},
        {"event":"tool","id":"a"},
        {"timestamp":"1970-01-01T00:00:01Z","uuid":"u","event":7},
        {"event":"model","output":{"choices":[{"message":{"content":"Done."}}]}}]"#;
    let reading = reading(input, None);
    let expected = [
        "main System: Be brief.",
        "main User: Go",
        "main Assistant: Both.",
        "#0 main/1 ls {}",
        "#0 main -> \"x\"",
        "#1 main/1 cat {}",
        "#1 main -> failed \"no\"",
        "#2 main/2 rm {}",
        "#2 main -> \"Rejected\"",
        "#3 main/2 rm {}",
        "#3 main -> failed \"half\"",
        "#4 main/2 rm {}",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    let expected =
        ["line 10: a call needs the field `function`", "line 11: an event needs the field `event`"];
    assert_eq!(reading.problems(), expected);
    assert_eq!(reading.end.map(|trace| trace.errors), Ok(Some(2)));
}

#[test]
fn agents_are_workers_by_their_spans() {
    let input = br#"{"events":[
        {"event":"span_begin","span_id":"s","id":"s","type":"solver","name":"chain"},
        {"event":"tool","span_id":"s","function":"search","result":"1"},
        {"event":"span_begin","id":"t","parent_id":"s","type":"tool","name":"search"},
        {"event":"span_begin","id":"a","parent_id":"t","type":"agent","name":"web"},
        {"event":"span_begin","id":"u","parent_id":"a","type":"tool","name":"get"},
        {"event":"tool","span_id":"u","function":"get","result":"2","events":[{"event":"tool","span_id":"u","function":"inner","result":"3"}]},
        {"event":"span_end","id":"u"},
        {"event":"span_end","id":"a"},
        {"event":"span_begin","id":"b","parent_id":"t","type":"agent","name":"web"},
        {"event":"tool","span_id":"b","function":"get","result":"4"},
        {"event":"tool","span_id":"a","function":"late","result":"5"}]}"#;
    let reading = reading(input, None);
    let calls: Vec<&str> =
        reading.events.iter().filter(|event| !event.contains("->")).map(String::as_str).collect();
    let expected = [
        "#0 main/1 search null",
        "#1 web/2 get null",
        "#2 web/3 inner null",
        "#3 web 2/4 get null",
        "#4 main/5 late null",
    ];
    assert_eq!(calls, expected);
}

#[test]
fn attachments_take_the_place_of_their_names() {
    let input = br#"{"eval":{},"samples":[{"id":1,"epoch":1,"events":[
        {"event":"sample_init","sample":{"input":"attachment://aa"}},
        {"event":"model","output":{"choices":[{"message":{"content":"attachment://bb","tool_calls":[{}]}}]}},
        {"event":"tool","function":"f","arguments":{"x":["attachment://aa"]},"result":"attachment://bb"},
        {"event":"tool","function":"f","arguments":{},"error":{"type":"timeout","message":"attachment://aa"}},
        {"event":"tool","function":"f","arguments":{},"result":"attachment://cc"}],
        "attachments":{"aa":"long","bb":"longer"}}]}"#;
    let expected = [
        "main User: long",
        "main Assistant: longer",
        r#"#0 main/1 f {"x":["long"]}"#,
        "#0 main -> \"longer\"",
        "#1 main/1 f {}",
        "#1 main -> failed \"long\"",
        "#2 main/1 f {}",
        "#2 main -> \"attachment://cc\"",
    ];
    assert_eq!(reading(input, None).events, expected);
}

#[test]
fn a_log_without_events_is_read_from_its_messages() {
    let input = br#"{"eval":{},"samples":[{"id":1,"epoch":1,"events":[{"event":"state","changes":[]}],"messages":[
        {"role":"system","content":"Be brief."},
        {"role":"user","content":"Go"},
        {"role":"assistant","content":"Both.","tool_calls":[{"id":"a","function":"ls","arguments":{"p":1}},{"id":"b","function":"cat","arguments":{}},{"id":"c"}]},
        {"role":"tool","tool_call_id":"b","function":"cat","content":"","error":{"type":"timeout","message":"slow"}},
        {"role":"tool","tool_call_id":"a","function":"ls","content":"attachment://x"},
        {"role":"tool","tool_call_id":"z","function":"ls","content":"orphan"},
        {"content":"no role"},
        {"role":"assistant","content":"Done."}],"attachments":{"x":"long"}}]}"#;
    let reading = reading(input, None);
    let expected = [
        "main System: Be brief.",
        "main User: Go",
        "main Assistant: Both.",
        "#0 main/1 ls {\"p\":1}",
        "#1 main/1 cat {}",
        "#1 main -> failed \"slow\"",
        "#0 main -> \"long\"",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    assert_eq!(reading.problems(), ["line 9: a tool call needs the field `function`"]);
}

#[test]
fn nested_events_are_read_to_a_limit() {
    let begin = r#"{"event":"subtask","timestamp":"1970-01-01T00:00:01Z","events":["#;
    let call = r#"{"event":"tool","function":"f","result":"x"}"#;
    for (depth, calls) in [(1, 1), (8, 1), (9, 0), (10_000, 0)] {
        let input = format!("[{}{call}{}]", begin.repeat(depth), "]}".repeat(depth));
        let found = reading(input.as_bytes(), None).end.map(|trace| trace.calls);
        assert_eq!(found, Ok(calls), "{depth}");
    }
}

#[test]
fn each_sample_of_a_list_of_events_is_a_run() {
    let begin = r#"{"event":"sample_init","timestamp":"2026-01-01T00:00:00+00:00","sample":{"input":"Go"}}"#;
    let call =
        r#"{"event":"tool","timestamp":"2026-01-01T00:00:00+00:00","function":"ls","result":"x"}"#;
    let input = format!("[{begin},{call},{begin},{call}]");
    let reading = reading(input.as_bytes(), None);
    assert_eq!(reading.end.map(|trace| trace.runs), Ok(2));
}
