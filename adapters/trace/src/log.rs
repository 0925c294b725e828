//! The records that a program printed as JSON among other lines of a log.

use std::io::{BufRead, Read, Result};

use memchr::memchr;

/// The bytes at the beginning of a line that are looked at.
const BEGIN_BYTES: usize = 64;

/// Returns where the record in a line of a log begins: at its beginning, or behind a time, which services put before
/// each line. Other lines have none.
pub(crate) fn record_start(line: &[u8]) -> Option<usize> {
    let is_of_time = |byte: &u8| byte.is_ascii_digit() || b"-:.+TZ".contains(byte);
    let time = line.iter().take_while(|byte| is_of_time(byte)).count();
    let blank = line[time..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let start = time + blank;
    (line[start..].starts_with(b"{\"") && (time == 0 || blank > 0)).then_some(start)
}

/// A log in which all lines but records are blank, and records begin their lines. The lines keep their numbers.
pub(crate) struct Records<R> {
    log: R,
    /// The bytes that were read ahead at the beginning of a line, and the number of them that were delivered.
    begin: Vec<u8>,
    delivered: usize,
    /// `true` within a record, behind its beginning.
    is_within: bool,
}

impl<R: BufRead> Records<R> {
    pub(crate) const fn new(log: R) -> Self {
        Self { log, begin: Vec::new(), delivered: 0, is_within: false }
    }

    /// Reads the beginning of a line. A line without a record becomes a blank one.
    fn begin_line(&mut self) -> Result<()> {
        self.begin.clear();
        self.delivered = 0;
        (&mut self.log).take(BEGIN_BYTES as u64).read_until(b'\n', &mut self.begin)?;
        let is_whole = self.begin.ends_with(b"\n") || self.begin.is_empty();
        if let Some(start) = record_start(&self.begin) {
            self.delivered = start;
            self.is_within = !is_whole;
            return Ok(());
        }
        if !is_whole {
            self.log.skip_until(b'\n')?;
        }
        self.begin.drain(..self.begin.len().saturating_sub(1));
        self.begin.fill(b'\n');
        Ok(())
    }
}

impl<R: BufRead> Read for Records<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.delivered == self.begin.len() && self.is_within {
            let ready = self.log.fill_buf()?;
            let end = memchr(b'\n', ready).map_or(ready.len(), |end| end + 1);
            let count = end.min(buffer.len());
            buffer[..count].copy_from_slice(&ready[..count]);
            self.is_within = !buffer[..count].ends_with(b"\n") && count > 0;
            self.log.consume(count);
            return Ok(count);
        }
        if self.delivered == self.begin.len() {
            self.begin_line()?;
        }
        let mut rest = self.begin.get(self.delivered..).unwrap_or_default();
        let count = rest.read(buffer)?;
        self.delivered += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, read_to_string};

    use super::*;

    #[test]
    fn only_records_stay_and_lines_keep_their_numbers() {
        let long = "x".repeat(200);
        let record = format!("{{\"a\":\"{long}\"}}");
        let printed = format!(
            "Building {long}\n\n{record}\r\n2026-11-21T21:33:55.0480000Z {record}\n12 apples\n\
             {{not a record\n2026{record}\n{record}\n{{\"b\":1}}"
        );
        let expected = format!("\n\n{record}\r\n{record}\n\n\n\n{record}\n{{\"b\":1}}");
        for bytes in 1..80 {
            let input = BufReader::with_capacity(bytes, printed.as_bytes());
            let found = read_to_string(BufReader::with_capacity(bytes, Records::new(input)));
            assert_eq!(found.expect("text"), expected, "{bytes}");
        }
    }
}
