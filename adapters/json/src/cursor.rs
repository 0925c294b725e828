//! A position in the input: what every reader of bytes moves forward.

use crate::error::{JsonError, JsonErrorKind};

/// A position in the input, from which on the rest is to be read. Copy it to remember a place; the
/// readers advance it in place.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

/// An error by the distance of its place from the end of the input, which is all that a cursor
/// knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    kind: JsonErrorKind,
    /// The bytes from the wrong byte on.
    left: usize,
}

impl Fault {
    /// The error in an input of `length` bytes.
    pub(crate) const fn within(self, length: usize) -> JsonError {
        JsonError { kind: self.kind, offset: length.saturating_sub(self.left) }
    }
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(input: &'a [u8]) -> Self {
        Self { rest: input }
    }

    /// The byte at the cursor; `None` at the end.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Takes the byte at the cursor; `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    /// Takes the next byte if it is `byte`, and tells whether it was.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        match self.rest.split_first() {
            Some((&first, rest)) if first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Returns the next `N` bytes, or `None` if there are fewer.
    #[inline]
    pub(crate) fn peek_chunk<const N: usize>(&self) -> Option<&'a [u8; N]> {
        self.rest.first_chunk()
    }

    /// Takes `bytes` bytes, or all that are left.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Takes so many bytes and the one behind them, if that is a quote. Returns the bytes.
    #[inline]
    pub(crate) fn take_quoted(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (text, [b'"', rest @ ..]) = self.rest.split_at_checked(bytes)? else { return None };
        self.rest = rest;
        Some(text)
    }

    /// Takes the next bytes if they are `word`, and tells whether they were.
    #[inline]
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word.as_bytes()) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes the next digit. Returns `None` if the next byte is not a digit.
    #[inline]
    pub(crate) fn digit(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        self.rest = rest;
        Some(digit)
    }

    /// Skips the four characters that RFC 8259 holds for white space.
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) fn skip_space(&mut self) {
        while let Some((b' ' | b'\n' | b'\r' | b'\t', rest)) = self.rest.split_first() {
            self.rest = rest;
        }
    }

    /// Skips white space, takes the byte behind it if it is `byte`, and tells whether it was.
    #[inline]
    pub(crate) fn eat_behind_space(&mut self, byte: u8) -> bool {
        // Most documents have none in front of a comma or a colon.
        self.eat(byte) || {
            self.skip_space();
            self.eat(byte)
        }
    }

    /// Returns the number of bytes between the cursor and `later`, a later state of the same cursor.
    #[inline]
    pub(crate) const fn distance(&self, later: &Self) -> usize {
        self.rest.len().wrapping_sub(later.rest.len())
    }

    /// The bytes from the cursor to `end`, which is the same cursor further on.
    #[inline]
    pub(crate) fn until(&self, end: &Self) -> &'a [u8] {
        self.rest.get(..self.distance(end)).unwrap_or(self.rest)
    }

    /// The error `kind` at the cursor.
    pub(crate) const fn error(&self, kind: JsonErrorKind) -> Fault {
        self.error_after(0, kind)
    }

    /// The error `kind`, `bytes` after the cursor.
    pub(crate) const fn error_after(&self, bytes: usize, kind: JsonErrorKind) -> Fault {
        Fault { kind, left: self.rest.len().saturating_sub(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;
    use crate::error::JsonErrorKind::ExpectedValue;

    #[test]
    fn the_offset_follows_what_was_taken() {
        let mut cursor = Cursor::new(b" \t\r\n12x");
        cursor.skip_space();
        assert_eq!(cursor.error(ExpectedValue).within(7).offset, 4);
        assert_eq!((cursor.digit(), cursor.digit(), cursor.digit()), (Some(1), Some(2), None));
        assert!(!cursor.eat(b'y'));
        assert_eq!(cursor.error(ExpectedValue).within(7).offset, 6);
        assert!(cursor.eat(b'x'));
        assert_eq!((cursor.peek(), cursor.next(), cursor.digit()), (None, None, None));
        assert_eq!(cursor.error(ExpectedValue).within(7).offset, 7);
    }

    #[test]
    fn a_copy_stays_where_it_was() {
        let mut cursor = Cursor::new(b"abc");
        let before = cursor;
        cursor.advance(2);
        assert_eq!((before.peek(), cursor.peek()), (Some(b'a'), Some(b'c')));
        assert_eq!(before.error_after(2, ExpectedValue), cursor.error(ExpectedValue));
        assert_eq!(before.until(&cursor), b"ab");
        assert_eq!((before.peek_chunk(), cursor.peek_chunk::<2>()), (Some(b"abc"), None));
        cursor.advance(9);
        assert_eq!(before.distance(&cursor), 3);
    }
}
