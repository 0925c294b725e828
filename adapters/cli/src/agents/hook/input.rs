//! Standard input: read to its end, or as far as it is a whole payload where it is never closed.

use std::fmt;
use std::io::{self, ErrorKind, Read, StdinLock};
use std::time::Duration;

use serde::de::IgnoredAny;

/// The longest payload that is looked at. A result of a megabyte is long; what is longer than this
/// is no text.
pub(super) const BYTES_MAX: usize = 16 << 20;

/// How long nothing must come before a payload that is whole is taken for all there is.
const QUIET: Duration = Duration::from_millis(10);

/// How often that may happen before it is given up: two seconds, less than the shortest time that an
/// agent gives a hook.
const QUIETS_MAX: u32 = 200;

/// As much as a pipe holds.
const CHUNK: usize = 64 * 1024;

/// Why there is no payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// There was more than [`BYTES_MAX`].
    TooLong,
    /// Standard input was neither closed nor a whole payload.
    Unclosed,
    /// It could not be read.
    Broken,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "the payload is longer than {} MiB", BYTES_MAX >> 20),
            Self::Unclosed => {
                write!(f, "standard input was not closed for {} s", (QUIET * QUIETS_MAX).as_secs())
            }
            Self::Broken => f.write_str("standard input could not be read"),
        }
    }
}

/// What can be waited for before it is read.
pub(super) trait Source: Read {
    /// Whether there is something to read, or the end, within this time.
    fn is_ready(&self, within: Duration) -> bool;
}

impl Source for StdinLock<'_> {
    #[cfg(unix)]
    fn is_ready(&self, within: Duration) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        let mut stdin = [PollFd::new(self, PollFlags::IN)];
        let within = Timespec::try_from(within).ok();
        // What cannot be waited for may still be read.
        poll(&mut stdin, within.as_ref())
            .map_or_else(|error| error != rustix::io::Errno::INTR, |ready| ready > 0)
    }

    /// There is no waiting for a pipe here: whoever does not close it is waited for.
    #[cfg(not(unix))]
    fn is_ready(&self, _: Duration) -> bool {
        true
    }
}

/// All that `source` gives. What is too long is read, too: the agent writes all of it.
pub(super) fn read(mut source: impl Source) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    let (mut is_cut, mut quiets, mut seen) = (false, 0, None);
    loop {
        if !source.is_ready(QUIET) {
            quiets += 1;
            if seen != Some(bytes.len()) && !is_cut && is_whole(&bytes) {
                return Ok(bytes);
            }
            seen = Some(bytes.len());
            match (quiets < QUIETS_MAX, is_cut) {
                (true, _) => continue,
                (false, true) => return Err(Unread::TooLong),
                (false, false) => return Err(Unread::Unclosed),
            }
        }
        // What is too long is read over and over into the same place.
        let length = if is_cut { 0 } else { bytes.len() };
        bytes.resize(length + CHUNK, 0);
        let read = source.read(bytes.get_mut(length..).unwrap_or_default());
        bytes.truncate(length + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) if is_cut => return Err(Unread::TooLong),
            Ok(0) => return Ok(bytes),
            Ok(_) => is_cut |= bytes.len() > BYTES_MAX,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(Unread::Broken),
        }
    }
}

/// What an agent gives on standard input.
pub(super) fn payload() -> Result<Vec<u8>, Unread> {
    read(io::stdin().lock())
}

fn is_whole(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{self, Read};
    use std::time::Duration;

    use super::{BYTES_MAX, QUIETS_MAX, Source, Unread, read};

    /// Gives its parts, with nothing to read for a while before each.
    struct Pipe<'a> {
        parts: Vec<&'a [u8]>,
        quiets: Cell<u32>,
        is_closed: bool,
        /// Whether a part of a part was read.
        is_within: bool,
    }

    impl<'a> Pipe<'a> {
        fn of(parts: &[&'a [u8]], is_closed: bool) -> Self {
            let parts = parts.iter().rev().copied().collect();
            Self { parts, quiets: Cell::new(0), is_closed, is_within: false }
        }
    }

    impl Source for Pipe<'_> {
        fn is_ready(&self, _: Duration) -> bool {
            if self.is_within {
                return true;
            }
            let quiets = self.quiets.get() + 1;
            self.quiets.set(quiets);
            quiets.is_multiple_of(3) && (self.is_closed || !self.parts.is_empty())
        }
    }

    impl Read for Pipe<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(part) = self.parts.pop() else { return Ok(0) };
            let length = part.len().min(buffer.len());
            buffer[..length].copy_from_slice(&part[..length]);
            self.is_within = length < part.len();
            if self.is_within {
                self.parts.push(&part[length..]);
            }
            Ok(length)
        }
    }

    #[test]
    fn all_is_read_to_the_end_be_it_json_or_not() {
        let long = "x".repeat(200_000);
        for text in ["", "{\"a\":", "no JSON", &long] {
            let read = read(Pipe::of(&[text.as_bytes()], true));
            assert_eq!(read, Ok(text.as_bytes().to_vec()));
        }
    }

    #[test]
    fn what_is_too_long_is_read_and_not_kept() {
        let long = vec![b' '; BYTES_MAX + 1];
        let at_most = read(Pipe::of(&[&long[1..]], true));
        assert_eq!(at_most.map(|read| read.len()), Ok(BYTES_MAX));
        let mut longer = Pipe::of(&[&long], true);
        assert_eq!(read(&mut longer), Err(Unread::TooLong));
        assert!(longer.parts.is_empty());
    }

    #[test]
    fn pitfall_06_a_whole_payload_is_enough_where_the_end_never_comes() {
        let mut pipe = Pipe::of(&[b"{\"a\":", b"[1]", b"}\n"], false);
        assert_eq!(read(&mut pipe), Ok(b"{\"a\":[1]}\n".to_vec()));
        assert!(pipe.quiets.get() < QUIETS_MAX);
    }

    #[test]
    fn pitfall_06_a_part_of_one_is_not_waited_for_without_end() {
        for parts in [&[][..], &[&b"{\"a\":"[..]], &[b"{} {}"]] {
            assert_eq!(read(Pipe::of(parts, false)), Err(Unread::Unclosed));
        }
    }

    impl<S: Source> Source for &mut S {
        fn is_ready(&self, within: Duration) -> bool {
            (**self).is_ready(within)
        }
    }
}
