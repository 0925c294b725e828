//! The words in front of a value that say what it is: `elapsed_ms=`, `"traceId": "`, `tokens left: `.

use super::scan::{gap_before, is_of, kind};
use super::word_end::{AHEAD, Letters};
use super::{id, word_end};

/// The longest word of a label, in bytes.
const WORD_MAX: usize = 16;

/// A word of a label, in lower case. Empty if there is no word.
#[derive(Clone, Copy, Default)]
pub(super) struct Word {
    letters: [u8; WORD_MAX],
    length: usize,
}

impl Word {
    /// Creates the word `word`, or an empty one if it is too long for any label.
    pub(super) fn of(word: &[u8]) -> Self {
        let mut letters = [0; WORD_MAX];
        if word.len() > WORD_MAX {
            return Self::default();
        }
        for (letter, byte) in letters.iter_mut().zip(word) {
            *letter = byte.to_ascii_lowercase();
        }
        Self { letters, length: word.len() }
    }

    /// The letters, in lower case.
    pub(super) fn letters(&self) -> &[u8] {
        self.letters.get(..self.length).unwrap_or_default()
    }
}

/// The text between a label and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// A space, as in `took 14`.
    Space,
    /// A colon after a bare name, as in `Elapsed: 14`.
    Colon,
    /// An equals sign, or a colon after a name in quotes: a member of a record.
    Member,
}

/// The label of a value.
///
/// A name falls apart into words at `_`, `-`, single spaces and capitals: `traceId`, `trace_id` and
/// `Trace ID` are the same two words.
#[derive(Clone, Copy)]
pub(super) struct Label<'t> {
    /// The text up to the end of the label, from the last masked part on.
    text: &'t [u8],
    pub(super) link: Link,
}

impl<'t> Label<'t> {
    /// The label of the value at `start`, if a letter and a link stand in front of it. Nothing before
    /// `floor` is a part of it.
    #[inline]
    pub(super) fn before(text: &'t [u8], start: usize, floor: usize) -> Option<Self> {
        let opened = without_end(text.get(floor..start)?, b"$~#\"'*`");
        let spaced = without_gap(opened);
        // The colon of `**Cost:** 1` stands inside of the emphasis.
        let signed = without_end(spaced, b"*`");
        let (link, name) = match signed.split_last()? {
            (b'=', name) => (Link::Member, without_gap(name)),
            (b':', name) => (Link::Colon, without_gap(name)),
            _ if spaced.len() < opened.len() => (Link::Space, signed),
            _ => return None,
        };
        let is_quoted = matches!(name.last(), Some(b'"' | b'\''));
        let link = if link == Link::Colon && is_quoted { Link::Member } else { link };
        // The unit of `elapsed (ms)` stands in brackets.
        let text = without_end(name, b"\"'*`)");
        text.last()?.is_ascii_alphabetic().then_some(Self { text, link })
    }

    /// The word number `n` of the label, counted from its end.
    pub(super) fn word(&self, n: usize) -> Word {
        let word = self.nth(n).and_then(|(start, end)| self.text.get(start..end));
        word.map_or_else(Word::default, Word::of)
    }

    /// The start of the last word, counted from the floor of the label.
    pub(super) fn start(&self) -> usize {
        self.nth(0).map_or(0, |(start, _)| start)
    }

    fn nth(&self, n: usize) -> Option<(usize, usize)> {
        let mut end = self.text.len();
        for _ in 0..n {
            end = joint(self.text, word_before(self.text, end)?)?;
        }
        Some((word_before(self.text, end)?, end))
    }
}

/// Returns the last letters of a possible label of the value at `start`, or spaces. Most words are not labels, and
/// these letters are enough to skip them.
#[inline]
pub(super) fn tail(text: &[u8], start: usize, floor: usize) -> Letters {
    let ahead = text.get(floor..start).unwrap_or_default();
    let label = without_links(ahead);
    if label.len() < ahead.len() { word_end::last(label) } else { [b' '; 4] }
}

/// Returns `text` without the signs at its end that may stand between a label and its value.
#[inline]
pub(super) fn without_links(text: &[u8]) -> &[u8] {
    let mut label = text;
    while let [rest @ .., byte] = label
        && is_link(*byte)
    {
        label = rest;
    }
    label
}

/// Returns whether `label`, which stands in front of the value at `start`, may be one that a mask knows.
pub(super) fn may_be(text: &[u8], start: usize, label: &[u8]) -> bool {
    let tail = word_end::last(label);
    AHEAD.may_hold(tail) || id::is_name(text, start, tail)
}

/// Returns whether `byte` may stand between a label and its value.
fn is_link(byte: u8) -> bool {
    is_of(kind::LINK, byte)
}

/// `text` without the bytes at its end that are among `bytes`.
pub(super) fn without_end<'t>(text: &'t [u8], bytes: &[u8]) -> &'t [u8] {
    let end = text.iter().rposition(|byte| !bytes.contains(byte)).map_or(0, |last| last + 1);
    text.get(..end).unwrap_or_default()
}

/// `text` without the white space at its end, if that is one space once it is folded.
fn without_gap(text: &[u8]) -> &[u8] {
    text.get(..gap_before(text, text.len())).unwrap_or_default()
}

/// The start of the word that ends at `end`. Letters behind a digit, or behind one that is not
/// ASCII, are no word.
fn word_before(text: &[u8], end: usize) -> Option<usize> {
    let mut start = end;
    while let Some(&byte) = text.get(..start)?.last() {
        let is_capital = text.get(start).is_some_and(u8::is_ascii_uppercase) && start < end;
        if byte.is_ascii_digit() || byte >= 0x80 {
            return None;
        }
        if !byte.is_ascii_alphabetic() || is_capital && byte.is_ascii_lowercase() {
            break;
        }
        start -= 1;
    }
    (start < end).then_some(start)
}

/// The end of the word before the one that begins at `start`.
fn joint(text: &[u8], start: usize) -> Option<usize> {
    let ahead = text.get(..start)?;
    match ahead.last()? {
        b'_' | b'-' => Some(start - 1),
        b'(' => Some(gap_before(text, start - 1)),
        byte if byte.is_ascii_alphabetic() => Some(start),
        _ => Some(gap_before(text, start)).filter(|&end| end < start),
    }
}

#[cfg(test)]
mod tests {
    use super::Label;
    use crate::tables::check;

    #[test]
    fn a_label_falls_apart_into_words() {
        check("a label", |text| {
            let label = Label::before(text.as_bytes(), text.len(), 0).expect(text);
            let words = (0..4).map(|n| String::from_utf8(label.word(n).letters().to_vec()));
            let words = words.map(|word| word.expect("ASCII")).take_while(|word| !word.is_empty());
            format!("{:?} {:?}", label.link, words.collect::<Vec<_>>())
        });
    }

    #[test]
    fn a_value_without_a_link_has_no_label() {
        check("no label", |text| {
            format!("{}", Label::before(text.as_bytes(), text.len(), 0).is_some())
        });
        assert!(Label::before(b"took 5", 5, 4).is_none(), "nothing of it is masked already");
    }
}
