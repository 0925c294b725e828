//! The scan for the end of plain text: many bytes at a time, without a vector instruction named.

use crate::cursor::Cursor;
use crate::string::is_canonical;
use crate::walk::WIDE;

/// A word of eight equal bytes.
const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The words that are read before whole blocks are tried.
const WORDS: u32 = 5;

/// Returns whether all bytes are ASCII whose bits were collected in `seen`.
#[inline]
pub(crate) const fn is_ascii(seen: u64) -> bool {
    seen & eight(0x80) == 0
}

/// Eight bytes of the input, the first in the lowest place.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    bytes: u64,
    /// The highest bits of the bytes that are a quote, a backslash or a control character. Bytes that
    /// are not ASCII, and those behind the first of these, may have it or not.
    special: u64,
}

impl Word {
    /// Byte by byte, x < n exactly if x − n borrows into the highest bit and x does not have it
    /// (Mycroft, 1987). The quote joins the control characters below it: x ^ 2 swaps them so that
    /// all are below 0x21. A borrow can only reach the bytes behind one that is marked.
    #[inline]
    pub(crate) const fn new(bytes: u64) -> Self {
        let controls_and_quote = (bytes ^ eight(2)).wrapping_sub(eight(0x21));
        let backslash = (bytes ^ eight(b'\\')).wrapping_sub(eight(1));
        Self { bytes, special: controls_and_quote | backslash }
    }

    /// The marks of the bytes that are not plain. Behind the first of them, others may be marked as
    /// well.
    #[inline]
    const fn marks(self) -> u64 {
        self.special & !self.bytes & eight(0x80)
    }

    /// The same, with a mark for each byte that is not ASCII.
    #[inline]
    const fn marks_beyond_ascii(self) -> u64 {
        (self.special | self.bytes) & eight(0x80)
    }

    /// Returns the number of plain bytes before the first other one: 8 if all are plain.
    #[inline]
    pub(crate) fn plain(self) -> usize {
        usize::try_from(self.marks().trailing_zeros() / 8).unwrap_or(8)
    }

    /// The bytes in front of the first that is not plain, and perhaps that one, with 0 behind.
    #[inline]
    pub(crate) const fn beginning(self) -> u64 {
        self.bytes & (self.marks() ^ self.marks().wrapping_sub(1))
    }

    /// The bytes in front of the first that is not plain ASCII, with 0 behind, and their number.
    /// Returns `None` if all eight are plain ASCII.
    #[inline]
    pub(crate) fn text(self) -> Option<(u64, usize)> {
        let marks = self.marks_beyond_ascii();
        if marks == 0 {
            return None;
        }
        // The first mark is the highest bit of its byte.
        let text = self.bytes & ((marks ^ marks.wrapping_sub(1)) >> 8);
        Some((text, usize::try_from(marks.trailing_zeros() / 8).unwrap_or(8)))
    }
}

/// Returns whether `block` contains no quote, no backslash and no control character. The loop is
/// simple, so that the compiler handles sixteen or more bytes at once.
#[inline]
fn is_plain(block: &[u8; 32]) -> bool {
    let marks = block.map(|byte| u8::from((byte ^ 2) < 0x21) | u8::from(byte == b'\\'));
    marks.iter().fold(0, |all, mark| all | mark) == 0
}

/// The highest bits of the bytes that are a backslash, and of those that are a quote or a control
/// character. Unlike in a [`Word`], they are right for all bytes: the highest bit of each byte is set
/// before the subtraction, so that no byte borrows from the next.
#[inline]
const fn exact_marks(bytes: u64) -> (u64, u64) {
    let ascii = !bytes & eight(0x80);
    let no_backslash = (bytes ^ eight(b'\\') | eight(0x80)).wrapping_sub(eight(1));
    let no_other = (bytes ^ eight(2) | eight(0x80)).wrapping_sub(eight(0x21));
    (ascii & !no_backslash, ascii & !no_other)
}

/// The highest bits of eight bytes, side by side. The factor moves the bit of byte i to place 56 + i,
/// and no two bits to one place.
#[inline]
const fn packed(marks: u64) -> u64 {
    (marks >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Returns the bits behind each backslash that is not escaped itself: those behind an odd number of
/// backslashes. There is no backslash in front of the first bit.
#[inline]
const fn escaped(backslashes: u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    // Added to its first bit, a run of ones becomes zeros, and a one behind it.
    let first = backslashes & !(backslashes << 1);
    let sum = backslashes.wrapping_add(first & EVEN);
    // In a run that begins at an even place, the backslashes at even places escape what is at the odd
    // place behind them; and the other way round.
    let (from_even, from_odd) = (backslashes & !sum, backslashes & sum);
    from_even << 1 & !EVEN | from_odd << 1 & EVEN
}

impl Cursor<'_> {
    /// Takes all bytes up to the next quote, backslash or control character, or to the end. Their
    /// bits, and perhaps the bits of the byte behind them, are added to `seen`. O(bytes taken).
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) fn skip_plain(&mut self, seen: &mut u64) {
        let (mut cursor, mut bits) = (*self, *seen);
        let mut words = 0_u32;
        loop {
            let Some(word) = cursor.word().filter(|_| WIDE) else {
                cursor.skip_bytes(&mut bits);
                break;
            };
            if word.marks() != 0 {
                bits |= word.beginning();
                cursor.advance(word.plain());
                break;
            }
            bits |= word.bytes;
            cursor.advance(8);
            words = words.wrapping_add(1);
            // Most text ends, or goes on behind an escape, within a few words.
            if words == WORDS {
                (cursor, bits) = cursor.skip_blocks(bits);
            }
        }
        (*self, *seen) = (cursor, bits);
    }

    /// Takes as many blocks as are plain, and adds their bits to `seen`.
    #[inline(never)]
    fn skip_blocks(mut self, mut seen: u64) -> (Self, u64) {
        while let Some(block) = self.peek_chunk()
            && is_plain(block)
        {
            for word in block.as_chunks().0 {
                seen |= u64::from_le_bytes(*word);
            }
            self.advance(block.len());
        }
        (self, seen)
    }

    /// Takes plain bytes and escapes that RFC 8785 uses, in blocks, as long as there are such escapes
    /// and nothing else. Their bits, and perhaps bits of bytes behind them, are added to `seen`.
    /// O(bytes taken).
    ///
    /// Code in a string has an escape every few bytes. Taken one by one, each costs a branch that no
    /// processor predicts. Here the branches are few, whatever the number of escapes.
    #[inline(never)]
    pub(crate) fn skip_escapes(&mut self, seen: &mut u64) {
        while let Some(block) = self.peek_chunk::<64>() {
            let (mut backslashes, mut others) = (0, 0);
            for (word, place) in block.as_chunks().0.iter().zip((0_u32..).step_by(8)) {
                let word = u64::from_le_bytes(*word);
                let (backslash, other) = exact_marks(word);
                backslashes |= packed(backslash).wrapping_shl(place);
                others |= packed(other).wrapping_shl(place);
                *seen |= word;
            }
            let escaped = escaped(backslashes);
            // A backslash at the very end is left to the next block.
            let stops = (others | backslashes & 1 << 63) & !escaped;
            let mut taken = stops.trailing_zeros();
            let mut letters = escaped & 1_u64.checked_shl(taken).unwrap_or(0).wrapping_sub(1);
            while letters != 0 {
                let letter = letters.trailing_zeros();
                let byte = usize::try_from(letter).ok().and_then(|at| block.get(at));
                if !byte.copied().is_some_and(is_canonical) {
                    taken = letter.saturating_sub(1);
                    break;
                }
                letters &= letters.wrapping_sub(1);
            }
            self.advance(usize::try_from(taken).unwrap_or(0));
            if taken < 63 || backslashes == 0 {
                return;
            }
        }
    }

    /// Returns the next eight bytes, or `None` if there are fewer.
    #[inline]
    pub(crate) fn word(&self) -> Option<Word> {
        self.peek_chunk().map(|bytes| Word::new(u64::from_le_bytes(*bytes)))
    }

    /// Continues byte by byte if less than a word is left.
    fn skip_bytes(&mut self, seen: &mut u64) {
        while let Some(byte) = self.peek() {
            if matches!(byte, b'"' | b'\\' | ..0x20) {
                return;
            }
            *seen |= u64::from(byte);
            self.advance(1);
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::{Word, escaped, exact_marks, is_ascii, is_plain, packed};
    use crate::cursor::Cursor;

    /// Returns the result of the scan by its definition.
    fn is_special(byte: u8) -> bool {
        byte == b'"' || byte == b'\\' || byte < 0x20
    }

    #[test]
    fn every_byte_is_judged_alone_and_between_others() {
        for byte in 0..=u8::MAX {
            for neighbour in [b'a', b' ', b'!', b'#', b'[', b']', 0x7F, 0x80, 0xFF] {
                for at in 0..32 {
                    let mut block = [neighbour; 32];
                    block[at] = byte;
                    assert_eq!(is_plain(&block), !is_special(byte), "{byte} {neighbour}");
                    let mut word = [neighbour; 8];
                    word[at % 8] = byte;
                    let expected = if is_special(byte) { at % 8 } else { 8 };
                    let found = Word::new(u64::from_le_bytes(word));
                    assert_eq!(found.plain(), expected, "{byte} among {neighbour}");
                    let is_end = |byte: &u8| is_special(*byte) || !byte.is_ascii();
                    let text = word.iter().position(is_end).map(|length| {
                        let mut text = [0; 8];
                        text[..length].copy_from_slice(&word[..length]);
                        (u64::from_le_bytes(text), length)
                    });
                    assert_eq!(found.text(), text, "{byte} among {neighbour}");
                }
            }
        }
    }

    #[test]
    fn the_scan_ends_at_the_first_special_byte_and_sees_what_is_in_front_of_it() {
        for length in 0..200 {
            for end in 0..=length {
                for (plain, special) in [(b'a', b'"'), (b'a', 0), (0xC3, b'\\'), (b' ', 0x1F)] {
                    let mut bytes = vec![plain; length];
                    bytes[end..].fill(special);
                    let (mut cursor, mut seen) = (Cursor::new(&bytes), 0);
                    cursor.skip_plain(&mut seen);
                    assert_eq!(Cursor::new(&bytes).distance(&cursor), end, "{special} of {length}");
                    let expected = end > 0 && !plain.is_ascii();
                    assert_eq!(!is_ascii(seen), expected, "{end} of {length}");
                }
            }
        }
    }

    #[test]
    fn exact_marks_are_right_for_all_bytes() {
        let bytes =
            [b'"', b'\\', b']', b'[', b'!', b'#', 0, 0x1F, b' ', 0x7F, 0x80, 0xA2, 0xDC, 0xFF];
        for one in 0..=u8::MAX {
            for other in bytes {
                let word = [other, one, other, one, one, other, other, one];
                let marked = |is: fn(u8) -> bool| {
                    let bits = word.iter().rev().map(|&byte| u64::from(is(byte)));
                    bits.fold(0, |bits, bit| bits << 1 | bit)
                };
                let (backslash, other) = exact_marks(u64::from_le_bytes(word));
                assert_eq!(packed(backslash), marked(|byte| byte == b'\\'), "{word:?}");
                assert_eq!(
                    packed(other),
                    marked(|byte| byte != b'\\' && is_special(byte)),
                    "{word:?}"
                );
            }
        }
    }

    #[test]
    fn a_byte_is_escaped_behind_an_odd_number_of_backslashes() {
        for pattern in 0..1_u64 << 16 {
            for at in [0, 1, 31, 47, 48] {
                let backslashes = pattern << at;
                let (mut expected, mut escapes) = (0, false);
                for bit in 0..64 {
                    expected |= u64::from(escapes) << bit;
                    escapes = !escapes && backslashes >> bit & 1 == 1;
                }
                assert_eq!(escaped(backslashes), expected, "{backslashes:b}");
            }
        }
    }

    /// The length of the plain bytes and of the escapes that RFC 8785 uses, at the beginning of
    /// `bytes`.
    fn taken_by_definition(bytes: &[u8]) -> usize {
        match bytes {
            [b'\\', b'n' | b'"' | b'\\' | b't' | b'r' | b'b' | b'f', rest @ ..] => {
                2 + taken_by_definition(rest)
            }
            [byte, rest @ ..] if !is_special(*byte) => 1 + taken_by_definition(rest),
            _ => 0,
        }
    }

    /// Text at which blocks end, or do not.
    const ODD: &[&[u8]] = &[b"", b"\"", b"\\u0041", b"\\/", b"\n", b"\\x", b"\\"];

    proptest! {
        #[test]
        fn blocks_of_escapes_end_at_a_byte_that_is_neither_plain_nor_such_an_escape(
            bytes in prop::collection::vec(
                prop_oneof![
                    4 => Just(&b"\\n"[..]),
                    4 => Just(&b"\\\""[..]),
                    4 => Just(&b"\\\\"[..]),
                    8 => Just(&b"ab"[..]),
                    4 => Just(&b"c"[..]),
                    2 => Just("\u{e9}".as_bytes()),
                ],
                0..200,
            ),
            odd in prop::sample::select(ODD),
            at in any::<prop::sample::Index>(),
        ) {
            let mut bytes: Vec<&[u8]> = bytes;
            bytes.insert(at.index(bytes.len() + 1), odd);
            let bytes = bytes.concat();
            let start = Cursor::new(&bytes);
            let (mut cursor, mut seen) = (start, 0);
            cursor.skip_escapes(&mut seen);
            let (taken, all) = (start.distance(&cursor), taken_by_definition(&bytes));
            // It ends between two escapes, where a block is without one, or where no block is left.
            prop_assert!(taken <= all);
            prop_assert_eq!(taken + taken_by_definition(&bytes[taken..]), all);
            let without = taken >= 64 && !bytes[taken - 64..taken].contains(&b'\\');
            prop_assert!(taken == all || without || bytes.len() - taken < 64, "{} of {}", taken, all);
            prop_assert!(bytes[..taken].is_ascii() || !is_ascii(seen));
        }
    }
}
