//! A JSON text of any length, with only a piece of it in memory.

use std::borrow::Cow;
use std::io::{BufRead, ErrorKind};

use memchr::{memchr_iter, memrchr};

use crate::LINE_BYTES_MAX;
use crate::field::text_of_json;
use crate::grammar::{Scanner, Text};
use crate::problem::{Problem, ProblemKind};

/// The number of bytes that are taken from the input at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// A JSON text in pieces.
///
/// Strings are checked to be UTF-8 only if they are returned.
pub(crate) type Stream<'i> = Scanner<Pieces<'i>>;

/// The piece of a text that is in memory.
pub(crate) struct Pieces<'i> {
    input: &'i mut dyn BufRead,
    bytes: Vec<u8>,
    /// The beginning of the value that has to stay in memory, as an index into `bytes`.
    kept: Option<usize>,
    /// The line of the byte at `counted`, from 1.
    line: u64,
    counted: usize,
    /// The number of bytes of the first line in memory that are not in memory any more.
    column: usize,
}

impl<'i> Stream<'i> {
    /// Begins to read an input.
    pub(crate) fn of(input: &'i mut dyn BufRead) -> Self {
        let text = Pieces { input, bytes: Vec::new(), kept: None, line: 1, counted: 0, column: 0 };
        Self::new(text, false)
    }

    /// Passes a key and its colon, and returns the key.
    pub(crate) fn key(&mut self) -> Result<String, Problem> {
        self.text.kept = Some(self.at);
        self.quoted_key()?;
        let key = text_of_json(self.text.take_kept(self.at)?);
        let key = key.map(Cow::into_owned).unwrap_or_default();
        self.colon()?;
        Ok(key)
    }

    /// Passes a value, and returns it with the line on which it ends.
    pub(crate) fn value(&mut self) -> Result<(&str, u64), Problem> {
        self.peek()?;
        self.text.kept = Some(self.at);
        self.skip()?;
        self.text.count_lines(self.at);
        let line = self.text.line;
        Ok((self.text.take_kept(self.at)?, line))
    }

    /// Returns the problem that the value before this place is of the wrong type.
    pub(crate) fn unexpected(&self, what: &str) -> Problem {
        self.text.broken_at(self.at.saturating_sub(1), what)
    }

    /// Returns the problem that something else follows.
    pub(crate) fn trailing(&self) -> Problem {
        self.text.broken_at(self.at, "trailing characters")
    }
}

impl Text for Pieces<'_> {
    type Error = Problem;

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[cold]
    fn read_on(&mut self, at: &mut usize) -> Result<bool, Problem> {
        let from = self.kept.unwrap_or(*at);
        self.kept = self.kept.map(|_| 0);
        self.forget(from);
        *at -= from;
        let room = LINE_BYTES_MAX - self.bytes.len();
        if room == 0 {
            return Err(ProblemKind::TooLong.at(self.line(*at)));
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
                Err(error) => return Err(ProblemKind::io(&error).at(self.line(*at))),
            }
        }
    }

    #[cold]
    fn broken(&self, at: usize, what: &'static str) -> Problem {
        self.broken_at(at, what)
    }
}

impl Pieces<'_> {
    /// Returns the kept text up to `end`, which no longer has to stay in memory.
    fn take_kept(&mut self, end: usize) -> Result<&str, Problem> {
        let from = self.kept.take().unwrap_or(end);
        str::from_utf8(&self.bytes[from..end]).map_err(|error| {
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

    fn broken_at(&self, at: usize, what: &str) -> Problem {
        // The end of the text has the column of the last byte.
        let column = self.columns_before(at) + usize::from(at < self.bytes.len());
        ProblemKind::Broken { message: format!("{what} at column {column}") }.at(self.line(at))
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
