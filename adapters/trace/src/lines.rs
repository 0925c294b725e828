//! Reads JSON Lines, one line at a time.

use std::io::{BufRead, ErrorKind, Read};

use memchr::memchr;

use crate::problem::{Done, LINE_BYTES_MAX, ProblemKind};
use crate::recorder::Recorder;

/// Replays the lines of an input, whatever they are, and reports those that cannot be read.
pub(crate) fn replay(
    input: &mut dyn BufRead,
    recorder: &mut Recorder<'_>,
    each: &mut dyn FnMut(&str, &mut Recorder<'_>) -> Done,
) {
    let mut lines = Lines::new(input);
    while let Some((number, line)) = lines.next() {
        if let Err(kind) = line.and_then(|line| each(line, recorder)) {
            recorder.problem(kind.at(number));
        }
    }
}

/// The lines of an input. Not more than one is in memory.
pub(crate) struct Lines<R> {
    input: R,
    /// A line that the buffer of `input` does not hold in one piece.
    line: Vec<u8>,
    /// The number of bytes in the buffer of `input` that the latest line took.
    used: usize,
    number: u64,
    failed: bool,
}

/// The place of a line.
enum Place {
    /// At the beginning of the input's buffer, with this length.
    Ahead(usize),
    /// In a buffer of its own.
    Apart,
}

impl<R: BufRead> Lines<R> {
    pub(crate) const fn new(input: R) -> Self {
        Self { input, line: Vec::new(), used: 0, number: 0, failed: false }
    }

    /// Returns the next line that is not blank, with its number from 1, or why it could not be read.
    /// After a failure of the reader there are no more lines.
    pub(crate) fn next(&mut self) -> Option<(u64, Result<&str, ProblemKind>)> {
        let place = loop {
            if self.failed {
                return None;
            }
            match self.find() {
                Ok(None) => return None,
                Ok(Some(place)) if self.bytes(&place).trim_ascii().is_empty() => {}
                Ok(Some(place)) => break place,
                Err(kind) => return Some((self.number, Err(kind))),
            }
        };
        let number = self.number;
        let text = str::from_utf8(self.bytes(&place).trim_ascii_end())
            .map_err(|error| ProblemKind::NotUtf8 { column: error.valid_up_to() + 1 });
        Some((number, text))
    }

    fn bytes(&mut self, place: &Place) -> &[u8] {
        match place {
            // The buffer is not empty, so this reads nothing.
            Place::Ahead(length) => {
                self.input.fill_buf().ok().and_then(|ready| ready.get(..*length)).unwrap_or(&[])
            }
            Place::Apart => &self.line,
        }
    }

    /// Finds the next line. Returns `None` at the end of the input.
    fn find(&mut self) -> Result<Option<Place>, ProblemKind> {
        self.input.consume(core::mem::take(&mut self.used));
        self.number += 1;
        match self.input.fill_buf() {
            Ok([]) => return Ok(None),
            Ok(ready) => {
                if let Some(length) = memchr(b'\n', ready) {
                    self.used = length + 1;
                    let is_too_long = length > LINE_BYTES_MAX;
                    return if is_too_long {
                        Err(ProblemKind::TooLong)
                    } else {
                        Ok(Some(Place::Ahead(length)))
                    };
                }
            }
            // Reading on in pieces has the error again, if it is one.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(self.fail(&error)),
        }
        Ok(self.read_apart()?.then_some(Place::Apart))
    }

    /// Reads one line into the buffer. Returns `false` at the end of the input.
    fn read_apart(&mut self) -> Result<bool, ProblemKind> {
        self.line.clear();
        let limit = LINE_BYTES_MAX as u64 + 1;
        let read = (&mut self.input)
            .take(limit)
            .read_until(b'\n', &mut self.line)
            .map_err(|error| self.fail(&error))?;
        if self.line.len() > LINE_BYTES_MAX && !self.line.ends_with(b"\n") {
            self.input.skip_until(b'\n').map_err(|error| self.fail(&error))?;
            return Err(ProblemKind::TooLong);
        }
        Ok(read > 0)
    }

    fn fail(&mut self, error: &std::io::Error) -> ProblemKind {
        self.failed = true;
        ProblemKind::io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Error};

    fn words(input: impl BufRead) -> Vec<String> {
        let mut lines = Lines::new(input);
        let mut words = Vec::new();
        while let Some((number, line)) = lines.next() {
            words.push(match line {
                Ok(text) => format!("{number} {}", text.trim_end()),
                Err(kind) => format!("{number} {kind}"),
            });
        }
        words
    }

    #[test]
    fn lines_are_numbered_and_bad_ones_reported() {
        let found = words(&b"a\r\n\n \r\nb\xff\nc"[..]);
        let expected = ["1 a", "4 not UTF-8 at byte 2: expected JSON in UTF-8", "5 c"];
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_are_the_same_in_every_buffer() {
        let input = "ab\n\ncdefghijkl\r\n\n m\nn".as_bytes();
        for bytes in 1..20 {
            let found = words(BufReader::with_capacity(bytes, input));
            assert_eq!(found, ["1 ab", "3 cdefghijkl", "5  m", "6 n"], "{bytes}");
        }
    }

    #[test]
    fn a_line_over_the_limit_is_skipped() {
        let mut input = vec![b'x'; LINE_BYTES_MAX + 1];
        input.extend_from_slice(b"xxx\nnext\n");
        let found = words(input.as_slice());
        assert_eq!(found, ["1 longer than 64 MiB: expected one record", "2 next"]);
    }

    /// A reader that delivers one line and then fails.
    struct Failing(bool);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
            if core::mem::replace(&mut self.0, true) {
                return Err(Error::other("unplugged"));
            }
            (&mut &b"good\nha"[..]).read(buffer)
        }
    }

    #[test]
    fn a_failing_reader_ends_the_lines() {
        let found = words(BufReader::new(Failing(false)));
        assert_eq!(found, ["1 good", "2 reading failed: unplugged"]);
    }
}
