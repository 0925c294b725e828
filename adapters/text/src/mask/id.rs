//! Ids that their label makes volatile, whatever their shape: `request_id=req_01H8`, `Chunk ID: 3f`.

use super::Mask;
use super::label::{Label, tail};
use super::number::byte;
use super::pieces::{Part, Span};
use super::scan::{is_of, kind};
use crate::list::List;

/// The id around the digit at `place`, which is its first. Nothing of it, or of its label, stands
/// before `floor`.
///
/// An id without a decimal digit stays: it may be a word, as in `request id: missing`.
pub(super) fn labelled(text: &[u8], place: usize, floor: usize) -> Option<Span> {
    let start = start(text, place, floor);
    if tail(text, start, floor) != *b"id" {
        return None;
    }
    let label = Label::before(text, start, floor)?;
    let last = label.word(0);
    let stem = last.letters().strip_suffix(b"id")?;
    let prior = label.word(1);
    if !REQUESTS.contains_bytes(if stem.is_empty() { prior.letters() } else { stem }) {
        return None;
    }
    Some(Span { start, end: end(text, place, start), part: Part::of(Mask::Ids) })
}

/// Returns whether the digit at `place` may belong to an id with a label: the letters before it follow a
/// link.
pub(super) fn may_hold(text: &[u8], place: usize, floor: usize) -> bool {
    tail(text, start(text, place, floor), floor) == *b"id"
}

/// Returns the start of the id with its first digit at `place`.
fn start(text: &[u8], place: usize, floor: usize) -> usize {
    let mut start = place;
    while start > floor
        && let before = byte(text, start - 1)
        && is_part(before)
        && !before.is_ascii_digit()
    {
        start -= 1;
    }
    start
}

/// Words in front of `id` that name an object which lasts no longer than one answer.
static REQUESTS: List = List::new(&[
    "request",
    "req",
    "response",
    "trace",
    "span",
    "session",
    "chunk",
    "correlation",
    "message",
    "msg",
    "invocation",
    "completion",
    "call",
]);

/// Returns whether `byte` may be a part of an id.
pub(super) fn is_part(byte: u8) -> bool {
    is_of(kind::ALPHANUMERIC | kind::JOINT, byte)
}

/// The end of the id that begins at `start`, with a digit at `place`. In quotes it may hold further
/// signs, as in Base64 and in addresses.
fn end(text: &[u8], place: usize, start: usize) -> usize {
    let is_quoted = start.checked_sub(1).is_some_and(|at| matches!(byte(text, at), b'"' | b'\''));
    let rest = text.get(place..).unwrap_or_default().iter();
    place
        + rest.take_while(|&&byte| is_part(byte) || is_quoted && b".:/+=@~".contains(&byte)).count()
}
