//! Properties for any bytes: nothing panics, and no line costs another one.

use crate::reading::{cases, reading};
use proptest::collection::vec;
use proptest::prelude::*;
use unstuck_trace::Format;

const NATIVE: [&str; 4] = [
    r#"{"type":"call","tool":"bash","args":{"command":"ls"},"result":"a","is_error":false,"step":1,"time":7,"tokens":{"input":3,"output":1}}"#,
    r#"{"type":"message","role":"assistant","text":"I look.","worker":"b","time":"2026-11-21T21:33:55Z"}"#,
    r#"{"type":"call","tool":"read","args":["\ud83d"],"result":{"x":1},"worker":"b","result_sha":"9"}"#,
    r#"{"type":"message","role":"user","text":"Go on"}"#,
];

const CLAUDE: [&str; 4] = [
    r#"{"type":"user","sessionId":"s","uuid":"1","message":{"role":"user","content":"Go"}}"#,
    r#"{"type":"assistant","uuid":"2","parentUuid":"1","isSidechain":true,"message":{"id":"m","content":[{"type":"text","text":"I look."}]}}"#,
    r#"{"type":"assistant","uuid":"3","timestamp":"2026-11-21T21:33:55.048Z","message":{"id":"m","usage":{"input_tokens":3,"cache_read_input_tokens":9,"output_tokens":1},"content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"ls"}}]}}"#,
    r#"{"type":"user","uuid":"4","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"a"}],"is_error":true}]}}"#,
];

const CODEX: [&str; 7] = [
    r#"{"type":"session_meta","payload":{"id":"t","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}}}}"#,
    r#"{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"c"}}"#,
    r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c","exit_code":1}}}"#,
    r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"Chunk ID: 1\nWall time: 2 seconds\nExit code: 1\nOutput:\nx"}}"#,
    r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]}}"#,
    r#"{"type":"compacted","payload":{"replacement_history":[]}}"#,
    r#"{"timestamp":"2026-11-21T21:33:55.048Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"output_tokens":1},"last_token_usage":{"input_tokens":3,"cached_input_tokens":2,"output_tokens":1}}}}"#,
];

const COPILOT: [&str; 6] = [
    r#"{"type":"session.start","data":{"sessionId":"s","producer":"copilot-agent"}}"#,
    r#"{"type":"user.message","data":{"content":"Go"}}"#,
    r#"{"type":"assistant.message","data":{"content":"I look.","toolRequests":[{"toolCallId":"c","name":"bash","arguments":{"command":"ls"}}]}}"#,
    r#"{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"bash","arguments":{"command":"ls"}}}"#,
    r#"{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"shellExecution":{"exitCode":1},"result":{"content":"x\n<shellId: 1 completed with exit code 1>"}}}"#,
    r#"{"type":"session.shutdown","timestamp":"2026-11-21T21:33:55Z","data":{"modelMetrics":{"x":{"usage":{"inputTokens":3,"outputTokens":1}}}}}"#,
];

const OPENCODE: [&str; 4] = [
    r#"{"type":"step_start","sessionID":"s","part":{"type":"step-start"}}"#,
    r#"{"type":"text","sessionID":"s","part":{"type":"text","text":"I look."}}"#,
    r#"{"type":"step_finish","timestamp":7,"sessionID":"s","part":{"type":"step-finish","tokens":{"input":3,"output":1,"cache":{"read":9}}}}"#,
    r#"{"type":"tool_use","sessionID":"s","part":{"type":"tool","tool":"bash","state":{"status":"error","input":{},"error":"x"}}}"#,
];

const GEMINI: [&str; 5] = [
    r#"{"sessionId":"s","projectHash":"h","kind":"subagent"}"#,
    r#"{"id":"r","type":"gemini","content":"I look.","timestamp":"2026-11-21T21:33:55Z","tokens":{"input":3,"cached":2,"output":1},"toolCalls":[{"id":"c","name":"sh","args":{}}]}"#,
    r#"{"id":"r","type":"gemini","content":"I look.","toolCalls":[{"id":"c","name":"sh","args":{},"status":"error","result":[{"functionResponse":{"id":"c","response":{"output":"x\nProcess Group PGID: 7"}}}]}]}"#,
    r#"{"type":"assistant","sessionId":"s","message":{"parts":[{"text":"I look."},{"functionCall":{"id":"d","name":"ls"}}]}}"#,
    r#"{"type":"tool_result","sessionId":"s","message":{"parts":[{"functionResponse":{"id":"d","response":{}}}]}}"#,
];

const CURSOR: [&str; 3] = [
    r#"{"type":"system","subtype":"init","apiKeySource":"login","session_id":"s"}"#,
    r#"{"type":"tool_call","subtype":"started","session_id":"s","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"ls","toolCallId":"c"}}}}"#,
    r#"{"type":"tool_call","subtype":"completed","session_id":"s","call_id":"c","tool_call":{"shellToolCall":{"args":{},"result":{"failure":{"exitCode":1,"stdout":"x"}}}}}"#,
];

const CODEX_EXEC: [&str; 4] = [
    r#"{"type":"thread.started","thread_id":"t"}"#,
    r#"{"type":"item.started","item":{"id":"c","type":"command_execution","command":"ls","status":"in_progress"}}"#,
    r#"{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"ls","aggregated_output":"x","exit_code":1,"status":"failed"}}"#,
    r#"{"type":"turn.completed","usage":{"input_tokens":3,"output_tokens":1}}"#,
];

const GEMINI_STREAM: [&str; 3] = [
    r#"{"type":"init","timestamp":"2026-11-21T21:33:55Z","session_id":"s","model":"m"}"#,
    r#"{"type":"tool_use","timestamp":"2026-11-21T21:33:55Z","tool_name":"sh","tool_id":"c","parameters":{}}"#,
    r#"{"type":"tool_result","timestamp":"2026-11-21T21:33:55Z","tool_id":"c","status":"error","error":{"message":"x"}}"#,
];

const OPENHANDS: [&str; 6] = [
    r#"{"kind":"ActionEvent","source":"agent","thought":[{"text":"I look."}],"action":{"command":"ls"},"tool_name":"terminal","tool_call_id":"c","llm_response_id":"r"}"#,
    r#"{"kind":"ObservationEvent","source":"environment","tool_call_id":"c","observation":{"content":[{"text":"x"}],"metadata":{"exit_code":1}}}"#,
    r#"{"id":1,"source":"agent","action":"run","args":{"command":"ls","thought":"I look."}}"#,
    r#"{"id":2,"source":"agent","observation":"run","cause":1,"content":"x","extras":{"exit_code":-1}}"#,
    r#"{"kind":"MessageEvent","source":"user","llm_message":{"content":[{"text":"Go on"}]}}"#,
    r#"{"kind":"ConversationStateUpdateEvent","source":"environment","timestamp":"2026-06-16T05:39:18.8","value":{"usage_to_metrics":{"x":{"accumulated_token_usage":{"prompt_tokens":3,"completion_tokens":1}}}}}"#,
];

const OTLP: [&str; 3] = [
    r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","parentSpanId":"00f067aa0ba902b7","startTimeUnixNano":"7000000","endTimeUnixNano":"8000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"ls"}}]}]}]}]}"#,
    r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"session.id","value":{"stringValue":"s"}}]},"scopeSpans":[{"spans":[{"traceId":"AAAAAAAAAAAAAAAAAAAABw==","spanId":"AAAAAAAAAAk=","startTimeUnixNano":9,"status":{"code":2},"attributes":[{"key":"ai.toolCall.name","value":{"stringValue":"f"}},{"key":"ai.operationId","value":{"stringValue":"ai.toolCall"}},{"key":"ai.toolCall.args","value":{"kvlistValue":{"values":[{"key":"a","value":{"intValue":"1"}}]}}}]}]}]}]}"#,
    r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00f067aa0ba902b7","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"3"}},{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Go\"}]}]"}}]}]}]}]}"#,
];

/// A document of each format that has one.
const DOCUMENTS: &str = include_str!("documents.txt");

const ACP: [&str; 6] = [
    r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}}"#,
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I look."}}}}"#,
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Read a","kind":"read","rawInput":{"path":"a"}}}}"#,
    r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"y"}}]}}}"#,
    r#"{"sessionId":"t","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Run","status":"failed","rawOutput":1}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}"#,
];

/// Reads bytes as every format, and by recognition.
fn read_all_ways(input: &[u8]) {
    let ways = Format::ALL.iter().copied().map(Some).chain([None]);
    for from in ways {
        let reading = reading(input, from);
        let delivered = reading.events.iter().filter(|event| event.starts_with('#')).count();
        if let Ok(trace) = reading.end {
            assert!(trace.calls <= delivered);
            assert!(trace.problems.len() <= trace.skipped);
        }
    }
}

/// Whole lines of one of the line formats.
fn lines() -> impl Strategy<Value = Vec<&'static str>> {
    prop_oneof![
        vec(prop::sample::select(NATIVE.to_vec()), 1..8),
        vec(prop::sample::select(CLAUDE.to_vec()), 1..8),
        vec(prop::sample::select(CODEX.to_vec()), 1..8),
        vec(prop::sample::select(GEMINI.to_vec()), 1..8),
        vec(prop::sample::select(COPILOT.to_vec()), 1..8),
        vec(prop::sample::select(OPENCODE.to_vec()), 1..8),
        vec(prop::sample::select(CURSOR.to_vec()), 1..8),
        vec(prop::sample::select(CODEX_EXEC.to_vec()), 1..8),
        vec(prop::sample::select(GEMINI_STREAM.to_vec()), 1..8),
        vec(prop::sample::select(OPENHANDS.to_vec()), 1..8),
        vec(prop::sample::select(ACP[..5].to_vec()), 1..8),
        vec(prop::sample::select(OTLP.to_vec()), 1..8),
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..300)) {
        read_all_ways(&bytes);
    }

    #[test]
    fn damaged_transcripts_are_read_or_refused(
        mut lines in lines(),
        document in prop::option::of(prop::sample::select(cases(DOCUMENTS))),
        cuts in vec((any::<prop::sample::Index>(), 0_usize..9, vec(any::<u8>(), 0..5)), 1..6),
    ) {
        if let Some((_, document)) = document {
            lines = vec![document];
        }
        let mut input = lines.join("\n").into_bytes();
        for (at, length, put) in cuts {
            let at = at.index(input.len() + 1);
            let end = input.len().min(at + length);
            input.splice(at..end, put);
        }
        read_all_ways(&input);
    }

    #[test]
    fn a_bad_line_loses_no_other_event(
        lines in lines(),
        at in any::<prop::sample::Index>(),
        bad in prop::sample::select(vec![
            &br#"{"type":"call","tool""#[..],
            b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\"}}",
            b"[1,2]",
            b"\"text\"",
            b"42",
            b"\x00\x00\x00",
            b"{} {}",
        ]),
    ) {
        let whole = lines.join("\n");
        let expected = reading(whole.as_bytes(), None);
        let format = expected.end.as_ref().expect("a trace").format;
        let mut records: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let at = at.index(records.len() + 1);
        records.insert(at, bad);
        let found = reading(&records.join(&b'\n'), Some(format));
        prop_assert_eq!(&found.events, &expected.events);
        let problems = found.problems();
        prop_assert_eq!(problems.len(), 1);
        let place = format!("line {}: ", at + 1);
        prop_assert!(problems.iter().all(|problem| problem.starts_with(&place)));
    }

    #[test]
    fn a_document_cut_anywhere_delivers_a_beginning(
        (format, document) in prop::sample::select(cases(DOCUMENTS)),
        at in any::<prop::sample::Index>(),
    ) {
        let read = reading(document.as_bytes(), None);
        prop_assert_eq!(read.end.map(|trace| trace.format), Ok(format));
        let whole = reading(document.as_bytes(), Some(format)).events;
        prop_assert_eq!(&read.events, &whole);
        let begin = document.as_bytes().get(..at.index(document.len())).unwrap_or_default();
        let cut = reading(begin, Some(format));
        prop_assert_eq!(&cut.events[..], &whole[..cut.events.len()]);
    }
}
