//! The scan for the end of plain text: many bytes at a time, without a vector instruction named.

use crate::cursor::Cursor;
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

/// Eight bytes of the input, the first in the lowest place, with marks at bytes that are not plain.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    bytes: u64,
    /// The highest bits of the bytes that are a quote, a backslash or a control character; behind
    /// the first of them, others may be marked as well.
    marks: u64,
}

impl Word {
    /// Byte by byte, x < n exactly if x − n borrows into the highest bit and x does not have it
    /// (Mycroft, 1987). The quote joins the control characters below it: x ^ 2 swaps them so that
    /// all are below 0x21. A borrow can only reach the bytes behind one that is marked.
    #[inline]
    pub(crate) const fn new(bytes: u64) -> Self {
        let controls_and_quote = (bytes ^ eight(2)).wrapping_sub(eight(0x21));
        let backslash = (bytes ^ eight(b'\\')).wrapping_sub(eight(1));
        Self { bytes, marks: (controls_and_quote | backslash) & !bytes & eight(0x80) }
    }

    /// Returns the number of plain bytes before the first other one: 8 if all are plain.
    #[inline]
    pub(crate) fn plain(self) -> usize {
        usize::try_from(self.marks.trailing_zeros() / 8).unwrap_or(8)
    }

    /// The bytes in front of the first that is not plain, and perhaps that one, with 0 behind.
    #[inline]
    pub(crate) const fn beginning(self) -> u64 {
        self.bytes & (self.marks ^ self.marks.wrapping_sub(1))
    }

    /// Returns whether all bytes are plain ASCII.
    #[inline]
    pub(crate) const fn is_plain_ascii(self) -> bool {
        (self.bytes & eight(0x80)) | self.marks == 0
    }

    /// The contents of a string and their length in bytes, if the word begins with less than eight
    /// bytes of plain ASCII and a quote behind them.
    #[inline]
    pub(crate) fn text(self) -> Option<(u64, usize)> {
        // The mark is the highest bit of the byte: seven bits further than its lowest.
        let at = (self.marks.trailing_zeros()) & !7;
        let quoted = self.bytes.checked_shr(at)?.to_le_bytes().first() == Some(&b'"');
        let text = self.bytes & 1_u64.checked_shl(at)?.wrapping_sub(1);
        if !quoted || !is_ascii(text) {
            return None;
        }
        Some((text, usize::try_from(at / 8).unwrap_or(8)))
    }
}

/// Returns whether `block` contains no quote, no backslash and no control character. The loop is
/// simple, so that the compiler handles sixteen or more bytes at once.
#[inline]
fn is_plain(block: &[u8; 32]) -> bool {
    let marks = block.map(|byte| u8::from((byte ^ 2) < 0x21) | u8::from(byte == b'\\'));
    marks.iter().fold(0, |all, mark| all | mark) == 0
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
            if word.marks != 0 {
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

    use super::{Word, is_ascii, is_plain};
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
                    let quoted = expected < 8 && byte == b'"' && word[..expected].is_ascii();
                    let mut text = [0; 8];
                    text[..expected].copy_from_slice(&word[..expected]);
                    let text = quoted.then_some((u64::from_le_bytes(text), expected));
                    assert_eq!(found.text(), text, "{byte} among {neighbour}");
                    let plain = expected == 8 && word.is_ascii();
                    assert_eq!(found.is_plain_ascii(), plain, "{byte} among {neighbour}");
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
}
