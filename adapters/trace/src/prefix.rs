//! Reads the beginning of an input ahead, to recognise its format.

use std::io::{BufRead, Cursor, Error, Read, Result};

/// The number of bytes that are read ahead at first.
///
/// Sessions begin with some lines of settings, and requests with a system prompt: tens of KiB.
pub(crate) const PREFIX_BYTES: usize = 64 * 1024;

/// The most bytes that are read ahead, if the first ones do not show the format.
const PREFIX_BYTES_MAX: usize = 16 << 20;

/// The number of times more that is read ahead with each step.
const GROWTH: usize = 4;

/// An input that returns the bytes that were read ahead, and then the rest.
pub(crate) struct Replay<R> {
    prefix: Cursor<Vec<u8>>,
    /// The error of reading ahead. It is returned where the beginning ends.
    error: Option<Error>,
    rest: R,
    complete: bool,
}

impl<R: BufRead> Replay<R> {
    /// Reads the beginning of an input and drops its byte order mark.
    pub(crate) fn new(rest: R) -> Self {
        let prefix = Cursor::new(Vec::with_capacity(PREFIX_BYTES));
        let mut input = Self { prefix, error: None, rest, complete: false };
        input.read_ahead(PREFIX_BYTES);
        let prefix = input.prefix.get_mut();
        if prefix.starts_with(b"\xef\xbb\xbf") {
            prefix.drain(..3);
        }
        input
    }

    /// Reads some times more ahead, and returns `false` if there is no more, or too much was read already.
    pub(crate) fn read_on(&mut self) -> bool {
        let known = self.prefix().len();
        let can_read = !self.complete && self.error.is_none() && known < PREFIX_BYTES_MAX;
        if can_read {
            self.read_ahead(known * (GROWTH - 1));
        }
        can_read
    }

    fn read_ahead(&mut self, count: usize) {
        let read = (&mut self.rest).take(count as u64).read_to_end(self.prefix.get_mut());
        self.complete = matches!(read, Ok(read) if read < count);
        self.error = read.err();
    }

    pub(crate) fn prefix(&self) -> &[u8] {
        self.prefix.get_ref()
    }

    /// Returns whether the beginning is the whole input.
    pub(crate) const fn is_complete(&self) -> bool {
        self.complete
    }

    pub(crate) const fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }
}

impl<R: BufRead> Read for Replay<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.prefix.read(buffer)?;
        if count > 0 || buffer.is_empty() {
            return Ok(count);
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.rest.read(buffer),
        }
    }
}

impl<R: BufRead> BufRead for Replay<R> {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        let is_used_up = self.prefix.fill_buf()?.is_empty();
        if !is_used_up {
            return self.prefix.fill_buf();
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.rest.fill_buf(),
        }
    }

    fn consume(&mut self, count: usize) {
        let of_prefix = self.prefix.fill_buf().map_or(0, <[u8]>::len).min(count);
        self.prefix.consume(of_prefix);
        if of_prefix < count {
            self.rest.consume(count - of_prefix);
        }
    }
}
