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

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;
    use std::string::String;
    use std::vec::Vec;

    use super::{Key, units};
    use crate::cursor::Cursor;
    use crate::string::tests::read as read_string;

    /// Names that are alike: at the end of a key, around the end of ASCII, and around surrogates.
    const NAMES: &[&str] = &[
        "",
        "\0",
        "\0\0",
        "\n",
        " ",
        "/",
        "a",
        "a\0",
        "aa",
        "b",
        "A",
        "~",
        "\u{7F}",
        "\u{80}",
        "\u{80}a",
        "\u{80}b",
        "é",
        "éa",
        "ü",
        "\u{D7FF}",
        "\u{E000}",
        "\u{FB33}",
        "\u{FFFF}",
        "\u{10000}",
        "😂",
        "😃",
        "\u{10FFFF}",
        "a😂",
        "a\u{E000}",
        "1234567",
        "12345678",
        "123456789",
        "12345678é",
        "12345678a",
        "1234567é",
        "1234567a",
        "1234567\0",
        "1234567é1",
        "1234567é2",
        "1234567a1",
        "12345678\u{E000}",
        "12345678😂",
    ];

    /// Returns the name with the necessary escapes only, and with every character escaped.
    fn spellings(name: &str) -> [String; 2] {
        let escaped: Vec<_> = name.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        [serde_json::to_string(name).unwrap(), format!("\"{}\"", escaped.concat())]
    }

    /// The key of a name as it is spelled, quotes included, and its code units.
    fn read(spelled: &str) -> (Key, Vec<u16>) {
        let place = Cursor::new(spelled.as_bytes());
        let (mut cursor, mut key) = (place, None);
        cursor.advance(1);
        assert!(read_string(&mut cursor, |name| key = Some(Key::new(name, place))).is_ok());
        (key.expect("what was read is told"), units(place).collect())
    }

    #[test]
    fn the_code_units_are_those_of_the_name() {
        for name in NAMES {
            let expected: Vec<_> = name.encode_utf16().collect();
            for spelled in spellings(name) {
                let (key, units) = read(&spelled);
                assert_eq!(units, expected, "{spelled}");
                assert_eq!(key, Key::of_units(units.into_iter()), "{spelled}");
            }
        }
    }

    #[test]
    fn keys_are_never_in_another_order_than_names() {
        for one in NAMES {
            for other in NAMES {
                let expected = one.encode_utf16().cmp(other.encode_utf16());
                for (one, other) in spellings(one).into_iter().zip(spellings(other)) {
                    let order = read(&one).0.cmp(&read(&other).0);
                    assert!(order.is_eq() || order == expected, "{one} and {other}");
                }
            }
        }
    }
}
