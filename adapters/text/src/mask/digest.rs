//! Digests of a masked text: both are made in one pass.

use unstuck_core::Digest;
use unstuck_json::Hash64 as _;

use super::Mask;
use super::pieces::{Pieces, Sink};
use crate::recipe::HASH;

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

pub(super) fn digest(pieces: Pieces<'_>) -> Masked {
    let mut digests = Digests::default();
    pieces.walk(&mut digests);
    let Digests { text, numbers, says } = &mut digests;
    let near = text.finish();
    // The numbers in their order, beside the text with places for them, say what the whole does.
    let result = match says {
        Says::Nothing | Says::Something => near.mix(numbers.finish()),
        // The clock was what the agent asked for.
        Says::Volatile => near.mix(pieces.unmasked()),
    };
    Masked { result, near }
}

/// The text with the same byte for each number, and the numbers.
#[derive(Default)]
struct Digests {
    text: Stream<256>,
    numbers: Stream<64>,
    says: Says,
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
struct Values(Stream<256>);

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
        self.text.add(text);
    }

    #[inline]
    fn number(&mut self, digits: &[u8]) {
        self.says = Says::Something;
        self.text.push(NUMBER);
        for &digit in digits {
            self.numbers.push(digit);
        }
        self.numbers.push(END);
    }

    #[inline]
    fn masked(&mut self, mask: Option<Mask>) {
        if self.says == Says::Nothing {
            self.says = Says::Volatile;
        }
        self.text.push(MASKED);
        self.text.push(mask.map_or(0, |mask| 1 + mask as u8));
    }
}

/// The hash of bytes that come in pieces, block by block.
struct Stream<const BLOCK: usize> {
    before: Digest,
    block: [u8; BLOCK],
    length: usize,
}

impl<const BLOCK: usize> Default for Stream<BLOCK> {
    fn default() -> Self {
        Self { before: Digest::new(0), block: [0; BLOCK], length: 0 }
    }
}

impl<const BLOCK: usize> Stream<BLOCK> {
    #[inline]
    fn add(&mut self, piece: &[u8]) {
        // What is written for white space.
        if let &[byte] = piece {
            self.push(byte);
        } else {
            self.add_all(piece);
        }
    }

    fn add_all(&mut self, mut piece: &[u8]) {
        loop {
            let room = self.block.get_mut(self.length..).unwrap_or_default();
            let count = room.len().min(piece.len());
            let (now, later) = piece.split_at(count);
            room[..count].copy_from_slice(now);
            self.length += count;
            if later.is_empty() {
                return;
            }
            self.close();
            piece = later;
        }
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        if self.length == BLOCK {
            self.close();
        }
        if let Some(place) = self.block.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn close(&mut self) {
        self.before = behind(self.before, self.block.get(..self.length).unwrap_or_default());
        self.length = 0;
    }

    fn finish(&mut self) -> Digest {
        self.close();
        self.before
    }
}

/// The hash of what came before `block` and of `block`.
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
fn behind(before: Digest, block: &[u8]) -> Digest {
    before.mix(Digest::new(HASH.hash(block)))
}
