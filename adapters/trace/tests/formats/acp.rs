//! The Agent Client Protocol: one small case for each trap of its updates.

use crate::reading::reading;
use unstuck_trace::Format;

/// Returns lines with updates of a session.
fn updates(session: &str, updates: &[&str]) -> String {
    let lines = updates.iter().map(|update| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{update}}}}}\n"
        )
    });
    lines.collect()
}

#[test]
fn chunks_are_put_together_and_arguments_may_come_late() {
    let input = [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Go"},{"type":"resource_link","uri":"u"}]}}"#,
        "\n",
        &updates(
            "s",
            &[
                r#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Hm."}}"#,
                r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I "}}"#,
                r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"look."}}"#,
                r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"Read","kind":"read","status":"pending","rawInput":{}}"#,
                r#"{"sessionUpdate":"tool_call","toolCallId":"b","title":"my_tool","kind":"other","status":"pending","locations":[{"path":"/x"}]}"#,
                r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"in_progress","rawInput":{"path":"a"}}"#,
                r#"{"sessionUpdate":"tool_call_update","toolCallId":"b","status":"completed","rawOutput":{"n":1},"content":[{"type":"terminal","terminalId":"t-93"}]}"#,
                r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","content":[{"type":"content","content":{"type":"text","text":"no"}},{"type":"diff","path":"a","newText":"x"}]}"#,
                r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed"}"#,
                r#"{"sessionUpdate":"agent_message_chunk","messageId":"1","content":{"type":"text","text":"Done."}}"#,
                r#"{"sessionUpdate":"agent_message_chunk","messageId":"2","content":{"type":"text","text":"Bye."}}"#,
                r#"{"sessionUpdate":"tool_call","title":"no id"}"#,
                r#"{"sessionUpdate":"usage_update","used":1,"size":2}"#,
            ],
        ),
        r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#,
    ];
    let reading = reading(input.concat().as_bytes(), None);
    let expected = [
        "main User: Go",
        "main Assistant: I look.",
        r#"#0 main/1 read {"path":"a"}"#,
        r#"#1 main/1 my_tool {"locations":[{"path":"/x"}],"title":"my_tool"}"#,
        r#"#1 main -> "{\"n\":1}""#,
        r#"#0 main -> failed "no\n{\"type\":\"diff\",\"path\":\"a\",\"newText\":\"x\"}""#,
        "main Assistant only: Done.",
        "main Assistant only: Bye.",
    ];
    assert_eq!(reading.events, expected);
    assert_eq!(reading.problems(), ["line 14: a tool call needs the field `toolCallId`"]);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.errors), (Format::ACP, Some(1)));
    assert_eq!(trace.session.as_deref(), Some("s"));
}

#[test]
fn sessions_on_one_line_are_workers_and_their_ids_do_not_mix() {
    let begin = r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"Run","kind":"execute","rawInput":{"command":"ls"}}"#;
    let end = r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed","rawOutput":"x"}"#;
    let input = [
        updates("s", &[begin]),
        updates("t", &[begin]),
        updates("s", &[end]),
        updates("t", &[end, begin]),
    ];
    let reading = reading(input.concat().as_bytes(), None);
    let expected = [
        r#"#0 main/1 execute {"command":"ls"}"#,
        "#0 main -> \"x\"",
        r#"#1 t/2 execute {"command":"ls"}"#,
        "#1 t -> \"x\"",
        r#"#2 t/3 execute {"command":"ls"}"#,
    ];
    assert_eq!(reading.events, expected);
}

#[test]
fn a_session_that_is_loaded_again_counts_once() {
    let call = r#"{"sessionUpdate":"tool_call","toolCallId":"toolu_01A9Q4pzPLU8FwqfpZ8V","title":"Run","kind":"execute","status":"completed","rawInput":{"command":"ls"},"rawOutput":"x"}"#;
    let again = r#"{"sessionUpdate":"tool_call","toolCallId":"1","title":"Run","kind":"execute","status":"completed","rawInput":{"command":"ls"},"rawOutput":"x"}"#;
    let reading = reading(updates("s", &[call, call, again, again]).as_bytes(), None);
    assert_eq!(reading.end.map(|trace| trace.calls), Ok(3), "a counter as an id starts anew");
}

#[test]
fn a_known_session_is_skipped_while_it_is_loaded() {
    let load = |id: u8, session: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"session/load\",\"params\":{{\"sessionId\":\"{session}\",\"cwd\":\"/\"}}}}\n"
        )
    };
    let answer = |id: u8| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":null}}\n");
    let prompt = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s\",\"prompt\":[{\"type\":\"text\",\"text\":\"Go\"}]}}\n";
    let calls = updates(
        "s",
        &[
            r#"{"sessionUpdate":"tool_call","toolCallId":"call_0","title":"Run","kind":"execute","status":"completed","rawInput":{"command":"ls"},"rawOutput":"x"}"#,
        ],
    );
    for (lines, expected) in [
        (vec![load(1, "s"), calls.clone(), answer(1), calls.clone()], 2),
        (vec![calls.clone(), load(1, "s"), calls.clone(), answer(1)], 1),
        (vec![calls.clone(), load(1, "s"), calls.clone(), answer(1), calls.clone()], 2),
        (vec![calls.clone(), load(1, "s"), answer(2), calls.clone()], 1),
        (vec![calls.clone(), load(1, "s"), calls.clone(), prompt.to_owned(), calls.clone()], 2),
        (vec![calls.clone(), load(1, "t"), calls.clone()], 2),
        // Another session is loaded at the same time.
        (
            vec![
                calls.clone(),
                load(1, "s"),
                load(2, "t"),
                calls.clone(),
                answer(2),
                calls.clone(),
            ],
            1,
        ),
    ] {
        let reading = reading(lines.concat().as_bytes(), None);
        assert_eq!(reading.end.map(|trace| trace.calls), Ok(expected), "{lines:?}");
    }
}

#[test]
fn results_that_were_not_recorded_are_equal_to_no_others() {
    for result in [
        "",
        r#","rawOutput":null"#,
        r#","content":[]"#,
        r#","content":[{"type":"terminal","terminalId":"t"}]"#,
    ] {
        let calls = [1, 2].map(|id| {
            format!(
                r#"{{"sessionUpdate":"tool_call","toolCallId":"{id}","kind":"execute","status":"completed","rawInput":{{"command":"ls"}}{result}}}"#
            )
        });
        let reading = reading(updates("s", &[&calls[0], &calls[1]]).as_bytes(), None);
        let expected = [
            r#"#0 main/1 execute {"command":"ls"}"#,
            "#0 main -> \"\" +0",
            r#"#1 main/2 execute {"command":"ls"}"#,
            "#1 main -> \"\" +1",
        ];
        assert_eq!(reading.events, expected, "{result}");
    }
}

#[test]
fn messages_and_open_calls_are_bounded() {
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
