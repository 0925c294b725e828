//! UTF-8 validation: by vector instructions, by `core`, or in few bytes of code.

#[cfg(not(feature = "simd"))]
use crate::walk::WIDE;

/// Returns the length of the longest prefix of `text` that is UTF-8. O(n).
#[cfg(feature = "simd")]
pub(crate) fn valid_up_to(text: &[u8]) -> usize {
    simdutf8::compat::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len)
}

/// Returns the length of the longest prefix of `text` that is UTF-8. O(n).
#[cfg(not(feature = "simd"))]
pub(crate) fn valid_up_to(text: &[u8]) -> usize {
    if !WIDE {
        return by_character(text);
    }
    core::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len)
}

/// Does the same in few bytes of code, for small devices.
#[cfg(any(not(feature = "simd"), test))]
fn by_character(text: &[u8]) -> usize {
    let mut rest = text;
    while let Some(behind) = behind_character(rest) {
        rest = behind;
    }
    text.len().saturating_sub(rest.len())
}

/// Returns the text behind the first character of `text`, or `None` if it does not start with a
/// character.
#[cfg(any(not(feature = "simd"), test))]
fn behind_character(text: &[u8]) -> Option<&[u8]> {
    let (&first, mut rest) = text.split_first()?;
    if first.is_ascii() {
        return Some(rest);
    }
    // A first byte of 110xxxxx, 1110xxxx or 11110xxx begins a sequence of 2, 3 or 4 bytes; shorter
    // ones have all characters below the least.
    let (behind, least) = match first {
        0xC0..0xE0 => (1, 0x80),
        0xE0..0xF0 => (2, 0x800),
        0xF0..0xF8 => (3, 0x1_0000),
        _ => return None,
    };
    let mut code = u32::from(first) & (0x3F >> behind);
    for _ in 0..behind {
        let (&byte, behind) = rest.split_first()?;
        if byte & 0xC0 != 0x80 {
            return None;
        }
        code = code << 6 | u32::from(byte & 0x3F);
        rest = behind;
    }
    (code >= least && char::from_u32(code).is_some()).then_some(rest)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use proptest::prelude::*;

    use super::{by_character, valid_up_to};

    /// The result of `core`.
    fn expected(text: &[u8]) -> usize {
        core::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len)
    }

    #[test]
    fn all_sequences_of_bytes_with_something_to_say_are_judged_as_core_judges_them() {
        const BYTES: [u8; 22] = [
            0, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED,
            0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ];
        let mut texts: Vec<Vec<u8>> = [Vec::new()].into();
        for _ in 0..4 {
            let longer = texts.iter().flat_map(|text| {
                BYTES.iter().map(move |&byte| [text.as_slice(), &[byte]].concat())
            });
            texts = longer.collect();
            for text in &texts {
                assert_eq!(by_character(text), expected(text), "{text:x?}");
                assert_eq!(valid_up_to(text), expected(text), "{text:x?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_judged_as_core_judges_them(
            text: std::string::String,
            bytes in prop::collection::vec(any::<u8>(), 0..8),
        ) {
            let text = [text.as_bytes(), &bytes, text.as_bytes()].concat();
            prop_assert_eq!(by_character(&text), expected(&text));
            prop_assert_eq!(valid_up_to(&text), expected(&text));
        }
    }
}
