//! Messages of `LangChain`: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

const DUMPED: &str = r#"[
 {"lc":1,"type":"constructor","id":["langchain","schema","messages","SystemMessage"],"kwargs":{"content":"Be brief."}},
 {"lc":1,"type":"constructor","id":["HumanMessage"],"kwargs":{"content":"Go"}},
 {"lc":1,"type":"constructor","id":["AIMessageChunk"],"kwargs":{"content":[{"type":"text","text":"Both."},{"type":"tool_use","id":"a","name":"ls","input":{}}],
  "tool_calls":[{"name":"ls","args":{"p":1},"id":"a"},{"name":"cat","args":{},"id":"b"},{"id":"c"}],
  "additional_kwargs":{"tool_calls":[{"id":"a","function":{"name":"ls","arguments":"{}"}}]},
  "invalid_tool_calls":[{"name":"x","args":"{"}]}},
 {"lc":1,"type":"constructor","id":["ToolMessage"],"kwargs":{"content":"no","tool_call_id":"b","status":"error"}},
 {"lc":1,"type":"constructor","id":["ToolMessage"],"kwargs":{"content":[{"type":"text","text":"x"}],"tool_call_id":"a","status":"success"}},
 {"lc":1,"type":"constructor","id":["ToolMessage"],"kwargs":{"content":"orphan","tool_call_id":"z","status":"error"}},
 {"lc":1,"type":"constructor","id":["RemoveMessage"],"kwargs":{"content":""}},
 {"lc":1,"type":"constructor","id":["AIMessage"],"kwargs":{"content":"Done."}}]"#;

const EVENTS: [&str; 8] = [
    "main System: Be brief.",
    "main User: Go",
    "main Assistant: Both.",
    "#0 main/1 ls {\"p\":1}",
    "#1 main/1 cat {}",
    "#1 main -> failed \"no\"",
    "#0 main -> \"x\"",
    "main Assistant only: Done.",
];

#[test]
fn blocks_that_repeat_calls_count_once() {
    let reading = reading(DUMPED.as_bytes(), None);
    assert_eq!(reading.events, EVENTS);
    assert_eq!(reading.problems(), ["line 7: a tool call needs the field `name`"]);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.errors), (Format::LANGCHAIN, Some(1)));
}

#[test]
fn every_shape_of_a_message_is_read_alike() {
    let dumped: Vec<serde_json::Value> = serde_json::from_str(DUMPED).expect("an array");
    let (mut nested, mut flat, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for message in dumped {
        let class = message["id"].as_array().and_then(|id| id.last()?.as_str()).expect("a class");
        let kind = match class {
            "HumanMessage" => "human",
            "AIMessage" => "ai",
            "SystemMessage" => "system",
            "ToolMessage" => "tool",
            other => other,
        };
        let mut fields = message["kwargs"].clone();
        nested.push(serde_json::json!({"type": kind, "data": fields}));
        fields["type"] = kind.into();
        fields["response_metadata"] = serde_json::json!({});
        flat.push(fields);
        lines.push(message.to_string());
    }
    let state = serde_json::json!({"messages": flat});
    let documents =
        [serde_json::to_string(&nested).expect("JSON"), state.to_string(), lines.join("\n")];
    for document in documents {
        let reading = reading(document.as_bytes(), None);
        assert_eq!(reading.events, EVENTS, "{document}");
        assert_eq!(reading.end.map(|trace| trace.format), Ok(Format::LANGCHAIN), "{document}");
    }
}

#[test]
fn messages_of_old_versions_keep_calls_as_their_provider_does() {
    let input = br#"[
        {"type":"chat","content":"Go","role":"user","additional_kwargs":{}},
        {"type":"ai","content":"","additional_kwargs":{"tool_calls":[{"id":"a","function":{"name":"ls","arguments":"{\"p\":1}"}},7]}},
        {"type":"tool","content":"x","tool_call_id":"a"},
        {"content":"no type"}]"#;
    let reading = reading(input, None);
    assert_eq!(reading.events, ["main User: Go", "#0 main/1 ls {\"p\":1}", "#0 main -> \"x\""]);
    assert_eq!(reading.problems(), ["line 5: a message needs the field `type`"]);
    assert_eq!(reading.end.map(|trace| trace.errors), Ok(None));
}
