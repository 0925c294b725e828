//! Properties for any bytes: nothing panics, and no line costs another one.

use crate::reading::reading;
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
const DOCUMENTS: [(Format, &str); 15] = [
    (
        Format::INSPECT,
        r#"{"version":2,"eval":{},"samples":[{"id":"a","epoch":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"I look.","tool_calls":[{"id":"c","function":"f","arguments":{}}]},{"role":"tool","tool_call_id":"c","content":"y"}]},{"id":"a","epoch":2,"events":[{"event":"span_begin","id":"s","type":"agent","name":"n"},{"event":"tool","span_id":"s","id":"c","function":"f","arguments":{"x":"attachment://a"},"result":"y","error":{"type":"unknown","message":"z"}},{"event":"span_end","id":"s"}],"attachments":{"a":"long"}}]}"#,
    ),
    (
        Format::LANGCHAIN,
        r#"{"messages":[{"type":"human","content":"x"},{"type":"ai","data":{"content":"I look.","tool_calls":[{"id":"c","name":"f","args":{"a":1}}]}},{"lc":1,"id":["ToolMessage"],"kwargs":{"tool_call_id":"c","content":"y","status":"error"}},{"type":"ai","content":"Done."}]}"#,
    ),
    (
        Format::PYDANTIC_AI,
        r#"[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"x"}]},{"kind":"response","parts":[{"part_kind":"text","content":"I look."},{"part_kind":"tool-call","tool_name":"f","tool_call_id":"c","args":"{}"}]},{"kind":"request","parts":[{"part_kind":"tool-return","tool_call_id":"c","content":"y","outcome":"failed"}]},{"kind":"response","parts":[{"part_kind":"text","content":"Done."}]}]"#,
    ),
    (
        Format::ATIF,
        r#"{"schema_version":"ATIF-v1.7","steps":[{"source":"user","message":"x"},{"source":"agent","message":"I look.","tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":{"a":1}}],"observation":{"results":[{"source_call_id":"c","content":"y","extra":{"is_error":true}}]}}],"subagent_trajectories":[{"trajectory_id":"t","steps":[{"source":"user","message":"x"}]}]}"#,
    ),
    (
        Format::OPENAI_RESPONSES,
        r#"{"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"c","output":"y"}],"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}]}"#,
    ),
    (
        Format::OPENAI,
        r#"{"messages":[{"role":"system","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c","content":"y"},{"role":"assistant","content":"Done."}]}"#,
    ),
    (
        Format::ANTHROPIC,
        r#"{"system":"x","messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"c","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"y","is_error":true}]},{"role":"assistant","content":"Done."}]}"#,
    ),
    (
        Format::GEMINI,
        r#"{"sessionId":"s","projectHash":"h","messages":[{"type":"user","content":"x"},{"id":"r","type":"gemini","content":"I look.","toolCalls":[{"id":"c","name":"f","args":{},"status":"error","result":[{"functionResponse":{"response":{"output":"x"}}}]}]},{"id":"q","type":"gemini","content":"Done."}]}"#,
    ),
    (
        Format::SWE_AGENT,
        r#"{"trajectory":[{"action":"ls","observation":"x","thought":"I look."},{"action":"","response":"Done."}],"history":[{"role":"assistant","action":"ls"}],"info":{"model_stats":{"tokens_sent":3}}}"#,
    ),
    (
        Format::SWE_AGENT,
        r#"{"history":[{"role":"user","content":"x","agent":"a"},{"role":"assistant","action":"ls","agent":"a","thought":"I look."},{"role":"user","content":"y","agent":"a"},{"role":"assistant","content":"Done.","agent":"a"}]}"#,
    ),
    (
        Format::MINI_SWE_AGENT,
        r#"{"info":{"model_stats":{},"config":{}},"messages":[{"role":"assistant","content":"I look.\n```bash\nls\n```"},{"role":"user","content":"<returncode>1</returncode>"},{"role":"assistant","content":"","tool_calls":[],"extra":{"actions":[{"command":"ls","tool_call_id":"c"}]}},{"role":"tool","tool_call_id":"c","content":"y"},{"role":"exit","content":"z"}]}"#,
    ),
    (
        Format::OPENCODE,
        r#"{"info":{"id":"s"},"messages":[{"info":{"role":"user","sessionID":"s"},"parts":[{"type":"text","text":"x"}]},{"info":{"role":"assistant"},"parts":[{"type":"text","text":"I look."},{"type":"tool","tool":"bash","state":{"status":"completed","input":{"a":1},"output":"y"}}]},{"info":{"role":"assistant"},"parts":[{"type":"text","text":"Done."}]}]}"#,
    ),
    (
        Format::OTLP,
        r#"[{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","startTimeUnixNano":"1","attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"f","gen_ai.tool.call.arguments":{"a":1}}}]}]}]},{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203332","startTimeUnixNano":"2","attributes":{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"g","error.type":"x"}}]}]}]}]"#,
    ),
    (
        Format::OPENHANDS,
        r#"[{"id":1,"source":"agent","action":"run","args":{"command":"ls","thought":"I look."}},{"id":2,"source":"agent","observation":"run","cause":1,"content":"x"},{"id":3,"source":"agent","action":"finish","args":{"thought":"Done."}}]"#,
    ),
    (
        Format::OPENHANDS,
        r#"{"git_patch":"","history":[{"action":"message","content":"x"},[{"action":"run","command":"ls","thought":"I look."},{"observation":"run","content":"x","exit_code":1}],{"action":"finish","thought":"Done."}]}"#,
    ),
];

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
        document in prop::option::of(prop::sample::select(DOCUMENTS.to_vec())),
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
        (format, document) in prop::sample::select(DOCUMENTS.to_vec()),
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
