//! Strings: their spelling checked, their contents as they stand, unescaped, or escaped anew.

use crate::cursor::{Cursor, Fault};
use crate::error::JsonErrorKind;
use crate::escape::escape;
use crate::scan::{Word, is_ascii};
use crate::utf8::valid_up_to;
use crate::walk::WIDE;

/// The contents of a string, between its quotes: valid in spelling and in UTF-8.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    raw: &'a [u8],
    form: Form,
}

/// The spelling of a string's contents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// Less than eight bytes of ASCII, which are these, the first in the lowest place.
    Short(u64),
    /// Without a backslash: each character stands for itself.
    Plain,
    /// With escapes, each as RFC 8785 has it.
    Canonical,
    /// With an escape that RFC 8785 does not use, or may not.
    Other,
}

/// A part of a string's contents.
pub(crate) enum Piece<'a> {
    /// Characters that stand for themselves.
    Run(&'a [u8]),
    /// A character behind a backslash.
    Escaped(char),
}

impl<'a> Text<'a> {
    /// Reads a string, whose opening quote was taken, to its closing quote, and gives it to `tell`.
    #[inline]
    pub(crate) fn read(cursor: &mut Cursor<'a>, tell: impl FnOnce(Self)) -> Result<(), Fault> {
        // Most names and many values are ASCII without escapes, and end within two words.
        let start = *cursor;
        if WIDE && let Some(word) = start.word() {
            if let Some((bytes, length)) = word.text() {
                let raw = cursor.take_quoted(length);
                tell(Self { raw, form: Form::Short(bytes) });
                return Ok(());
            }
            let mut next = start;
            next.advance(8);
            if word.is_plain_ascii()
                && let Some((_, length)) = next.word().and_then(Word::text)
            {
                let raw = cursor.take_quoted(length.wrapping_add(8));
                tell(Self { raw, form: Form::Plain });
                return Ok(());
            }
        }
        let text;
        (text, *cursor) = Self::read_any(start)?;
        tell(text);
        Ok(())
    }

    /// Reads any string, whose contents begin at `start`; returns what follows it, too.
    #[inline(never)]
    fn read_any(start: Cursor<'a>) -> Result<(Self, Cursor<'a>), Fault> {
        let mut cursor = start;
        let mut form = Form::Plain;
        let mut seen = 0;
        loop {
            cursor.skip_plain(&mut seen);
            let end = cursor;
            match cursor.next() {
                Some(b'"') => {
                    let text = Self { raw: start.until(&end), form };
                    let text = if is_ascii(seen) { text } else { text.in_utf8(start)? };
                    return Ok((text, cursor));
                }
                Some(b'\\') => {
                    // Nearly all escapes are of one letter, and as RFC 8785 has them.
                    if let Some(b'n' | b'"' | b'\\' | b't' | b'r' | b'b' | b'f') = cursor.peek() {
                        cursor.advance(1);
                        form = form.max(Form::Canonical);
                    } else {
                        unescaped(&mut cursor, end).map_err(|error| earliest(start, end, error))?;
                        form = Form::Other;
                    }
                }
                Some(_) => {
                    return Err(earliest(start, end, end.error(JsonErrorKind::ControlCharacter)));
                }
                None => {
                    return Err(earliest(start, end, end.error(JsonErrorKind::UnterminatedString)));
                }
            }
        }
    }

    /// Returns the contents if they are UTF-8. They begin at `start`.
    fn in_utf8(self, start: Cursor<'_>) -> Result<Self, Fault> {
        let valid = valid_up_to(self.raw);
        if valid < self.raw.len() {
            return Err(start.error_after(valid, JsonErrorKind::InvalidUtf8));
        }
        Ok(self)
    }

    /// The contents as they stand if that is their RFC 8785 form.
    #[inline]
    pub(crate) fn canonical(&self) -> Option<&'a [u8]> {
        (self.form != Form::Other).then_some(self.raw)
    }

    /// The contents in a word, and their length, if that is known to be less than eight.
    #[inline]
    pub(crate) const fn short(&self) -> Option<(u64, usize)> {
        match self.form {
            Form::Short(bytes) => Some((bytes, self.raw.len())),
            _ => None,
        }
    }

    /// The contents as they stand if they hold no escape.
    pub(crate) fn plain(&self) -> Option<&'a [u8]> {
        matches!(self.form, Form::Short(_) | Form::Plain).then_some(self.raw)
    }

    /// The contents, character for character.
    pub(crate) fn pieces(&self) -> Pieces<'a> {
        Pieces(Cursor::new(self.raw))
    }

    /// Gives the contents in their RFC 8785 form, part by part, to `take`.
    pub(crate) fn escaped(&self, mut take: impl FnMut(&[u8])) {
        for piece in self.pieces() {
            match piece {
                Piece::Run(run) => take(run),
                Piece::Escaped(character) => take(escape(character, &mut [0; 6])),
            }
        }
    }

    /// Returns whether the contents are `text`. It compares characters instead of digests, so that
    /// no collision passes for a match.
    pub(crate) fn spells(&self, text: &str) -> bool {
        if let Some(plain) = self.plain() {
            return plain == text.as_bytes();
        }
        let mut unmatched = text.as_bytes();
        for piece in self.pieces() {
            let after = match piece {
                Piece::Run(run) => unmatched.strip_prefix(run),
                Piece::Escaped(character) => {
                    unmatched.strip_prefix(character.encode_utf8(&mut [0; 4]).as_bytes())
                }
            };
            let Some(after) = after else {
                return false;
            };
            unmatched = after;
        }
        unmatched.is_empty()
    }
}

/// The pieces of a string's contents, which were checked before.
pub(crate) struct Pieces<'a>(Cursor<'a>);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let start = self.0;
        self.0.skip_plain(&mut 0);
        let end = self.0;
        if start.distance(&end) > 0 {
            return Some(Piece::Run(start.until(&end)));
        }
        self.0.next()?;
        unescaped(&mut self.0, end).ok().map(Piece::Escaped)
    }
}

/// Returns the first of two errors: a broken character between `start` and `end`, or `error`.
#[cold]
fn earliest(start: Cursor<'_>, end: Cursor<'_>, error: Fault) -> Fault {
    let text = Text { raw: start.until(&end), form: Form::Plain };
    text.in_utf8(start).err().unwrap_or(error)
}

/// Reads what follows the backslash at `start`.
pub(crate) fn unescaped(cursor: &mut Cursor<'_>, start: Cursor<'_>) -> Result<char, Fault> {
    /// The letters and signs that may follow, except `u`, and the characters they stand for.
    const ESCAPES: [(u8, char); 8] = [
        (b'"', '"'),
        (b'\\', '\\'),
        (b'/', '/'),
        (b'b', '\u{8}'),
        (b'f', '\u{C}'),
        (b'n', '\n'),
        (b'r', '\r'),
        (b't', '\t'),
    ];
    let place = *cursor;
    let letter = cursor.next();
    if letter == Some(b'u') {
        return unicode(cursor, start);
    }
    let known = ESCAPES.iter().find(|(known, _)| Some(*known) == letter);
    known.map(|(_, character)| *character).ok_or(place.error(JsonErrorKind::UnknownEscape))
}

/// Reads what follows the `\u` at `start`: a UTF-16 code unit, and the one that completes it.
fn unicode(cursor: &mut Cursor<'_>, start: Cursor<'_>) -> Result<char, Fault> {
    let first = code_unit(cursor)?;
    if let Some(character) = char::from_u32(u32::from(first)) {
        return Ok(character);
    }
    let lone = start.error(JsonErrorKind::LoneSurrogate);
    if first >= 0xDC00 || !(cursor.eat(b'\\') && cursor.eat(b'u')) {
        return Err(lone);
    }
    let second = code_unit(cursor)?;
    if !(0xDC00..0xE000).contains(&second) {
        return Err(lone);
    }
    let (high, low) = (u32::from(first & 0x3FF), u32::from(second & 0x3FF));
    char::from_u32((high << 10 | low).wrapping_add(0x1_0000)).ok_or(lone)
}

/// Reads the four hexadecimal digits of a UTF-16 code unit.
fn code_unit(cursor: &mut Cursor<'_>) -> Result<u16, Fault> {
    let mut unit = 0_u16;
    for _ in 0..4 {
        let digit = match cursor.peek() {
            Some(byte @ b'0'..=b'9') => byte.wrapping_sub(b'0'),
            Some(byte @ b'a'..=b'f') => byte.wrapping_sub(b'a').wrapping_add(10),
            Some(byte @ b'A'..=b'F') => byte.wrapping_sub(b'A').wrapping_add(10),
            _ => return Err(cursor.error(JsonErrorKind::ExpectedHexDigit)),
        };
        cursor.advance(1);
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
    use std::vec::Vec;

    use super::{Piece, Text};
    use crate::cursor::Cursor;

    /// Gives the string with these contents, as they are spelled, to `look`.
    fn with_text<T>(contents: &str, look: impl FnOnce(Text<'_>) -> T) -> T {
        let quoted = format!("{contents}\"");
        let mut cursor = Cursor::new(quoted.as_bytes());
        let mut seen = None;
        let read = Text::read(&mut cursor, |text| seen = Some(look(text)));
        assert!(read.is_ok(), "{contents} was refused");
        assert_eq!(cursor.peek(), None, "{contents} was not read to its end");
        seen.expect("what was read is told")
    }

    fn unescaped(contents: &str) -> String {
        let piece = |piece: Piece<'_>| match piece {
            Piece::Run(run) => String::from_utf8(run.to_vec()).unwrap(),
            Piece::Escaped(character) => character.into(),
        };
        with_text(contents, |text| text.pieces().map(piece).collect())
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
        ("1234567", "1234567"),
        ("12345678", "12345678"),
        ("123456789012345", "123456789012345"),
        ("1234567890123456", "1234567890123456"),
        ("é234567890é", "é234567890é"),
    ];

    /// `text` with every character escaped.
    fn escaped(text: &str) -> String {
        text.encode_utf16().fold(String::new(), |mut escaped, unit| {
            write!(escaped, "\\u{unit:04x}").expect("a string takes all that is written");
            escaped
        })
    }

    #[test]
    fn a_spelling_stands_for_its_characters() {
        for &(contents, text) in SPELLINGS {
            assert_eq!(unescaped(contents), text);
            assert_eq!(unescaped(&escaped(text)), text);
        }
        assert_eq!(unescaped(r"\u0061\u20ac\ud83d\uDE02"), "a€😂");
    }

    #[test]
    fn a_spelling_matches_its_characters_and_no_others() {
        for &(contents, text) in SPELLINGS {
            with_text(contents, |spelled| {
                assert!(spelled.spells(text), "{contents}");
                assert!(!spelled.spells(&format!("{text}x")), "{contents}");
                assert!(!spelled.spells(&format!("x{text}")), "{contents}");
                assert_eq!(spelled.spells(""), text.is_empty(), "{contents}");
            });
        }
    }

    #[test]
    fn the_rfc_8785_form_is_that_of_serde_json() {
        for &(contents, text) in SPELLINGS {
            with_text(contents, |spelled| {
                let mut form = Vec::new();
                spelled.escaped(|piece| form.extend_from_slice(piece));
                let expected = serde_json::to_string(text).unwrap();
                assert_eq!(format!("\"{}\"", String::from_utf8(form).unwrap()), expected);
                // Contents that are taken unchanged must be in this form already.
                let as_it_stands = spelled.canonical().map(|raw| String::from_utf8_lossy(raw));
                if let Some(raw) = as_it_stands {
                    assert_eq!(format!("\"{raw}\""), expected, "{contents}");
                }
                if let Some((word, length)) = spelled.short() {
                    assert_eq!(&word.to_le_bytes()[..length], text.as_bytes());
                    assert_eq!(word >> (8 * length), 0);
                }
            });
        }
    }
}
