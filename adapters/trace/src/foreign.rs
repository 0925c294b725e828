//! Formats that are known and not read, so that the error can name them.

use serde_json::Value;

use crate::clue::{Clue, Fields, Place, blocks, is_list, is_text, text};

/// Evidence for one of these formats; its reason says what the input looks like, with an article.
pub(crate) fn recognise(place: Place, fields: &Fields) -> Option<Clue> {
    if text(fields, "schema_version").starts_with("ATIF") {
        return Some(Clue::record("an ATIF trajectory"));
    }
    match place {
        Place::Line => mark(fields).or_else(|| line(fields)),
        Place::Document => mark(fields).or_else(|| document(fields)),
        Place::Element => element(fields).or_else(|| mark(fields)),
    }
}

/// Whether an object that stands alone on a line is a whole document of such a format.
pub(crate) fn is_document(fields: &Fields) -> bool {
    ["input", "samples", "steps"].iter().any(|key| is_list(fields, key))
}

/// Keys that only one format uses.
fn mark(fields: &Fields) -> Option<Clue> {
    let has = |key: &str| fields.contains_key(key);
    let kind = text(fields, "type");
    let is_printed = ["thread.", "turn.", "item."].iter().any(|begin| kind.starts_with(begin));
    let table = [
        (is_printed, "the events of `codex exec --json`"),
        (has("resourceSpans") || has("spanContext"), "OpenTelemetry spans"),
        (fields.keys().any(|key| key.starts_with("gen_ai.")), "OpenTelemetry spans"),
        (has("hook_event_name"), "the payload of a hook"),
        (has("sessionID"), "opencode's events"),
        (has("messageID") && has("type"), "an opencode message part"),
        (kind == "session" && has("id"), "a pi session"),
        (has("lc") && has("kwargs"), "LangChain messages"),
        (has("eval") && (has("samples") || has("plan")), "an Inspect log"),
        (is_list(fields, "input") && !is_list(fields, "messages"), "an OpenAI Responses request"),
    ];
    table.into_iter().find_map(|(is_so, looks_like)| is_so.then_some(Clue::mark(looks_like)))
}

fn document(fields: &Fields) -> Option<Clue> {
    let is_log = is_list(fields, "events") && !is_list(fields, "messages");
    is_log.then_some(Clue::hint("the events of an Inspect log"))
}

fn element(fields: &Fields) -> Option<Clue> {
    let has = |key: &str| fields.contains_key(key);
    match text(fields, "type") {
        "human" | "ai" | "constructor" => return Some(Clue::record("LangChain messages")),
        "reasoning" | "function_call" | "function_call_output" | "custom_tool_call" => {
            return Some(Clue::record("OpenAI Responses items"));
        }
        _ => {}
    }
    if blocks(fields).any(|kind| matches!(kind, "input_text" | "output_text")) {
        return Some(Clue::mark("OpenAI Responses items"));
    }
    match (has("parts"), has("kind"), has("info")) {
        (true, true, _) => Some(Clue::mark("Pydantic AI messages")),
        (true, _, true) => Some(Clue::mark("an opencode export")),
        (true, ..) => Some(Clue::mark("Gemini API contents")),
        _ => None,
    }
}

/// Lines without a `type`, in shapes that several programs write.
fn line(fields: &Fields) -> Option<Clue> {
    if is_text(fields, "type") {
        return None;
    }
    let has_role = is_text(fields, "role");
    let table = [
        (
            has_role && fields.get("message").is_some_and(Value::is_object),
            Clue::hint("a Cursor transcript"),
        ),
        (
            has_role && fields.contains_key("content"),
            Clue::hint("chat messages one a line (expected a JSON array of them)"),
        ),
        (is_list(fields, "messages"), Clue::hint("conversations one a line (expected one a file)")),
        (
            is_list(fields, "history") || is_list(fields, "trajectory"),
            Clue::hint("episodes one a line (expected one a file)"),
        ),
    ];
    table.into_iter().find_map(|(is_so, clue)| is_so.then_some(clue))
}
