//! The scan for what may be volatile, eight bytes at a time.
//!
//! Most of a text is words with a single space between them. Of all masks, each begins at a decimal
//! digit, an escape, the second of two white spaces, or a slash with a letter that a temporary
//! folder begins with.

/// A word of eight equal bytes.
const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

const HIGH: u64 = eight(0x80);

/// Marks bytes below `limit`, which is at most 0x80; behind the first, others may be marked as well
/// (Mycroft, 1987).
const fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(eight(limit)) & !word & HIGH
}

/// Marks bytes that are `byte`, with the same caveat.
const fn is(word: u64, byte: u8) -> u64 {
    below(word ^ eight(byte), 1)
}

/// The first place from `at` on where a mask or a number may begin.
#[inline]
pub(super) fn next(text: &[u8], mut at: usize) -> Option<usize> {
    // The word one byte further shows the follower of each byte.
    while let Some((word, &[last, ..])) = text.get(at..).and_then(<[u8]>::split_first_chunk::<8>) {
        let word = u64::from_le_bytes(*word);
        let follower = word >> 8 | u64::from(last) << 56;
        let marks = marks(word, follower);
        if marks == 0 {
            at += 8;
            continue;
        }
        at += marks.trailing_zeros() as usize / 8;
        if begins(text, at) {
            return Some(at);
        }
        at += 1;
    }
    (at..text.len()).find(|&at| begins(text, at))
}

const fn marks(word: u64, follower: u64) -> u64 {
    let digit = below(word ^ eight(b'0'), 10);
    let escape = is(word, ESCAPE);
    let blanks = below(word, b' ' + 1) & below(follower, b' ' + 1);
    // `t` and `v` differ in one bit, and so do `T` and `V`; case is another.
    let folder = is(follower & !eight(0x22), b'T');
    let slash = is(word, b'/') | is(word, b'\\');
    digit | escape | blanks | slash & folder
}

pub(super) const ESCAPE: u8 = 0x1B;

/// Returns whether a mask or a number may begin at `at`.
fn begins(text: &[u8], at: usize) -> bool {
    let (Some(&byte), follower) = (text.get(at), text.get(at + 1)) else { return false };
    match byte {
        b'0'..=b'9' | ESCAPE => true,
        b'/' | b'\\' => matches!(follower, Some(b't' | b'v' | b'T')),
        _ => is_blank(byte) && follower.is_some_and(|&next| is_blank(next)),
    }
}

/// White space as terminals know it.
pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Behind the white space at `at`, if there is some that is one space once it is folded; else `at`.
pub(super) fn gap(text: &[u8], at: usize) -> usize {
    let run = text.get(at..).unwrap_or_default().iter().take_while(|byte| is_blank(**byte));
    at + folded(run)
}

/// Returns the start of the white space before `at`, if there is some that becomes one space.
pub(super) fn gap_before(text: &[u8], at: usize) -> usize {
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
    extern crate std;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::{begins, next};

    proptest! {
        #[test]
        fn the_scan_finds_what_a_look_at_each_byte_finds(
            text in vec(
                prop_oneof![select(&b" /tvaTV\n7\\\x1B"[..]), any::<u8>()],
                0..60,
            ),
            at in 0_usize..60,
        ) {
            let slow = (at..text.len()).find(|&at| begins(&text, at));
            prop_assert_eq!(next(&text, at), slow);
        }
    }
}
