//! Ids that their label makes volatile, whatever their shape: `request_id=req_01H8`, `Chunk ID: 3f`.

use super::digits::byte;
use super::kind::{FORGERY, Mask, Part, REQUESTS, Span};
use super::label::{Label, Link, tail, without_links};
use super::scan::{is_of, kind};
use super::word_end::{self, Known, Letters};
use crate::list::{List, list};

/// The id around the digit at `place`, which is its first. Nothing of it, or of its label, stands
/// before `floor`.
///
/// An id without a decimal digit stays: it may be a word, as in `request id: missing`.
pub(super) fn labelled(text: &[u8], place: usize, floor: usize) -> Option<Span> {
    let start = start(text, place, floor);
    if !is_named(text, start, floor) {
        return None;
    }
    let (label, end) = (Label::before(text, start, floor)?, end(text, place, start));
    let (last, prior) = (label.word(0), label.word(1));
    let id = text.get(start..end)?;
    let is_volatile = match last.letters() {
        b"ref" => label.link == Link::Member && is_reference(id),
        b"uid" => label.link == Link::Member && is_pair(id),
        b"nonce" | b"csrf" | b"xsrf" => label.link == Link::Member,
        b"etag" => label.link != Link::Space,
        b"token" => label.link == Link::Member && FORGERY.contains_bytes(prior.letters()),
        b"value" | b"content" => label.link == Link::Member && is_of_token(text, start),
        name => {
            let stem = name.strip_suffix(b"id")?;
            REQUEST_LIST.contains_bytes(if stem.is_empty() { prior.letters() } else { stem })
        }
    };
    is_volatile.then_some(Span { start, end, part: Part::of(Mask::Ids) })
}

/// Returns whether the name of an id may end in front of the value at `start`. It does not start before `floor`.
pub(super) fn is_named(text: &[u8], start: usize, floor: usize) -> bool {
    is_name(text, start, tail(text, start, floor))
}

/// Returns whether the label in front of the value at `start`, which ends with `tail`, may be the name of an id.
pub(super) fn is_name(text: &[u8], start: usize, tail: Letters) -> bool {
    // Most values of such names are no ids.
    let is_member = || matches!(byte(text, start - 1), b'=' | b'"');
    match &tail {
        b"etag" => true,
        b" uid" => is_member() || is_of_request(text, start),
        [.., b'i', b'd'] => is_of_request(text, start),
        b" ref" | b"once" | b"alue" | b"tent" | b"csrf" | b"xsrf" | b"oken" => is_member(),
        _ => false,
    }
}

/// Returns whether the word before `id`, in the label in front of the value at `start`, may name a request. Most other ids
/// name things that last, such as a user or a file.
fn is_of_request(text: &[u8], start: usize) -> bool {
    let label = without_links(text.get(..start).unwrap_or_default());
    let stem = label.get(..label.len().saturating_sub(2)).unwrap_or_default();
    let is_joint = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'_' | b'-' | b'(');
    let joints = stem.iter().rev().take_while(|byte| is_joint(byte)).count();
    let stem = stem.get(..stem.len() - joints).unwrap_or_default();
    REQUESTS_AHEAD.may_hold(word_end::last(stem))
}

/// Returns whether `id` is a reference to an element in a snapshot of a page, which counts snapshots and
/// elements: `e12`, `s2e4`, `f1e3` (Playwright MCP).
fn is_reference(id: &[u8]) -> bool {
    let mut letters = id.iter().filter(|byte| !byte.is_ascii_digit());
    let first = letters.next();
    let is_pair = matches!(first, Some(b's' | b'f')) && letters.next() == Some(&b'e');
    (is_pair || first == Some(&b'e')) && letters.next().is_none() && id.first() == first
}

/// Returns whether `id` is a reference like `3_17`: the number of a snapshot, and of an element in it (Chrome `DevTools`
/// MCP).
fn is_pair(id: &[u8]) -> bool {
    let mut numbers = id.split(|byte| *byte == b'_');
    let mut is_number = || {
        numbers
            .next()
            .is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
    };
    is_number() && is_number() && numbers.next().is_none()
}

/// The longest start of an element of HTML that is looked at, in bytes.
const ELEMENT_MAX: usize = 160;

/// Returns whether the element of HTML with the value at `start` holds a token against forged requests.
fn is_of_token(text: &[u8], start: usize) -> bool {
    let near = text.get(start.saturating_sub(ELEMENT_MAX)..start).unwrap_or_default();
    let open = near.iter().rposition(|byte| *byte == b'<').and_then(|at| near.get(at..));
    let has = |name: &[u8]| {
        open.is_some_and(|element| {
            element.windows(name.len()).any(|part| part.eq_ignore_ascii_case(name))
        })
    };
    has(b"csrf") || has(b"token") || has(b"nonce")
}

/// Returns whether the digit at `place` may belong to an id with a label: the letters before it follow a
/// link.
pub(super) fn may_hold(text: &[u8], place: usize, floor: usize) -> bool {
    is_named(text, start(text, place, floor), floor)
}

/// Returns the start of the id with its first digit at `place`. In quotes it may be Base64.
fn start(text: &[u8], place: usize, floor: usize) -> usize {
    let ahead = text.get(floor..place).unwrap_or_default();
    let letters = |is_sign: fn(u8) -> bool| {
        let row = ahead.iter().rev();
        row.take_while(|byte| is_sign(**byte) && !byte.is_ascii_digit()).count()
    };
    let start = place - letters(is_part);
    if start == floor || !matches!(byte(text, start - 1), b'+' | b'/') {
        return start;
    }
    let quoted = place - letters(|byte| is_part(byte) || matches!(byte, b'+' | b'/'));
    if quoted > floor && byte(text, quoted - 1) == b'"' { quoted } else { start }
}

static REQUEST_LIST: List = list![of REQUESTS];

/// The ends of these words.
static REQUESTS_AHEAD: Known = Known::new(REQUESTS, true);

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
