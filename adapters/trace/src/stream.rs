//! A pull parser for a JSON text of any length, with only a piece of it in memory.
//!
//! The text comes from outside, so all of it is checked by the grammar, in the words of `serde_json`. That one
//! reads from a text in pieces as well, one byte at a time, and has no bound for a value that stays in memory.

use std::borrow::Cow;
use std::io::{BufRead, ErrorKind};

use memchr::{memchr_iter, memrchr};

use crate::field::text_of_json;
use crate::problem::{LINE_BYTES_MAX, Problem, ProblemKind};
use crate::pull::{ONES, below, equal};

/// The number of bytes that are taken from the input at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A JSON text, and the place up to which it was read.
///
/// Strings are checked to be UTF-8 only if they are returned.
pub(crate) struct Stream<'i> {
    input: &'i mut dyn BufRead,
    /// The piece of the text that is in memory.
    bytes: Vec<u8>,
    /// The next byte, as an index into `bytes`.
    at: usize,
    /// The beginning of the value that has to stay in memory, as an index into `bytes`.
    kept: Option<usize>,
    /// The brackets that close the open arrays and objects, the innermost last.
    open: Vec<u8>,
    /// The line of the byte at `counted`, from 1.
    line: u64,
    counted: usize,
    /// The number of bytes of the first line in memory that are not in memory any more.
    column: usize,
}

impl<'i> Stream<'i> {
    /// Begins to read an input.
    pub(crate) fn of(input: &'i mut dyn BufRead) -> Self {
        let (bytes, open) = (Vec::new(), Vec::new());
        Self { input, bytes, at: 0, kept: None, open, line: 1, counted: 0, column: 0 }
    }

    /// Passes a key and its colon, and returns the key.
    pub(crate) fn key(&mut self) -> Result<String, Problem> {
        self.kept = Some(self.at);
        self.quoted_key()?;
        let key = text_of_json(self.take_kept()?);
        let key = key.map(Cow::into_owned).unwrap_or_default();
        self.colon()?;
        Ok(key)
    }

    /// Passes a value, and returns it with the line on which it ends.
    pub(crate) fn value(&mut self) -> Result<(&str, u64), Problem> {
        self.peek()?;
        self.kept = Some(self.at);
        self.skip()?;
        self.count_lines(self.at);
        let line = self.line;
        Ok((self.take_kept()?, line))
    }

    /// Returns the next byte that is not white space, without passing it, or `None` at the end.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, Problem> {
        loop {
            while let Some(&byte) = self.bytes.get(self.at) {
                if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                    return Ok(Some(byte));
                }
                self.at += 1;
            }
            if !self.read_on()? {
                return Ok(None);
            }
        }
    }

    /// Passes a byte that [`Stream::peek`] returned.
    pub(crate) const fn pass(&mut self) {
        self.at += 1;
    }

    /// Goes on to the next element or key of an array or object that `close` ends. Returns `false`
    /// behind its end. `is_first` says that the opening bracket was just passed.
    pub(crate) fn more(&mut self, close: u8, is_first: bool) -> Result<bool, Problem> {
        match self.peek()? {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if is_first => Ok(true),
            Some(b',') => {
                self.at += 1;
                match self.peek()? {
                    Some(byte) if byte == close => Err(self.broken("trailing comma")),
                    Some(_) => Ok(true),
                    None => Err(self.broken("EOF while parsing a value")),
                }
            }
            Some(_) if close == b']' => Err(self.broken("expected `,` or `]`")),
            Some(_) => Err(self.broken("expected `,` or `}`")),
            None if close == b']' => Err(self.broken("EOF while parsing a list")),
            None => Err(self.broken("EOF while parsing an object")),
        }
    }

    /// Passes a value of any length.
    pub(crate) fn skip(&mut self) -> Result<(), Problem> {
        loop {
            let mut is_first = false;
            match self.peek()? {
                Some(b'"') => self.string()?,
                Some(b'{') => {
                    self.at += 1;
                    self.open.push(b'}');
                    is_first = true;
                }
                Some(b'[') => {
                    self.at += 1;
                    self.open.push(b']');
                    is_first = true;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                Some(_) => return Err(self.broken("expected value")),
                None => return Err(self.broken("EOF while parsing a value")),
            }
            loop {
                let Some(&close) = self.open.last() else { return Ok(()) };
                if self.more(close, is_first)? {
                    if close == b'}' {
                        self.quoted_key()?;
                        self.colon()?;
                    }
                    break;
                }
                self.open.pop();
                is_first = false;
            }
        }
    }

    /// Passes a key, without its colon.
    pub(crate) fn quoted_key(&mut self) -> Result<(), Problem> {
        match self.peek()? {
            Some(b'"') => self.string(),
            Some(_) => Err(self.broken("key must be a string")),
            None => Err(self.broken("EOF while parsing an object")),
        }
    }

    /// Passes a colon.
    pub(crate) fn colon(&mut self) -> Result<(), Problem> {
        match self.peek()? {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.broken("expected `:`")),
            None => Err(self.broken("EOF while parsing an object")),
        }
    }

    fn string(&mut self) -> Result<(), Problem> {
        self.at += 1;
        loop {
            // Escapes stand close together, so the usual ones are passed without touching `self`.
            let bytes = &self.bytes;
            let mut rest = bytes.get(self.at..).unwrap_or_default();
            let special = loop {
                rest = from_special(rest);
                match rest {
                    [b'\\', b'"' | b'\\' | b'n' | b't', behind @ ..] => rest = behind,
                    _ => break rest.first().copied(),
                }
            };
            self.at = bytes.len() - rest.len();
            match special {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => {
                    let what = "control character (\\u0000-\\u001F) found while parsing a string";
                    return Err(self.broken(what));
                }
                None if self.read_on()? => {}
                None => return Err(self.broken(EOF_STRING)),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Problem> {
        self.at += 1;
        let digits = match self.byte()? {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            Some(b'u') => 4,
            Some(_) => return Err(self.broken("invalid escape")),
            None => return Err(self.broken(EOF_STRING)),
        };
        self.at += 1;
        for _ in 0..digits {
            match self.byte()? {
                Some(byte) if byte.is_ascii_hexdigit() => self.at += 1,
                Some(_) => return Err(self.broken("invalid escape")),
                None => return Err(self.broken(EOF_STRING)),
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Problem> {
        if self.byte()? == Some(b'-') {
            self.at += 1;
        }
        if self.byte()? == Some(b'0') {
            self.at += 1;
            if let Some(b'0'..=b'9') = self.byte()? {
                return Err(self.broken("invalid number"));
            }
        } else {
            self.digits()?;
        }
        if self.byte()? == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte()? {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte()? {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Passes the digits of a number, at least one.
    fn digits(&mut self) -> Result<(), Problem> {
        match self.byte()? {
            Some(b'0'..=b'9') => {}
            Some(_) => return Err(self.broken("invalid number")),
            None => return Err(self.broken("EOF while parsing a value")),
        }
        while let Some(b'0'..=b'9') = self.byte()? {
            self.at += 1;
        }
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Problem> {
        for expected in word {
            match self.byte()? {
                Some(byte) if byte == *expected => self.at += 1,
                Some(_) => return Err(self.broken("expected ident")),
                None => return Err(self.broken("EOF while parsing a value")),
            }
        }
        Ok(())
    }

    /// Returns the next byte without passing it, or `None` at the end.
    fn byte(&mut self) -> Result<Option<u8>, Problem> {
        if self.at == self.bytes.len() && !self.read_on()? {
            return Ok(None);
        }
        Ok(self.bytes.get(self.at).copied())
    }

    /// Returns the problem that the value before this place is of the wrong type.
    pub(crate) fn unexpected(&self, what: &str) -> Problem {
        self.broken_at(self.at.saturating_sub(1), what)
    }

    /// Returns the problem that something else follows.
    pub(crate) fn trailing(&self) -> Problem {
        self.broken("trailing characters")
    }

    /// Returns the problem that the text is broken at this byte, or behind the last one.
    #[cold]
    fn broken(&self, what: &str) -> Problem {
        self.broken_at(self.at, what)
    }

    fn broken_at(&self, at: usize, what: &str) -> Problem {
        // The end of the text has the column of the last byte.
        let column = self.columns_before(at) + usize::from(at < self.bytes.len());
        ProblemKind::Broken { message: format!("{what} at column {column}") }.at(self.line(at))
    }

    /// Reads on behind the last byte, and returns `false` at the end. Bytes that were passed are dropped.
    #[cold]
    fn read_on(&mut self) -> Result<bool, Problem> {
        let from = self.kept.unwrap_or(self.at);
        self.kept = self.kept.map(|_| 0);
        self.forget(from);
        self.at -= from;
        let room = LINE_BYTES_MAX - self.bytes.len();
        if room == 0 {
            return Err(ProblemKind::TooLong.at(self.line(self.at)));
        }
        loop {
            match self.input.fill_buf() {
                Ok(ready) => {
                    let count = ready.len().min(CHUNK_BYTES).min(room);
                    self.bytes.extend_from_slice(&ready[..count]);
                    self.input.consume(count);
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(ProblemKind::io(&error).at(self.line(self.at))),
            }
        }
    }

    /// Returns the kept text up to this place. It no longer has to stay in memory.
    fn take_kept(&mut self) -> Result<&str, Problem> {
        let from = self.kept.take().unwrap_or(self.at);
        str::from_utf8(&self.bytes[from..self.at]).map_err(|error| {
            self.broken_at(from + error.valid_up_to(), "invalid unicode code point")
        })
    }

    /// Drops the first `count` bytes.
    fn forget(&mut self, count: usize) {
        self.count_lines(count.max(self.counted));
        self.column = self.columns_before(count);
        self.bytes.drain(..count);
        self.counted -= count;
    }

    fn count_lines(&mut self, to: usize) {
        self.line = self.line(to);
        self.counted = to;
    }

    /// Returns the line of a byte in memory, from 1.
    fn line(&self, at: usize) -> u64 {
        let lines = |from, to| memchr_iter(b'\n', &self.bytes[from..to]).count() as u64;
        if at < self.counted {
            self.line - lines(at, self.counted)
        } else {
            self.line + lines(self.counted, at)
        }
    }

    /// Returns the number of bytes before the byte `at` in its line.
    fn columns_before(&self, at: usize) -> usize {
        match memrchr(b'\n', &self.bytes[..at]) {
            Some(newline) => at - newline - 1,
            None => self.column + at,
        }
    }
}

const EOF_STRING: &str = "EOF while parsing a string";

/// Returns the bytes from the first quote, backslash or control character on.
fn from_special(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while let Some((word, behind)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        // With its second bit flipped, a quote is the byte behind the control characters, which stay below.
        let marks = below(word ^ (ONES * 2), 0x21) | equal(word, b'\\');
        if marks != 0 {
            return rest.get(marks.trailing_zeros() as usize / 8..).unwrap_or_default();
        }
        rest = behind;
    }
    while let [b' ' | b'!' | b'#'..=b'[' | b']'.., behind @ ..] = rest {
        rest = behind;
    }
    rest
}

#[cfg(test)]
pub(crate) mod samples {
    //! JSON that is whole or nearly so.

    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    /// Returns JSON in which up to two places were changed.
    pub(crate) fn damaged_json() -> impl Strategy<Value = Vec<u8>> {
        let put = ["", "\"", "\\", "]", "}", ",", "0", "\u{1}", "{", "[", "e", "\n", "u"];
        let cut = (any::<Index>(), 0..3_usize, select(put.to_vec()));
        (json(), vec(cut, 0..3)).prop_map(|(json, cuts)| {
            let mut bytes = json.into_bytes();
            for (at, removed, put) in cuts {
                let at = at.index(bytes.len() + 1);
                let end = (at + removed).min(bytes.len());
                bytes.splice(at..end, put.bytes());
            }
            bytes
        })
    }

    fn json() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just("false".to_owned()),
            "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,2})?([eE][+-]?[0-9]{1,2})?",
            r#""([ -!#-\[\]-~üß漢]|\\["\\/bfnrt]|\\u00[0-9a-fA-F]{2}){0,20}""#,
        ];
        let name = prop_oneof![
            Just("messages"),
            Just("history"),
            Just("sessionId"),
            Just("mess\\u0061ges"),
            Just("x")
        ];
        let space = prop_oneof![3 => Just(""), 1 => Just("\n"), 1 => Just(" \r\n\t")];
        scalar.prop_recursive(4, 40, 5, move |inner| {
            let element = (space.clone(), inner.clone(), space.clone());
            let list = vec(element, 0..5).prop_map(|list| {
                let list = list.into_iter().map(|(a, value, b)| format!("{a}{value}{b}"));
                format!("[{}]", list.collect::<Vec<_>>().join(","))
            });
            let member = (name.clone(), space.clone(), inner);
            let object = vec(member, 0..5).prop_map(|members| {
                let members =
                    members.into_iter().map(|(k, s, v)| format!("{s}\"{k}\"{s}:{s}{v}{s}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            });
            prop_oneof![list, object]
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    proptest! {
        #[test]
        fn the_first_special_byte_is_found(bytes in vec(
            prop_oneof![9 => any::<u8>(), 1 => select(b"\"\\\x1f\x20".to_vec())],
            0..40,
        )) {
            let special = bytes.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
            prop_assert_eq!(from_special(&bytes), &bytes[special.unwrap_or(bytes.len())..]);
        }
    }
}
