//! OpenAI chat messages: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

#[test]
fn calls_of_one_message_share_a_step_and_ids_are_paired_in_order() {
    let input = br#"[{"role":"developer","content":"Be brief."},
{"role":"user","content":[{"type":"text","text":"Look"},{"type":"text","text":"here"}]},
{"role":"assistant","content":"Both.","tool_calls":[
 {"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"\\u00fc\"}"}},
 {"id":"c","type":"function","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]},
{"role":"tool","tool_call_id":"c","content":"first"},
{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"second"}]},
{"role":"tool","tool_call_id":"c","content":"third"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]},
{"role":"assistant","content":"Hm."},
{"role":"assistant","content":"Done."}]"#;
    let reading = reading(input, None);
    let expected = [
        "main System: Be brief.",
        "main User: Look\nhere",
        "main Assistant: Both.",
        r#"#0 main/1 read {"path":"\u00fc"}"#,
        r#"#1 main/1 read {"path":"b"}"#,
        "#0 main -> \"first\"",
        "#1 main -> \"second\"",
        r#"#2 main/2 read {"path":"b"}"#,
        "main Assistant only: Hm.",
        "main Assistant only: Done.",
    ];
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.errors), (Format::OPENAI, None));
}

#[test]
fn arguments_come_in_every_state() {
    let table = [
        (r#""{\"a\": 1}""#, "{\"a\": 1}"),
        (r#""{\"a\": ""#, r#"text "{\"a\": ""#),
        (r#""""#, "text \"\""),
        (r#"{"a": 1}"#, "{\"a\": 1}"),
        ("null", "null"),
    ];
    for (arguments, expected) in table {
        let input = format!(
            r#"[{{"role":"assistant","tool_calls":[{{"function":{{"name":"f","arguments":{arguments}}}}}]}}]"#
        );
        assert_eq!(reading(input.as_bytes(), None).events, [format!("#0 main/1 f {expected}")]);
    }
}

#[test]
fn old_and_custom_calls_are_read() {
    let input = br#"{"model":"m","messages":[
{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}},
{"role":"function","name":"f","content":"ok"},
{"role":"assistant","tool_calls":[{"id":"1","type":"custom","function":null,"custom":{"name":"sql","input":"select 1"}}]},
{"role":"tool","tool_call_id":"1","content":"1"}],
"response":{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"2","function":{"name":"g","arguments":"{}"}}]}}]}}"#;
    let expected = [
        "#0 main/1 f {}",
        "#0 main -> \"ok\"",
        "#1 main/2 sql text \"select 1\"",
        "#1 main -> \"1\"",
    ];
    assert_eq!(reading(input, None).events, expected);
}

#[test]
fn a_message_that_cannot_be_read_costs_only_itself() {
    let table = [
        ("7", "line 2: expected a JSON object, found a number"),
        (r#"{"content":"x"}"#, "line 2: a message needs the field `role`"),
        (
            r#"{"role":"assistant","tool_calls":[{"id":"x"}]}"#,
            "line 2: a tool call needs the field `function.name`",
        ),
        (
            r#"{"role":"user","content":[{"type":"tool_result"}]}"#,
            "line 2: holds a content block of Anthropic's messages; OpenAI's keep calls in `tool_calls`",
        ),
    ];
    for (bad, problem) in table {
        let input = format!(
            "[{{\"role\":\"user\",\"content\":\"a\"}},\n{bad},{{\"role\":\"user\",\"content\":\"b\"}}]"
        );
        let reading = reading(input.as_bytes(), Some(Format::OPENAI));
        assert_eq!(reading.events, ["main User: a", "main User: b"]);
        assert_eq!(reading.problems(), [problem]);
    }
}
