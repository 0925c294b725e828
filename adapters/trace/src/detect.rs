//! Recognises the format of an input by its beginning.
//!
//! Every object in the first 64 KiB is tested by the rows of `formats.txt`, and each format has the [`Clue`] of the
//! first row that holds. The strongest clue gets the object; of equal ones, the format that comes first in
//! [`Format::ALL`]. Formats that are known and not read take part, so that the error can name them. If long
//! texts leave no room for a clue, the [outline](crate::outline) of a longer beginning is looked at.

use memchr::memchr;
use serde_json::Value;

use crate::clue::{self, Clue, Place, Strength};
use crate::fields::Fields;
use crate::format::{Format, Layout, Layouts};
use crate::log;
use crate::packed;
use crate::partial::{Break, parse};
use crate::problem::ProblemKind;
use crate::pull::is_json;

/// The format and the layout of an input, and the reason for the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Detection {
    pub(crate) format: Format,
    pub(crate) layout: Layout,
    pub(crate) reason: &'static str,
    /// `true` if other lines stand around the records, as in the log of a service.
    pub(crate) is_log: bool,
    /// `true` if nothing that follows can be better evidence.
    pub(crate) is_sure: bool,
}

/// The winner among the formats that claim an object.
struct Claim {
    /// `None` if the format is known but not read.
    format: Option<Format>,
    clue: Clue,
}

/// Recognises an input that begins with `prefix`. `complete` says that nothing follows.
///
/// # Errors
///
/// [`ProblemKind::Empty`], [`ProblemKind::Foreign`] or [`ProblemKind::Unrecognized`].
pub(crate) fn format(prefix: &[u8], complete: bool) -> Result<Detection, ProblemKind> {
    let text = prefix.trim_ascii_start();
    if text.is_empty() && complete {
        return Err(ProblemKind::Empty);
    }
    if let Some(claim) = archive(text) {
        return claim.detection(Layout::Document, false);
    }
    if let Some(looks_like) = binary(text) {
        return Err(ProblemKind::Foreign { looks_like });
    }
    if let Some(claim) = heading(text) {
        return claim.detection(Layout::Lines, false);
    }
    if let Some(claim) = log(text) {
        return claim.detection(Layout::Lines, true);
    }
    if !begins_as_json(text) {
        return Err(ProblemKind::Unrecognized);
    }
    let (layout, first) = layout(text);
    let claim = match layout {
        Layout::Document => document(&first.unwrap_or_else(|| parse(text).0)),
        Layout::Lines => lines(text),
    };
    claim.ok_or(ProblemKind::Unrecognized)?.detection(layout, false)
}

impl Claim {
    fn detection(self, layout: Layout, is_log: bool) -> Result<Detection, ProblemKind> {
        let Clue { strength, reason, is_tentative, .. } = self.clue;
        let foreign = ProblemKind::Foreign { looks_like: reason };
        let format = self.format.ok_or(foreign)?;
        let is_sure = strength > Strength::Fallback && !is_tentative;
        Ok(Detection { format, layout, reason, is_log, is_sure })
    }
}

/// Returns whether a text may be a JSON document or JSON Lines. `[` may also begin a line of a log.
fn begins_as_json(text: &[u8]) -> bool {
    let is_begin = |byte: &u8| matches!(byte, b'{' | b'[' | b']' | b'"');
    match text {
        [b'[', rest @ ..] => rest.trim_ascii_start().first().is_none_or(is_begin),
        _ => text.starts_with(b"{"),
    }
}

/// Finds the layout of an input whose format the caller named.
pub(crate) fn named(format: Format, prefix: &[u8]) -> Detection {
    let text = prefix.trim_ascii_start();
    let (layout, is_sure) = match format.0.layouts {
        Layouts::Document(_) => (Layout::Document, true),
        Layouts::Either(_) if !begins_with_bad_line(text) => {
            let layout = layout(text).0;
            // The end of a long line may show that it is a whole document.
            (layout, layout == Layout::Document || records(text).nth(1).is_some())
        }
        Layouts::Lines | Layouts::Either(_) => (Layout::Lines, true),
    };
    let is_log = log(text).is_some_and(|claim| claim.format == Some(format));
    Detection { format, layout, reason: "named by the caller", is_log, is_sure }
}

/// Returns `Document` if the text begins with a list, if its first line ends where a pretty-printer
/// breaks lines, or if the only line holds a list of records. A line that ends elsewhere was cut
/// off, and others follow.
///
/// Also returns the value of the only line, if there is no other.
fn layout(text: &[u8]) -> (Layout, Option<Value>) {
    let mut lines = records(text);
    let Some(first) = lines.next() else {
        return (Layout::Lines, None);
    };
    let (value, reason) = parse(first);
    let is_alone = lines.next().is_none();
    let layout = match &value {
        Value::Array(_) => Layout::Document,
        _ if reason == Break::End && is_broken_by_printer(first) => Layout::Document,
        Value::Object(fields) if is_alone && clue::is_document(fields) => Layout::Document,
        _ => Layout::Lines,
    };
    (layout, is_alone.then_some(value))
}

/// Returns whether the first line is a whole array and an object follows. The array is then a bad
/// line among records, and no document.
fn begins_with_bad_line(text: &[u8]) -> bool {
    let mut lines = records(text);
    let first = lines.next().map(parse);
    let is_array = matches!(first, Some((Value::Array(_), Break::None)));
    is_array && lines.next().is_some_and(|line| line.trim_ascii_start().starts_with(b"{"))
}

fn is_broken_by_printer(line: &[u8]) -> bool {
    matches!(line.trim_ascii_end().last(), Some(b'{' | b'[' | b',' | b':'))
}

fn records(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    let lines = core::iter::from_fn(move || {
        let text = rest?;
        let end = memchr(b'\n', text).unwrap_or(text.len());
        rest = text.get(end + 1..);
        text.get(..end)
    });
    lines.filter(|line| !line.trim_ascii().is_empty())
}

/// Names a file that holds no text in UTF-8, by its first bytes.
fn binary(text: &[u8]) -> Option<&'static str> {
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

/// Returns the claim to a zip archive, by the name of its first member.
fn archive(text: &[u8]) -> Option<Claim> {
    let member = packed::first_member(text)?;
    claim(Place::Document, &Fields::from_iter([("member".to_owned(), member.into())]))
}

/// Returns the claim to a text in Markdown, by its first heading.
fn heading(text: &[u8]) -> Option<Claim> {
    let line = records(text).next().filter(|line| line.starts_with(b"# "))?;
    let line = str::from_utf8(line).ok()?;
    claim(Place::Document, &Fields::from_iter([("heading".to_owned(), line.into())]))
}

/// Returns the first claim that is not tentative, or else the last one.
fn lines(text: &[u8]) -> Option<Claim> {
    best_line(records(text), |_| true)
}

/// Returns the claim to a log, by the lines in it that a program printed. Its first line is no JSON.
fn log(text: &[u8]) -> Option<Claim> {
    if begins_as_json(text) {
        return None;
    }
    let first = str::from_utf8(records(text).next()?).ok()?;
    if first.starts_with(char::is_control) || is_json(first.trim()) {
        return None;
    }
    let records = records(text).filter_map(|line| line.get(log::record_start(line)?..));
    best_line(records, |claim| claim.clue.is_printed)
}

fn best_line<'t>(
    records: impl Iterator<Item = &'t [u8]>,
    counts: fn(&Claim) -> bool,
) -> Option<Claim> {
    let mut latest = None;
    for record in records {
        let Value::Object(fields) = parse(record).0 else {
            continue;
        };
        match claim(Place::Line, &fields).filter(counts) {
            None => {}
            Some(claim) if claim.clue.is_tentative => latest = Some(claim),
            sure => return sure,
        }
    }
    latest
}

/// Returns the best claim to a document: by a mark of the outermost object, by its elements, by a
/// hint of the outermost object, or by what all chat messages share.
fn document(value: &Value) -> Option<Claim> {
    let fields = match value {
        Value::Array(list) => return elements(list),
        Value::Object(fields) => fields,
        _ => return None,
    };
    let whole = claim(Place::Document, fields);
    let list = match &whole {
        Some(claim) if claim.clue.strength >= Strength::Mark => None,
        _ => fields.get("messages").and_then(Value::as_array).and_then(|list| elements(list)),
    };
    match list {
        Some(claim) if claim.clue.strength > Strength::Fallback || whole.is_none() => Some(claim),
        _ => whole,
    }
}

/// Returns the first claim to an element that is more than a fallback, or else the last fallback.
fn elements(list: &[Value]) -> Option<Claim> {
    let mut fallback = None;
    for fields in list.iter().filter_map(Value::as_object) {
        match claim(Place::Element, fields) {
            None => {}
            Some(claim) if claim.clue.strength == Strength::Fallback => fallback = Some(claim),
            claim => return claim,
        }
    }
    fallback
}

/// Tests an object by the rows of every format. The first of the strongest clues wins.
fn claim(place: Place, fields: &Fields) -> Option<Claim> {
    let claims = clue::clues(place, fields).map(|(format, clue)| Claim { format, clue });
    claims.reduce(|best, next| if next.clue.strength > best.clue.strength { next } else { best })
}
