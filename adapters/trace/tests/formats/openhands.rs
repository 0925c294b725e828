//! `OpenHands` events: one small case for each shape and trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

#[test]
fn events_of_the_sdk_are_read_one_a_line() {
    let input = br#"{"kind":"SystemPromptEvent","source":"agent","system_prompt":{"type":"text","text":"Be brief."}}
{"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"Go"}]}}
{"kind":"ConversationStateUpdateEvent","source":"environment","key":"stats","value":{}}
{"kind":"ActionEvent","source":"agent","id":"a1","thought":[{"type":"text","text":"Both."}],"action":{"command":"ls","kind":"TerminalAction"},"tool_name":"terminal","tool_call_id":"c1","tool_call":{"id":"c1","name":"terminal","arguments":"{\"security_risk\":\"LOW\",\"command\":\"ls\"}"},"llm_response_id":"r1"}
{"kind":"ActionEvent","source":"agent","id":"a2","thought":[],"action":null,"tool_name":"terminal","tool_call_id":"c2","tool_call":{"id":"c2","name":"terminal","arguments":"{\"command\":"},"llm_response_id":"r1"}
{"kind":"ObservationEvent","source":"environment","tool_call_id":"c1","action_id":"a1","observation":{"content":[{"type":"text","text":"x"}],"is_error":false,"metadata":{"exit_code":1}}}
{"kind":"AgentErrorEvent","source":"agent","tool_call_id":"c2","tool_name":"terminal","error":"not JSON"}
{"kind":"ObservationEvent","source":"environment","tool_call_id":"c9","observation":{"content":"orphan","is_error":true}}
{"kind":"ActionEvent","source":"agent","id":"a3","action":{},"tool_call":{"function":{"name":"edit","arguments":"{}"}},"llm_response_id":"r2"}
{"kind":"UserRejectObservation","source":"environment","action_id":"a3","rejection_reason":"No","rejection_source":"hook"}
{"kind":"ActionEvent","source":"agent","id":"a4","action":{},"tool_name":"edit","tool_call_id":"c4","llm_response_id":"r3"}
{"kind":"ObservationEvent","source":"environment","tool_call_id":"c4","observation":{"output":"late","exit_code":-1,"is_error":false}}
{"kind":"MessageEvent","source":"agent","llm_message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}}
"#;
    let reading = reading(input, None);
    let expected = [
        "main System: Be brief.",
        "main User: Go",
        "main Assistant: Both.",
        r#"#0 main/1 terminal {"command":"ls","kind":"TerminalAction"}"#,
        r#"#1 main/1 terminal text "{\"command\":""#,
        "#0 main -> failed \"x\"",
        "#1 main -> failed \"not JSON\"",
        "#2 main/2 edit {}",
        "#2 main -> \"No\"",
        "#3 main/3 edit {}",
        "#3 main -> \"late\"",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.errors), (Format::OPENHANDS, Some(2)));
}

const V0: [&str; 12] = [
    r#"{"id":0,"source":"environment","observation":"agent_state_changed","content":"","extras":{}}"#,
    r#"{"id":1,"source":"user","action":"message","args":{"content":"Go"}}"#,
    r#"{"id":2,"source":"user","observation":"null","cause":1,"content":""}"#,
    r#"{"id":3,"source":"agent","action":"run","args":{"command":"a","thought":"Both."},"tool_call_metadata":{"model_response":{"id":"r1"}}}"#,
    r#"{"id":4,"source":"agent","action":"run","args":{"command":"b","thought":""},"tool_call_metadata":{"model_response":{"id":"r1"}}}"#,
    r#"{"id":5,"source":"agent","observation":"run","cause":4,"content":"two","extras":{"metadata":{"exit_code":2}}}"#,
    r#"{"id":6,"source":"agent","observation":"run","cause":3,"content":"one","extras":{"metadata":{"exit_code":-1}},"success":false}"#,
    r#"{"id":7,"source":"user","action":"run","args":{"command":"by hand"}}"#,
    r#"{"id":8,"source":"user","observation":"run","cause":7,"content":"x"}"#,
    r#"{"id":9,"source":"agent","action":"edit","args":{"path":"a"}}"#,
    r#"{"id":10,"source":"agent","observation":"error","cause":9,"content":"no"}"#,
    r#"{"id":11,"source":"agent","action":"finish","args":{"outputs":{},"thought":"Done."}}"#,
];

#[test]
fn results_of_v0_name_their_calls() {
    let expected = [
        "main User: Go",
        "main Assistant: Both.",
        r#"#0 main/1 run {"command":"a","thought":"Both."}"#,
        r#"#1 main/1 run {"command":"b","thought":""}"#,
        "#1 main -> failed \"two\"",
        "#0 main -> \"one\"",
        r#"#2 main/2 edit {"path":"a"}"#,
        "#2 main -> failed \"no\"",
        "main Assistant only: Done.",
    ];
    let list = V0.join(",\n");
    let inputs = [format!("[{list}]"), V0.join("\n"), format!("{{\"events\":[{list}]}}")];
    for input in inputs {
        for from in [None, Some(Format::OPENHANDS)] {
            assert_eq!(reading(input.as_bytes(), from).events, expected, "{input}");
        }
    }
}

#[test]
fn the_oldest_events_have_neither_id_nor_source() {
    let events = [
        r#"{"action":"message","content":"Go","wait_for_response":null}"#,
        r#"{"action":"run","command":"a","thought":"I look.","keep_prompt":true,"is_confirmed":"confirmed","action_risk":null}"#,
        r#"{"observation":"run","content":"x","command":"a","command_id":-1,"exit_code":1}"#,
        r#"{"action":"run","command":"never answered"}"#,
        r#"{"action":"run_ipython","code":"1"}"#,
        r#"{"observation":"run_ipython","content":"1","code":"1"}"#,
        r#"{"observation":"run","content":"orphan"}"#,
        r#"{"action":"finish","outputs":{},"thought":"Done."}"#,
    ];
    let expected = [
        "main User: Go",
        "main Assistant: I look.",
        r#"#0 main/1 run {"command":"a"}"#,
        "#0 main -> failed \"x\"",
        r#"#1 main/2 run {"command":"never answered"}"#,
        r#"#2 main/3 run_ipython {"code":"1"}"#,
        "#2 main -> \"1\"",
        "main Assistant only: Done.",
    ];
    let [go, call, result, rest @ ..] = events;
    let pairs = format!("[{go}],[{call},{result}],{}", rest.join(","));
    for list in [events.join(",\n"), pairs] {
        let input = format!(r#"{{"git_patch":"","history":[{list}],"metrics":{{}}}}"#);
        let reading = reading(input.as_bytes(), None);
        assert_eq!(reading.events, expected);
        assert_eq!(reading.end.map(|trace| trace.errors), Ok(Some(1)));
    }
}

#[test]
fn an_event_that_cannot_be_read_costs_only_itself() {
    let bad = r#"{"kind":"ActionEvent","source":"agent","action":{}}"#;
    let good = r#"{"kind":"MessageEvent","source":"user","llm_message":{"content":"Go"}}"#;
    let reading = reading(format!("{good}\n{bad}\n[]\n{good}").as_bytes(), None);
    assert_eq!(reading.events, ["main User: Go", "main User: Go"]);
    let problems = [
        "line 2: an action needs the field `tool_name`",
        "line 3: expected a JSON object, found an array",
    ];
    assert_eq!(reading.problems(), problems);
}
