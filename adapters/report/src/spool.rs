//! Texts in the order of their calls, on disk if they are many.
//!
//! Findings are made nearly in that order, and their texts are added in it. Full pieces are sorted and appended to a temporary file, and
//! merged when they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::failure::Failure;

/// The bytes that are read from the file at a time, for each piece.
const READ_BYTES: usize = 4096;

/// The bytes before each finding on disk: its order and its length.
const HEAD: usize = 16;

/// A temporary file.
pub trait Disk: Read + Write + Seek + Send {}

impl<D: Read + Write + Seek + Send> Disk for D {}

/// Opens an empty temporary file.
pub type OpenDisk = fn() -> io::Result<Box<dyn Disk>>;

/// The findings of one input, or other texts that are written later.
#[derive(Default)]
pub struct Spool {
    /// The texts that are not in the file, with their order.
    latest: Vec<(u64, String)>,
    bytes: usize,
    /// `None` if there is no disk, or once the file could not be written. The texts then stay in memory.
    open: Option<OpenDisk>,
    file: Option<Box<dyn Disk>>,
    /// The beginning of each piece in the file.
    pieces: Vec<u64>,
    end: u64,
}

impl Spool {
    /// The most bytes in memory, unless no file can be written.
    pub(crate) const BYTES_MAX: usize = 1 << 20;

    /// Returns an empty spool that moves to the file which `open` opens, once it is large.
    pub fn new(open: Option<OpenDisk>) -> Self {
        Self { open, ..Self::default() }
    }

    /// Adds a text. Those of an equal `order` stay in the order in which they are added.
    pub fn push(&mut self, order: usize, text: String) {
        let size = text.len() + size_of::<(u64, String)>();
        if let Some(open) = self.open
            && self.bytes + size > Self::BYTES_MAX
            && self.store(open).is_err()
        {
            self.open = None;
        }
        self.bytes += size;
        self.latest.push((order as u64, text));
    }

    #[cfg(test)]
    pub(crate) fn bytes_in_memory(&self) -> usize {
        self.bytes
    }

    #[cfg(test)]
    pub(crate) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Moves the texts in memory to the file. After an error they are still in memory.
    fn store(&mut self, open: OpenDisk) -> io::Result<()> {
        self.latest.sort_by_key(|(order, _)| *order);
        let mut bytes = Vec::with_capacity(self.bytes);
        for (order, text) in &self.latest {
            bytes.extend(order.to_le_bytes());
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(open()?),
        };
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(&bytes)?;
        self.pieces.push(self.end);
        self.end += bytes.len() as u64;
        self.latest.clear();
        self.bytes = 0;
        Ok(())
    }

    /// Passes all texts to `each`, in order, until its first error.
    ///
    /// # Errors
    ///
    /// The error of `each`, or a [`Failure`] about `of` if the file cannot be read.
    pub fn each(
        &mut self,
        of: &str,
        each: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> io::Result<()> {
        let unreadable = |error: io::Error| {
            Failure::error(of, format!("its temporary file cannot be read back: {error}"))
        };
        self.latest.sort_by_key(|(order, _)| *order);
        let mut latest = self.latest.iter().peekable();
        let ends = self.pieces.iter().skip(1).chain([&self.end]);
        let pieces = self.pieces.iter().zip(ends);
        let mut pieces: Vec<_> = pieces.map(|(at, end)| Piece::new(*at, *end)).collect();
        let mut heads = BinaryHeap::new();
        if let Some(file) = &mut self.file {
            for (number, piece) in pieces.iter_mut().enumerate() {
                let order = piece.next(file).map_err(unreadable)?;
                heads.extend(order.map(|order| Reverse((order, number))));
            }
            while let Some(Reverse((order, number))) = heads.pop() {
                while let Some((_, text)) = latest.next_if(|(latest, _)| *latest < order) {
                    each(text)?;
                }
                each(pieces[number].text(file).map_err(unreadable)?)?;
                let next = pieces[number].next(file).map_err(unreadable)?;
                heads.extend(next.map(|order| Reverse((order, number))));
            }
        }
        latest.try_for_each(|(_, text)| each(text))
    }
}

/// A piece of the file that is read from its beginning to its end.
struct Piece {
    /// The part that is in memory: its bytes from `used` on, and the rest of the file from `at` to `end`.
    bytes: Vec<u8>,
    used: usize,
    at: u64,
    end: u64,
    /// The length of the next finding.
    length: usize,
}

impl Piece {
    const fn new(at: u64, end: u64) -> Self {
        Self { bytes: Vec::new(), used: 0, at, end, length: 0 }
    }

    /// Returns the order of the next finding, or `None` at the end.
    fn next(&mut self, file: &mut impl Disk) -> io::Result<Option<u64>> {
        if self.used == self.bytes.len() && self.at == self.end {
            return Ok(None);
        }
        let head = self.take(file, HEAD)?;
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        let (order, length) = head.split_at(HEAD / 2);
        let (order, length) = (number(order), number(length));
        self.length = usize::try_from(length).map_err(io::Error::other)?;
        Ok(Some(order))
    }

    fn text(&mut self, file: &mut impl Disk) -> io::Result<&str> {
        str::from_utf8(self.take(file, self.length)?).map_err(io::Error::other)
    }

    /// Takes the next `count` bytes.
    fn take(&mut self, file: &mut impl Disk, count: usize) -> io::Result<&[u8]> {
        let ready = self.bytes.len() - self.used;
        if ready < count {
            self.bytes.drain(..self.used);
            self.used = 0;
            let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
            self.bytes.resize(ready + READ_BYTES.max(count - ready).min(left), 0);
            file.seek(SeekFrom::Start(self.at))?;
            file.read_exact(&mut self.bytes[ready..])?;
            self.at += (self.bytes.len() - ready) as u64;
        }
        let taken = self.bytes.get(self.used..self.used + count);
        self.used += count;
        taken.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const OPEN: OpenDisk = || Ok(Box::new(Cursor::new(Vec::new())));

    proptest! {
        #[test]
        fn findings_come_in_the_order_of_a_stable_sort(
            findings in vec((0..50_usize, 0..9000_usize, any::<bool>()), 0..60),
        ) {
            let mut spool = Spool::default();
            let mut expected = Vec::new();
            for (n, (order, length, is_stored)) in findings.into_iter().enumerate() {
                let json = format!("{n} {}", "x".repeat(length));
                spool.push(order, json.clone());
                expected.push((order, json));
                if is_stored {
                    spool.store(OPEN).expect("a file");
                }
            }
            expected.sort_by_key(|(order, _)| *order);
            let mut found = Vec::new();
            let all = spool.each("x", &mut |json| {
                found.push(json.to_owned());
                Ok(())
            });
            prop_assert!(all.is_ok());
            prop_assert!(found.iter().eq(expected.iter().map(|(_, json)| json)));
        }
    }

    #[test]
    fn an_error_ends_it() {
        for last in [2, 7] {
            let mut spool = Spool::default();
            for n in 0..9 {
                spool.push(n, n.to_string());
                if n == 4 {
                    spool.store(OPEN).expect("a file");
                }
            }
            let mut seen = 0;
            let end = spool.each("x", &mut |_| {
                seen += 1;
                if seen == last { Err(io::Error::other("enough")) } else { Ok(()) }
            });
            assert_eq!(end.expect_err("an error").to_string(), "enough");
            assert_eq!(seen, last);
        }
    }

    #[test]
    fn a_file_that_fails_is_named_or_not_used() {
        let mut spool = Spool::new(Some(|| Err(io::ErrorKind::StorageFull.into())));
        for n in 0..3 {
            spool.push(n, "x".repeat(Spool::BYTES_MAX));
        }
        let mut seen = 0;
        spool
            .each("x", &mut |_| {
                seen += 1;
                Ok(())
            })
            .expect("texts in memory");
        assert_eq!((seen, spool.has_file()), (3, false));
        spool.store(OPEN).expect("a file");
        spool.end += 1;
        let error = spool.each("x", &mut |_| Ok(())).expect_err("a file that is too short");
        let failure = Failure::of(&error).expect("a failure");
        assert!(failure.why.starts_with("its temporary file cannot be read back"), "{error}");
    }
}
