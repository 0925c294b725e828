//! Digests of a masked text: both are made in one pass.

use memchr::memchr;
use unstuck_core::Digest;
use unstuck_json::{Hash64 as _, Rapid};

use super::digits::digits_end;
use super::kind::Mask;
use super::pieces::{Pieces, Sink};
use super::scan::is_blank;
use crate::find::few;

/// The digests of a text without its volatile parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Masked {
    /// Equal for texts that differ only in masked parts.
    pub result: Digest,
    /// Equal for texts that differ only in masked parts and in numbers.
    pub near: Digest,
}

/// Written for a number, and for what is masked: no text in UTF-8 holds them.
const NUMBER: u8 = 0xFF;
const MASKED: u8 = 0xFE;

/// A separator behind each number.
const END: u8 = b' ';

/// The hash function of results and messages.
const HASH: Rapid = Rapid::new(0);

/// Returns the digest of `text` with all its parts. O(n).
pub(crate) fn raw(text: &[u8]) -> Digest {
    Digest::new(HASH.hash(text))
}

pub(super) fn digest(pieces: Pieces<'_>) -> Masked {
    let mut digests = Digests::default();
    pieces.walk(&mut digests);
    digests.of(pieces)
}

/// Like [`digest`], but also calls `each` with each line that shows anything, and the digest of it.
pub(super) fn digest_by_line(pieces: Pieces<'_>, each: &mut dyn FnMut(&[u8], Digest)) -> Masked {
    let text = pieces.text;
    let mut lines =
        Lines { all: Digests::default(), line: Streams::default(), text, at: 0, start: None, each };
    pieces.walk(&mut lines);
    lines.end(text.len());
    lines.all.of(pieces)
}

/// The digests of a text, and of its parts.
#[derive(Default)]
struct Digests {
    streams: Streams,
    says: Says,
}

impl Digests {
    /// Returns the digests of the text with these `pieces`.
    fn of(&self, pieces: Pieces<'_>) -> Masked {
        let Self { streams: Streams { text, numbers }, says } = self;
        let near = text.finish();
        // The numbers in their order, beside the text with places for them, say what the whole does.
        let result = match says {
            Says::Nothing | Says::Something => near.mix(numbers.finish()),
            // The clock was what the agent asked for.
            Says::Volatile => near.mix(pieces.unmasked()),
        };
        Masked { result, near }
    }
}

/// The text with the same byte for each number, and the numbers.
#[derive(Default)]
struct Streams {
    text: Stream,
    numbers: Stream,
}

impl Streams {
    #[inline]
    fn number(&mut self, digits: &[u8]) {
        self.text.push(NUMBER);
        if digits.len() < 8 {
            let length = digits.len() * 8;
            self.numbers.append(few(digits) | u64::from(END) << length, length + 8);
        } else {
            self.numbers.add(digits);
            self.numbers.push(END);
        }
    }

    #[inline]
    fn masked(&mut self, mask: Option<Mask>) {
        self.text.append(u64::from(MASKED) | mask.map_or(0, |mask| 1 + mask as u64) << 8, 16);
    }
}

/// The digests of a text, and those of the line at hand.
struct Lines<'t, 'e> {
    all: Digests,
    line: Streams,
    text: &'t [u8],
    /// The start of the next piece.
    at: usize,
    /// The start of the line, behind white space and behind its number, if it has begun.
    start: Option<usize>,
    each: &'e mut dyn FnMut(&[u8], Digest),
}

impl Lines<'_, '_> {
    /// Returns the start of the line of which a piece stands at `at`.
    #[inline]
    fn start(&mut self, at: usize) -> usize {
        let text = self.text;
        let opened = || at + unsaid(text.get(at..).unwrap_or_default());
        *self.start.get_or_insert_with(opened)
    }

    /// Adds the `text` at `at`.
    fn add(&mut self, text: &[u8], at: usize) {
        if text.is_empty() {
            return;
        }
        let skipped = self.start(at).saturating_sub(at);
        self.line.text.add(text.get(skipped..).unwrap_or_default());
    }

    /// Ends the line at `end`.
    fn end(&mut self, end: usize) {
        let Streams { text, numbers } = core::mem::take(&mut self.line);
        let start = self.start.take();
        if let Some(line) = start.and_then(|start| self.text.get(start..end)) {
            let shown = text.finish();
            let has_numbers = numbers.length > 0;
            (self.each)(line, if has_numbers { shown.mix(numbers.finish()) } else { shown });
        }
    }
}

/// Returns the length of the white space at the start of a line, and of the number and the sign that `cat -n`, `nl` and
/// `grep -n` put before it.
#[inline(never)]
fn unsaid(line: &[u8]) -> usize {
    let from = |at: usize| line.get(at..).unwrap_or_default();
    let blanks = |at: usize| {
        at + from(at).iter().take_while(|byte| is_blank(**byte) && **byte != b'\n').count()
    };
    let start = match line.first() {
        Some(first) if is_blank(*first) => blanks(0),
        _ => 0,
    };
    let end = digits_end(line, start);
    if end == start {
        return start;
    }
    let sign = end + from(end).iter().take_while(|byte| **byte == b' ').count();
    match from(sign) {
        [b'\t' | b':' | b'|' | b'-' | b')', ..] => blanks(sign + 1),
        // The arrow of three bytes.
        [0xE2, 0x86, 0x92, ..] => blanks(sign + 3),
        _ => start,
    }
}

impl Sink for Lines<'_, '_> {
    #[inline]
    fn at(&mut self, at: usize) {
        self.at = at;
    }

    fn text(&mut self, text: &[u8]) {
        let (mut rest, mut at) = (text, self.at);
        self.all.text(text);
        while let Some((line, behind)) =
            memchr(b'\n', rest).and_then(|end| rest.split_at_checked(end))
        {
            self.add(line, at);
            self.end(at + line.len());
            at += line.len() + 1;
            rest = behind.get(1..).unwrap_or_default();
        }
        self.add(rest, at);
    }

    #[inline]
    fn blank(&mut self, blank: u8) {
        self.all.blank(blank);
        if blank == b'\n' {
            self.end(self.at);
        } else if self.start(self.at) <= self.at {
            self.line.text.push(blank);
        }
    }

    fn number(&mut self, digits: &[u8]) {
        self.all.number(digits);
        if self.start(self.at) <= self.at {
            self.line.number(digits);
        }
    }

    fn masked(&mut self, mask: Option<Mask>) {
        self.all.masked(mask);
        if self.start(self.at) <= self.at {
            self.line.masked(mask);
        }
    }
}

/// The content of a text without punctuation.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Says {
    #[default]
    Nothing,
    /// Only what is masked.
    Volatile,
    Something,
}

impl Pieces<'_> {
    /// The digest of the text including volatile values. Colours and folded spaces are still left
    /// out.
    fn unmasked(self) -> Digest {
        let mut values = Values::default();
        self.blanks().walk(&mut values);
        values.0.finish()
    }
}

/// The bytes of a text whose values all count.
#[derive(Default)]
struct Values(Stream);

impl Sink for Values {
    fn text(&mut self, text: &[u8]) {
        self.0.add(text);
    }

    fn number(&mut self, digits: &[u8]) {
        self.0.add(digits);
    }

    fn masked(&mut self, _: Option<Mask>) {}
}

impl Sink for Digests {
    #[inline]
    fn text(&mut self, text: &[u8]) {
        if self.says != Says::Something
            && text.iter().any(|b| b.is_ascii_alphabetic() || *b >= 0x80)
        {
            self.says = Says::Something;
        }
        self.streams.text.add(text);
    }

    #[inline]
    fn blank(&mut self, blank: u8) {
        self.streams.text.push(blank);
    }

    #[inline]
    fn number(&mut self, digits: &[u8]) {
        self.says = Says::Something;
        self.streams.number(digits);
    }

    #[inline]
    fn masked(&mut self, mask: Option<Mask>) {
        if self.says == Says::Nothing {
            self.says = Says::Volatile;
        }
        self.streams.masked(mask);
    }
}

/// The hash of bytes that come in pieces. Each eight bytes take one multiplication of 64 by 64 bits, of which both
/// halves count, as in `wyhash` (Wang Yi, 2019). Where the pieces end does not matter.
#[derive(Default)]
struct Stream {
    state: u64,
    /// The bytes that are not in the state yet, the first one lowest.
    word: u64,
    /// The number of these bits.
    filled: usize,
    length: usize,
}

/// An odd number, far from any pattern of letters: the fraction of the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl Stream {
    #[inline]
    fn add(&mut self, piece: &[u8]) {
        let (words, rest) = piece.as_chunks::<8>();
        if !words.is_empty() {
            self.add_words(words);
        }
        if !rest.is_empty() {
            self.append(few(rest), rest.len() * 8);
        }
    }

    /// Adds whole words: each fills the one before it, and its rest waits for the next.
    #[inline]
    fn add_words(&mut self, words: &[[u8; 8]]) {
        let Self { mut state, mut word, filled, .. } = *self;
        for bits in words.iter().map(|word| u64::from_le_bytes(*word)) {
            state = fold(state ^ (word | bits << filled));
            // Without a part of a word, there is no rest.
            word = bits >> 1 >> (63 - filled);
        }
        (self.state, self.word) = (state, word);
        self.length += 64 * words.len();
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.append(u64::from(byte), 8);
    }

    /// Adds the lowest `count` of `bits`. The others are 0.
    #[inline]
    fn append(&mut self, bits: u64, count: usize) {
        self.length += count;
        let (word, filled) = (self.word | bits << self.filled, self.filled + count);
        if filled < 64 {
            (self.word, self.filled) = (word, filled);
        } else {
            let rest = bits >> 1 >> (63 - self.filled);
            self.state = fold(self.state ^ word);
            (self.word, self.filled) = (rest, filled - 64);
        }
    }

    fn finish(&self) -> Digest {
        Digest::new(self.state ^ self.word).mix(Digest::new(self.length as u64))
    }
}

/// Combines both halves of a product.
#[cfg_attr(target_pointer_width = "32", inline(never))]
#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
fn fold(bits: u64) -> u64 {
    let product = u128::from(bits) * u128::from(FACTOR);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{Stream, fold};

    /// The hash by its definition: all bytes in words of eight, and then the rest and the length.
    fn whole(bytes: &[u8]) -> super::Digest {
        let word = |bytes: &[u8]| {
            bytes.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte))
        };
        let (words, rest) = bytes.as_chunks::<8>();
        let state = words.iter().fold(0, |state, bytes| fold(state ^ word(bytes)));
        let length = 8 * bytes.len() as u64;
        super::Digest::new(state ^ word(rest)).mix(super::Digest::new(length))
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_pieces_end(
            pieces in vec(vec(any::<u8>(), 0..30), 0..8),
            zeros in 0..20_usize,
        ) {
            let mut stream = Stream::default();
            let mut all = Vec::new();
            for piece in pieces.iter().chain([&[0].repeat(zeros)]) {
                match piece[..] {
                    [byte] => stream.push(byte),
                    _ => stream.add(piece),
                }
                all.extend(piece);
            }
            prop_assert_eq!(stream.finish(), whole(&all));
        }
    }
}
