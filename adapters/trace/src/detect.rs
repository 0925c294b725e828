//! Recognises a format by the beginning of its input.
//!
//! A file is taken for one of ours only by keys that no other format has; what is known and not
//! read yet is told by name, so that nobody hears "no loops" about a file that was not understood.

use serde_json::{Map, Value};

use crate::Format;
use crate::partial::{Break, parse};
use crate::problem::ProblemKind;

/// How an input is cut into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One record a line.
    Lines,
    /// One JSON document with a list of records.
    Document,
}

type Fields = Map<String, Value>;

/// What a value says about the format of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clue {
    Ours(Format),
    /// Ours unless a later line says otherwise.
    Perhaps(Format),
    Foreign(&'static str),
    Silent,
}

/// The format and layout of an input that begins with `prefix`; `complete` if that is all of it.
///
/// # Errors
///
/// [`ProblemKind::Empty`], [`ProblemKind::Foreign`] or [`ProblemKind::Unrecognized`].
pub(crate) fn format(prefix: &[u8], complete: bool) -> Result<(Format, Layout), ProblemKind> {
    let text = prefix.trim_ascii_start();
    if text.is_empty() && complete {
        return Err(ProblemKind::Empty);
    }
    if let Some(looks_like) = binary(text) {
        return Err(ProblemKind::Foreign { looks_like });
    }
    if !text.starts_with(b"{") && !text.starts_with(b"[") {
        return Err(ProblemKind::Unrecognized);
    }
    match layout(text) {
        Layout::Document => match document(&parse(text).0) {
            Clue::Ours(format) | Clue::Perhaps(format) => Ok((format, Layout::Document)),
            Clue::Foreign(looks_like) => Err(ProblemKind::Foreign { looks_like }),
            Clue::Silent => Err(ProblemKind::Unrecognized),
        },
        Layout::Lines => match lines(text) {
            Clue::Ours(format) | Clue::Perhaps(format) => Ok((format, Layout::Lines)),
            Clue::Foreign(looks_like) => Err(ProblemKind::Foreign { looks_like }),
            Clue::Silent => Err(ProblemKind::Unrecognized),
        },
    }
}

/// The layout of an input whose format the caller named.
pub(crate) fn layout_of(format: Format, prefix: &[u8]) -> Layout {
    match format {
        Format::Native => Layout::Lines,
        Format::OpenAi => Layout::Document,
        Format::ClaudeCode => match parse(prefix.trim_ascii_start()).0 {
            Value::Object(fields) if fields.contains_key("loglines") => Layout::Document,
            _ => Layout::Lines,
        },
    }
}

/// A document if it begins a list, if its first line ends where a printer breaks lines, or if that
/// is the only line and holds a list. A line that ends elsewhere was cut off, and others follow.
fn layout(text: &[u8]) -> Layout {
    let mut lines = records(text);
    let Some(first) = lines.next() else {
        return Layout::Lines;
    };
    match parse(first) {
        (Value::Array(_), _) => Layout::Document,
        (_, Break::End) if is_broken_by_printer(first) => Layout::Document,
        (Value::Object(fields), _) if lines.next().is_none() && is_list_holder(&fields) => {
            Layout::Document
        }
        _ => Layout::Lines,
    }
}

fn is_broken_by_printer(line: &[u8]) -> bool {
    matches!(line.trim_ascii_end().last(), Some(b'{' | b'[' | b',' | b':'))
}

fn is_list_holder(fields: &Fields) -> bool {
    ["messages", "loglines", "input", "samples", "history", "steps"]
        .iter()
        .any(|key| fields.get(*key).is_some_and(Value::is_array))
}

fn records(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

/// The first line that says something decides.
fn lines(text: &[u8]) -> Clue {
    let mut perhaps = Clue::Silent;
    for record in records(text) {
        let Value::Object(fields) = parse(record).0 else {
            continue;
        };
        match line(&fields) {
            Clue::Silent => {}
            Clue::Perhaps(format) => perhaps = Clue::Perhaps(format),
            clue => return clue,
        }
    }
    perhaps
}

/// What one line says. Ours come first: a record may hold further fields, whatever their names.
fn line(fields: &Fields) -> Clue {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let has = |key: &str| fields.contains_key(key);
    let message = fields.get("message").and_then(Value::as_object);
    match text("type") {
        Some("call") if has("tool") => return Clue::Ours(Format::Native),
        Some("message") if text("role").is_some() && text("text").is_some() => {
            return Clue::Ours(Format::Native);
        }
        Some("user" | "assistant") => match message {
            Some(message) if message.contains_key("parts") => {
                return Clue::Foreign("a Qwen Code session");
            }
            Some(_) => return Clue::Ours(Format::ClaudeCode),
            None => {}
        },
        _ => {}
    }
    if let Some(looks_like) = foreign(fields) {
        return Clue::Foreign(looks_like);
    }
    match text("type") {
        Some("call") => Clue::Ours(Format::Native),
        Some("summary") if has("leafUuid") => Clue::Perhaps(Format::ClaudeCode),
        Some("file-history-snapshot") => Clue::Perhaps(Format::ClaudeCode),
        Some(_) if text("sessionId").is_some() => Clue::Perhaps(Format::ClaudeCode),
        // A long message may hide the `type` behind it.
        None if has("isSidechain") => Clue::Perhaps(Format::ClaudeCode),
        None if text("role").is_some() && message.is_some() => Clue::Foreign("a Cursor transcript"),
        None if text("role").is_some() && has("content") => {
            Clue::Foreign("chat messages one a line (expected a JSON array of them)")
        }
        None if fields.get("messages").is_some_and(Value::is_array) => {
            Clue::Foreign("conversations one a line (expected one a file)")
        }
        _ => Clue::Silent,
    }
}

fn document(value: &Value) -> Clue {
    match value {
        Value::Array(elements) => messages(elements),
        Value::Object(fields) => {
            if let Some(looks_like) = foreign(fields) {
                return Clue::Foreign(looks_like);
            }
            if fields.get("loglines").is_some_and(Value::is_array) {
                return Clue::Ours(Format::ClaudeCode);
            }
            match fields.get("messages") {
                Some(Value::Array(elements)) => match messages(elements) {
                    // Where the mark of its format comes last, too far away to be seen.
                    Clue::Ours(_) if fields.contains_key("info") => {
                        Clue::Foreign("a mini-swe-agent trajectory")
                    }
                    Clue::Ours(_) if fields.contains_key("system") && !are_chat(elements) => {
                        Clue::Foreign("Anthropic messages")
                    }
                    clue => clue,
                },
                _ => Clue::Silent,
            }
        }
        _ => Clue::Silent,
    }
}

/// The first foreign message decides; messages with a role or a content are OpenAI's otherwise.
fn messages(elements: &[Value]) -> Clue {
    let mut clue = Clue::Silent;
    for fields in elements.iter().filter_map(Value::as_object) {
        if let Some(looks_like) = foreign_message(fields).or_else(|| foreign(fields)) {
            return Clue::Foreign(looks_like);
        }
        if fields.contains_key("role") || fields.contains_key("content") {
            clue = Clue::Ours(Format::OpenAi);
        }
    }
    clue
}

/// Whether something in the messages is the chat format's own.
fn are_chat(elements: &[Value]) -> bool {
    elements.iter().any(|message| {
        let role = message.get("role").and_then(Value::as_str);
        matches!(role, Some("system" | "developer" | "tool")) || message.get("tool_calls").is_some()
    })
}

/// What a message of another format looks like.
fn foreign_message(fields: &Fields) -> Option<&'static str> {
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    let has = |key: &str| fields.contains_key(key);
    let blocks = fields.get("content").and_then(Value::as_array);
    let block_kinds = || {
        blocks.into_iter().flatten().filter_map(|block| block.get("type").and_then(Value::as_str))
    };
    match kind {
        "human" | "ai" | "constructor" => return Some("LangChain messages"),
        "gemini" => return Some("a Gemini CLI session"),
        "reasoning" | "function_call" | "function_call_output" | "custom_tool_call" => {
            return Some("OpenAI Responses items");
        }
        _ => {}
    }
    if block_kinds().any(|kind| matches!(kind, "tool_use" | "tool_result" | "server_tool_use")) {
        return Some("Anthropic messages");
    }
    if block_kinds().any(|kind| matches!(kind, "input_text" | "output_text")) {
        return Some("OpenAI Responses items");
    }
    if fields.get("extra").and_then(|extra| extra.get("actions")).is_some() {
        return Some("a mini-swe-agent trajectory");
    }
    if has("source") && (has("action") || has("observation")) {
        return Some("an OpenHands trajectory");
    }
    match (has("parts"), has("kind"), has("info")) {
        (true, true, _) => Some("Pydantic AI messages"),
        (true, _, true) => Some("an opencode export"),
        (true, ..) => Some("Gemini API contents"),
        _ => None,
    }
}

/// What an object, a line's or a document's, of another format looks like.
fn foreign(fields: &Fields) -> Option<&'static str> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
    let has = |key: &str| fields.contains_key(key);
    let list = |key: &str| fields.get(key).is_some_and(Value::is_array);
    // Plain words that a log of chat messages may have beside them.
    let only_list = |key: &str| list(key) && !list("messages");
    let starts = |key: &str, with: &[&str]| with.iter().any(|with| text(key).starts_with(with));
    let found = [
        (starts("schema_version", &["ATIF"]), "an ATIF trajectory"),
        (starts("trajectory_format", &["mini-swe"]), "a mini-swe-agent trajectory"),
        (only_list("trajectory"), "a SWE-agent trajectory"),
        (only_list("history") && has("git_patch"), "an OpenHands trajectory"),
        (only_list("history"), "a SWE-agent trajectory"),
        (has("payload") && has("type"), "a Codex rollout"),
        (starts("type", &["thread.", "turn.", "item."]), "the events of `codex exec --json`"),
        (has("projectHash") || has("$set") || has("$rewindTo"), "a Gemini CLI session"),
        (text("kind").ends_with("Event"), "OpenHands events"),
        (has("resourceSpans") || has("spanContext"), "OpenTelemetry spans"),
        (fields.keys().any(|key| key.starts_with("gen_ai.")), "OpenTelemetry spans"),
        (has("hook_event_name"), "the payload of a hook"),
        (has("sessionID"), "opencode's events"),
        (has("messageID") && has("type"), "an opencode message part"),
        (text("type") == "session" && has("id"), "a pi session"),
        (has("lc") && has("kwargs"), "LangChain messages"),
        (has("eval") && (has("samples") || has("plan")), "an Inspect log"),
        (only_list("events"), "the events of an Inspect log"),
        (only_list("input"), "an OpenAI Responses request"),
    ];
    found.into_iter().find_map(|(is_so, looks_like)| is_so.then_some(looks_like))
}

/// What a file is that holds no text.
fn binary(text: &[u8]) -> Option<&'static str> {
    let magics: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "a zip archive, as Inspect's `.eval` logs are"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\xff\xfe", "text in UTF-16"),
        (b"\xfe\xff", "text in UTF-16"),
    ];
    magics.into_iter().find_map(|(magic, looks_like)| text.starts_with(magic).then_some(looks_like))
}
