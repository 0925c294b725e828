//! Findings as JSON, in the order of their calls, on disk if they are many.
//!
//! Findings are made nearly in that order. Full pieces are sorted and appended to a temporary file, and
//! merged when they are read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

/// The bytes that are read from the file at a time, for each piece.
const READ_BYTES: usize = 4096;

/// The bytes before each finding on disk: its order and its length.
const HEAD: usize = 16;

/// The findings of one input.
#[derive(Default)]
pub(super) struct Spool {
    /// The findings that are not in the file, with their order.
    latest: Vec<(u64, String)>,
    bytes: usize,
    file: Option<File>,
    /// The beginning of each piece in the file.
    pieces: Vec<u64>,
    end: u64,
    /// `true` once the file could not be written. The findings then stay in memory.
    failed: bool,
}

impl Spool {
    /// The most bytes in memory, unless no file can be written.
    pub(super) const BYTES_MAX: usize = 1 << 20;

    /// Adds a finding. Those of an equal `order` stay in the order in which they are added.
    pub(super) fn push(&mut self, order: usize, json: String) {
        let size = json.len() + size_of::<(u64, String)>();
        if self.bytes + size > Self::BYTES_MAX && !self.failed {
            self.failed = self.store().is_err();
        }
        self.bytes += size;
        self.latest.push((order as u64, json));
    }

    #[cfg(test)]
    pub(super) fn bytes_in_memory(&self) -> usize {
        self.bytes
    }

    #[cfg(test)]
    pub(super) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Moves the findings in memory to the file. After an error they are still in memory.
    fn store(&mut self) -> io::Result<()> {
        self.latest.sort_by_key(|(order, _)| *order);
        let mut bytes = Vec::with_capacity(self.bytes);
        for (order, json) in &self.latest {
            bytes.extend(order.to_le_bytes());
            bytes.extend((json.len() as u64).to_le_bytes());
            bytes.extend(json.as_bytes());
        }
        if self.file.is_none() {
            self.file = Some(tempfile::tempfile()?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(&bytes)?;
        self.pieces.push(self.end);
        self.end += bytes.len() as u64;
        self.latest.clear();
        self.bytes = 0;
        Ok(())
    }

    /// Passes all findings to `each`, in order, until its first error, which is in the inner result. The
    /// outer error is that of reading the file.
    pub(super) fn each<E>(
        &mut self,
        each: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> io::Result<Result<(), E>> {
        self.latest.sort_by_key(|(order, _)| *order);
        let mut latest = self.latest.iter().peekable();
        let ends = self.pieces.iter().skip(1).chain([&self.end]);
        let pieces = self.pieces.iter().zip(ends);
        let mut pieces: Vec<_> = pieces.map(|(at, end)| Piece::new(*at, *end)).collect();
        let mut heads = BinaryHeap::new();
        if let Some(file) = &mut self.file {
            for (number, piece) in pieces.iter_mut().enumerate() {
                heads.extend(piece.next(file)?.map(|order| Reverse((order, number))));
            }
            while let Some(Reverse((order, number))) = heads.pop() {
                while let Some((_, json)) = latest.next_if(|(latest, _)| *latest < order) {
                    if let Err(error) = each(json) {
                        return Ok(Err(error));
                    }
                }
                if let Err(error) = each(pieces[number].json(file)?) {
                    return Ok(Err(error));
                }
                let next = pieces[number].next(file)?;
                heads.extend(next.map(|order| Reverse((order, number))));
            }
        }
        Ok(latest.try_for_each(|(_, json)| each(json)))
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
    fn next(&mut self, file: &mut File) -> io::Result<Option<u64>> {
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

    fn json(&mut self, file: &mut File) -> io::Result<&str> {
        str::from_utf8(self.take(file, self.length)?).map_err(io::Error::other)
    }

    /// Takes the next `count` bytes.
    fn take(&mut self, file: &mut File, count: usize) -> io::Result<&[u8]> {
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
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

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
                    spool.store().expect("a temporary file");
                }
            }
            expected.sort_by_key(|(order, _)| *order);
            let mut found = Vec::new();
            let all = spool.each(&mut |json| {
                found.push(json.to_owned());
                Ok::<(), ()>(())
            });
            prop_assert_eq!(all.expect("a file"), Ok(()));
            prop_assert!(found.iter().eq(expected.iter().map(|(_, json)| json)));
        }
    }

    #[test]
    fn an_error_ends_it() {
        let mut spool = Spool::default();
        for n in 0..9 {
            spool.push(n, n.to_string());
            if n == 4 {
                spool.store().expect("a temporary file");
            }
        }
        for last in [2, 7] {
            let mut spool = Spool {
                latest: spool.latest.clone(),
                pieces: spool.pieces.clone(),
                end: spool.end,
                file: spool.file.as_ref().and_then(|file| file.try_clone().ok()),
                ..Spool::default()
            };
            spool.bytes = 0;
            let mut seen = 0;
            let end = spool.each(&mut |_| {
                seen += 1;
                if seen == last { Err("enough") } else { Ok(()) }
            });
            assert_eq!((end.expect("a file"), seen), (Err("enough"), last));
        }
    }
}
