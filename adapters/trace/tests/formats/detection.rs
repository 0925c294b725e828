//! Recognition of formats: each input goes to its own format, and an ambiguous one to none.

use std::io::{BufReader, Error, Read};

use crate::reading::{cases, reading};
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

/// A case a line: the format, the reason, and the input. `⏎` is a line break, and PADDING is longer
/// than what is looked at.
const RECOGNISED: &str = include_str!("recognised.txt");

#[test]
fn each_format_is_recognised_for_a_reason_and_may_be_named() {
    for (format, case) in cases(RECOGNISED) {
        let (reason, input) = case.split_once(" | ").expect("a reason");
        let input = input.replace('⏎', "\n").replace("PADDING", &" ".repeat(70_000));
        let found = reading(input.as_bytes(), None).end.map(|trace| (trace.format, trace.reason));
        assert_eq!(found, Ok((format, reason)), "{case}");
        let named = reading(input.as_bytes(), Some(format)).end.map(|trace| trace.reason);
        assert_eq!(named, Ok("named by the caller"), "{case}");
    }
}

#[test]
fn a_format_is_recognised_behind_a_long_text() {
    let inputs = [
        r#"{"type":"message","text":"PADDING","role":"user"}⏎{"type":"call","tool":"x"}"#,
        r#"{"trajectory":[{"observation":"PADDING","action":"ls"}],"history":[],"info":{}}"#,
        r#"{⏎"history":[⏎{"content":"PADDING",⏎"role":"user","agent":"a","action":"ls"}⏎]}"#,
        r#"{"status":"PADDING","eval":{},"samples":[{"id":1,"epoch":1,"messages":[]}]}"#,
        r#"[{"args":{"content":"PADDING"},"source":"user","action":"message"}]"#,
        r#"{"llm_message":{"content":"PADDING"},"kind":"MessageEvent","source":"user"}"#,
        r#"{"info":{"title":"PADDING"},"messages":[{"info":{"role":"user"},"parts":[]}]}"#,
        r#"[{"role":"user","content":"PADDING"},{"role":"user","content":[{"type":"tool_result"}]}]"#,
        r#"{"system_prompt":"PADDING","steps":[{"step_id":1,"source":"user","message":"x"}]}"#,
    ];
    let formats = [
        Format::NATIVE,
        Format::SWE_AGENT,
        Format::SWE_AGENT,
        Format::INSPECT,
        Format::OPENHANDS,
        Format::OPENHANDS,
        Format::OPENCODE,
        Format::ANTHROPIC,
        Format::ATIF,
    ];
    for (input, format) in inputs.into_iter().zip(formats) {
        for length in [60_000, 70_000, 300_000, 5_000_000] {
            let text = "\\u00fc\\\\ ".repeat(length / 9);
            let input = input.replace('⏎', "\n").replace("PADDING", &text);
            for from in [None, Some(format)] {
                let found = reading(input.as_bytes(), from).end.map(|trace| trace.format);
                assert_eq!(found, Ok(format), "{length} {}", &input[..40]);
            }
        }
    }
}

/// A reader that counts what was taken from it.
struct Counted<R>(R, usize);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let count = self.0.read(buffer)?;
        self.1 += count;
        Ok(count)
    }
}

#[test]
fn a_text_without_end_is_not_read_to_its_end() {
    for begin in ["{\"a\":\"", "{\"a\":1,", "no JSON "] {
        let mut input = Counted(begin.as_bytes().chain(std::io::repeat(b'x')), 0);
        let end = read(BufReader::new(&mut input), None, &mut |_| {});
        assert_eq!(end.map_err(|problem| problem.kind), Err(ProblemKind::Unrecognized));
        assert!(input.1 <= (16 << 20) + 10_000, "{begin}: {}", input.1);
    }
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
        let found = reading(input, None);
        let names_option = found.problems().concat().contains("`--from` names one");
        assert_eq!(names_option, kind == ProblemKind::Unrecognized);
        assert_eq!(found.end, Err(Problem { line: None, kind }));
    }
    let named = reading(b"", Some(Format::NATIVE)).end;
    assert_eq!(named, Err(Problem { line: None, kind: ProblemKind::Empty }));
}

#[test]
fn spans_that_break_off_are_recognised() {
    let cut = format!(r#"{{"resourceSpans":[{{"resource":"{}"#, " ".repeat(70_000));
    let problem = reading(cut.as_bytes(), None).problems().concat();
    assert!(problem.starts_with("line 1: not a JSON object"), "{problem}");
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
