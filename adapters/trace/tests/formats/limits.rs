//! Transcripts that cannot be written down: too long, too deep, or no text.

use serde_json::{Value, json};
use unstuck_trace::{Format, LINE_BYTES_MAX, PROBLEMS_MAX};

use crate::reading::reading;

#[test]
fn subagents_of_atif_nest_to_a_limit() {
    let depth = 100_000;
    let input = format!(
        r#"{{"steps":[{{"step_id":1,"source":"user","message":"Go"}}],"subagent_trajectories":[{}{}]}}"#,
        r#"{"steps":[{"source":"user","message":"Go"}],"subagent_trajectories":["#.repeat(depth),
        "]}".repeat(depth)
    );
    let reading = reading(input.as_bytes(), Some(Format::ATIF));
    assert_eq!(reading.events.len(), 9);
    let expected =
        ["line 1: subagents are nested more than 8 levels deep, and the inner ones are not read"];
    assert_eq!(reading.problems(), expected);
}

#[test]
fn nested_events_of_inspect_are_read_to_a_limit() {
    let begin = r#"{"event":"subtask","timestamp":"1970-01-01T00:00:01Z","events":["#;
    let call = r#"{"event":"tool","function":"f","result":"x"}"#;
    for (depth, calls) in [(1, 1), (8, 1), (9, 0), (10_000, 0)] {
        let input = format!("[{}{call}{}]", begin.repeat(depth), "]}".repeat(depth));
        let found = reading(input.as_bytes(), None).end.map(|trace| trace.calls);
        assert_eq!(found, Ok(calls), "{depth}");
    }
}

#[test]
fn inner_runs_of_langsmith_need_no_ids_of_their_trace_and_are_read_to_a_depth() {
    let tool = |id: usize, inner: Value| {
        json!({"run_id": id.to_string(), "run_type": "tool", "name": format!("task{id}"),
            "inputs": {"id": id}, "outputs": {"output": "x"}, "child_runs": inner})
    };
    let nested = (0..40).rev().fold(Value::Null, |inner, id| tool(id, json!([inner])));
    let reading = reading(json!([nested]).to_string().as_bytes(), None);
    let problems = reading.problems();
    assert!(problems[0].contains("more than 32 levels deep"), "{problems:?}");
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.runs), (Format::LANGSMITH, 1));
    assert_eq!(trace.calls, 33);
}

#[test]
fn deep_and_long_attributes_of_phoenix_are_passed() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(3000), "}".repeat(3000));
    let long = "k".repeat(3000);
    let input = format!(
        r#"[{{"context":{{"trace_id":"t","span_id":"s"}},"span_kind":"TOOL",
            "attributes":{{"a":{deep},"{long}":{{"b":1}},"tool":{{"name":"ls"}},"output.value":"x"}}}}]"#
    );
    let reading = reading(input.as_bytes(), None);
    assert_eq!(reading.events, ["#0 main/1 ls absent", r#"#0 main -> "x""#]);
}

/// Returns lines with updates of a session of the Agent Client Protocol.
fn updates(session: &str, updates: &[&str]) -> String {
    let lines = updates.iter().map(|update| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{update}}}}}\n"
        )
    });
    lines.collect()
}

#[test]
fn messages_and_open_calls_of_acp_are_bounded() {
    let long = "x".repeat(700_000);
    let chunk = format!(
        r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{long}"}}}}"#
    );
    let whole = reading(updates("s", &[&chunk, &chunk]).as_bytes(), None);
    assert_eq!(whole.events, [format!("main Assistant only: {long}")]);
    let begin: Vec<String> = (0..1025)
        .map(|id| format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"{id}","title":"Run"}}"#))
        .collect();
    let mut all: Vec<&str> = begin.iter().map(String::as_str).collect();
    let ends = ["0", "1"].map(|id| {
        format!(
            r#"{{"sessionUpdate":"tool_call_update","toolCallId":"{id}","status":"completed","rawOutput":"x"}}"#
        )
    });
    all.extend(ends.iter().map(String::as_str));
    let found = reading(updates("s", &all).as_bytes(), None);
    assert_eq!(found.events.iter().filter(|event| event.contains("->")).count(), 2);
    assert_eq!(found.end.map(|trace| trace.calls), Ok(1025));
    let many: String = (0..66)
        .map(|id| {
            updates(
                &format!("s{id}"),
                &[r#"{"sessionUpdate":"tool_call","toolCallId":"1","title":"Run"}"#],
            )
        })
        .collect();
    let found = reading(many.as_bytes(), None);
    let expected = ["line 65: of a session after the first 64; only these are read"; 1];
    assert_eq!(found.problems()[..1], expected);
    assert_eq!(found.end.map(|trace| (trace.calls, trace.skipped)), Ok((64, 2)));
}

#[test]
fn a_call_of_cursor_far_behind_the_beginning_makes_no_other_format() {
    let init = r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/a","session_id":"s","model":"Auto","permissionMode":"default"}"#;
    let user = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Go"}]},"session_id":"s"}"#;
    let thought = r#"{"type":"thinking","subtype":"delta","text":"hm","session_id":"s"}"#;
    let thoughts = vec![thought; 2_000].join("\n");
    let end = r#"{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"shellToolCall":{"args":{"command":"ls"},"result":{"success":{"content":"x"}}}},"session_id":"s"}"#;
    for begin in [init, &thoughts] {
        let input = [begin, user, &thoughts, end].join("\n");
        let trace = reading(input.as_bytes(), None).end.expect("a trace");
        assert_eq!((trace.format, trace.calls), (Format::CURSOR, 1));
    }
}

#[test]
fn a_session_of_pi_beyond_the_limit_is_read_in_the_order_of_the_file() {
    let entry = |id: &str, parent: &str, message: &Value| {
        let parent = (!parent.is_empty()).then_some(parent);
        json!({"type": "message", "id": id, "parentId": parent, "message": message}).to_string()
    };
    let user = |id: &str, parent: &str, text: &str| {
        entry(id, parent, &json!({"role": "user", "content": [{"type": "text", "text": text}]}))
    };
    let answer = |id: &str, parent: &str, tool: &str| {
        let call = json!({"type": "toolCall", "id": tool, "name": tool, "arguments": {"n": 1}});
        let content = json!([{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Look."}, call]);
        entry(id, parent, &json!({"role": "assistant", "content": content}))
    };
    let long = "x".repeat(LINE_BYTES_MAX / 2);
    let lines = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/"}"#,
        &user("u", "", "Go"),
        &answer("a", "u", "ls"),
        &user("v", "u", &long),
        &user("w", "v", &long),
        &answer("b", "w", "cat"),
    ];
    let found = reading(lines.join("\n").as_bytes(), None).end.map(|trace| trace.calls);
    assert_eq!(found, Ok(2));
}

#[test]
fn problems_beyond_the_limit_are_counted() {
    let mut input = b"{\"type\":\"call\",\"tool\":\"x\"}\n".to_vec();
    input.extend(b"bad\n".repeat(50));
    let trace = reading(&input, None).end.expect("a trace");
    assert_eq!((trace.skipped, trace.problems.len()), (50, PROBLEMS_MAX));
}

#[test]
fn a_line_that_is_not_utf_8_costs_only_itself() {
    let call = b"{\"type\":\"call\",\"tool\":\"x\"}\n";
    let reading = reading(&[call, &b"\xff{}\n"[..], call].concat(), None);
    assert_eq!(reading.problems(), ["line 2: not UTF-8 at byte 1: expected JSON in UTF-8"]);
    assert_eq!(reading.events, ["#0 main/1 x null", "#1 main/2 x null"]);
}
