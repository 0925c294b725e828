//! The words of this project in the transcripts of each agent, with what the agent writes around them.

use unstuck_text::{Envelope, Unescaped};
use unstuck_trace::{Event, Format, read};

/// The events of a call, in words: its result, or that it was refused.
fn endings(input: &str, format: Format) -> Vec<String> {
    let mut endings = Vec::new();
    let trace = read(input.as_bytes(), None, &mut |event| {
        if let Event::Outcome(outcome) = event {
            let mut memory = Unescaped::default();
            let text = Envelope::open(outcome.text, &mut memory).body;
            let how = match (outcome.refused, outcome.failed) {
                (true, _) => "refused".to_owned(),
                (false, true) => format!("failed {text}"),
                (false, false) => text.to_owned(),
            };
            endings.push(how);
        }
    })
    .expect("a trace");
    let failed = endings.iter().filter(|end| end.starts_with("failed")).count();
    assert_eq!((trace.format, trace.errors.unwrap_or(0)), (format, failed));
    endings
}

/// The calls at which the file has a message of this project.
fn calls_with_messages(input: &str) -> Vec<usize> {
    read(input.as_bytes(), None, &mut |_| {}).expect("a trace").notes
}

/// The texts of all messages.
fn messages(input: &str) -> Vec<String> {
    let mut messages = Vec::new();
    let mut sink = |event: Event<'_>| {
        if let Event::Message(message) = event {
            messages.push(message.text.to_owned());
        }
    };
    read(input.as_bytes(), None, &mut sink).expect("a trace");
    messages
}

#[test]
fn claude_code() {
    let call = |id: &str| {
        format!(
            r#"{{"type":"assistant","sessionId":"s","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}]}}}}"#
        )
    };
    let result = |id: &str, content: &str, failed: bool| {
        format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":{content},"is_error":{failed}}}]}}}}"#
        )
    };
    let note = r#"{"type":"attachment","sessionId":"s","attachment":{"type":"hook_additional_context","content":["[unstuck] Again."]}}"#;
    let lines = [
        call("a"),
        result("a", r#""no""#, true),
        note.to_owned(),
        call("b"),
        result("b", r#""[unstuck] This call was not run. Again.""#, true),
        // A server behind the proxy: blocks, an error whose blocks are lines, and a structured result.
        call("c"),
        result(
            "c",
            r#"[{"type":"text","text":"x"},{"type":"text","text":"[unstuck] Again."}]"#,
            false,
        ),
        call("d"),
        result("d", r#""no such file\n[unstuck] Again.""#, true),
        call("e"),
        result("e", r#""{\"n\":1,\"unstuck_note\":\"[unstuck] Again.\"}""#, false),
        call("f"),
        result("f", r#""a log:\n\n[unstuck] Again.\n\nits end""#, false),
        call("g"),
        result("g", r#""The user doesn't want to proceed with this tool use.""#, true),
    ];
    let quoted = "a log:\n\n[unstuck] Again.\n\nits end";
    let expected =
        ["failed no", "refused", "x", "failed no such file", "{\"n\":1}", quoted, "refused"];
    assert_eq!(endings(&lines.join("\n"), Format::CLAUDE_CODE), expected);
    assert_eq!(
        calls_with_messages(&lines.join("\n")),
        [0, 1, 2, 3, 4],
        "neither a quotation nor a person's refusal"
    );
}

#[test]
fn codex() {
    let item = |payload: &str| format!(r#"{{"type":"response_item","payload":{payload}}}"#);
    let call = |id: &str| {
        item(&format!(
            r#"{{"type":"function_call","name":"exec_command","arguments":"{{}}","call_id":"{id}"}}"#
        ))
    };
    let output = |id: &str, output: &str| {
        item(&format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{output}}}"#))
    };
    let note = r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"[unstuck] Again."}]}"#;
    let lines = [
        call("a"),
        output("a", r#""Process exited with code 1\nOutput:\nno""#),
        item(note),
        call("b"),
        output("b", r#""Command blocked by PreToolUse hook: [unstuck] Again. Command: make""#),
        call("c"),
        output("c", r#""Tool call blocked by PreToolUse hook: [unstuck] Again. Tool: x""#),
        call("d"),
        output(
            "d",
            r#"[{"type":"input_text","text":"Script failed\nWall time 0.1 seconds\nOutput:\n"},{"type":"input_text","text":"Script error:\nCommand blocked by PreToolUse hook: [unstuck] Again."}]"#,
        ),
    ];
    let input = lines.join("\n");
    assert_eq!(endings(&input, Format::CODEX), ["failed no", "refused", "refused", "refused"]);
    assert!(messages(&input).is_empty());
    assert_eq!(calls_with_messages(&input), [0, 1, 2, 3]);
}

#[test]
fn gemini() {
    let record = |id: &str, status: &str, response: &str| {
        format!(
            r#"{{"id":"{id}","type":"gemini","content":"","toolCalls":[{{"id":"{id}","name":"sh","args":{{}},"status":"{status}","result":[{{"functionResponse":{{"id":"{id}","response":{response}}}}}]}}]}}"#
        )
    };
    let lines = [
        r#"{"sessionId":"s","projectHash":"h"}"#.to_owned(),
        record(
            "a",
            "success",
            r#"{"output":"x\nProcess Group PGID: 12\n\n<hook_context>[unstuck] Again.</hook_context>"}"#,
        ),
        record("b", "error", r#"{"error":"Tool result blocked: no match\n\n[unstuck] Again."}"#),
        record("c", "error", r#"{"error":"Tool execution blocked: [unstuck] Again."}"#),
        record("d", "error", r#"{"error":"Agent execution stopped by hook: [unstuck] Again."}"#),
    ];
    let expected = ["x\nProcess Group PGID: 12", "failed no match", "refused", "refused"];
    assert_eq!(endings(&lines.join("\n"), Format::GEMINI), expected);
    assert_eq!(calls_with_messages(&lines.join("\n")), [0, 1, 2, 3]);
}

#[test]
fn qwen() {
    let call = |id: &str| {
        format!(
            r#"{{"type":"assistant","sessionId":"s","message":{{"parts":[{{"functionCall":{{"id":"{id}","name":"sh"}}}}]}}}}"#
        )
    };
    let result = |id: &str, error: &str| {
        format!(
            r#"{{"type":"tool_result","sessionId":"s","message":{{"parts":[{{"functionResponse":{{"id":"{id}","response":{{"error":"{error}"}}}}}}]}},"toolCallResult":{{"status":"error"}}}}"#
        )
    };
    let lines = [
        call("a"),
        result("a", r"Exit Code: 1\n\n[unstuck] Again."),
        call("b"),
        result("b", "[unstuck] This call was not run. Again."),
    ];
    assert_eq!(endings(&lines.join("\n"), Format::QWEN), ["failed Exit Code: 1", "refused"]);
    assert_eq!(calls_with_messages(&lines.join("\n")), [0, 1]);
}

#[test]
fn copilot() {
    let call = |id: &str| {
        format!(
            r#"{{"type":"tool.execution_start","data":{{"toolCallId":"{id}","toolName":"bash"}}}}"#
        )
    };
    let end = |id: &str, rest: &str| {
        format!(r#"{{"type":"tool.execution_complete","data":{{"toolCallId":"{id}",{rest}}}}}"#)
    };
    let lines = [
        call("a"),
        end(
            "a",
            r#""success":true,"result":{"content":"x\n<shellId: 3 completed with exit code 0>\n\nTool \"bash\" succeeded. Additional guidance from postToolUse hooks:\n[unstuck] Again."}"#,
        ),
        call("b"),
        end(
            "b",
            r#""success":false,"error":{"message":"Denied by preToolUse hook: [unstuck] Again."}"#,
        ),
    ];
    assert_eq!(endings(&lines.join("\n"), Format::COPILOT), ["x", "refused"]);
    assert_eq!(calls_with_messages(&lines.join("\n")), [0, 1]);
}

#[test]
fn pi() {
    let entry = |id: &str, parent: &str, message: &str| {
        format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{message}}}"#)
    };
    let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"bash"},{"type":"toolCall","id":"d","name":"bash"}]}"#;
    let result = |id: &str, content: &str| {
        format!(r#"{{"role":"toolResult","toolCallId":"{id}","content":{content},"isError":true}}"#)
    };
    let noted = r#"[{"type":"text","text":"no"},{"type":"text","text":"[unstuck] Again."}]"#;
    let lines = [
        entry("1", "null", call),
        entry("2", "\"1\"", &result("c", noted)),
        entry("3", "\"2\"", &result("d", r#"[{"type":"text","text":"[unstuck] Again."}]"#)),
    ];
    assert_eq!(endings(&lines.join("\n"), Format::PI), ["failed no", "refused"]);
    // Both were called at once, and the note of the first came behind the second.
    assert_eq!(calls_with_messages(&lines.join("\n")), [1]);
}

#[test]
fn a_note_in_the_place_of_the_user_is_no_message() {
    let input = r#"[{"role":"user","content":"Go"},{"role":"user","content":"[unstuck] Again."}]"#;
    assert_eq!(messages(input), ["Go"]);
}
