//! Strings: their spelling checked, their contents as they stand, unescaped, or escaped anew.
//!
//! A string is hashed in the form of RFC 8785. A raw string already has that form unless it
//! contains `\/` or `\u`, so nearly every string is hashed where it stands. Others are rewritten in
//! a buffer, block by block, and get the same digest.

use crate::cursor::{Cursor, Fault};
use crate::error::JsonErrorKind;
use crate::escape::escape;
use crate::scan::{Word, is_ascii};
use crate::utf8::valid_up_to;
use crate::walk::{Visitor, WIDE};

/// The bytes between two escapes below which more are expected to follow soon.
const DENSE: usize = 32;

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
    /// Reads a string, whose opening quote was taken, and gives it to `tell`, if it is ASCII without
    /// escapes and ends within two words, as most names and many values do. Otherwise leaves the
    /// cursor as it is, and returns a number of bytes at it that are plain ASCII.
    #[inline]
    pub(crate) fn read_short(
        cursor: &mut Cursor<'a>,
        mut tell: impl FnMut(Self),
    ) -> Result<(), usize> {
        if !WIDE {
            return Err(0);
        }
        let word = cursor.word().ok_or(0_usize)?;
        if let Some((bytes, length)) = word.text() {
            let raw = cursor.take_quoted(length).ok_or(length)?;
            tell(Self { raw, form: Form::Short(bytes) });
            return Ok(());
        }
        let mut next = *cursor;
        next.advance(8);
        let word = next.word().ok_or(8_usize)?;
        let (_, length) = word.text().ok_or(16_usize)?;
        let raw = cursor.take_quoted(length.wrapping_add(8)).ok_or(8_usize)?;
        tell(Self { raw, form: Form::Plain });
        Ok(())
    }

    /// Reads any string, whose opening quote was taken, and gives it to `tell`. So many bytes at the
    /// cursor are plain ASCII.
    #[inline]
    pub(crate) fn read<V: Visitor<'a>>(
        cursor: &mut Cursor<'a>,
        plain: usize,
        visitor: &mut V,
        tell: impl FnOnce(&mut V, Self),
    ) -> Result<(), Fault> {
        let text;
        (text, *cursor) = match Self::read_canonical(*cursor, plain)? {
            Ok(read) => read,
            Err(respelled) => visitor.respelled(respelled)?,
        };
        tell(visitor, text);
        Ok(())
    }

    /// Reads a string whose contents begin at `start`, with so many bytes of plain ASCII, and returns
    /// what follows it, too. Stops at the first escape that RFC 8785 does not use.
    #[inline(never)]
    fn read_canonical(
        start: Cursor<'a>,
        plain: usize,
    ) -> Result<Result<(Self, Cursor<'a>), Respelled<'a>>, Fault> {
        let mut cursor = start;
        cursor.advance(plain);
        let mut form = Form::Plain;
        let mut seen = 0;
        loop {
            let run = cursor;
            cursor.skip_plain(&mut seen);
            let end = cursor;
            match cursor.next() {
                Some(b'"') => {
                    let text = Self { raw: start.until(&end), form }.if_utf8(start, seen)?;
                    return Ok(Ok((text, cursor)));
                }
                Some(b'\\') if cursor.peek().is_some_and(is_canonical) => {
                    cursor.advance(1);
                    form = Form::Canonical;
                    if WIDE && run.distance(&end) < DENSE {
                        cursor.skip_escapes(&mut seen);
                    }
                }
                Some(b'\\') => return Ok(Err(Respelled { start, place: end, seen })),
                _ => return Err(earliest(start, end, unplain(end))),
            }
        }
    }

    /// Returns the contents if they are UTF-8. They begin at `start`, and all their bits are in `seen`.
    #[inline]
    fn if_utf8(self, start: Cursor<'_>, seen: u64) -> Result<Self, Fault> {
        if is_ascii(seen) { Ok(self) } else { self.in_utf8(start) }
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
    #[cfg(feature = "alloc")]
    pub(crate) fn escaped(&self, mut take: impl FnMut(&[u8])) {
        for piece in self.pieces() {
            match piece {
                Piece::Run(run) => take(run),
                Piece::Escaped(character) => take(escape(character, &mut [0; 6])),
            }
        }
    }

    /// Returns whether the contents are one of `texts`. It compares characters instead of digests, so
    /// that no collision passes for a match.
    pub(crate) fn spells_any(&self, texts: &[&str]) -> bool {
        match self.plain() {
            Some(plain) => texts.iter().any(|text| plain == text.as_bytes()),
            None => texts.iter().any(|text| self.spells(text)),
        }
    }

    /// Returns whether the contents are `text`, piece by piece.
    fn spells(&self, text: &str) -> bool {
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

/// Returns whether the letter behind a backslash makes an escape that RFC 8785 uses, as nearly all do.
#[inline]
pub(crate) const fn is_canonical(letter: u8) -> bool {
    matches!(letter, b'n' | b'"' | b'\\' | b't' | b'r' | b'b' | b'f')
}

/// The error at a byte that no string contains, or at the end of the input.
fn unplain(place: Cursor<'_>) -> Fault {
    place.error(match place.peek() {
        Some(_) => JsonErrorKind::ControlCharacter,
        None => JsonErrorKind::UnterminatedString,
    })
}

/// Takes the RFC 8785 form of a string that is spelled in another way, part by part, as it is read.
pub(crate) trait Sink {
    /// Takes a part of any length.
    fn take(&mut self, part: &[u8]);

    /// Takes what `write` writes to a buffer, and returns the length of.
    fn fill(&mut self, write: impl FnOnce(&mut [u8]) -> usize);
}

/// Drops everything.
impl Sink for () {
    fn take(&mut self, _: &[u8]) {}

    #[inline]
    fn fill(&mut self, write: impl FnOnce(&mut [u8]) -> usize) {
        write(&mut [0; 64]);
    }
}

/// A string that was read up to the first escape that RFC 8785 does not use.
pub(crate) struct Respelled<'a> {
    start: Cursor<'a>,
    /// The place of the backslash.
    place: Cursor<'a>,
    /// The bits of the bytes in front of it.
    seen: u64,
}

impl<'a> Respelled<'a> {
    /// Reads the rest, and gives all contents to `sink`. Returns what follows the string, too.
    #[inline(never)]
    pub(crate) fn read(self, sink: &mut impl Sink) -> Result<(Text<'a>, Cursor<'a>), Fault> {
        let Self { start, place: mut cursor, mut seen } = self;
        // The beginning of what the sink does not have yet.
        let mut run = start;
        loop {
            let end = cursor;
            match cursor.next() {
                Some(b'"') => {
                    sink.take(run.until(&end));
                    let text = Text { raw: start.until(&end), form: Form::Other };
                    return Ok((text.if_utf8(start, seen)?, cursor));
                }
                // Such an escape stays as it is.
                Some(b'\\') if cursor.peek().is_some_and(is_canonical) => cursor.advance(1),
                Some(b'\\') => {
                    sink.take(run.until(&end));
                    let character = unescaped(&mut cursor, end);
                    let character = character.map_err(|error| earliest(start, end, error))?;
                    sink.take(escape(character, &mut [0; 6]));
                    if WIDE {
                        sink.fill(|buffer| cursor.unescape(buffer, &mut seen));
                    }
                    run = cursor;
                }
                _ => return Err(earliest(start, end, unplain(end))),
            }
            cursor.skip_plain(&mut seen);
        }
    }
}

impl Cursor<'_> {
    /// Takes escapes of one code unit each, escapes that RFC 8785 uses, and less than eight bytes
    /// between them, as long as nothing else comes. Writes their RFC 8785 form to `buffer`, as far as
    /// it has room for eight bytes, and returns its length. Adds their bits to `seen`.
    #[inline]
    fn unescape(&mut self, buffer: &mut [u8], seen: &mut u64) -> usize {
        let (mut cursor, mut filled) = (*self, 0_usize);
        while let Some(bytes) = cursor.peek_chunk::<8>()
            && let Some(room) = buffer.get_mut(filled..).and_then(<[u8]>::first_chunk_mut::<8>)
        {
            // What is written behind the length is overwritten by what follows.
            let [first, second, a, b, c, d, _, _] = *bytes;
            let (taken, written) = if [first, second] == *b"\\u" {
                let Some((character, length)) = utf8(hexadecimal([a, b, c, d])) else { break };
                *room = character;
                (6, length)
            } else if first == b'\\' {
                if !is_canonical(second) {
                    break;
                }
                *room = *bytes;
                (2, 2)
            } else {
                let word = Word::new(u64::from_le_bytes(*bytes));
                let length = word.plain();
                if length == 0 || length == 8 {
                    break;
                }
                *room = *bytes;
                *seen |= word.beginning();
                (length, length)
            };
            cursor.advance(taken);
            filled = filled.wrapping_add(written);
        }
        *self = cursor;
        filled
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

/// The UTF-8 bytes of a code unit beyond ASCII that is a character, with any bytes behind them, and
/// their number. The code unit is what [`hexadecimal`] returns.
#[inline]
fn utf8(unit: u32) -> Option<([u8; 8], usize)> {
    let wide = u64::from(unit);
    let last = 0x80 | wide & 0x3F;
    let (bytes, length) = if (0x80..0x800).contains(&unit) {
        (0xC0 | wide >> 6 | last << 8, 2)
    } else if (0x800..0x1_0000).contains(&unit) && unit & 0xF800 != 0xD800 {
        (0xE0 | wide >> 12 | (0x80 | wide >> 6 & 0x3F) << 8 | last << 16, 3)
    } else {
        return None;
    };
    Some((bytes.to_le_bytes(), length))
}

/// Reads the four hexadecimal digits of a UTF-16 code unit.
fn code_unit(cursor: &mut Cursor<'_>) -> Result<u16, Fault> {
    if WIDE
        && let Some(unit) = cursor.peek_chunk().copied().map(hexadecimal)
        && let Ok(unit) = u16::try_from(unit)
    {
        cursor.advance(4);
        return Ok(unit);
    }
    let mut unit = 0_u16;
    for _ in 0..4 {
        let digit = cursor.peek().and_then(hexadecimal_digit);
        let digit = digit.ok_or(cursor.error(JsonErrorKind::ExpectedHexDigit))?;
        cursor.advance(1);
        unit = unit << 4 | u16::from(digit);
    }
    Ok(unit)
}

/// The value of four hexadecimal digits. It is beyond 16 bits if one of them is not.
#[inline]
fn hexadecimal(digits: [u8; 4]) -> u32 {
    /// The value of each byte, which is negative if the byte is no digit.
    static VALUES: [i8; 256] = {
        let mut values = [-1; 256];
        let mut rest: &mut [i8] = &mut values;
        let mut byte = 0;
        while let [value, others @ ..] = rest {
            if let Some(digit) = hexadecimal_digit(byte) {
                *value = digit.cast_signed();
            }
            byte = byte.wrapping_add(1);
            rest = others;
        }
        values
    };
    let value = |byte: u8| VALUES.get(usize::from(byte)).map_or(-1, |value| i32::from(*value));
    let [first, second, third, fourth] = digits;
    let value = value(first) << 12 | value(second) << 8 | value(third) << 4 | value(fourth);
    value.cast_unsigned()
}

/// The value of a hexadecimal digit.
const fn hexadecimal_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(byte.wrapping_sub(b'a').wrapping_add(10)),
        b'A'..=b'F' => Some(byte.wrapping_sub(b'A').wrapping_add(10)),
        _ => None,
    }
}
