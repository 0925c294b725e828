//! The scan for what may be volatile, many bytes at a time.
//!
//! Most of a text is words with a single space between them. Of all masks, each begins at a decimal
//! digit, an escape, the first of two white spaces, or a slash with a letter that a temporary
//! folder begins with. Other control characters are taken for white space here: one comparison finds all
//! of them, and few texts have any.

#[cfg(target_pointer_width = "64")]
use wide::{BITS, BLOCK, bits};

#[cfg(not(target_pointer_width = "64"))]
use narrow::{BITS, BLOCK, bits};

/// The places of a text where a mask or a number may begin, in order.
pub(super) struct Places<'t> {
    text: &'t [u8],
    /// The start of the block that was looked at last.
    start: usize,
    /// The marks of the places in the block that were not passed yet, `BITS` for each byte, the first byte
    /// lowest.
    marks: u64,
}

impl<'t> Places<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text, start: 0, marks: marks(text, 0) }
    }

    /// Returns the first place from `at` on, which is not before any earlier `at`.
    #[inline]
    pub(super) fn next(&mut self, at: usize) -> Option<usize> {
        if at >= self.start + BLOCK {
            self.start = at;
            self.marks = marks(self.text, at);
        } else {
            // Only the places from `at` on.
            self.marks &= u64::MAX << (BITS * (at - self.start.min(at)));
        }
        loop {
            while self.marks == 0 {
                self.start += BLOCK;
                if self.start >= self.text.len() {
                    return None;
                }
                self.marks = marks(self.text, self.start);
            }
            let place = self.start + self.marks.trailing_zeros() as usize / BITS;
            let byte = |at: usize| self.text.get(at).copied().unwrap_or(NONE);
            if BITS == 1 || begins(byte(place), byte(place + 1)) {
                return Some(place);
            }
            self.marks &= self.marks - 1;
        }
    }
}

/// What stands behind the end of a text: a byte that begins nothing.
const NONE: u8 = 0xFF;

/// Returns the marks of the block at `start`.
fn marks(text: &[u8], start: usize) -> u64 {
    let rest = text.get(start..).unwrap_or_default();
    if let Some(block) = rest.first_chunk() {
        return bits_of(block);
    }
    let mut block = [NONE; BLOCK + 1];
    block.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    bits_of(&block)
}

/// Returns the marks of all bytes but the last one, which only follows.
#[inline]
fn bits_of(block: &[u8; BLOCK + 1]) -> u64 {
    match (block.first_chunk(), block.last_chunk()) {
        (Some(block), Some(followers)) => bits(block, followers),
        _ => 0,
    }
}

/// Blocks for processors that compare many bytes in one instruction, if the compiler is given a loop of a
/// fixed length.
#[cfg(target_pointer_width = "64")]
mod wide {
    pub(super) const BLOCK: usize = 64;
    pub(super) const BITS: usize = 1;

    pub(super) fn bits(block: &[u8; BLOCK], followers: &[u8; BLOCK]) -> u64 {
        let mut flags = [0; BLOCK];
        for ((flag, &byte), &follower) in flags.iter_mut().zip(block).zip(followers) {
            *flag = u8::from(super::begins(byte, follower));
        }
        let (words, _) = flags.as_chunks::<8>();
        // Eight bytes of 0 or 1 become eight bits: each factor moves one of them to the top byte.
        let eight =
            |flags: &[u8; 8]| u64::from_le_bytes(*flags).wrapping_mul(0x0102_0408_1020_4080);
        words.iter().rev().fold(0, |bits, flags| bits << 8 | eight(flags) >> 56)
    }
}

/// Blocks for small processors: eight bytes in one number. Behind a marked byte, others may be marked as
/// well (Mycroft, 1987).
#[cfg(any(test, not(target_pointer_width = "64")))]
mod narrow {
    pub(super) const BLOCK: usize = 8;
    #[cfg_attr(target_pointer_width = "64", expect(dead_code, reason = "the other block is used"))]
    pub(super) const BITS: usize = 8;

    /// A word of eight equal bytes.
    const fn eight(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }

    const HIGH: u64 = eight(0x80);

    /// Marks bytes below `limit`, which is at most 0x80.
    const fn below(word: u64, limit: u8) -> u64 {
        word.wrapping_sub(eight(limit)) & !word & HIGH
    }

    /// Marks bytes that are `byte`.
    const fn is(word: u64, byte: u8) -> u64 {
        below(word ^ eight(byte), 1)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the other block is longer")]
    pub(super) const fn bits(block: &[u8; BLOCK], followers: &[u8; BLOCK]) -> u64 {
        let (word, follower) = (u64::from_le_bytes(*block), u64::from_le_bytes(*followers));
        let digit = below(word ^ eight(b'0'), 10);
        let escape = is(word, super::ESCAPE);
        let blanks = below(word, b' ' + 1) & below(follower, b' ' + 1);
        // `t` and `v` differ in one bit, and so do `T` and `V`; case is another.
        let folder = is(follower & !eight(0x22), b'T');
        let slash = is(word, b'/') | is(word, b'\\');
        digit | escape | blanks | slash & folder
    }
}

pub(super) const ESCAPE: u8 = 0x1B;

/// Returns whether a mask or a number may begin at `byte`, which `follower` follows.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches, many bytes are compared at once"
)]
#[inline]
const fn begins(byte: u8, follower: u8) -> bool {
    // `t` and `v` differ in one bit, and so do `T` and `V`; case is another.
    let is_slash = (byte == b'/') | (byte == b'\\');
    let is_folder = follower & !0x22 == b'T';
    byte.is_ascii_digit()
        | (byte == ESCAPE)
        | ((byte <= b' ') & (follower <= b' '))
        | (is_slash & is_folder)
}

/// A bit for each kind of byte that the masks tell apart.
pub(super) mod kind {
    /// A letter or a decimal digit.
    pub(in super::super) const ALPHANUMERIC: u8 = 1;
    /// A decimal digit.
    pub(in super::super) const DIGIT: u8 = 2;
    /// A sign inside of an id: `_`, `-`.
    pub(in super::super) const JOINT: u8 = 4;
    /// What may stand between a label and its value.
    pub(in super::super) const LINK: u8 = 8;
}

/// The kinds of each byte. A look into a table is cheaper than a few comparisons.
static KINDS: [u8; 256] = {
    let (mut kinds, mut byte) = ([0; 256], 0_u8);
    loop {
        kinds[byte as usize] = if byte.is_ascii_alphanumeric() { kind::ALPHANUMERIC } else { 0 }
            | if byte.is_ascii_digit() { kind::DIGIT } else { 0 }
            | if matches!(byte, b'_' | b'-') { kind::JOINT } else { 0 }
            | match byte {
                b'\t'..=b'\r' | b' ' | b'"'..=b'$' | b'\''..=b'*' | b':' | b'=' | b'`' | b'~' => {
                    kind::LINK
                }
                _ => 0,
            };
        if byte == u8::MAX {
            break kinds;
        }
        byte += 1;
    }
};

/// Returns whether `byte` is of one of `kinds`.
#[inline]
pub(super) fn is_of(kinds: u8, byte: u8) -> bool {
    KINDS[usize::from(byte)] & kinds != 0
}

/// White space as terminals know it.
#[inline]
pub(super) const fn is_blank(byte: u8) -> bool {
    (byte == b' ') | (byte.wrapping_sub(b'\t') <= b'\r' - b'\t')
}

/// Behind the white space at `at`, if there is some that is one space once it is folded; else `at`.
#[inline]
pub(super) fn gap(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(byte) if is_blank(*byte) => {}
        _ => return at,
    }
    if text.get(at) == Some(&b' ') && !text.get(at + 1).is_some_and(|next| is_blank(*next)) {
        return at + 1;
    }
    let run = text.get(at..).unwrap_or_default().iter().take_while(|byte| is_blank(**byte));
    at + folded(run)
}

/// Returns the start of the white space before `at`, if there is some that becomes one space.
#[inline]
pub(super) fn gap_before(text: &[u8], at: usize) -> usize {
    let byte = |back: usize| at.checked_sub(back).and_then(|at| text.get(at));
    match (byte(2), byte(1)) {
        (_, Some(last)) if !is_blank(*last) => return at,
        (prior, Some(b' ')) if !prior.is_some_and(|prior| is_blank(*prior)) => return at - 1,
        _ => {}
    }
    let run = text.get(..at).unwrap_or_default().iter().rev().take_while(|byte| is_blank(**byte));
    at - folded(run)
}

/// The length of a row of white space, if one space is written for it.
fn folded<'t>(run: impl Iterator<Item = &'t u8>) -> usize {
    let (mut length, mut spaces, mut lines) = (0, 0, 0);
    for byte in run {
        length += 1;
        spaces += usize::from(*byte == b' ');
        lines += usize::from(*byte == b'\n');
    }
    let is_space = if length == 1 { spaces == 1 } else { lines == 0 };
    if is_space { length } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::{Places, begins, narrow};

    /// Returns whether a mask may begin at `at`, by the definition.
    fn may_begin(text: &[u8], at: usize) -> bool {
        let blank = |at: usize| text.get(at).is_some_and(|byte| (0..=b' ').contains(byte));
        match text[at] {
            b'0'..=b'9' | 0x1B => true,
            b'/' | b'\\' => matches!(text.get(at + 1), Some(b'T' | b't' | b'V' | b'v')),
            _ => blank(at) && blank(at + 1),
        }
    }

    proptest! {
        #[test]
        fn the_scan_finds_what_a_look_at_each_byte_finds(
            text in vec(
                prop_oneof![select(&b" /tvaTV\n7\\\x1B"[..]), any::<u8>()],
                0..200,
            ),
            steps in vec(0_usize..70, 0..20),
        ) {
            let (mut places, mut at) = (Places::new(&text), 0);
            for step in steps {
                at += step;
                let slow = (at..text.len()).find(|&at| may_begin(&text, at));
                prop_assert_eq!(places.next(at), slow);
            }
        }

        /// The first mark of a narrow block is right, and no place lacks one.
        #[test]
        fn a_narrow_block_marks_every_place(
            block in any::<[u8; 8]>(),
            signs in vec(select(&b" /tvaTV\n7\\\x1B"[..]), 9),
            random in any::<bool>(),
        ) {
            let mut bytes: Vec<u8> = signs;
            if random {
                bytes[..8].copy_from_slice(&block);
            }
            let (block, followers) = (bytes[..8].try_into().unwrap(), bytes[1..9].try_into().unwrap());
            let marks = narrow::bits(block, followers);
            for (at, pair) in bytes.windows(2).enumerate() {
                prop_assert!(!begins(pair[0], pair[1]) || marks >> (8 * at + 7) & 1 == 1, "{at}");
            }
        }
    }
}
