//! Formats that are known but not read, so that the error can name them.

use serde_json::Value;

use crate::clue::{Clue, Fields, Place, is_list, is_text, text};

/// The name of spans that are not in OTLP's JSON.
const SPANS: &str =
    "OpenTelemetry spans of another exporter (expected OTLP's JSON, with `resourceSpans`)";

/// Returns evidence for one of these formats. Its reason says what the input looks like, with an
/// article.
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

/// Returns whether an object that stands alone on a line is a whole document of such a format.
pub(crate) fn is_document(fields: &Fields) -> bool {
    ["samples", "steps"].iter().any(|key| is_list(fields, key))
}

/// Names a file that holds no text in UTF-8, by its first bytes.
pub(crate) fn binary(text: &[u8]) -> Option<&'static str> {
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

/// Looks for keys that only one format uses.
fn mark(fields: &Fields) -> Option<Clue> {
    let has = |key: &str| fields.contains_key(key);
    let kind = text(fields, "type");
    let is_printed = ["thread.", "turn.", "item."].iter().any(|begin| kind.starts_with(begin));
    let table = [
        (is_printed, "the events of `codex exec --json`"),
        (has("spanContext"), SPANS),
        (fields.keys().any(|key| key.starts_with("gen_ai.")), SPANS),
        (has("hook_event_name"), "the payload of a hook"),
        (has("sessionID"), "opencode's events"),
        (has("messageID") && has("type"), "an opencode message part"),
        (has("lc") && has("kwargs"), "LangChain messages"),
        (has("eval") && (has("samples") || has("plan")), "an Inspect log"),
    ];
    table.into_iter().find_map(|(is_so, looks_like)| is_so.then_some(Clue::mark(looks_like)))
}

fn document(fields: &Fields) -> Option<Clue> {
    let is_log = is_list(fields, "events") && !is_list(fields, "messages");
    is_log.then_some(Clue::hint("the events of an Inspect log"))
}

fn element(fields: &Fields) -> Option<Clue> {
    let has = |key: &str| fields.contains_key(key);
    if matches!(text(fields, "type"), "human" | "ai" | "constructor") {
        return Some(Clue::record("LangChain messages"));
    }
    match (has("parts"), has("kind")) {
        (true, true) => Some(Clue::mark("Pydantic AI messages")),
        (true, false) => Some(Clue::mark("Gemini API contents")),
        _ => None,
    }
}

/// Looks for lines without a `type`, in shapes that several programs write.
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
            // Lines of items with a `type` may follow.
            Clue::hint("chat messages one a line (expected a JSON array of them)").tentative(),
        ),
        (is_list(fields, "messages"), Clue::hint("conversations one a line (expected one a file)")),
        (
            is_list(fields, "history") || is_list(fields, "trajectory"),
            Clue::hint("episodes one a line (expected one a file)"),
        ),
    ];
    table.into_iter().find_map(|(is_so, clue)| is_so.then_some(clue))
}
