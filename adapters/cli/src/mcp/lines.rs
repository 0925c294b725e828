//! The framing of MCP over pipes: one message a line, read in bounded memory.

use std::io::{self, BufRead, BufReader, Read, Write};

/// The longest line that is parsed. A longer one is forwarded in pieces, unparsed.
pub(crate) const LINE_MAX: usize = 64 << 20;

/// The bytes that are read at a time, and the memory that is kept between lines.
const PIECE: usize = 64 << 10;

/// The part of a line that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The whole line with its line break. The last line may have none.
    Whole,
    /// The first [`LINE_MAX`] bytes. There may be more.
    Begun,
}

/// Lines from `R`, one at a time.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R, longest: usize) -> Self {
        Self { reader: BufReader::with_capacity(PIECE, reader), line: Vec::new(), longest }
    }

    /// Reads the next line, or returns `None` at the end.
    pub(crate) fn advance(&mut self) -> io::Result<Option<Extent>> {
        self.read(self.longest)?;
        if self.line.is_empty() {
            return Ok(None);
        }
        let is_cut = self.line.len() == self.longest && !self.is_ended();
        Ok(Some(if is_cut { Extent::Begun } else { Extent::Whole }))
    }

    /// Returns the bytes that were read of the line.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.line
    }

    /// Copies the rest of a line that was begun to `writer`.
    pub(crate) fn copy_rest(&mut self, writer: &mut impl Write) -> io::Result<()> {
        while !self.line.is_empty() && !self.is_ended() {
            self.read(PIECE)?;
            writer.write_all(&self.line)?;
        }
        Ok(())
    }

    /// Reads to the end of the line, but at most `most` bytes.
    fn read(&mut self, most: usize) -> io::Result<()> {
        self.line.clear();
        self.line.shrink_to(PIECE);
        self.reader.by_ref().take(most as u64).read_until(b'\n', &mut self.line)?;
        Ok(())
    }

    fn is_ended(&self) -> bool {
        self.line.last() == Some(&b'\n')
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Returns all output, and the lines that were whole.
    fn through(input: &[u8], longest: usize) -> (Vec<u8>, Vec<Vec<u8>>) {
        let mut lines = Lines::new(input, longest);
        let (mut all, mut whole) = (Vec::new(), Vec::new());
        while let Some(extent) = lines.advance().expect("memory can be read") {
            all.extend_from_slice(lines.bytes());
            match extent {
                Extent::Whole => whole.push(lines.bytes().to_vec()),
                Extent::Begun => lines.copy_rest(&mut all).expect("memory can be written"),
            }
        }
        (all, whole)
    }

    #[test]
    fn a_line_is_whole_or_only_begun() {
        for (input, expected) in [
            ("", vec![]),
            ("\n", vec!["\n"]),
            ("ab\r\n\ncd", vec!["ab\r\n", "\n", "cd"]),
            ("abc\nabcd\nab\n", vec!["abc\n", "ab\n"]),
            ("abcdefgh\nab", vec!["ab"]),
            ("abcd", vec![]),
        ] {
            let (all, whole) = through(input.as_bytes(), 4);
            assert_eq!(all, input.as_bytes());
            let expected: Vec<_> =
                expected.into_iter().map(|line| line.as_bytes().to_vec()).collect();
            assert_eq!(whole, expected, "{input:?}");
        }
    }

    proptest! {
        #[test]
        fn all_bytes_are_forwarded(
            input in vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200),
            longest in 1..50_usize,
        ) {
            let (all, whole) = through(&input, longest);
            prop_assert_eq!(&all, &input);
            prop_assert!(whole.iter().all(|line| line.len() <= longest));
        }
    }
}
