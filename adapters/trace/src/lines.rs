//! Reads JSON Lines, one line at a time.

use std::io::{BufRead, Read};

use crate::LINE_BYTES_MAX;
use crate::problem::ProblemKind;
use crate::recorder::Recorder;

/// Replays the records of an input with one a line, and reports those that cannot be read.
pub(crate) fn replay(
    input: &mut dyn BufRead,
    recorder: &mut Recorder<'_>,
    each: &mut dyn FnMut(&str, &mut Recorder<'_>) -> Result<(), ProblemKind>,
) {
    let mut lines = Lines::new(input);
    while let Some((number, line)) = lines.next() {
        if let Err(kind) = line.and_then(|line| each(line, recorder)) {
            recorder.problem(kind.at(number));
        }
    }
}

/// The lines of an input. The buffer never holds more than one.
pub(crate) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    failed: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) const fn new(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0, failed: false }
    }

    /// Returns the next line that is not blank, with its number from 1, or why it could not be read.
    /// After a failure of the reader there are no more lines.
    pub(crate) fn next(&mut self) -> Option<(u64, Result<&str, ProblemKind>)> {
        loop {
            if self.failed {
                return None;
            }
            match self.fill() {
                Ok(false) => return None,
                Ok(true) if self.line.trim_ascii().is_empty() => {}
                Ok(true) => break,
                Err(kind) => return Some((self.number, Err(kind))),
            }
        }
        let text = str::from_utf8(self.line.trim_ascii_end())
            .map_err(|error| ProblemKind::NotUtf8 { column: error.valid_up_to() + 1 });
        Some((self.number, text))
    }

    /// Reads one line into the buffer. Returns `false` at the end of the input.
    fn fill(&mut self) -> Result<bool, ProblemKind> {
        self.line.clear();
        self.number += 1;
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
