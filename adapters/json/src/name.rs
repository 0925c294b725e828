//! The order of names: by their UTF-16 code units, as RFC 8785 has it.

use crate::cursor::Cursor;
use crate::string::{Text, unescaped};

/// The code units that a key holds.
const UNITS: usize = 8;

/// The unit that stands for all that are not ASCII.
const BEYOND: u8 = 0x80;

/// The beginning of a name. If the keys of two names differ, the names have the same order as the keys.
///
/// It has a byte for each of the first eight code units, the first in the highest place. A unit
/// beyond ASCII is [`BEYOND`], and all units after it are 0, because two such units may differ although
/// their bytes are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u64);

impl Key {
    /// The key of `name`, whose opening quote is at `place`.
    #[inline]
    pub(crate) fn new(name: Text<'_>, place: Cursor<'_>) -> Self {
        if let Some((word, _)) = name.short() {
            return Self(word.swap_bytes());
        }
        match name.plain().and_then(<[u8]>::first_chunk) {
            Some(first) if first.is_ascii() => Self(u64::from_be_bytes(*first)),
            _ => Self::of_units(units(place)),
        }
    }

    /// The key of a name with these code units, from its definition.
    fn of_units(units: impl Iterator<Item = u16>) -> Self {
        let mut bytes = [0; UNITS];
        for (byte, unit) in bytes.iter_mut().zip(units) {
            *byte = u8::try_from(unit).unwrap_or(BEYOND).min(BEYOND);
            if *byte == BEYOND {
                break;
            }
        }
        Self(u64::from_be_bytes(bytes))
    }
}

/// The UTF-16 code units of the name whose opening quote is at `place`, which was checked before.
///
/// They are worked out one by one: what compares two names pays for what they have in common, and
/// not for what follows.
pub(crate) fn units(place: Cursor<'_>) -> impl Iterator<Item = u16> {
    let mut rest = place;
    rest.advance(1);
    let mut low = None;
    core::iter::from_fn(move || {
        if let Some(unit) = low.take() {
            return Some(unit);
        }
        let mut buffer = [0; 2];
        let (&mut first, others) =
            character(&mut rest)?.encode_utf16(&mut buffer).split_first_mut()?;
        low = others.first().copied();
        Some(first)
    })
}

/// Takes the next character of a string's contents, spelled in any way; `None` at its end.
#[inline]
fn character(rest: &mut Cursor<'_>) -> Option<char> {
    let start = *rest;
    match rest.next()? {
        b'"' => None,
        b'\\' => unescaped(rest, start).ok(),
        byte if byte.is_ascii() => Some(char::from(byte)),
        _ => {
            while rest.peek().is_some_and(|byte| byte & 0xC0 == 0x80) {
                rest.advance(1);
            }
            core::str::from_utf8(start.until(rest)).ok()?.chars().next()
        }
    }
}
