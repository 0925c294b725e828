//! What an input is taken for: ours only where nothing else can be meant.

mod told;

use std::io::{BufReader, Error, Read};

use told::told;
use unstuck_trace::{Format, Problem, ProblemKind, read};

const CALL: &str = "{\"type\":\"call\",\"tool\":\"x\"}";
const USER: &str = "{\"type\":\"user\",\"message\":{\"content\":\"x\"}}";
const CHAT: &str = "[{\"role\":\"user\",\"content\":\"x\"}]";

#[test]
fn our_formats_are_recognised_under_marks_blanks_and_settings() {
    let settings = "{\"type\":\"mode\",\"sessionId\":\"s\"}";
    let padding = " ".repeat(70_000);
    let table = [
        (CALL.to_owned(), Format::Native),
        (format!("\u{feff}\r\n\r\n{CALL}\r\n"), Format::Native),
        (format!("{{\"source\":\"x\"}}\n{{\"type\":\"control\"}}\n{CALL}"), Format::Native),
        (format!("{{\"type\":\"call\",\"tool\":\"cut off\n{CALL}\n"), Format::Native),
        (format!("{{\"type\":\"call\",\"tool\":\"x\",\"args\":\"{padding}\"}}"), Format::Native),
        ("{\"payload\":1,\"type\":\"call\",\"tool\":\"x\"}".to_owned(), Format::Native),
        (USER.to_owned(), Format::ClaudeCode),
        (
            format!("{{\"isSidechain\":false,\"message\":\"{padding}\",\"type\":\"user\"}}"),
            Format::ClaudeCode,
        ),
        (format!("{settings}\n{USER}"), Format::ClaudeCode),
        (settings.to_owned(), Format::ClaudeCode),
        ("{\"type\":\"summary\",\"leafUuid\":\"x\"}".to_owned(), Format::ClaudeCode),
        (format!("{{\n \"loglines\": [\n{USER}]}}"), Format::ClaudeCode),
        (format!("{{\"loglines\":[{USER}]}}"), Format::ClaudeCode),
        (CHAT.to_owned(), Format::OpenAi),
        (format!("{{\"messages\":{CHAT},\"x\":1}}\n"), Format::OpenAi),
        (format!("{{\"input\":[],\"messages\":{CHAT}}}"), Format::OpenAi),
        ("{\"messages\":[{\"role\":\"tool\"}],\"system\":\"x\"}".to_owned(), Format::OpenAi),
        (format!("{{\n \"model\": 1,\n \"messages\": {CHAT}}}"), Format::OpenAi),
        (format!("[{{\"role\":\"system\",\"content\":\"{padding}\"}}]"), Format::OpenAi),
        (format!("[{{\"content\":\"{padding}\",\"role\":\"system\"}}]"), Format::OpenAi),
    ];
    for (input, format) in table {
        let found = told(input.as_bytes(), None).end.map(|trace| trace.format);
        let begin: String = input.chars().take(60).collect();
        assert_eq!(found, Ok(format), "{begin}");
    }
}

#[test]
fn other_formats_are_refused_by_name() {
    let table = [
        ("{\"type\":\"session_meta\",\"payload\":{}}", "a Codex rollout"),
        (
            "{\"type\":\"user\",\"uuid\":\"1\",\"sessionId\":\"2\",\"message\":{\"parts\":[]}}",
            "a Qwen Code session",
        ),
        ("{\"role\":\"user\",\"message\":{\"content\":[]}}", "a Cursor transcript"),
        (
            "{\"type\":\"session\",\"id\":\"1\"}\n{\"type\":\"message\",\"message\":{}}",
            "a pi session",
        ),
        ("[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"}]}]", "Anthropic messages"),
        (
            "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"system\":\"x\"}",
            "Anthropic messages",
        ),
        (
            "[{\"role\":\"user\",\"content\":\"x\"},{\"type\":\"function_call\"}]",
            "OpenAI Responses items",
        ),
        ("{\"messages\":[{\"type\":\"human\",\"content\":\"x\"}]}", "LangChain messages"),
        ("[{\"kind\":\"request\",\"parts\":[]}]", "Pydantic AI messages"),
        (
            "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"x\"}",
            "chat messages one a line",
        ),
        ("{\"info\":1,\"messages\":[{\"info\":1,\"parts\":[]}]}", "an opencode export"),
        ("{\"info\":1,\"messages\":[{\"role\":\"user\"}]}", "a mini-swe-agent trajectory"),
        ("{\"messages\":[]}\n{\"messages\":[]}", "conversations one a line"),
        ("{\n\"trajectory\": [\n{\"type\":\"call\",\"tool\":\"x\"}\n]}", "a SWE-agent trajectory"),
        ("PK\u{3}\u{4}", "a zip archive"),
    ];
    for (input, looks_like) in table {
        let told = told(input.as_bytes(), None);
        assert!(told.events.is_empty());
        let problem = told.problems().concat();
        assert!(problem.starts_with(&format!("looks like {looks_like}")), "{problem}");
        assert!(problem.ends_with("read are: native, claude-code, openai"), "{problem}");
    }
}

#[test]
fn what_is_no_trace_is_an_error() {
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
        assert_eq!(told(input, None).end, Err(expected));
    }
}

#[test]
fn a_named_format_that_does_not_fit_is_an_error() {
    let table: [(&str, Format, &str); 6] = [
        ("", Format::Native, "the input is empty"),
        ("nonsense\n", Format::Native, "line 1: not a JSON object"),
        ("{\"type\":\"x\"}\n", Format::Native, "no record of a native trace"),
        ("{\"a\":1}\n", Format::ClaudeCode, "no record of a Claude Code session"),
        ("{\"a\":1}\n", Format::OpenAi, "no chat message"),
        (CALL, Format::OpenAi, "no chat message"),
    ];
    for (input, format, begin) in table {
        let problem = told(input.as_bytes(), Some(format)).problems().concat();
        assert!(problem.starts_with(begin), "{problem}");
    }
}

#[test]
fn nesting_is_no_danger() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let call = format!("{{\"type\":\"call\",\"tool\":\"x\",\"args\":{deep}}}\n{CALL}\n");
    let table = [
        (deep.clone(), None),
        (format!("{CALL}\n{deep}\n"), None),
        (call, Some(Format::Native)),
        (format!("{{\"messages\":{deep}}}"), Some(Format::OpenAi)),
        (format!("{{\"loglines\":{deep}}}"), Some(Format::ClaudeCode)),
        (format!("[{{\"role\":\"tool\",\"content\":{deep}}}]"), Some(Format::OpenAi)),
        (format!("[{{\"role\":{deep}"), Some(Format::OpenAi)),
    ];
    for (input, from) in table {
        let calls = told(input.as_bytes(), from).end.map_or(0, |trace| trace.calls);
        assert!(calls <= 2);
    }
}

/// Gives its bytes, then fails.
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
fn a_failing_reader_costs_what_it_did_not_give() {
    let far = format!("{CALL}\n").repeat(5_000);
    let chat = CHAT.replace(']', ",");
    let table = [
        (String::new(), None, Err("reading failed: unplugged")),
        ("{".to_owned(), None, Err("reading failed: unplugged")),
        (format!("{CALL}\n"), None, Ok("line 2: reading failed: unplugged")),
        (far, None, Ok("line 5001: reading failed: unplugged")),
        (chat, Some(Format::OpenAi), Ok("line 1: reading failed: unplugged")),
    ];
    for (given, from, expected) in table {
        let input = BufReader::new(Unplugged(given.as_bytes()));
        let end = read(input, from, &mut |_| {});
        let problems = end.map(|trace| trace.problems.iter().map(Problem::to_string).collect());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(problems.map_err(|problem| problem.to_string()), expected);
    }
}
