//! The pairs of neighbouring tokens in a text: words and numbers, eight bytes at a time.

use core::mem::{replace, take};

use super::Bins;
use crate::mask::{Mask, Sink};

/// Takes in the tokens of a text: rows of letters, and numbers. Letters are those of ASCII, whose
/// case falls away, and all that is not ASCII.
#[derive(Default)]
pub(super) struct Pairs {
    bins: Bins,
    /// What stands for the token before.
    before: u64,
    token: Token,
}

impl Pairs {
    /// The hashes of all pairs, in their bins.
    pub(super) fn finish(mut self) -> Bins {
        self.end();
        self.bins
    }

    #[inline]
    fn end(&mut self) {
        if self.token.length > 0 {
            let token = take(&mut self.token).bits();
            self.bins.add(fold(replace(&mut self.before, token) ^ LEFT, token ^ RIGHT));
        }
    }
}

impl Sink for Pairs {
    fn text(&mut self, text: &[u8]) {
        let mut rest = text;
        while !rest.is_empty() {
            let (word, length) = first(rest);
            let letters = letters(word);
            let others = !letters & HIGH;
            // All bytes before the first that is no letter; all eight if there is none.
            let count = others.trailing_zeros() as usize / 8;
            let low = ((others & others.wrapping_neg()) >> 7).wrapping_sub(1);
            self.token.add((word | (letters & !word) >> 2) & low, count);
            // Where all are letters, the word may go on; so it may behind a colour, and in the next
            // piece.
            let mut behind = count;
            if count < length {
                self.end();
                behind = length.min((letters & !low).trailing_zeros() as usize / 8);
            }
            rest = rest.get(behind..).unwrap_or_default();
        }
    }

    fn number(&mut self, digits: &[u8]) {
        self.end();
        for digits in digits.chunks(8) {
            let (word, length) = first(digits);
            self.token.add(word, length);
        }
        self.end();
    }

    fn masked(&mut self, _: Option<Mask>) {
        self.end();
    }
}

/// The first eight bytes of a text, the first lowest, and how many it has; zeros stand for what it
/// lacks.
fn first(text: &[u8]) -> (u64, usize) {
    if let Some(bytes) = text.first_chunk() {
        return (u64::from_le_bytes(*bytes), 8);
    }
    let word = text.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    (word, text.len())
}

/// The highest bit of each byte.
const HIGH: u64 = eight(0x80);

/// A word of eight equal bytes.
const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Marks the bytes that are letters.
const fn letters(word: u64) -> u64 {
    // Without its highest bit and in lower case, no byte carries into the next.
    let lower = word & !HIGH | eight(0x20);
    let from_a = lower + eight(0x80 - b'a');
    let beyond_z = lower + eight(0x80 - b'z' - 1);
    (from_a & !beyond_z | word) & HIGH
}

/// A token as far as it has been taken in.
#[derive(Default)]
struct Token {
    /// What stands for all whole words of eight bytes but the last.
    begun: u64,
    /// The bytes behind those, at most eight.
    last: u64,
    length: usize,
}

impl Token {
    /// Takes in the lowest `count` bytes of `word`, which has no others.
    #[inline]
    fn add(&mut self, word: u64, count: usize) {
        if count == 0 {
            return;
        }
        let place = self.length % 8;
        if place == 0 && self.length > 0 {
            self.close();
        }
        self.last |= word << (8 * place);
        if place + count > 8 {
            self.close();
            self.last = word >> (8 * (8 - place));
        }
        self.length += count;
    }

    fn close(&mut self) {
        self.begun = fold(self.begun ^ self.last ^ LEFT, RIGHT);
        self.last = 0;
    }

    /// What stands for the token.
    fn bits(&self) -> u64 {
        self.begun ^ self.last ^ (self.length as u64).rotate_right(8)
    }
}

/// Two numbers without a pattern: the hexadecimal digits of π.
const LEFT: u64 = 0x2FFD_72DB_D01A_DFB7;
const RIGHT: u64 = 0xB8E1_AFED_6A26_7E96;

/// The two halves of the product of `a` and `b`, combined: the step of `wyhash` (Wang Yi, 2019).
#[expect(clippy::cast_possible_truncation, reason = "the halves of a product")]
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128) * (b as u128);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::{first, letters};

    proptest! {
        #[test]
        fn letters_are_those_of_each_byte(bytes in any::<[u8; 8]>(), length in 0..9_usize) {
            let (word, count) = first(&bytes[..length]);
            prop_assert_eq!(count, length);
            let marks = letters(word).to_le_bytes();
            for (n, byte) in bytes[..length].iter().enumerate() {
                prop_assert_eq!(marks[n] == 0x80, byte.is_ascii_alphabetic() || *byte >= 0x80);
            }
        }
    }
}
