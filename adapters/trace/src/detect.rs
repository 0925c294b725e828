//! Recognises a format by the beginning of its input.
//!
//! A file is taken for one of ours only by keys that no other format has; what is known and not
//! read yet is told by name, so that nobody hears "no loops" about a file that was not understood.

use serde_json::{Map, Value};

use crate::Format;
use crate::clue::{self, Clue};
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

/// What an input was taken for, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) format: Format,
    pub(crate) layout: Layout,
    pub(crate) reason: &'static str,
}

/// The format and layout of an input that begins with `prefix`; `complete` if that is all of it.
///
/// # Errors
///
/// [`ProblemKind::Empty`], [`ProblemKind::Foreign`] or [`ProblemKind::Unrecognized`].
pub(crate) fn format(prefix: &[u8], complete: bool) -> Result<Told, ProblemKind> {
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
    let layout = layout(text);
    let clue = match layout {
        Layout::Document => clue::document(&parse(text).0),
        Layout::Lines => lines(text),
    };
    match clue {
        Clue::Ours(format, reason) | Clue::Perhaps(format, reason) => {
            Ok(Told { format, layout, reason })
        }
        Clue::Foreign(looks_like) => Err(ProblemKind::Foreign { looks_like }),
        Clue::Silent => Err(ProblemKind::Unrecognized),
    }
}

/// An input whose format the caller named, with the layout it seems to have.
pub(crate) fn named(format: Format, prefix: &[u8]) -> Told {
    let text = prefix.trim_ascii_start();
    let layout = match format {
        Format::OpenAi | Format::Anthropic | Format::SweAgent | Format::MiniSweAgent => {
            Layout::Document
        }
        Format::Gemini | Format::OpenHands if !begins_with_bad_line(text) => layout(text),
        Format::Native | Format::Codex | Format::Gemini | Format::OpenHands => Layout::Lines,
        Format::ClaudeCode => match parse(text).0 {
            Value::Object(fields) if fields.contains_key("loglines") => Layout::Document,
            _ => Layout::Lines,
        },
    };
    Told { format, layout, reason: "named by the caller" }
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

/// Whether a whole array stands on the first line and an object follows: not the document, then, but
/// a line among others that is no record.
fn begins_with_bad_line(text: &[u8]) -> bool {
    let mut lines = records(text);
    let first = lines.next().map(parse);
    let is_array = matches!(first, Some((Value::Array(_), Break::None)));
    is_array && lines.next().is_some_and(|line| line.trim_ascii_start().starts_with(b"{"))
}

fn is_broken_by_printer(line: &[u8]) -> bool {
    matches!(line.trim_ascii_end().last(), Some(b'{' | b'[' | b',' | b':'))
}

/// Whether an object holds the list of a document, or what stands before it in one whose list is
/// too far away to be seen.
fn is_list_holder(fields: &Map<String, Value>) -> bool {
    const LISTS: [&str; 8] =
        ["messages", "loglines", "input", "samples", "history", "steps", "trajectory", "events"];
    LISTS.iter().any(|key| fields.get(*key).is_some_and(Value::is_array))
        || fields.get("info").is_some_and(clue::is_info_of_run)
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
        match clue::line(&fields) {
            Clue::Silent => {}
            clue @ Clue::Perhaps(..) => perhaps = clue,
            clue => return clue,
        }
    }
    perhaps
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
