//! What the keys of a JSON value say about the format of its file.

use serde_json::{Map, Value};

use crate::Format;
use crate::formats::mini_swe_agent;
use Clue::{Foreign, Ours, Perhaps, Silent};

type Fields = Map<String, Value>;

/// What a value says about the format of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clue {
    /// Ours, told by these keys.
    Ours(Format, &'static str),
    /// Ours unless a later line says otherwise.
    Perhaps(Format, &'static str),
    /// Known and not read: what it looks like.
    Foreign(&'static str),
    Silent,
}

/// The kinds of line in a Codex rollout that no other format has beside a `payload`.
const ROLLOUT_LINES: [&str; 5] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

/// What one line says. Ours come first: a record may hold further fields, whatever their names.
pub(crate) fn line(fields: &Fields) -> Clue {
    let has = |key: &str| fields.contains_key(key);
    let message = fields.get("message").and_then(Value::as_object);
    match text(fields, "type") {
        "call" if has("tool") => return Ours(Format::Native, "`type` is `call`, with `tool`"),
        "message" if is_text(fields, "role") && is_text(fields, "text") => {
            return Ours(Format::Native, "`type` is `message`, with `role` and `text`");
        }
        "user" | "assistant" | "tool_result" => match message {
            Some(message) if message.contains_key("parts") => {
                return Ours(Format::Gemini, "`message` with `parts`, as Qwen Code writes it");
            }
            Some(_) if text(fields, "type") != "tool_result" => {
                return Ours(Format::ClaudeCode, "`type` and `message` of a turn");
            }
            _ => {}
        },
        _ => {}
    }
    match mark(fields) {
        Silent => hint(fields),
        clue => clue,
    }
}

/// What a line says that has no format's own keys.
fn hint(fields: &Fields) -> Clue {
    let has = |key: &str| fields.contains_key(key);
    let has_role = is_text(fields, "role");
    match fields.get("type").and_then(Value::as_str) {
        Some("call") => Ours(Format::Native, "`type` is `call`"),
        Some("summary") if has("leafUuid") => {
            Perhaps(Format::ClaudeCode, "`type` is `summary`, with `leafUuid`")
        }
        Some("file-history-snapshot") => {
            Perhaps(Format::ClaudeCode, "`type` is `file-history-snapshot`")
        }
        Some(_) if is_text(fields, "sessionId") => {
            Perhaps(Format::ClaudeCode, "`type` with `sessionId`")
        }
        Some("message") if has_role && blocks(fields).any(is_codex_block) => {
            Ours(Format::Codex, "`message` items with `input_text`, one a line")
        }
        Some("function_call" | "function_call_output") if is_text(fields, "call_id") => {
            Ours(Format::Codex, "`function_call` items one a line")
        }
        // A long message may hide the `type` behind it.
        None if has("isSidechain") => Perhaps(Format::ClaudeCode, "`isSidechain`"),
        None if has_role && fields.get("message").is_some_and(Value::is_object) => {
            Foreign("a Cursor transcript")
        }
        None if has_role && has("content") => {
            Foreign("chat messages one a line (expected a JSON array of them)")
        }
        None if is_list(fields, "messages") => {
            Foreign("conversations one a line (expected one a file)")
        }
        None if is_list(fields, "history") || is_list(fields, "trajectory") => {
            Foreign("episodes one a line (expected one a file)")
        }
        _ => Silent,
    }
}

/// What a document says.
pub(crate) fn document(value: &Value) -> Clue {
    let fields = match value {
        Value::Array(elements) => return messages(elements),
        Value::Object(fields) => fields,
        _ => return Silent,
    };
    match mark(fields) {
        Silent => {}
        clue => return clue,
    }
    if is_list(fields, "loglines") {
        return Ours(Format::ClaudeCode, "`loglines`");
    }
    for key in ["trajectory", "history", "events"] {
        if let Some(Value::Array(elements)) = fields.get(key) {
            match list(fields, key, elements) {
                Silent => {}
                clue => return clue,
            }
        }
    }
    match fields.get("messages") {
        Some(Value::Array(elements)) => match messages(elements) {
            Ours(Format::OpenAi, _) if fields.get("info").is_some_and(is_info_of_run) => {
                Ours(Format::MiniSweAgent, "`info` of a run beside `messages`")
            }
            Ours(Format::OpenAi, _) if is_anthropic_request(fields) && !are_chat(elements) => {
                Ours(Format::Anthropic, "`system` or `input_schema` beside `messages`")
            }
            clue => clue,
        },
        _ if fields.get("info").is_some_and(is_info_of_run) => {
            Ours(Format::MiniSweAgent, "`info` of a run")
        }
        _ => Silent,
    }
}

/// What a document's list says that is not called `messages`, which a log of chat messages may have
/// beside it.
fn list(fields: &Fields, key: &str, elements: &[Value]) -> Clue {
    if is_list(fields, "messages") {
        return Silent;
    }
    let is_episode = |event: &Fields| {
        !event.contains_key("role") && (is_text(event, "action") || is_text(event, "observation"))
    };
    let is_of_swe_agent = |message: &Fields| {
        message.contains_key("role")
            && ["agent", "message_type", "action"].iter().any(|key| message.contains_key(*key))
    };
    match key {
        "trajectory"
            if flat(elements).any(is_episode) || (elements.is_empty() && has_rest(fields)) =>
        {
            Ours(Format::SweAgent, "`trajectory` of steps with an `action`")
        }
        "history" if flat(elements).any(is_of_swe_agent) => {
            Ours(Format::SweAgent, "`history` of messages with an `agent` or an `action`")
        }
        "history" if flat(elements).any(is_episode) => {
            Ours(Format::OpenHands, "`history` of actions and observations")
        }
        "events" => match messages(elements) {
            clue @ Ours(Format::OpenHands, _) => clue,
            _ => Foreign("the events of an Inspect log"),
        },
        _ => Silent,
    }
}

/// The objects of a list, those of nested lists among them.
fn flat(elements: &[Value]) -> impl Iterator<Item = &Fields> {
    let parts = elements.iter().flat_map(|element| match element {
        Value::Array(pair) => pair.as_slice(),
        element => core::slice::from_ref(element),
    });
    parts.filter_map(Value::as_object)
}

/// Whether a document has what stands beside SWE-agent's steps.
fn has_rest(fields: &Fields) -> bool {
    ["history", "info", "environment"].iter().any(|key| fields.contains_key(*key))
}

/// Whether a value is what mini-swe-agent keeps beside its messages.
pub(crate) fn is_info_of_run(info: &Value) -> bool {
    info.get("model_stats").is_some() || info.get("mini_version").is_some()
}

/// The first message that only one format can have decides; messages with a role or a content are
/// OpenAI's otherwise.
fn messages(elements: &[Value]) -> Clue {
    let mut clue = Silent;
    for fields in elements.iter().filter_map(Value::as_object) {
        match message(fields) {
            Silent => {}
            told => return told,
        }
        match mark(fields) {
            Silent => {}
            told => return told,
        }
        if fields.contains_key("role") || fields.contains_key("content") {
            clue = Ours(Format::OpenAi, "messages with `role` and `content`");
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

/// Whether an object has what only Anthropic's requests have beside their messages.
fn is_anthropic_request(fields: &Fields) -> bool {
    let tools = fields.get("tools").and_then(Value::as_array);
    let is_schema = |tool: &Value| tool.get("input_schema").is_some();
    fields.contains_key("system") || tools.into_iter().flatten().any(is_schema)
}

/// What one message of a list says.
fn message(fields: &Fields) -> Clue {
    let has = |key: &str| fields.contains_key(key);
    match text(fields, "type") {
        "human" | "ai" | "constructor" => return Foreign("LangChain messages"),
        "gemini" => return Ours(Format::Gemini, "messages whose `type` is `gemini`"),
        "user" if !has("role") && has("timestamp") && has("content") => {
            return Ours(Format::Gemini, "messages with `type` and `timestamp`, without `role`");
        }
        "reasoning" | "function_call" | "function_call_output" | "custom_tool_call" => {
            return Foreign("OpenAI Responses items");
        }
        _ => {}
    }
    if blocks(fields).any(|kind| matches!(kind, "tool_use" | "tool_result" | "server_tool_use")) {
        return Ours(Format::Anthropic, "`tool_use` or `tool_result` blocks");
    }
    if blocks(fields).any(is_codex_block) {
        return Foreign("OpenAI Responses items");
    }
    if fields.get("extra").and_then(|extra| extra.get("actions")).is_some() {
        return Ours(Format::MiniSweAgent, "messages with `extra.actions`");
    }
    if mini_swe_agent::is_own(text(fields, "role"), text(fields, "content")) {
        return Ours(Format::MiniSweAgent, "commands in `mswea_bash_command` blocks");
    }
    if has("source") && (has("action") || has("observation")) {
        return Ours(Format::OpenHands, "`source` with `action` or `observation`");
    }
    match (has("parts"), has("kind"), has("info")) {
        (true, true, _) => Foreign("Pydantic AI messages"),
        (true, _, true) => Foreign("an opencode export"),
        (true, ..) => Foreign("Gemini API contents"),
        _ => Silent,
    }
}

/// What an object, a line's or a document's, says by a format's own keys.
fn mark(fields: &Fields) -> Clue {
    let has = |key: &str| fields.contains_key(key);
    if text(fields, "schema_version").starts_with("ATIF") {
        return Foreign("an ATIF trajectory");
    }
    if text(fields, "trajectory_format").starts_with("mini-swe") {
        return Ours(Format::MiniSweAgent, "`trajectory_format`");
    }
    if fields.get("payload").is_some_and(|payload| is_rollout(text(fields, "type"), payload)) {
        return Ours(Format::Codex, "`type` and `payload` of a rollout's line");
    }
    if has("projectHash") && has("sessionId") {
        return Ours(Format::Gemini, "`sessionId` with `projectHash`");
    }
    if text(fields, "type") == "gemini" && (has("content") || has("toolCalls")) {
        return Ours(Format::Gemini, "`type` is `gemini`");
    }
    if has("projectHash") || has("$set") || has("$rewindTo") {
        return Perhaps(Format::Gemini, "`projectHash`, `$set` or `$rewindTo`");
    }
    if text(fields, "kind").ends_with("Event") && has("source") {
        return Ours(Format::OpenHands, "`kind` ending with `Event`, with `source`");
    }
    let is_action = is_text(fields, "action") && has("args");
    let is_observation = is_text(fields, "observation") && has("content");
    if is_text(fields, "source") && (is_action || is_observation) {
        return Ours(Format::OpenHands, "`source` with `action` or `observation`");
    }
    foreign(fields).map_or(Silent, Foreign)
}

/// Whether a payload is that of a line in a Codex rollout; its `type` may stand too far behind it to
/// be seen.
fn is_rollout(kind: &str, payload: &Value) -> bool {
    payload.is_object()
        && (ROLLOUT_LINES.contains(&kind)
            || (kind.is_empty() && payload.get("originator").is_some()))
}

/// What an object of a format looks like that is not read.
fn foreign(fields: &Fields) -> Option<&'static str> {
    let has = |key: &str| fields.contains_key(key);
    let starts =
        |key: &str, with: &[&str]| with.iter().any(|with| text(fields, key).starts_with(with));
    let found = [
        (starts("type", &["thread.", "turn.", "item."]), "the events of `codex exec --json`"),
        (has("resourceSpans") || has("spanContext"), "OpenTelemetry spans"),
        (fields.keys().any(|key| key.starts_with("gen_ai.")), "OpenTelemetry spans"),
        (has("hook_event_name"), "the payload of a hook"),
        (has("sessionID"), "opencode's events"),
        (has("messageID") && has("type"), "an opencode message part"),
        (text(fields, "type") == "session" && has("id"), "a pi session"),
        (has("lc") && has("kwargs"), "LangChain messages"),
        (has("eval") && (has("samples") || has("plan")), "an Inspect log"),
        (is_list(fields, "input") && !is_list(fields, "messages"), "an OpenAI Responses request"),
    ];
    found.into_iter().find_map(|(is_so, looks_like)| is_so.then_some(looks_like))
}

/// The kinds of the blocks in a message's content.
fn blocks(fields: &Fields) -> impl Iterator<Item = &str> {
    let blocks = fields.get("content").and_then(Value::as_array);
    blocks.into_iter().flatten().filter_map(|block| block.get("type").and_then(Value::as_str))
}

fn is_codex_block(kind: &str) -> bool {
    matches!(kind, "input_text" | "output_text")
}

/// The text under a key, empty if there is none.
fn text<'a>(fields: &'a Fields, key: &str) -> &'a str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn is_text(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_some_and(Value::is_string)
}

fn is_list(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_some_and(Value::is_array)
}
