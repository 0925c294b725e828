//! Strings: their spelling checked, their characters hashed or compared.

use core::hash::Hasher as _;

use fnv::FnvHasher;
use unstuck_core::Digest;

use crate::cursor::Cursor;
use crate::error::{JsonError, JsonErrorKind};
use crate::fold;

/// Reads a string, whose opening quote was taken, to its closing quote.
///
/// The digest stands for the characters, not for their spelling.
pub(crate) fn string(cursor: &mut Cursor<'_>) -> Result<Digest, JsonError> {
    let mut hasher = FnvHasher::default();
    while let Some(piece) = Piece::read(cursor)? {
        match piece {
            Piece::Run(run) => hasher.write(run.as_bytes()),
            Piece::Escaped(character) => {
                hasher.write(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
    Ok(fold::string(&hasher))
}

/// Tells whether the string behind the opening quote at `cursor` spells `text`.
///
/// It compares characters, not digests, so that no collision can pass for a match.
pub(crate) fn spells(mut cursor: Cursor<'_>, text: &str) -> bool {
    let mut unmatched = text;
    while let Ok(Some(piece)) = Piece::read(&mut cursor) {
        let after = match piece {
            Piece::Run(run) => unmatched.strip_prefix(run),
            Piece::Escaped(character) => unmatched.strip_prefix(character),
        };
        let Some(after) = after else {
            return false;
        };
        unmatched = after;
    }
    unmatched.is_empty()
}

/// Writes the characters of the string at `cursor` into `buffer`; `None` if there is no string,
/// or it is longer than the buffer.
pub(crate) fn unescape<'b>(mut cursor: Cursor<'_>, buffer: &'b mut [u8]) -> Option<&'b str> {
    if !cursor.eat(b'"') {
        return None;
    }
    let mut written = 0_usize;
    while let Ok(Some(piece)) = Piece::read(&mut cursor) {
        let mut utf8 = [0; 4];
        let bytes = match piece {
            Piece::Run(run) => run.as_bytes(),
            Piece::Escaped(character) => character.encode_utf8(&mut utf8).as_bytes(),
        };
        let end = written.checked_add(bytes.len())?;
        buffer.get_mut(written..end)?.copy_from_slice(bytes);
        written = end;
    }
    core::str::from_utf8(buffer.get(..written)?).ok()
}

/// The next part of a string's contents.
enum Piece<'a> {
    /// Characters that stand for themselves.
    Run(&'a str),
    /// A character behind a backslash.
    Escaped(char),
}

impl<'a> Piece<'a> {
    /// Reads the next piece; `None` once the closing quote was taken.
    fn read(cursor: &mut Cursor<'a>) -> Result<Option<Self>, JsonError> {
        let start = *cursor;
        let run = cursor.take_while(|byte| !matches!(byte, b'"' | b'\\' | ..=0x1F));
        if !run.is_empty() {
            // What ends a run is ASCII, so that no character is cut in two.
            return match core::str::from_utf8(run) {
                Ok(run) => Ok(Some(Self::Run(run))),
                Err(error) => {
                    Err(start.error_after(error.valid_up_to(), JsonErrorKind::InvalidUtf8))
                }
            };
        }
        match cursor.next() {
            Some(b'"') => Ok(None),
            Some(b'\\') => escaped(cursor, start).map(|character| Some(Self::Escaped(character))),
            Some(_) => Err(start.error(JsonErrorKind::ControlCharacter)),
            None => Err(start.error(JsonErrorKind::UnterminatedString)),
        }
    }
}

/// Reads what follows the backslash at `start`.
fn escaped(cursor: &mut Cursor<'_>, start: Cursor<'_>) -> Result<char, JsonError> {
    let character = match cursor.peek() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{C}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            cursor.next();
            return unicode(cursor, start);
        }
        _ => return Err(cursor.error(JsonErrorKind::UnknownEscape)),
    };
    cursor.next();
    Ok(character)
}

/// Reads what follows the `\u` at `start`: a UTF-16 code unit, and the one that completes it.
fn unicode(cursor: &mut Cursor<'_>, start: Cursor<'_>) -> Result<char, JsonError> {
    let first = code_unit(cursor)?;
    if let Some(character) = char::from_u32(u32::from(first)) {
        return Ok(character);
    }
    let lone = start.error(JsonErrorKind::LoneSurrogate);
    if !(cursor.eat(b'\\') && cursor.eat(b'u')) {
        return Err(lone);
    }
    let second = code_unit(cursor)?;
    match char::decode_utf16([first, second]).next() {
        Some(Ok(character)) => Ok(character),
        _ => Err(lone),
    }
}

/// Reads the four hexadecimal digits of a UTF-16 code unit.
fn code_unit(cursor: &mut Cursor<'_>) -> Result<u16, JsonError> {
    let mut unit = 0_u16;
    for _ in 0..4 {
        let digit = match cursor.peek() {
            Some(byte @ b'0'..=b'9') => byte.saturating_sub(b'0'),
            Some(byte @ b'a'..=b'f') => byte.saturating_sub(b'a').saturating_add(10),
            Some(byte @ b'A'..=b'F') => byte.saturating_sub(b'A').saturating_add(10),
            _ => return Err(cursor.error(JsonErrorKind::ExpectedHexDigit)),
        };
        cursor.next();
        unit = unit << 4 | u16::from(digit);
    }
    Ok(unit)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use core::fmt::Write as _;
    use std::format;
    use std::string::String;

    use super::{spells, string};
    use crate::cursor::Cursor;

    fn digest(contents: &str) -> u64 {
        let quoted = format!("{contents}\"");
        let mut cursor = Cursor::new(quoted.as_bytes());
        let digest = string(&mut cursor).unwrap_or_else(|error| panic!("{contents}: {error}"));
        assert_eq!(cursor.peek(), None, "{contents} was not read to its end");
        digest.bits()
    }

    /// Each spelling with the characters that it stands for.
    const SPELLINGS: &[(&str, &str)] = &[
        ("", ""),
        (r"\u0041", "A"),
        (r"a\/b", "a/b"),
        (r"\u002F", "/"),
        (r#"\"\\\b\f\n\r\t"#, "\"\\\u{8}\u{C}\n\r\t"),
        (r"\u000a\u0000\u001F", "\n\0\u{1F}"),
        (r"\u00e9\u00C9", "éÉ"),
        (r"\u20ac", "€"),
        (r"x\ud83d\ude02y", "x😂y"),
        (r"\uDBFF\uDFFF", "\u{10FFFF}"),
        (r"\uFFFE\uFFFF", "\u{FFFE}\u{FFFF}"),
    ];

    /// `text` with every character escaped.
    fn escaped(text: &str) -> String {
        text.encode_utf16().fold(String::new(), |mut escaped, unit| {
            write!(escaped, "\\u{unit:04x}").expect("a string takes all that is written");
            escaped
        })
    }

    #[test]
    fn characters_count_and_not_their_spelling() {
        for &(contents, text) in SPELLINGS {
            assert_eq!(digest(contents), digest(&escaped(text)), "{contents}");
            for &(other, characters) in SPELLINGS {
                let equal = text == characters;
                assert_eq!(digest(contents) == digest(other), equal, "{contents} {other}");
            }
        }
        assert_eq!(digest("a€😂"), digest(r"\u0061\u20ac\ud83d\uDE02"));
    }

    #[test]
    fn composed_and_decomposed_characters_differ() {
        assert_ne!(digest("\u{E9}"), digest("e\u{301}"));
    }

    #[test]
    fn a_spelling_matches_its_characters_and_no_others() {
        for &(contents, text) in SPELLINGS {
            let quoted = format!("{contents}\"");
            let start = Cursor::new(quoted.as_bytes());
            assert!(spells(start, text), "{contents}");
            assert!(!spells(start, &format!("{text}x")), "{contents}");
            assert!(!spells(start, &format!("x{text}")), "{contents}");
            if !text.is_empty() {
                assert!(!spells(start, ""), "{contents}");
            }
        }
    }
}
