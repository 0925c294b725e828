//! Scans a JSON text of any length, with only a piece of it in memory.

use std::io::{BufRead, ErrorKind};

use memchr::{memchr_iter, memrchr};

use crate::LINE_BYTES_MAX;
use crate::field::text_of_json;
use crate::problem::{Problem, ProblemKind};

/// The number of bytes that are taken from the input at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A JSON text, and the place up to which it was read.
///
/// The text is checked by the grammar of JSON while the ends of its values are looked for. Strings are
/// checked to be UTF-8 only if they are returned. The errors have the words of `serde_json`, which
/// reads the values that are returned.
pub(crate) struct Stream<'i> {
    input: &'i mut dyn BufRead,
    /// The bytes in memory.
    bytes: Vec<u8>,
    /// The next byte, as an index into `bytes`.
    at: usize,
    /// The beginning of the value that has to stay in memory, as an index into `bytes`.
    kept: Option<usize>,
    /// The line of the byte at `counted`, from 1.
    line: u64,
    counted: usize,
    /// The number of bytes of the first line in memory that are not in memory any more.
    column: usize,
    /// The brackets that close the open arrays and objects, the innermost last.
    open: Vec<u8>,
}

impl<'i> Stream<'i> {
    pub(crate) fn new(input: &'i mut dyn BufRead) -> Self {
        let (bytes, open) = (Vec::new(), Vec::new());
        Self { input, bytes, at: 0, kept: None, line: 1, counted: 0, column: 0, open }
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
            if !self.fill()? {
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

    /// Passes a key and its colon, and returns the key.
    pub(crate) fn key(&mut self) -> Result<String, Problem> {
        self.kept = Some(self.at);
        self.quoted_key()?;
        let key = self.take_kept(self.at)?;
        let key = text_of_json(key).map(|key| key.into_owned()).unwrap_or_default();
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
        Ok((self.take_kept(self.at)?, line))
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

    /// Returns the problem that the text is broken at the next byte, or behind the last one.
    pub(crate) fn broken(&self, what: &str) -> Problem {
        self.broken_at(self.at, what)
    }

    /// Returns the problem that the value before this place is of the wrong type.
    pub(crate) fn unexpected(&self, what: &str) -> Problem {
        self.broken_at(self.at.saturating_sub(1), what)
    }

    fn broken_at(&self, at: usize, what: &str) -> Problem {
        let (line, column) = self.place(at);
        ProblemKind::Broken { message: format!("{what} at column {column}") }.at(line)
    }

    fn quoted_key(&mut self) -> Result<(), Problem> {
        match self.peek()? {
            Some(b'"') => self.string(),
            Some(_) => Err(self.broken("key must be a string")),
            None => Err(self.broken("EOF while parsing an object")),
        }
    }

    fn colon(&mut self) -> Result<(), Problem> {
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
            self.at += plain_bytes(&self.bytes[self.at..]);
            match self.bytes.get(self.at).copied() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => {
                    let what = "control character (\\u0000-\\u001F) found while parsing a string";
                    return Err(self.broken(what));
                }
                None if self.fill()? => {}
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
        if self.at == self.bytes.len() && !self.fill()? {
            return Ok(None);
        }
        Ok(self.bytes.get(self.at).copied())
    }

    /// Returns the kept text up to `end`, which no longer has to stay in memory.
    fn take_kept(&mut self, end: usize) -> Result<&str, Problem> {
        let from = self.kept.take().unwrap_or(end);
        str::from_utf8(&self.bytes[from..end]).map_err(|error| {
            self.broken_at(from + error.valid_up_to(), "invalid unicode code point")
        })
    }

    /// Reads on, and forgets the bytes that are no longer needed. Returns `false` at the end.
    #[cold]
    fn fill(&mut self) -> Result<bool, Problem> {
        let from = self.kept.map_or(self.at, |kept| {
            self.kept = Some(0);
            kept
        });
        self.forget(from);
        let room = LINE_BYTES_MAX - self.bytes.len();
        if room == 0 {
            return Err(ProblemKind::TooLong.at(self.place(self.at).0));
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
                Err(error) => return Err(ProblemKind::io(&error).at(self.place(self.at).0)),
            }
        }
    }

    /// Drops the first `count` bytes.
    fn forget(&mut self, count: usize) {
        self.count_lines(count.max(self.counted));
        self.column = self.columns_before(count);
        self.bytes.drain(..count);
        self.at -= count;
        self.counted -= count;
    }

    fn count_lines(&mut self, to: usize) {
        self.line = self.place(to).0;
        self.counted = to;
    }

    /// Returns the line and the column of a byte in memory, both from 1. The end of the text has the
    /// column of the last byte.
    fn place(&self, at: usize) -> (u64, usize) {
        let lines =
            |from: usize, to: usize| memchr_iter(b'\n', &self.bytes[from..to]).count() as u64;
        let line = if at < self.counted {
            self.line - lines(at, self.counted)
        } else {
            self.line + lines(self.counted, at)
        };
        (line, self.columns_before(at) + usize::from(at < self.bytes.len()))
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

/// Returns the number of bytes before the first quote, backslash or control character.
fn plain_bytes(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The lowest bit of each of these is exact: a borrow only moves to higher bytes.
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word;
    let (words, rest) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quote = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = (quote | backslash | below(word, 0x20)) & HIGH;
        if found != 0 {
            return 8 * n + found.trailing_zeros() as usize / 8;
        }
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    bytes.len() - rest.len() + rest.iter().position(is_special).unwrap_or(rest.len())
}
