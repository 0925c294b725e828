//! Formats that are known but not read, so that the error can name them.

use serde_json::Value;

use crate::clue::{Clue, Fields, Place, is_list, is_text};

/// The name of spans that are not in OTLP's JSON.
const SPANS: &str =
    "OpenTelemetry spans of another exporter (expected OTLP's JSON, with `resourceSpans`)";

/// Returns evidence for one of these formats. Its reason says what the input looks like, with an
/// article.
pub(crate) fn recognise(place: Place, fields: &Fields) -> Option<Clue> {
    match place {
        Place::Line => mark(fields).or_else(|| line(fields)),
        Place::Document => mark(fields),
        Place::Element => element(fields).or_else(|| mark(fields)),
    }
}

/// Names a file that holds no text in UTF-8, by its first bytes.
pub(crate) fn binary(text: &[u8]) -> Option<&'static str> {
    if text.get(257..262) == Some(b"ustar") {
        return Some("a tar archive");
    }
    let magics: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "a zip archive that is not an Inspect log"),
        (b"\x1f\x8b", "a gzip archive in an archive"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive in an archive"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\xff\xfe", "text in UTF-16"),
        (b"\xfe\xff", "text in UTF-16"),
    ];
    magics.into_iter().find_map(|(magic, looks_like)| text.starts_with(magic).then_some(looks_like))
}

/// Looks for keys that only one format uses.
fn mark(fields: &Fields) -> Option<Clue> {
    let has = |key: &str| fields.contains_key(key);
    let table = [
        (has("spanContext"), SPANS),
        (fields.keys().any(|key| key.starts_with("gen_ai.")), SPANS),
        (has("hook_event_name"), "the payload of a hook"),
        (has("sessionID"), "opencode's events"),
        (has("messageID") && has("type"), "an opencode message part"),
    ];
    table.into_iter().find_map(|(is_so, looks_like)| is_so.then_some(Clue::mark(looks_like)))
}

fn element(fields: &Fields) -> Option<Clue> {
    let has = |key: &str| fields.contains_key(key);
    (has("parts") && !has("kind")).then_some(Clue::mark("Gemini API contents"))
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
