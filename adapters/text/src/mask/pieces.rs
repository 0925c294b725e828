//! The walk over a text: pieces that count, numbers, and what is masked.

use super::digits::Digits;
use super::kind::{Mask, Masker, Masks, Part, Span};
use super::scan::{ESCAPE, Places, is_blank};
use super::{hex, id, label, number, path};

/// Receives the pieces of a text in order.
pub(crate) trait Sink {
    /// The next piece begins at this index of the text.
    #[inline]
    fn at(&mut self, _: usize) {}
    /// Text without a decimal digit.
    fn text(&mut self, text: &[u8]);
    /// The white space that is written for a row of it.
    #[inline]
    fn blank(&mut self, blank: u8) {
        self.text(&[blank]);
    }
    /// A number that counts: digits, with single points between them.
    fn number(&mut self, digits: &[u8]);
    /// Volatile text that a mask or a counter of the host covers.
    fn masked(&mut self, mask: Option<Mask>);
}

/// The pieces of a text.
#[derive(Clone, Copy)]
pub(super) struct Pieces<'t> {
    masker: Masker<'t>,
    pub(super) text: &'t [u8],
}

impl<'t> Pieces<'t> {
    pub(super) fn new(masker: Masker<'t>, text: &'t [u8]) -> Self {
        if !masker.masks.contains(Mask::Spaces) {
            return Self { masker, text };
        }
        let start = text.iter().position(|byte| !is_blank(*byte)).unwrap_or(text.len());
        let end = text.iter().rposition(|byte| !is_blank(*byte)).map_or(start, |last| last + 1);
        Self { masker, text: text.get(start..end).unwrap_or_default() }
    }

    /// The pieces by only those masks that leave out white space and terminal controls.
    pub(super) fn blanks(self) -> Self {
        let blank = [Mask::Ansi, Mask::Spaces];
        let masks = blank.into_iter().filter(|mask| self.masker.masks.contains(*mask));
        let masks = masks.fold(Masks::NONE, Masks::with);
        Self { masker: Masker { masks, counters: &[] }, text: self.text }
    }

    /// Hands all pieces to `sink`. O(n).
    pub(super) fn walk(self, sink: &mut impl Sink) {
        let Self { masker, text } = self;
        // The end of the last piece that was passed on.
        let mut from = 0;
        let mut words = Words::default();
        let (mut places, mut at) = (Places::new(text), 0);
        while let Some(place) = places.next(at) {
            at = place + 1;
            let Some(found) = find(masker, text, place, from, &mut words) else { continue };
            let Span { start, end, part } = found;
            if let Some(before) = text.get(from..start).filter(|before| !before.is_empty()) {
                sink.at(from);
                sink.text(before);
            }
            sink.at(start);
            match part {
                Part::Number => sink.number(text.get(start..end).unwrap_or_default()),
                Part::Blank(written) => {
                    if let Some(blank) = written {
                        sink.blank(blank);
                    }
                    // The last letter of a colour is no part of the word behind it.
                    if text.get(start..end).and_then(<[u8]>::last).is_some_and(|b| !is_blank(*b)) {
                        (words.floor, words.control) = (end, Some(end));
                    }
                }
                Part::Masked(mask) => {
                    sink.masked(mask);
                    words.floor = end;
                }
            }
            (from, at) = (end, end);
        }
        if let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
            sink.at(from);
            sink.text(rest);
        }
    }
}

/// The result of the latest look at the words around.
#[derive(Default)]
pub(super) struct Words {
    /// The end of the last masked text. A word begins there at the earliest.
    pub(super) floor: usize,
    /// The end of the last terminal control.
    control: Option<usize>,
    /// The end of a word whose first digits are only a number; its other digits are numbers, too.
    known: usize,
}

/// Returns the volatile text that starts at `place` or contains it. It does not start before
/// `from`.
fn find(
    masker: Masker<'_>,
    text: &[u8],
    place: usize,
    from: usize,
    words: &mut Words,
) -> Option<Span> {
    match text.get(place)? {
        b'0'..=b'9' => Some(digits(masker, text, place, words)),
        b'/' | b'\\' if masker.masks.contains(Mask::TempPaths) => path::temporary(text, place),
        b'/' | b'\\' => None,
        _ => blank(masker.masks, text, place, from),
    }
}

/// Returns the number or the volatile text around the digits at `place`, which are the first of
/// their row.
fn digits(masker: Masker<'_>, text: &[u8], place: usize, words: &mut Words) -> Span {
    let row = Digits::at(text, place);
    if masker.counters.is_empty() && number::is_of_a_line(text, &row) {
        return Span { start: place, end: row.end, part: Part::Number };
    }
    let is_coloured = words.control == Some(place);
    if masker.counters.is_empty() && !is_coloured && number::is_plain(text, &row, words.floor) {
        return Span { start: place, end: row.decimal, part: Part::Number };
    }
    closely(masker, text, row, words)
}

/// Like [`digits`], but tries every mask.
#[inline(never)]
fn closely(masker: Masker<'_>, text: &[u8], row: Digits, words: &mut Words) -> Span {
    let place = row.start;
    let is_coloured = words.control == Some(place);
    let tail = label::tail(text, place, words.floor);
    if masker.masks.contains(Mask::Ids)
        && (id::is_name(text, place, tail)
            || id::is_part(row.before)
            || matches!(row.before, b'+' | b'/'))
        && let Some(found) = id::labelled(text, place, words.floor)
    {
        return found;
    }
    let row = if is_coloured { row.freed() } else { row };
    if let Some(found) = number::masked(masker.masks, text, &row, words.floor, tail) {
        return found;
    }
    if place >= words.known && !row.is_apart() {
        let word = hex::Word::around(text, place, words.floor);
        if let Some(found) = word.masked(masker.masks, text) {
            return found;
        }
        words.known = word.end;
    }
    let own = masker.counters.iter().any(|counter| counter.matches(text, place, row.decimal));
    let part = if own { Part::Masked(None) } else { Part::Number };
    Span { start: place, end: row.decimal, part }
}

/// A row of white spaces and terminal controls around `place`, and what is written in its place.
fn blank(masks: Masks, text: &[u8], place: usize, from: usize) -> Option<Span> {
    let (spaces, ansi) = (masks.contains(Mask::Spaces), masks.contains(Mask::Ansi));
    let mut start = place;
    while spaces && start > from && is_blank(*text.get(start - 1)?) {
        start -= 1;
    }
    let (mut end, mut any, mut line) = (start, false, false);
    loop {
        match text.get(end) {
            Some(b' ') if spaces => any = true,
            Some(byte) if spaces && is_blank(*byte) => {
                any = true;
                line |= *byte == b'\n';
            }
            Some(&ESCAPE) if ansi => {
                end = control_end(text, end);
                continue;
            }
            _ => break,
        }
        end += 1;
    }
    // Nothing is folded: the scan marks a white space beside a control character, too.
    if end <= place || end == start + 1 && text.get(start) != Some(&ESCAPE) {
        return None;
    }
    // White space at either end of the text is removed.
    let inner = start > 0 && end < text.len();
    let written = (any && (inner || !spaces)).then_some(if line { b'\n' } else { b' ' });
    Some(Span { start, end, part: Part::Blank(written) })
}

/// Returns the end of the terminal control at `start`, by ECMA-48. If the control has no end, only the
/// escape character is skipped.
fn control_end(text: &[u8], start: usize) -> usize {
    let body = text.get(start + 2..).unwrap_or_default();
    let length = match text.get(start + 1) {
        // Parameters and intermediates, then a final byte.
        Some(b'[') => body.iter().position(|byte| !(0x20..0x40).contains(byte)).map(|n| n + 1),
        // A title, a link: up to BEL, or ESC \.
        Some(b']' | b'P' | b'_' | b'^') => string_end(body),
        Some(b'(' | b')' | b'#') => Some(1),
        Some(0x30..0x7F) => Some(0),
        _ => None,
    };
    length.map_or(start + 1, |length| (start + 2 + length).min(text.len()))
}

/// The longest control string looked for: titles and links are shorter.
const CONTROL_MAX: usize = 4096;

fn string_end(body: &[u8]) -> Option<usize> {
    let body = body.get(..CONTROL_MAX).unwrap_or(body);
    let at = body.iter().position(|byte| matches!(*byte, 0x07 | ESCAPE))?;
    if body.get(at) == Some(&0x07) {
        return Some(at + 1);
    }
    (body.get(at + 1) == Some(&b'\\')).then_some(at + 2)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::{Digits, Masks, Part, Words, closely, number};

    /// Parts of texts with numbers: signs, units, months, labels, and digits.
    const PARTS: &[&str] = &crate::phrases::texts![
        "0" "1" "5" "7" "12" "17" "28" "59" "404" "4711" "2026" "127.0.0.1" "1748441880" "a" "b" "f"
        "g" "h" "m" "s" "ms" "us" "ns" "T" "Z" "x" "k" "M" "am" "PM" "eta" "pid" "id" "Id" "step"
        "turn" "of" "in" "tokens" "input" "cost" "spent" "took" "time" "elapsed_ms" "request_id"
        "traceId" "localhost" "May" "March" "Oct" "may" "min" "sec" "hours" "left" "context" "total"
        "usd" "In" "Out" "ipython-input-" "tmp" "µs" "é" "→" " " "  " "\n" "\t" ":" "-" "_" "." ","
        "/" "(" ")" "[" "]" "\"" "'" "=" "==" "#" "$" "%" "*" "{" "|" "\x1b[1m" "~"
    ];

    proptest! {
        #[test]
        fn a_plain_number_is_one_by_every_mask(parts in vec(select(PARTS), 1..14)) {
            let text: String = parts.concat();
            let bytes = text.as_bytes();
            let is_first = |at: usize| {
                bytes[at].is_ascii_digit() && !(at > 0 && bytes[at - 1].is_ascii_digit())
            };
            for place in (0..bytes.len()).filter(|&at| is_first(at)) {
                for floor in [0, place / 2, place] {
                    let row = Digits::at(bytes, place);
                    if number::is_plain(bytes, &row, floor) {
                        let mut words = Words { floor, ..Words::default() };
                        let end = row.decimal;
                        let span = closely(Masks::ALL.and(&[]), bytes, row, &mut words);
                        prop_assert!(matches!(span.part, Part::Number), "{text:?} at {place}");
                        prop_assert_eq!((span.start, span.end), (place, end), "{:?}", text);
                    }
                }
            }
        }
    }

    /// The filter is worth its instructions only if it lets most numbers pass.
    #[test]
    fn most_numbers_are_plain() {
        let text =
            "src/a.rs:12:5 404 files, 3 failed; v1.2.3 (cp38) x86_64 [17/200] 5 | 0.5\n80 tests";
        let bytes = text.as_bytes();
        let first = |&at: &usize| bytes[at].is_ascii_digit() && !bytes[at - 1].is_ascii_digit();
        let rows: Vec<_> = (1..bytes.len()).filter(first).collect();
        let is_plain = |at: &&usize| number::is_plain(bytes, &Digits::at(bytes, **at), 0);
        let plain = rows.iter().filter(is_plain).count();
        assert!(plain * 4 >= rows.len() * 3, "{plain} of {}", rows.len());
    }
}
