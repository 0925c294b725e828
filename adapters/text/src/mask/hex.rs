//! Hexadecimal text: ids, checksums, addresses.
//!
//! A hash has at least seven digits, a letter and a digit: `deadbeef` is a word, and 4096000 is a size. One
//! in twelve random hashes of seven digits looks like a number and stays.

use super::digits::byte;
use super::kind::{Mask, Masks, Part, Span};

/// The fewest digits of a hash: what `git` abbreviates commits to.
const HASH_MIN: usize = 7;

/// The largest number of digits in a hash, which SHA-512 has.
const HASH_MAX: usize = 128;

/// The fewest digits of an address, `0x` apart: shorter ones are constants and flags.
const ADDRESS_MIN: usize = 6;

/// A row of letters and digits.
pub(super) struct Word {
    start: usize,
    pub(super) end: usize,
    floor: usize,
}

impl Word {
    /// The word around `place`, with no part of it before `floor`; of a longer one than any hash, a
    /// part that is longer, too.
    pub(super) fn around(text: &[u8], place: usize, floor: usize) -> Self {
        let is_inner = |byte: &&u8| byte.is_ascii_alphanumeric();
        let (before, after) = text.split_at_checked(place).unwrap_or((text, &[]));
        let before = before.get(floor..).unwrap_or_default().iter().rev();
        let back = before.take(HASH_MAX + 1).take_while(is_inner).count();
        let ahead = after.iter().take(HASH_MAX + 1).take_while(is_inner).count();
        Self { start: place - back, end: place + ahead, floor }
    }

    /// The mask that knows the word, if there is one among `masks`.
    pub(super) fn masked(&self, masks: Masks, text: &[u8]) -> Option<Span> {
        let &Self { start, end, floor } = self;
        let word = text.get(start..end)?;
        if masks.contains(Mask::Uuids) && matches!(word.len(), 4 | 8) {
            // The word with the first digit is the first of five, or the second.
            let first = if word.len() == 8 { Some(start) } else { start.checked_sub(9) };
            let first = first.filter(|&first| first >= floor && is_uuid(text, first));
            if let Some(start) = first {
                return Some(Span { start, end: start + 36, part: Part::of(Mask::Uuids) });
            }
        }
        let mask = kind(word).filter(|mask| masks.contains(*mask))?;
        Some(Span { start, end, part: Part::of(mask) })
    }
}

fn kind(word: &[u8]) -> Option<Mask> {
    if let Some(address) = word.strip_prefix(b"0x").or_else(|| word.strip_prefix(b"0X")) {
        let is_address = address.len() >= ADDRESS_MIN && address.iter().all(u8::is_ascii_hexdigit);
        return is_address.then_some(Mask::Addresses);
    }
    if is_ulid(word) {
        return Some(Mask::Ids);
    }
    let is_hash = (HASH_MIN..=HASH_MAX).contains(&word.len())
        && word.iter().all(u8::is_ascii_hexdigit)
        && !is_decimal(word);
    is_hash.then_some(Mask::Hashes)
}

/// Returns whether `word` is a ULID (<https://github.com/ulid/spec>) of this century: 26 digits of Crockford's Base32, of
/// which the first ten are a time.
fn is_ulid(word: &[u8]) -> bool {
    let is_digit =
        |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() && !b"ILOU".contains(byte);
    word.len() == 26
        && word.first() == Some(&b'0')
        && word.iter().all(is_digit)
        && !is_decimal(word)
}

/// Returns whether hexadecimal digits may be a decimal number: at most one letter, as an exponent
/// or at the end, as in `4096000B`.
fn is_decimal(word: &[u8]) -> bool {
    let mut letters = word.iter().filter(|byte| byte.is_ascii_alphabetic());
    let last = word.last().is_some_and(u8::is_ascii_alphabetic);
    match (letters.next(), letters.next()) {
        (None, _) => true,
        (Some(one), None) => last || matches!(one, b'e' | b'E'),
        (Some(_), Some(_)) => false,
    }
}

/// Returns whether a UUID stands at `start`, by RFC 9562 in any case.
fn is_uuid(text: &[u8], start: usize) -> bool {
    let Some(uuid) = text.get(start..).and_then(<[u8]>::first_chunk::<36>) else { return false };
    let is_free = |byte: u8| !byte.is_ascii_alphanumeric() && byte != b'-';
    let shaped = uuid.iter().enumerate().all(|(n, byte)| match n {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    let before = start.checked_sub(1).map_or(0, |at| byte(text, at));
    shaped && is_free(before) && is_free(byte(text, start + 36))
}
