//! A position in the input: what every reader of bytes moves forward.

use crate::error::{JsonError, JsonErrorKind};

/// A position in the input. Copy it to remember a place; the readers advance it in place.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    /// The length of the whole input, from which the offset follows.
    length: usize,
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(input: &'a [u8]) -> Self {
        Self { length: input.len(), rest: input }
    }

    /// The byte at the cursor; `None` at the end.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Takes the byte at the cursor; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    /// Takes the next byte if it is `byte`, and tells whether it was.
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.next();
        }
        found
    }

    /// Takes the longest run of bytes that `accepts` holds for. O(length of the run).
    pub(crate) fn take_while(&mut self, accepts: impl Fn(u8) -> bool) -> &'a [u8] {
        let (run, rest) = self
            .rest
            .iter()
            .position(|&byte| !accepts(byte))
            .and_then(|end| self.rest.split_at_checked(end))
            .unwrap_or((self.rest, &[]));
        self.rest = rest;
        run
    }

    /// Skips the four characters that RFC 8259 holds for white space.
    pub(crate) fn skip_space(&mut self) {
        self.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// The error `kind` at the cursor.
    pub(crate) const fn error(&self, kind: JsonErrorKind) -> JsonError {
        self.error_after(0, kind)
    }

    /// The error `kind`, `bytes` after the cursor.
    pub(crate) const fn error_after(&self, bytes: usize, kind: JsonErrorKind) -> JsonError {
        let at = self.length.saturating_sub(self.rest.len());
        JsonError { kind, offset: at.saturating_add(bytes) }
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
        assert_eq!(cursor.error(ExpectedValue).offset, 4);
        assert_eq!(cursor.take_while(|byte| byte.is_ascii_digit()), b"12");
        assert!(!cursor.eat(b'y'));
        assert_eq!(cursor.error(ExpectedValue).offset, 6);
        assert!(cursor.eat(b'x'));
        assert_eq!((cursor.peek(), cursor.next()), (None, None));
        assert_eq!(cursor.take_while(|_| true), b"");
        assert_eq!(cursor.error(ExpectedValue).offset, 7);
    }

    #[test]
    fn a_copy_stays_where_it_was() {
        let mut cursor = Cursor::new(b"ab");
        let before = cursor;
        cursor.next();
        assert_eq!((before.peek(), cursor.peek()), (Some(b'a'), Some(b'b')));
        assert_eq!(before.error_after(1, ExpectedValue), cursor.error(ExpectedValue));
    }
}
