//! OpenAI Responses: requests, responses and items one a line.

use crate::reading::reading;
use unstuck_trace::Format;

const CALLS: &str = r#"{"type":"reasoning","summary":[]},
{"type":"function_call","name":"look","call_id":"a","arguments":"{\"x\":1}"},
{"type":"function_call","name":"look","call_id":"b","arguments":"{\"x\":2}"}"#;

const RESULTS: &str = r#"{"type":"function_call_output","call_id":"b","output":"two"},
{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"one"}]}"#;

const CALLS_AND_RESULTS: [&str; 4] = [
    "#0 main/1 look {\"x\":1}",
    "#1 main/1 look {\"x\":2}",
    "#1 main -> \"two\"",
    "#0 main -> \"one\"",
];

#[test]
fn a_request_holds_the_conversation_so_far() {
    let input = format!(
        r#"{{"model":"m","instructions":"x","input":[{{"role":"user","content":"Go"}},
        {{"role":"assistant","content":[{{"type":"output_text","text":"Both."}}]}},
        {CALLS},{RESULTS},{{"type":"web_search_call","id":"w","action":{{}}}},
        {{"type":"message","role":"assistant","content":"Done."}}],"tools":[]}}"#
    );
    for input in [input.clone(), input.replace('\n', " ")] {
        let reading = reading(input.as_bytes(), None);
        let expected = ["main User: Go", "main Assistant: Both."]
            .into_iter()
            .chain(CALLS_AND_RESULTS)
            .chain(["main Assistant only: Done."]);
        assert_eq!(reading.events, expected.collect::<Vec<_>>());
        let trace = reading.end.expect("a trace");
        assert_eq!((trace.format, trace.errors), (Format::OPENAI_RESPONSES, None));
        assert_eq!(trace.reason, "`input` or `output` with items");
    }
}

#[test]
fn a_log_with_request_and_response_is_read_to_its_end() {
    let response = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}"#;
    let input = format!("{{\"input\":[{CALLS},{RESULTS}],\n\"output\":[{response}]}}");
    let reading = reading(input.as_bytes(), None);
    assert_eq!(reading.events[..4], CALLS_AND_RESULTS);
    assert_eq!(reading.events[4..], ["main Assistant only: Done."]);
}

#[test]
fn an_array_of_items_and_a_list_of_messages_are_read_alike() {
    for input in [format!("[{CALLS},{RESULTS}]"), format!("{{\"messages\":[{CALLS},{RESULTS}]}}")] {
        let reading = reading(input.as_bytes(), None);
        assert_eq!(reading.events, CALLS_AND_RESULTS);
        assert_eq!(reading.end.map(|trace| trace.format), Ok(Format::OPENAI_RESPONSES));
    }
}

#[test]
fn items_one_a_line_are_read_as_these_or_as_codex() {
    let lines = format!("{{\"role\":\"user\",\"content\":\"Go\"}},\n{CALLS},\n{RESULTS}\n");
    let lines = lines.replace(",\n", "\n");
    let table = [(None, Format::CODEX), (Some(Format::OPENAI_RESPONSES), Format::OPENAI_RESPONSES)];
    for (from, format) in table {
        let reading = reading(lines.as_bytes(), from);
        assert_eq!(reading.events[..1], ["main User: Go"]);
        assert_eq!(reading.events[1..], CALLS_AND_RESULTS);
        assert_eq!(reading.end.map(|trace| trace.format), Ok(format));
    }
    let custom = r#"{"type":"custom_tool_call","name":"edit","call_id":"1","input":"*** Begin"}"#;
    let reading = reading(custom.as_bytes(), None);
    assert_eq!(reading.events, ["#0 main/1 edit text \"*** Begin\""]);
    assert_eq!(reading.end.map(|trace| trace.format), Ok(Format::OPENAI_RESPONSES));
}

#[test]
fn responses_and_requests_in_turn_are_one_run() {
    let user = r#"{"role":"user","content":"Go"}"#;
    let calls = CALLS.replace('\n', "");
    let results = RESULTS.replace('\n', "");
    let said = r#"{"role":"assistant","content":"Done."}"#;
    let input = [
        format!(r#"{{"model":"m","input":[{user}]}}"#),
        format!(r#"{{"object":"response","id":"1","output":[{calls}]}}"#),
        format!(r#"{{"model":"m","input":[{user},{calls},{results}]}}"#),
        format!(r#"{{"object":"response","id":"2","output":[{said}]}}"#),
        format!(r#"{{"model":"m","input":[{user},{results},{said},{user}]}}"#),
    ];
    let reading = reading(input.join("\n").as_bytes(), Some(Format::OPENAI_RESPONSES));
    let expected = ["main User: Go"]
        .into_iter()
        .chain(CALLS_AND_RESULTS)
        .chain(["main Assistant only: Done."]);
    assert_eq!(reading.events, expected.collect::<Vec<_>>());
}

#[test]
fn responses_one_a_line_are_recognised() {
    let calls = CALLS.replace('\n', "");
    let line = format!("{{\"object\":\"response\",\"output\":[{calls}]}}\n");
    let reading = reading(line.repeat(2).as_bytes(), None);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.calls), (Format::OPENAI_RESPONSES, 4));
}

#[test]
fn every_kind_of_call_has_a_name_and_arguments() {
    let table = [
        (r#""type":"custom_tool_call","name":"edit","input":"x""#, "edit text \"x\""),
        (
            r#""type":"local_shell_call","action":{"command":["ls"]}"#,
            r#"local_shell {"command":["ls"]}"#,
        ),
        (r#""type":"shell_call","action":{"commands":["ls"]}"#, r#"shell {"commands":["ls"]}"#),
        (r#""type":"apply_patch_call","operation":{"path":"a"}"#, r#"apply_patch {"path":"a"}"#),
        (r#""type":"computer_call","action":{"type":"click"}"#, r#"computer {"type":"click"}"#),
    ];
    for (fields, expected) in table {
        let reading = reading(format!(r#"[{{"call_id":"1",{fields}}}]"#).as_bytes(), None);
        assert_eq!(reading.events, [format!("#0 main/1 {expected}")]);
    }
}

#[test]
fn a_call_without_a_name_costs_only_itself() {
    let input = format!(r#"[{{"type":"function_call","call_id":"0"}},{CALLS}]"#);
    let reading = reading(input.as_bytes(), None);
    assert_eq!(reading.events, CALLS_AND_RESULTS[..2]);
    assert_eq!(reading.problems(), ["line 1: a function call needs the field `name`"]);
}

#[test]
fn a_failed_patch_is_flagged() {
    let patch = r#"{"type":"apply_patch_call","call_id":"1","operation":{"path":"a"}}"#;
    for (status, flagged, errors) in [("failed", "failed ", Some(1)), ("completed", "", None)] {
        let output =
            format!(r#"{{"type":"apply_patch_call_output","call_id":"1","status":"{status}"}}"#);
        let reading = reading(format!("[{patch},{output}]").as_bytes(), None);
        assert_eq!(reading.events[1..], [format!("#0 main -> {flagged}\"\"")]);
        assert_eq!(reading.end.map(|trace| trace.errors), Ok(errors));
    }
}

#[test]
fn texts_of_codex_in_the_name_of_the_user_are_left_out() {
    let echo = r#"{"role":"user","content":"<environment_context>x</environment_context>"}"#;
    let output = r#"{"type":"function_call_output","call_id":"a","output":"x"}"#;
    let reading = reading(format!("[{echo},{CALLS},{output}]").as_bytes(), None);
    assert_eq!(reading.events[..2], CALLS_AND_RESULTS[..2]);
    assert_eq!(reading.events[2..], ["#0 main -> \"x\""]);
}

#[test]
fn an_input_of_texts_is_not_taken() {
    for input in [r#"{"model":"m","input":["a","b"]}"#, r#"{"input":[{"text":"a"}]}"#] {
        assert!(reading(input.as_bytes(), None).end.is_err(), "{input}");
    }
}
