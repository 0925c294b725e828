//! Hashes texts in blocks: in place if a text is in one piece, or else in a buffer.

use crate::hash::Hash64;
use crate::mix::Mixer;
use crate::string::Sink;

/// The bytes of a text that are hashed at once; a longer text is a chain of such blocks.
///
/// A text that comes in pieces is collected in a buffer of this size, on the stack, so it should
/// be small; the steps between blocks cost time, so it should be large. At 256, nearly all names
/// and values are one block, and the steps take a tenth of the time of a long text.
pub const BLOCK: usize = 256;

/// The digest of `text`.
#[cfg_attr(target_pointer_width = "64", inline)]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) fn digest<H: Hash64>(hash: &H, mixer: Mixer, text: &[u8]) -> u64 {
    match text.len() {
        0..8 => hash.hash_short(word(text), text.len()),
        8..=BLOCK => hash.hash(text),
        _ => chained(hash, mixer, text),
    }
}

/// The bytes of a text of less than eight, the first in the lowest place.
fn word(text: &[u8]) -> u64 {
    text.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The digest of a text of more than one block.
#[cold]
#[inline(never)]
fn chained<H: Hash64>(hash: &H, mixer: Mixer, text: &[u8]) -> u64 {
    let blocks = text.chunks(BLOCK).map(|block| hash.hash(block));
    blocks.reduce(|before, block| mixer.pair(before, block)).unwrap_or(0)
}

/// A text that comes in pieces.
pub(crate) struct Blocks<'h, H> {
    hash: &'h H,
    mixer: Mixer,
    /// The digest of the blocks before the buffer, or `None` if the buffer is the first block.
    before: Option<u64>,
    buffer: [u8; BLOCK],
    /// The number of bytes in the buffer.
    length: usize,
}

impl<'h, H: Hash64> Blocks<'h, H> {
    /// A text without pieces so far.
    pub(crate) const fn new(hash: &'h H, mixer: Mixer) -> Self {
        Self { hash, mixer, before: None, buffer: [0; BLOCK], length: 0 }
    }

    /// Returns the digest of all parts so far. It equals the digest of the same text in one piece.
    pub(crate) fn digest(&self) -> u64 {
        let last = self.buffer.get(..self.length).unwrap_or(&self.buffer);
        match self.before {
            None => digest(self.hash, self.mixer, last),
            Some(before) => self.mixer.pair(before, self.hash.hash(last)),
        }
    }
}

impl<H: Hash64> Sink for Blocks<'_, H> {
    #[inline(never)]
    fn take(&mut self, mut part: &[u8]) {
        while !part.is_empty() {
            if self.length == BLOCK {
                self.before = Some(self.digest());
                self.length = 0;
            }
            let room = self.buffer.get_mut(self.length..).unwrap_or_default();
            let (now, later) = part.split_at_checked(room.len()).unwrap_or((part, &[]));
            for (place, &byte) in room.iter_mut().zip(now) {
                *place = byte;
            }
            self.length = self.length.saturating_add(now.len());
            part = later;
        }
    }

    #[inline]
    fn fill(&mut self, write: impl FnOnce(&mut [u8]) -> usize) {
        let room = self.buffer.get_mut(self.length..).unwrap_or_default();
        self.length = self.length.saturating_add(write(room)).min(BLOCK);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::HashSet;
    use std::vec::Vec;

    use super::{BLOCK, Blocks, digest};
    use crate::hash::{Fnv, Hash64, Rapid};
    use crate::mix::Mixer;
    use crate::string::Sink;

    fn pieces_are_the_whole<H: Hash64>(hash: &H) {
        let mixer = Mixer::new(0);
        let text: Vec<u8> = (0..=250).cycle().take(3 * BLOCK + 5).collect();
        let mut digests = HashSet::new();
        for length in (0..20).chain(BLOCK - 2..BLOCK + 3).chain(2 * BLOCK - 2..text.len()) {
            let text = &text[..length];
            let whole = digest(hash, mixer, text);
            assert!(digests.insert(whole), "{length}");
            for size in [1, 2, 7, 255, 256, 257, 600] {
                let mut blocks = Blocks::new(hash, mixer);
                text.chunks(size).for_each(|piece| blocks.take(piece));
                assert_eq!(blocks.digest(), whole, "{length} by {size}");
            }
        }
    }

    #[test]
    fn pieces_are_the_whole_text_by_every_hash() {
        pieces_are_the_whole(&Rapid::new(0));
        pieces_are_the_whole(&Fnv::new(1));
    }
}
