//! Recognition of formats: each input goes to its own format, and an ambiguous one to none.

use std::io::{BufReader, Error, Read};

use crate::reading::reading;
use unstuck_trace::{Format, Problem, ProblemKind, read};

const CALL: &str = r#"{"type":"call","tool":"x"}"#;
const USER: &str = r#"{"type":"user","message":{"content":"x"}}"#;
const CHAT: &str = r#"[{"role":"user","content":"x"}]"#;

#[test]
fn our_formats_are_recognised_under_marks_blanks_and_settings() {
    let settings = r#"{"type":"mode","sessionId":"s"}"#;
    let padding = " ".repeat(70_000);
    let table = [
        (CALL.to_owned(), Format::NATIVE),
        (format!("\u{feff}\r\n\r\n{CALL}\r\n"), Format::NATIVE),
        (format!("{{\"source\":\"x\"}}\n{{\"type\":\"control\"}}\n{CALL}"), Format::NATIVE),
        (format!("{{\"type\":\"call\",\"tool\":\"cut off\n{CALL}\n"), Format::NATIVE),
        (format!(r#"{{"type":"call","tool":"x","args":"{padding}"}}"#), Format::NATIVE),
        (r#"{"payload":1,"type":"call","tool":"x"}"#.to_owned(), Format::NATIVE),
        (USER.to_owned(), Format::CLAUDE_CODE),
        (
            format!(r#"{{"isSidechain":false,"message":"{padding}","type":"user"}}"#),
            Format::CLAUDE_CODE,
        ),
        (format!("{settings}\n{USER}"), Format::CLAUDE_CODE),
        (settings.to_owned(), Format::CLAUDE_CODE),
        (r#"{"type":"summary","leafUuid":"x"}"#.to_owned(), Format::CLAUDE_CODE),
        (format!("{{\n \"loglines\": [\n{USER}]}}"), Format::CLAUDE_CODE),
        (format!("{{\"loglines\":[{USER}]}}"), Format::CLAUDE_CODE),
        (CHAT.to_owned(), Format::OPENAI),
        (format!("{{\"messages\":{CHAT},\"x\":1}}\n"), Format::OPENAI),
        (format!(r#"{{"input":[],"messages":{CHAT}}}"#), Format::OPENAI),
        (r#"{"messages":[{"role":"tool"}],"system":"x"}"#.to_owned(), Format::OPENAI),
        (format!("{{\n \"model\": 1,\n \"messages\": {CHAT}}}"), Format::OPENAI),
        (format!(r#"[{{"role":"system","content":"{padding}"}}]"#), Format::OPENAI),
        (format!(r#"[{{"content":"{padding}","role":"system"}}]"#), Format::OPENAI),
        (r#"{"info":{"a":1},"messages":[{"role":"user"}]}"#.to_owned(), Format::OPENAI),
    ];
    for (input, format) in table {
        let found = reading(input.as_bytes(), None).end.map(|trace| trace.format);
        let begin: String = input.chars().take(60).collect();
        assert_eq!(found, Ok(format), "{begin}");
    }
}

/// Asserts the format and the reason of each input, and that the caller can name the format too.
fn are_recognised_by(format: Format, table: &[(&str, &str)]) {
    for (input, reason) in table {
        let begin: String = input.chars().take(60).collect();
        let found = reading(input.as_bytes(), None).end.map(|trace| (trace.format, trace.reason));
        assert_eq!(found, Ok((format, *reason)), "{begin}");
        let named = reading(input.as_bytes(), Some(format)).end.map(|trace| trace.reason);
        assert_eq!(named, Ok("named by the caller"), "{begin}");
    }
}

#[test]
fn rollouts_of_codex_are_recognised_by_their_lines() {
    let padding = " ".repeat(70_000);
    let codex = "`type` and `payload` of a rollout's line";
    are_recognised_by(
        Format::CODEX,
        &[
            (r#"{"type":"session_meta","payload":{}}"#, codex),
            ("{\"type\":\"new\",\"payload\":{}}\n{\"payload\":{},\"type\":\"event_msg\"}", codex),
            (
                &format!(
                    r#"{{"payload":{{"originator":"x","text":"{padding}"}},"type":"session_meta"}}"#
                ),
                codex,
            ),
            (
                "{\"id\":\"1\",\"timestamp\":\"x\"}\n{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\"}]}",
                "`message` items with `input_text`, one a line",
            ),
            (
                r#"{"type":"function_call","name":"x","call_id":"1"}"#,
                "`function_call` items one a line",
            ),
        ],
    );
}

#[test]
fn chats_of_gemini_and_qwen_are_recognised_by_their_records() {
    are_recognised_by(
        Format::GEMINI,
        &[
            (
                r#"{"sessionId":"s","projectHash":"h","kind":"main"}"#,
                "`sessionId` with `projectHash`",
            ),
            (
                "{\"$set\":{}}\n{\"id\":\"1\",\"type\":\"user\",\"content\":\"x\"}",
                "`projectHash`, `$set` or `$rewindTo`",
            ),
            (r#"{"id":"1","type":"gemini","content":"x"}"#, "`type` is `gemini`"),
            (
                "{\n\"messages\":[{\"content\":\"x\",\"timestamp\":1,\"type\":\"user\"}]}",
                "messages with `type` and `timestamp`, without `role`",
            ),
            (r#"{"messages":[{"id":1,"type":"gemini"}]}"#, "messages whose `type` is `gemini`"),
        ],
    );
    are_recognised_by(
        Format::QWEN,
        &[(
            r#"{"type":"user","uuid":"1","sessionId":"2","message":{"parts":[]}}"#,
            "`message` with `parts`",
        )],
    );
}

#[test]
fn sessions_of_copilot_opencode_and_pi_are_recognised_by_their_records() {
    let (copilot, exported) =
        ("`type` and `data` of a Copilot event", "`info` and `messages` with `parts`");
    are_recognised_by(
        Format::COPILOT,
        &[
            (r#"{"type":"session.start","data":{"sessionId":"s"}}"#, copilot),
            (
                r#"{"type":"hook.start","data":{}}
            {"type":"tool.execution_start","data":{"toolName":"x"}}"#,
                copilot,
            ),
        ],
    );
    are_recognised_by(
        Format::OPENCODE,
        &[
            (r#"{"info":{"id":"s"},"messages":[{"info":{"role":"user"},"parts":[]}]}"#, exported),
            (
                r#"{"info":1,"messages":[{"info":{"role":"user"},"parts":[]}]}"#,
                "messages with `info` and `parts`",
            ),
            (
                r#"{"type":"tool_use","sessionID":"s","part":{"type":"tool","tool":"x"}}"#,
                "`part` with `sessionID`, as `opencode run` prints it",
            ),
        ],
    );
    are_recognised_by(
        Format::PI,
        &[
            (r#"{"type":"session","id":"s","version":3}"#, "`type` is `session`, with `id`"),
            (
                r#"{"type":"message","id":"b","parentId":null,"message":{"role":"user"}}"#,
                "`type` is `message`, with `message` and `parentId`",
            ),
        ],
    );
}

#[test]
fn anthropic_messages_are_recognised_by_their_blocks() {
    are_recognised_by(
        Format::ANTHROPIC,
        &[
            (
                r#"[{"role":"user","content":[{"type":"tool_result"}]}]"#,
                "`tool_use` or `tool_result` blocks",
            ),
            (
                r#"{"messages":[{"role":"user","content":"x"}],"system":"x"}"#,
                "`system` or `input_schema` beside `messages`",
            ),
            (
                r#"{"messages":[{"role":"user"}],"tools":[{"input_schema":{}}]}"#,
                "`system` or `input_schema` beside `messages`",
            ),
        ],
    );
}

#[test]
fn items_of_openai_responses_are_recognised_by_their_types() {
    are_recognised_by(
        Format::OPENAI_RESPONSES,
        &[
            (
                r#"[{"role":"user","content":"x"},{"type":"function_call","name":"x"}]"#,
                "items such as `function_call`",
            ),
            (
                r#"[{"role":"user","content":[{"type":"input_text","text":"x"}]}]"#,
                "content of `input_text` or `output_text`",
            ),
            (
                r#"{"model":"x","input":[{"type":"function_call","name":"x"}]}"#,
                "`input` or `output` with items",
            ),
            (r#"{"type":"custom_tool_call","name":"x"}"#, "items one a line"),
        ],
    );
}

#[test]
fn trajectories_are_recognised_by_their_lists() {
    let padding = " ".repeat(70_000);
    are_recognised_by(
        Format::MINI_SWE_AGENT,
        &[
            (
                r#"{"info":{"model_stats":{}},"messages":[{"role":"user"}]}"#,
                "`info` of a run beside `messages`",
            ),
            (r#"[{"role":"assistant","extra":{"actions":[]}}]"#, "messages with `extra.actions`"),
            (
                r#"[{"role":"user","content":"<returncode>0</returncode>"}]"#,
                "commands in `mswea_bash_command` blocks",
            ),
            (
                r#"{"trajectory_format":"mini-swe-agent-1.1","messages":[{"role":"user"}]}"#,
                "`trajectory_format`",
            ),
            (
                &format!(
                    r#"{{"info":{{"model_stats":1,"config":"{padding}"}},"messages":[{{"role":"user"}}]}}"#
                ),
                "`info` of a run",
            ),
        ],
    );
    are_recognised_by(
        Format::SWE_AGENT,
        &[
            (
                r#"{"trajectory":[{"action":"ls"}],"history":[],"info":{}}"#,
                "`trajectory` of steps with an `action`",
            ),
            (
                r#"{"history":[{"role":"system","content":"x","agent":"main"}]}"#,
                "`history` of messages with an `agent` or an `action`",
            ),
        ],
    );
}

#[test]
fn events_of_openhands_are_recognised_by_their_source() {
    let openhands = "`source` with `action` or `observation`";
    are_recognised_by(
        Format::OPENHANDS,
        &[
            (
                r#"{"git_patch":"","history":[[{"action":"run"},{"observation":"run"}]]}"#,
                "`history` of actions and observations",
            ),
            (r#"[{"id":0,"source":"user","action":"message","args":{}}]"#, openhands),
            (r#"{"source":"user","action":"message","args":{}}"#, openhands),
            (
                r#"{"source":"agent","kind":"ActionEvent","tool_name":"x"}"#,
                "`kind` ending with `Event`, with `source`",
            ),
            (
                r#"{"events":[{"source":"agent","kind":"ActionEvent","tool_name":"x"}]}"#,
                "`kind` ending with `Event`, with `source`",
            ),
        ],
    );
}

#[test]
fn archives_of_evaluations_are_recognised_by_their_keys() {
    are_recognised_by(
        Format::ATIF,
        &[
            (
                r#"{"schema_version":"ATIF-v1.7","steps":[{"source":"user","message":"x"}]}"#,
                "`schema_version` of ATIF",
            ),
            (
                r#"{"agent":{},"steps":[{"step_id":1,"source":"user","message":"x"}]}"#,
                "`steps` with `step_id` and `source`",
            ),
        ],
    );
    are_recognised_by(
        Format::INSPECT,
        &[
            (
                r#"{"version":2,"eval":{"task":"t"},"samples":[{"id":1,"epoch":1,"messages":[]}]}"#,
                "`eval` of an Inspect log",
            ),
            (
                r#"[{"event":"model","timestamp":"1970-01-01T00:00:01Z"}]"#,
                "events such as `model` and `tool`",
            ),
            (
                r#"{"description":"x","events":[{"event":"tool","span_id":"s","function":"f"}]}"#,
                "`events` such as `model` and `tool`",
            ),
            (
                r#"{"id":1,"epoch":1,"input":"x","target":"y","events":[{"event":"info"}]}"#,
                "`epoch`, `input` and `target` of a sample",
            ),
        ],
    );
}

#[test]
fn updates_of_the_agent_client_protocol_are_recognised_by_their_methods() {
    let update = r#"{"sessionUpdate":"plan","entries":[]}"#;
    are_recognised_by(
        Format::ACP,
        &[
            (
                &format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"session/new","params":{{}}}}
                {{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
                ),
                "a method of a session, with `jsonrpc`",
            ),
            (
                &format!(
                    r#"{{"method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
                ),
                "the method `session/update`",
            ),
            (
                &format!(r#"{{"sessionId":"s","update":{update}}}"#),
                "`sessionId` with `sessionUpdate`",
            ),
        ],
    );
}

#[test]
fn messages_of_frameworks_are_recognised_by_their_types() {
    are_recognised_by(
        Format::LANGCHAIN,
        &[
            (
                r#"{"messages":[{"type":"human","content":"x"}]}"#,
                "messages whose `type` is `human` or `ai`",
            ),
            (
                r#"[{"type":"system","data":{"content":"x"}}]"#,
                "messages with `additional_kwargs` or `data`",
            ),
            (
                r#"[{"lc":1,"type":"constructor","id":["HumanMessage"],"kwargs":{"content":"x"}}]"#,
                "`lc` with `kwargs`",
            ),
            (
                r#"{"lc":1,"type":"constructor","id":["HumanMessage"],"kwargs":{"content":"x"}}"#,
                "`lc` with `kwargs`",
            ),
        ],
    );
    are_recognised_by(
        Format::PYDANTIC_AI,
        &[
            (
                r#"[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"x"}]}]"#,
                "`parts` with `part_kind`",
            ),
            (
                r#"{"messages":[{"kind":"request","parts":[]}]}"#,
                "`kind` `request` or `response` with `parts`",
            ),
        ],
    );
}

#[test]
fn a_single_key_is_no_evidence() {
    let table = [
        r#"{"type":"session_start","payload":{}}"#,
        r#"{"type":"event_msg","payload":"x"}"#,
        r#"{"kind":"TraceEvent","id":1}"#,
        r#"{"source":"x","action":"message"}"#,
        "{\n\"trajectory\": [\n{\"type\":\"call\",\"tool\":\"x\"}\n]}",
        r#"{"trajectory":[{"x":1,"y":2}],"history":[[1,2]]}"#,
        r#"{"history":[{"role":"user","parts":[]}]}"#,
        "{\"info\":{\"model_stats\":1}}\n{\"a\":1}",
        r#"{"info":{"config":1}}"#,
        r#"{"steps":[{"source":"user"}]}"#,
        r#"{"eval":{},"x":1}"#,
        r#"[{"event":"tool","x":1}]"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","id":1}"#,
    ];
    for input in table {
        assert_eq!(
            reading(input.as_bytes(), None).end,
            Err(Problem { line: None, kind: ProblemKind::Unrecognized }),
            "{input}"
        );
    }
}

#[test]
fn other_formats_are_refused_by_name() {
    let table = [
        (r#"{"role":"user","message":{"content":[]}}"#, "a Cursor transcript"),
        (
            "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"x\"}",
            "chat messages one a line",
        ),
        (r#"{"id":"1","messageID":"2","type":"tool"}"#, "an opencode message part"),
        (r#"{"type":"server.connected","sessionID":"1"}"#, "opencode's events"),
        ("{\"messages\":[]}\n{\"messages\":[]}", "conversations one a line"),
        ("{\"history\":[{\"action\":\"run\"}]}\n{\"history\":[]}", "episodes one a line"),
        (r#"{"type":"thread.started","thread_id":"1"}"#, "the events of `codex exec --json`"),
        (r#"{"hook_event_name":"PreToolUse","tool_name":"x"}"#, "the payload of a hook"),
        ("PK\u{3}\u{4}", "a zip archive that is not an Inspect log"),
        (r#"{"spanContext":{},"attributes":{}}"#, "OpenTelemetry spans of another exporter"),
        (r#"{"gen_ai.operation.name":"chat"}"#, "OpenTelemetry spans of another exporter"),
    ];
    for (input, looks_like) in table {
        let reading = reading(input.as_bytes(), None);
        assert!(reading.events.is_empty());
        let problem = reading.problems().concat();
        assert!(problem.starts_with(&format!("looks like {looks_like}")), "{problem}");
        let names = Format::ALL.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        assert!(problem.ends_with(&format!("read are: {names}")), "{problem}");
    }
}

#[test]
fn an_input_that_is_no_trace_is_an_error() {
    let table: [(&[u8], ProblemKind); 8] = [
        (b"", ProblemKind::Empty),
        (b"\xef\xbb\xbf \r\n\n", ProblemKind::Empty),
        (b"# Notes\n{\"type\":\"call\",\"tool\":\"x\"}\n", ProblemKind::Unrecognized),
        (b"{\"file\":\"a\",\"loop\":\"yes\"}\n", ProblemKind::Unrecognized),
        (b"{\n \"a\": [\n{\"type\":\"call\",\"tool\":\"x\"}\n]}", ProblemKind::Unrecognized),
        (b"[]", ProblemKind::Unrecognized),
        (b"{", ProblemKind::Unrecognized),
        (b"\x00\x01", ProblemKind::Unrecognized),
    ];
    for (input, kind) in table {
        let expected = Problem { line: None, kind };
        assert_eq!(reading(input, None).end, Err(expected));
    }
}

#[test]
fn spans_are_recognised_by_their_lists() {
    let list = "`resourceSpans`";
    let cut = format!(r#"{{"resourceSpans":[{{"resource":"{}"#, " ".repeat(70_000));
    let table = [
        ("{\"resourceSpans\":[]}", list),
        ("{\"resource_spans\":[]}\n{\"resource_spans\":[]}", list),
        ("{\"resourceLogs\":[]}\n{\"resourceSpans\":[]}", list),
        ("{\n \"resourceSpans\": [\n {\"scopeSpans\": []}]}", list),
        ("[{\"resourceSpans\":[]}]", list),
        (r#"[{"resource":{},"scopeSpans":[]}]"#, "`scopeSpans` of a `resource`"),
    ];
    are_recognised_by(Format::OTLP, &table);
    let problem = reading(cut.as_bytes(), None).problems().concat();
    assert!(problem.starts_with("line 1: not a JSON object"), "{problem}");
}

#[test]
fn a_named_format_that_does_not_fit_is_an_error() {
    let table: [(&str, Format, &str); 24] = [
        ("", Format::NATIVE, "the input is empty"),
        ("{\"a\":1}\n", Format::CODEX, "no record of a Codex rollout"),
        ("[1]", Format::ANTHROPIC, "line 1: expected a JSON object"),
        ("{\"a\":1}", Format::GEMINI, "no record of a Gemini CLI chat"),
        ("{\"a\":1}", Format::QWEN, "no record of a Qwen Code session"),
        ("{\"a\":1}", Format::COPILOT, "no event of a Copilot CLI session"),
        ("{\"a\":1}", Format::OPENCODE, "no record of an opencode session"),
        ("{\"a\":1}", Format::PI, "no entry of a pi session"),
        ("{\"a\":1}", Format::SWE_AGENT, "no step of a SWE-agent trajectory"),
        ("{\"a\":1}", Format::MINI_SWE_AGENT, "no message of a mini-swe-agent trajectory"),
        ("{\"a\":1}", Format::OPENHANDS, "no event of OpenHands"),
        ("{\"a\":1}", Format::ATIF, "no step of an ATIF trajectory"),
        ("{\"a\":1}", Format::LANGCHAIN, "line 1: a message needs the field `type`"),
        ("{\"a\":1}", Format::PYDANTIC_AI, "no message of Pydantic AI"),
        ("{\"a\":1}", Format::INSPECT, "no sample of an Inspect log"),
        ("{\"a\":1}", Format::ACP, "no update of the Agent Client Protocol"),
        (r#"{"method":"session/update"}"#, Format::ACP, "line 1: a message of a session needs"),
        ("{\"a\":1}", Format::OTLP, "line 1: a request of OTLP needs the field `resourceSpans`"),
        ("nonsense\n", Format::NATIVE, "line 1: not a JSON object"),
        ("{\"type\":\"x\"}\n", Format::NATIVE, "no record of a native trace"),
        ("{\"a\":1}\n", Format::CLAUDE_CODE, "no record of a Claude Code session"),
        ("{\"a\":1}\n", Format::OPENAI, "no chat message"),
        ("{\"a\":1}\n", Format::OPENAI_RESPONSES, "no item of OpenAI Responses"),
        (CALL, Format::OPENAI, "no chat message"),
    ];
    for (input, format, begin) in table {
        let problem = reading(input.as_bytes(), Some(format)).problems().concat();
        assert!(problem.starts_with(begin), "{problem}");
    }
}

#[test]
fn a_native_trace_is_of_no_other_format() {
    let message = r#"{"type":"message","role":"assistant","text":"I look."}"#;
    let native = format!("{{\"session\":\"s\"}}\n{message}\n{CALL}\n{message}\n");
    for format in Format::ALL.iter().copied().filter(|format| *format != Format::NATIVE) {
        let reading = reading(native.as_bytes(), Some(format));
        assert!(reading.end.is_err(), "{format}");
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let call = format!("{{\"type\":\"call\",\"tool\":\"x\",\"args\":{deep}}}\n{CALL}\n");
    let table = [
        (deep.clone(), None),
        (format!("{CALL}\n{deep}\n"), None),
        (call, Some(Format::NATIVE)),
        (format!("{{\"messages\":{deep}}}"), Some(Format::OPENAI)),
        (format!("{{\"loglines\":{deep}}}"), Some(Format::CLAUDE_CODE)),
        (format!(r#"[{{"role":"tool","content":{deep}}}]"#), Some(Format::OPENAI)),
        (format!("[{{\"role\":{deep}"), Some(Format::OPENAI)),
    ];
    let every = Format::ALL
        .iter()
        .map(|&format| (format!(r#"{{"type":"user","payload":{deep}}}"#), Some(format)));
    for (input, from) in table.into_iter().chain(every) {
        let calls = reading(input.as_bytes(), from).end.map_or(0, |trace| trace.calls);
        assert!(calls <= 2);
    }
}

/// A reader that delivers its bytes and then fails.
struct Unplugged<'a>(&'a [u8]);

impl Read for Unplugged<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        match self.0.read(buffer)? {
            0 => Err(Error::other("unplugged")),
            count => Ok(count),
        }
    }
}

#[test]
fn a_failing_reader_ends_the_trace_where_it_fails() {
    let far = format!("{CALL}\n").repeat(5_000);
    let chat = CHAT.replace(']', ",");
    let table = [
        (String::new(), None, Err("reading failed: unplugged")),
        ("{".to_owned(), None, Err("reading failed: unplugged")),
        (format!("{CALL}\n"), None, Ok("line 2: reading failed: unplugged")),
        (far, None, Ok("line 5001: reading failed: unplugged")),
        (chat, Some(Format::OPENAI), Ok("line 1: reading failed: unplugged")),
    ];
    for (given, from, expected) in table {
        let input = BufReader::new(Unplugged(given.as_bytes()));
        let end = read(input, from, &mut |_| {});
        let problems = end.map(|trace| trace.problems.iter().map(Problem::to_string).collect());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(problems.map_err(|problem| problem.to_string()), expected);
    }
}
