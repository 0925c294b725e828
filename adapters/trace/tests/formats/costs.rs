//! Tokens and times: one case for each trap of each format, and real files, counted in another way.

use crate::reading::cases;
use unstuck_trace::{Event, Format, Tokens, Trace, read};

/// The words of an input's calls, results, tokens and times, and its trace.
fn costs(input: &str, from: Option<Format>) -> (Vec<String>, Trace) {
    let mut words = Vec::new();
    let (mut paid, mut times) = (None, Vec::new());
    let trace = read(input.as_bytes(), from, &mut |event| match event {
        Event::Call(call) => words.push(format!("{} calls {}", call.worker, call.tool)),
        Event::Outcome(outcome) => words.push(format!("{} returns", outcome.call)),
        Event::Usage(usage) => {
            let Tokens { input, cached, output } = usage.tokens;
            words.push(format!("{} pays {input} {cached} {output}", usage.worker));
            *paid.get_or_insert_default() += usage.tokens;
        }
        Event::Time(time) => {
            words.push(format!("at {time}"));
            times.push(time);
        }
        Event::Message(_) | Event::Begin(_) => {}
    });
    let trace = trace.expect("a trace");
    assert_eq!(trace.tokens, paid, "{input}");
    let ends = (times.iter().min().copied(), times.iter().max().copied());
    assert_eq!((trace.begin, trace.end), ends, "{input}");
    assert_eq!(trace.problems, [], "{input}");
    (words, trace)
}

/// Asserts that lines cost what the words say, and that they are recognised as a format.
fn assert_costs(format: Format, lines: &[&str], expected: &[&str]) {
    let (words, trace) = costs(&lines.join("\n"), None);
    assert_eq!(trace.format, format, "{lines:?}");
    assert_eq!(words, expected, "{lines:?}");
}

#[test]
fn native_records_have_tokens_and_times() {
    let lines = [
        r#"{"session":"s","time":"not read"}"#,
        r#"{"type":"message","role":"assistant","text":"x","time":"1970-01-01T00:00:01Z","tokens":{"input":1,"cached":2,"output":3}}"#,
        r#"{"type":"call","tool":"ls","time":2000,"result":"a"}"#,
        r#"{"type":"call","tool":"ls","time":2000,"tokens":{"output":4},"worker":"b"}"#,
        r#"{"type":"call","tool":"ls","time":1000,"tokens":{"input":0}}"#,
        r#"{"type":"control","time":9000,"tokens":7}"#,
    ];
    let expected = [
        "at 1000",
        "main pays 1 2 3",
        "at 2000",
        "main calls ls",
        "0 returns",
        "b pays 0 0 4",
        "b calls ls",
        "at 1000",
        "main calls ls",
    ];
    assert_costs(Format::NATIVE, &lines, &expected);
}

/// The table of formats in the crate's documentation, with what their files have.
const TABLE: &str = include_str!("../../src/lib.rs");

/// A file of each format with all that the format has. `⏎` is a line break.
const RICH: &str = include_str!("costs.txt");

#[test]
fn the_documentation_says_what_each_format_has() {
    let rich = cases(RICH);
    assert!(rich.iter().map(|(format, _)| format).eq(Format::ALL));
    for (format, input) in rich {
        let (_, trace) = costs(&input.replace('⏎', "\n"), Some(format));
        let costs = match (trace.tokens.map(Tokens::total), trace.begin.is_some()) {
            (Some(1), true) => "tokens, times",
            (Some(1), false) => "tokens",
            other => panic!("{format}: {other:?}"),
        };
        let mut rows = TABLE.lines().filter(|row| row.starts_with(&format!("//! | `{format}` |")));
        assert!(rows.next().is_some_and(|row| row.ends_with(&format!("| {costs} |"))), "{format}");
    }
}

#[test]
fn sums_stop_at_the_largest_number() {
    let line = r#"{"type":"call","tool":"ls","tokens":{"input":18446744073709551615,"output":1}}"#;
    let (_, trace) = costs(&[line, line].join("\n"), None);
    let tokens = trace.tokens.expect("tokens");
    assert_eq!(tokens, Tokens { input: u64::MAX, cached: 0, output: 2 });
    assert_eq!(tokens.total(), u64::MAX);
}

#[test]
fn a_file_without_them_has_no_tokens_and_no_times() {
    let inputs = [
        r#"{"type":"call","tool":"ls"}"#,
        r#"{"type":"call","tool":"ls","time":null,"tokens":{"input":0,"cached":0,"output":0}}"#,
        r#"{"type":"assistant","timestamp":"[trimmed]","message":{"usage":{"input_tokens":0,"output_tokens":0},"content":[]}}"#,
        r#"[{"role":"assistant","content":"x"}]"#,
        r#"{"trajectory":[{"action":"ls"}],"info":{"model_stats":{"tokens_sent":0,"tokens_received":0}}}"#,
        r#"{"messages":[{"role":"user","content":"x"}],"usage":7,"response":{"usage":[]}}"#,
    ];
    for input in inputs {
        let (_, trace) = costs(input, None);
        assert_eq!((trace.tokens, trace.begin, trace.end), (None, None, None), "{input}");
    }
}

#[test]
fn a_record_that_may_be_of_another_format_has_no_time() {
    let lines = [
        r#"{"type":"x","timestamp":"1970-01-01T00:00:01Z"}"#,
        r#"{"type":"user","timestamp":"1970-01-01T00:00:02Z","message":{"content":"x"}}"#,
        r#"{"type":"x","timestamp":"1970-01-01T00:00:03Z"}"#,
    ];
    assert_costs(Format::CLAUDE_CODE, &lines, &["at 2000", "at 3000"]);
}

#[test]
fn broken_figures_cost_no_record() {
    let inputs = [
        r#"{"type":"assistant","timestamp":7.5,"message":{"id":3,"usage":{"input_tokens":-1,"output_tokens":5},"content":[{"type":"tool_use","name":"x"}]}}"#,
        r#"{"type":"assistant","timestamp":{},"message":{"usage":"many","content":[{"type":"tool_use","name":"x"}]}}"#,
        r#"{"type":"gemini","content":"","timestamp":"yesterday","tokens":{"input":"1"},"toolCalls":[{"name":"x","timestamp":[]}]}"#,
        r#"{"type":"assistant.message","timestamp":"","data":{"toolRequests":[{"name":"x"}],"modelMetrics":[]}}"#,
        r#"{"info":{},"messages":[{"info":{"role":"assistant","time":7,"tokens":[]},"parts":[{"type":"tool","tool":"x","state":{"time":{"start":"?"}}}]}]}"#,
        r#"{"type":"message","id":"1","parentId":null,"timestamp":"?","message":{"role":"assistant","timestamp":"?","usage":{"input":1.5},"content":[{"type":"toolCall","name":"x"}]}}"#,
        r#"{"info":{"model_stats":{}},"messages":[{"role":"assistant","extra":{"timestamp":"now","response":{"usage":{"prompt_tokens":[]}},"actions":[{"command":"x"}]}}]}"#,
        r#"{"kind":"ActionEvent","source":"agent","timestamp":"?","tool_name":"x"}"#,
        r#"{"source":"agent","action":"run","args":{},"llm_metrics":{"accumulated_token_usage":{"prompt_tokens":"1"}}}"#,
    ];
    for input in inputs {
        let (words, trace) = costs(input, None);
        assert_eq!(words.iter().filter(|word| word.contains("calls")).count(), 1, "{input}");
        assert_eq!((words.len(), trace.tokens, trace.begin), (1, None, None), "{input}");
    }
}

#[test]
fn an_answer_of_claude_code_counts_once_with_its_largest_figures() {
    let lines = [
        r#"{"type":"user","sessionId":"s","timestamp":"1970-01-01T00:00:01.000Z","message":{"content":"Go"}}"#,
        r#"{"type":"assistant","sessionId":"s","timestamp":"1970-01-01T00:00:02.000Z","message":{"id":"m","usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1},"content":[{"type":"text","text":"x"}]}}"#,
        r#"{"type":"assistant","sessionId":"s","timestamp":"1970-01-01T00:00:03.000Z","message":{"id":"m","usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":40},"content":[{"type":"tool_use","id":"c","name":"ls"}]}}"#,
        r#"{"type":"assistant","sessionId":"s","agentId":"a","timestamp":"1970-01-01T00:00:03.000Z","message":{"id":"n","usage":{"output_tokens":9},"content":[]}}"#,
        r#"{"type":"assistant","sessionId":"s","timestamp":"1970-01-01T00:00:03.000Z","message":{"id":"m","usage":{"input_tokens":3,"output_tokens":40},"content":[{"type":"tool_use","id":"d","name":"ls"}]}}"#,
        r#"{"type":"assistant","sessionId":"s","message":{"usage":{"output_tokens":2},"content":[]}}"#,
        r#"{"type":"assistant","sessionId":"s","message":{"model":"<synthetic>","usage":{"output_tokens":2},"content":[]}}"#,
        r#"{"type":"assistant","sessionId":"s","isApiErrorMessage":true,"message":{"usage":{"output_tokens":2},"content":[]}}"#,
        r#"{"type":"system","sessionId":"s","timestamp":"1970-01-01T00:00:04.000Z"}"#,
    ];
    let expected = [
        "at 1000",
        "at 2000",
        "main pays 23 100 1",
        "at 3000",
        "main pays 0 0 39",
        "main calls ls",
        "a pays 0 0 9",
        "main calls ls",
        "main pays 0 0 2",
        "at 4000",
    ];
    assert_costs(Format::CLAUDE_CODE, &lines, &expected);
}

#[test]
fn a_response_among_messages_of_anthropic_has_its_tokens() {
    let document = r#"{"system":"x","messages":[
        {"role":"user","content":"x"},
        {"role":"assistant","id":"m","usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":2},"content":[{"type":"tool_use","id":"c","name":"f"}]}],
        "response":{"usage":{"input_tokens":9,"cache_read_input_tokens":7,"output_tokens":4}}}"#;
    assert_costs(
        Format::ANTHROPIC,
        &[document],
        &["main pays 5 7 2", "main calls f", "main pays 4 0 2"],
    );
}

#[test]
fn a_response_beside_messages_of_openai_has_its_tokens() {
    let document = r#"{"response":{"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens":7}},
        "messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}]}"#;
    assert_costs(Format::OPENAI, &[document], &["main calls f", "main pays 40 60 7"]);
}

#[test]
fn responses_of_openai_have_tokens_and_times() {
    let response = r#"{"id":"r","created_at":5,"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":7},"output":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}"#;
    let request = r#"{"input":[{"role":"user","content":"x"}]}"#;
    let lines = [response, request, &response.replace("\"c\"", "\"d\"")];
    let expected = ["at 5000", "main pays 40 60 7", "main calls f", "main calls f"];
    assert_costs(Format::OPENAI_RESPONSES, &lines, &expected);
    assert_costs(Format::OPENAI_RESPONSES, &[response], &["main calls f", "main pays 40 60 7"]);
}

/// Returns a line of Codex with a `token_count` event.
fn token_count(total: &str, last: &str) -> String {
    format!(
        r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{total},"last_token_usage":{last}}}}}}}"#
    )
}

#[test]
fn repeated_totals_of_codex_count_once() {
    let usage = |input: u64, cached: u64, output: u64| {
        format!(
            r#"{{"input_tokens":{input},"cached_input_tokens":{cached},"output_tokens":{output},"reasoning_output_tokens":2}}"#
        )
    };
    let meta = r#"{"timestamp":"1970-01-01T00:00:01Z","type":"session_meta","payload":{"id":"t","parent_thread_id":"p"}}"#;
    let first = token_count(&usage(500, 300, 50), &usage(100, 60, 5));
    let without_last = token_count(&usage(650, 400, 52), "null");
    let without_total = token_count("null", &usage(1, 0, 1));
    let without_both = r#"{"type":"event_msg","payload":{"type":"token_count","info":null}}"#;
    let lines = [meta, &first, &first, without_both, &without_last, &without_last, &without_total];
    let expected = ["at 1000", "t pays 40 60 5", "t pays 50 100 2", "t pays 1 0 1"];
    assert_costs(Format::CODEX, &lines, &expected);
}

#[test]
fn usage_records_of_codex_stand_for_its_events() {
    let record = |id: &str| {
        format!(
            r#"{{"timestamp":"1970-01-01T00:00:02Z","type":"token_usage_record","payload":{{"response_id":{id},"usage":{{"input_tokens":100,"cached_input_tokens":60,"output_tokens":5}}}}}}"#
        )
    };
    let call = r#"{"type":"response_item","payload":{"type":"function_call","name":"ls","arguments":"{}","call_id":"c"}}"#;
    let event = token_count(
        r#"{"input_tokens":100,"cached_input_tokens":60,"output_tokens":5}"#,
        r#"{"input_tokens":100,"cached_input_tokens":60,"output_tokens":5}"#,
    );
    let (first, unnamed) = (record("\"r\""), record("null"));
    let lines = [call, &first, &event, &first, &unnamed, &event];
    let expected = ["main calls ls", "at 2000", "main pays 40 60 5", "main pays 40 60 5"];
    assert_costs(Format::CODEX, &lines, &expected);
}

#[test]
fn a_record_of_gemini_that_is_written_again_counts_once() {
    let lines = [
        r#"{"id":"r","type":"gemini","content":"x","timestamp":"1970-01-01T00:00:01Z","tokens":{"input":100,"cached":60,"output":5,"thoughts":3,"tool":7,"total":115}}"#,
        r#"{"id":"r","type":"gemini","content":"x","timestamp":"1970-01-01T00:00:01Z","tokens":{"input":100,"cached":60,"output":5,"thoughts":3,"tool":7,"total":115},"toolCalls":[{"id":"c","name":"ls","status":"success","result":"y","timestamp":"1970-01-01T00:00:02Z"}]}"#,
        r#"{"type":"gemini","content":"z","tokens":{"input":1,"output":1}}"#,
        r#"{"$set":{"messages":[{"id":"r","type":"gemini","content":"x","tokens":{"input":100,"cached":60,"output":6}}]}}"#,
    ];
    let expected = [
        "at 1000",
        "main pays 47 60 8",
        "main calls ls",
        "at 2000",
        "0 returns",
        "main pays 1 0 1",
    ];
    assert_costs(Format::GEMINI, &lines, &expected);
}

#[test]
fn thoughts_are_part_of_the_output_of_qwen_code_if_the_total_says_so() {
    let line = |total: u64| {
        format!(
            r#"{{"type":"assistant","timestamp":"1970-01-01T00:00:01Z","message":{{"parts":[{{"functionCall":{{"id":"c","name":"ls"}}}}]}},"usageMetadata":{{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":5,"thoughtsTokenCount":3,"totalTokenCount":{total}}}}}"#
        )
    };
    let lines = [&*line(105), &*line(108)];
    let expected =
        ["at 1000", "main pays 40 60 5", "main calls ls", "main pays 40 60 8", "main calls ls"];
    assert_costs(Format::QWEN, &lines, &expected);
}

#[test]
fn the_total_of_copilot_adds_only_what_no_answer_had() {
    let lines = [
        r#"{"type":"assistant.message","timestamp":"1970-01-01T00:00:01Z","data":{"outputTokens":5,"toolRequests":[{"toolCallId":"c","name":"ls"}]}}"#,
        r#"{"type":"assistant.usage","agentId":"a","data":{"apiCallId":"u","inputTokens":100,"cacheReadTokens":60,"cacheWriteTokens":9,"outputTokens":5}}"#,
        r#"{"type":"assistant.usage","agentId":"a","data":{"apiCallId":"u","inputTokens":100,"cacheReadTokens":60,"outputTokens":5}}"#,
        r#"{"type":"assistant.usage","data":{"outputTokens":1}}"#,
        r#"{"type":"session.shutdown","data":{"modelMetrics":{"x":{"usage":{"inputTokens":200,"cacheReadTokens":60,"outputTokens":8}},"y":{"usage":{"inputTokens":1,"outputTokens":1}},"z":{}}}}"#,
    ];
    let expected =
        ["at 1000", "main calls ls", "a pays 40 60 5", "main pays 0 0 1", "main pays 101 0 3"];
    assert_costs(Format::COPILOT, &lines, &expected);
}

#[test]
fn the_steps_of_opencode_count_and_the_message_only_without_them() {
    let document = r#"{"info":{"id":"s"},"messages":[
        {"info":{"role":"user","time":{"created":1}},"parts":[{"type":"text","text":"x"}]},
        {"info":{"role":"assistant","time":{"created":2,"completed":9},"tokens":{"input":3,"output":4,"reasoning":0,"cache":{"read":5,"write":0}}},"parts":[
            {"type":"step-start"},
            {"type":"tool","tool":"ls","state":{"status":"completed","output":"y","time":{"start":4,"end":6}}},
            {"type":"step-finish","tokens":{"input":10,"output":2,"reasoning":1,"cache":{"read":7,"write":5}}},
            {"type":"step-finish","tokens":{"input":3,"output":4,"reasoning":0,"cache":{"read":5,"write":0}}}]},
        {"info":{"role":"assistant","tokens":{"input":1,"output":1}},"parts":[]}]}"#;
    let expected = [
        "at 1",
        "at 2",
        "main pays 18 12 7",
        "at 4",
        "main calls ls",
        "at 6",
        "0 returns",
        "at 9",
        "main pays 1 0 1",
    ];
    assert_costs(Format::OPENCODE, &[document], &expected);
    let lines = [
        r#"{"type":"tool_use","timestamp":7,"sessionID":"s","part":{"type":"tool","tool":"ls","state":{}}}"#,
        r#"{"type":"step_finish","timestamp":8,"sessionID":"s","part":{"type":"step-finish","tokens":{"input":10,"output":2}}}"#,
    ];
    let expected = ["at 7", "main calls ls", "at 8", "main pays 10 0 2"];
    assert_costs(Format::OPENCODE, &lines, &expected);
}

#[test]
fn only_the_kept_branch_of_pi_has_tokens() {
    let lines = [
        r#"{"type":"session","id":"s","timestamp":"1970-01-01T00:00:01Z"}"#,
        r#"{"type":"message","id":"1","parentId":null,"timestamp":"1970-01-01T00:00:02Z","message":{"role":"user","content":"x"}}"#,
        r#"{"type":"message","id":"2","parentId":"1","timestamp":"1970-01-01T00:00:03Z","message":{"role":"assistant","usage":{"input":1,"output":1},"content":[]}}"#,
        r#"{"type":"message","id":"3","parentId":"1","message":{"role":"assistant","timestamp":4000,"usage":{"input":10,"output":2,"cacheRead":60,"cacheWrite":5,"totalTokens":77},"content":[{"type":"toolCall","id":"c","name":"ls"}]}}"#,
    ];
    assert_costs(Format::PI, &lines, &["at 2000", "at 4000", "main pays 15 60 2", "main calls ls"]);
}

#[test]
fn trajectories_have_a_total_or_the_tokens_of_responses() {
    let swe = r#"{"trajectory":[{"action":"ls","observation":"x"}],"info":{"model_stats":{"tokens_sent":9,"tokens_received":2}}}"#;
    assert_costs(Format::SWE_AGENT, &[swe], &["main calls bash", "0 returns", "main pays 9 0 2"]);
    let mini = r#"{"info":{"model_stats":{"api_calls":1}},"messages":[
        {"role":"assistant","content":"x","extra":{"timestamp":1.5,"response":{"usage":{"prompt_tokens":9,"completion_tokens":2}},"actions":[{"command":"ls"}]}},
        {"role":"user","content":"y","extra":{"timestamp":2,"returncode":0}}]}"#;
    let expected = ["at 1500", "main pays 9 0 2", "main calls bash", "at 2000", "0 returns"];
    assert_costs(Format::MINI_SWE_AGENT, &[mini], &expected);
}

#[test]
fn running_totals_of_openhands_are_differences() {
    let stats = |input: u64, output: u64| {
        format!(
            r#"{{"kind":"ConversationStateUpdateEvent","source":"environment","timestamp":"1970-01-01T00:00:01.5","key":"stats","value":{{"usage_to_metrics":{{"default":{{"accumulated_token_usage":{{"prompt_tokens":{input},"completion_tokens":{output},"cache_read_tokens":60}}}},"condenser":{{"accumulated_token_usage":{{"prompt_tokens":1,"completion_tokens":1}}}}}}}}}}"#
        )
    };
    let (first, second) = (stats(100, 5), stats(150, 7));
    let expected = ["at 1500", "main pays 41 60 6", "main pays 50 0 2"];
    assert_costs(Format::OPENHANDS, &[&first, &first, &second], &expected);
}

#[test]
fn actions_of_one_response_of_openhands_count_once() {
    let action = r#"{"id":1,"source":"agent","timestamp":"1970-01-01T00:00:01","action":"run","args":{},"tool_call_metadata":{"model_response":{"id":"r","usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":60}}}}}"#;
    let unnamed = r#"{"id":2,"source":"agent","action":"run","args":{},"tool_call_metadata":{"model_response":{"usage":{"prompt_tokens":9}}}}"#;
    let total = r#"{"id":3,"source":"agent","action":"finish","args":{},"llm_metrics":{"accumulated_token_usage":{"prompt_tokens":150,"cache_read_tokens":70,"completion_tokens":7}}}"#;
    let expected = [
        "at 1000",
        "main pays 40 60 5",
        "main calls run",
        "main calls run",
        "main calls run",
        "main pays 40 10 2",
    ];
    assert_costs(Format::OPENHANDS, &[action, action, unnamed, total], &expected);
    let history = r#"{"metrics":{"accumulated_token_usage":{"prompt_tokens":9,"completion_tokens":2}},"history":[{"action":"run","command":"ls"}]}"#;
    assert_costs(Format::OPENHANDS, &[history], &["main calls run", "main pays 9 0 2"]);
}

#[test]
fn metrics_of_a_step_of_atif_include_what_came_from_a_cache() {
    let document = r#"{"schema_version":"ATIF-v1.8","steps":[
        {"source":"agent","timestamp":"1970-01-01T00:00:01Z","metrics":{"prompt_tokens":100,"cached_tokens":60,"completion_tokens":7,"cost_usd":0.1},"tool_calls":[{"function_name":"f"}]},
        {"source":"agent","metrics":{"prompt_tokens":9},"is_copied_context":true}],
        "final_metrics":{"total_prompt_tokens":100}}"#;
    assert_costs(Format::ATIF, &[document], &["at 1000", "main pays 40 60 7", "main calls f"]);
}

#[test]
fn cached_tokens_are_part_of_the_input_of_langchain_and_pydantic_ai() {
    let document = r#"[
        {"type":"ai","data":{"tool_calls":[{"name":"f","args":{}}],"usage_metadata":{"input_tokens":100,"input_token_details":{"cache_read":60},"output_tokens":7},"response_metadata":{"token_usage":{"completion_tokens":1}}}},
        {"type":"ai","data":{"content":"x","response_metadata":{"token_usage":{"prompt_tokens":5,"completion_tokens":1}}}}]"#;
    assert_costs(
        Format::LANGCHAIN,
        &[document],
        &["main pays 40 60 7", "main calls f", "main pays 5 0 1"],
    );
    let document = r#"[
        {"kind":"response","timestamp":"1970-01-01T00:00:01Z","usage":{"input_tokens":100,"cache_write_tokens":9,"cache_read_tokens":60,"output_tokens":7},"parts":[{"part_kind":"tool-call","tool_name":"f"}]},
        {"kind":"response","usage":{"request_tokens":5,"response_tokens":1},"parts":[]}]"#;
    assert_costs(
        Format::PYDANTIC_AI,
        &[document],
        &["at 1000", "main pays 40 60 7", "main calls f", "main pays 5 0 1"],
    );
}

#[test]
fn answers_of_inspect_have_tokens_unless_its_own_cache_had_them() {
    let document = r#"{"eval":{},"samples":[{"id":1,"epoch":1,"events":[
        {"event":"model","timestamp":"1970-01-01T00:00:01Z","output":{"usage":{"input_tokens":3,"input_tokens_cache_write":20,"input_tokens_cache_read":100,"output_tokens":7,"total_tokens":130}}},
        {"event":"tool","timestamp":"1970-01-01T00:00:02Z","completed":"1970-01-01T00:00:03Z","function":"f"},
        {"event":"model","cache":"read","output":{"usage":{"input_tokens":3}}}]}]}"#;
    let expected =
        ["at 1000", "main pays 23 100 7", "at 2000", "main calls f", "at 3000", "0 returns"];
    assert_costs(Format::INSPECT, &[document], &expected);
}

#[test]
fn the_tokens_of_an_acp_session_are_a_running_total() {
    let lines = [
        r#"{"jsonrpc":"2.0","method":"session/prompt","id":1,"params":{"sessionId":"s","prompt":[{"type":"text","text":"Go"}]}}"#,
        r#"{"id":1,"result":{"stopReason":"end_turn","usage":{"totalTokens":15,"inputTokens":1,"cachedWriteTokens":2,"cachedReadTokens":4,"outputTokens":8}}}"#,
        r#"{"id":2,"result":{"stopReason":"end_turn","usage":{"totalTokens":19,"inputTokens":2,"cachedWriteTokens":2,"cachedReadTokens":6,"outputTokens":9}}}"#,
    ];
    assert_costs(Format::ACP, &lines, &["main pays 3 4 8", "main pays 1 2 1"]);
}

#[test]
fn what_programs_print_has_the_tokens_of_the_run_at_its_end() {
    let codex = [
        r#"{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2}}"#,
        r#"{"type":"turn.completed","usage":{"input_tokens":19,"cached_input_tokens":8,"output_tokens":3}}"#,
    ];
    assert_costs(Format::CODEX_EXEC, &codex, &["main pays 5 4 2", "main pays 6 4 1"]);
    let cursor = [
        r#"{"type":"system","subtype":"init","apiKeySource":"login","session_id":"s"}"#,
        r#"{"type":"result","session_id":"s","usage":{"inputTokens":9,"cacheWriteTokens":1,"cacheReadTokens":4,"outputTokens":2}}"#,
    ];
    assert_costs(Format::CURSOR, &cursor, &["main pays 10 4 2"]);
    let gemini = [
        r#"{"type":"init","timestamp":"1970-01-01T00:00:01Z","session_id":"s","model":"m"}"#,
        r#"{"type":"result","timestamp":"1970-01-01T00:00:02Z","stats":{"total_tokens":14,"input_tokens":9,"output_tokens":2,"cached":4,"input":5}}"#,
    ];
    assert_costs(Format::GEMINI_STREAM, &gemini, &["at 1000", "at 2000", "main pays 5 4 5"]);
}

#[test]
fn spans_have_tokens_and_times() {
    let span = |id: u8, begin: u32, attributes: &str| {
        format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"{id:016x}","startTimeUnixNano":"{begin}000000","endTimeUnixNano":{end}000000,"attributes":{{{attributes}}}}}]}}]}}]}}"#,
            end = begin + 1,
        )
    };
    let lines = [
        span(
            3,
            30,
            r#""openinference.span.kind":"LLM","llm.token_count.prompt":"7","llm.token_count.completion":1"#,
        ),
        span(
            1,
            10,
            r#""gen_ai.operation.name":"chat","gen_ai.usage.input_tokens":9,"gen_ai.usage.cache_read.input_tokens":4,"gen_ai.usage.output_tokens":2"#,
        ),
        span(2, 20, r#""gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"ls""#),
        span(
            4,
            40,
            r#""gen_ai.operation.name":"chat","gen_ai.usage.input_tokens":"many","gen_ai.usage.output_tokens":0"#,
        ),
        span(5, 50, r#""gen_ai.operation.name":"invoke_agent","gen_ai.usage.input_tokens":16"#),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let expected = [
        "at 10",
        "main pays 5 4 2",
        "at 20",
        "main calls ls",
        "0 returns",
        "at 21",
        "at 30",
        "main pays 7 0 1",
    ];
    assert_costs(Format::OTLP, &lines, &expected);
}
