//! Reading a payload from standard input, even if the agent never closes the pipe.

use std::fmt;
use std::io::{self, ErrorKind, Read, StdinLock};
use std::time::Duration;

use serde::de::IgnoredAny;

/// The longest payload that is parsed. A result of a megabyte is long, and a longer payload than this
/// is hardly text.
pub(super) const BYTES_MAX: usize = 16 << 20;

/// The most bytes that are read of any input. One that never ends would never let the agent go on.
const READ_MAX: usize = 1 << 30;

/// The pause after which a complete payload counts as everything that will come.
const QUIET: Duration = Duration::from_millis(10);

/// The number of pauses before reading is given up: two seconds, less than the shortest time limit that
/// an agent gives a hook.
const QUIETS_MAX: u32 = 200;

/// The size of a read: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// The size of the first reads. Most payloads are shorter, and memory that is not touched costs nothing.
const CHUNK_FIRST: usize = 8 * 1024;

/// The reason why there is no payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// The input is longer than [`BYTES_MAX`].
    TooLong,
    /// There is no memory for the input.
    NoMemory,
    /// Standard input stayed open without a complete payload.
    Unclosed,
    /// Reading failed.
    Broken,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "the payload is longer than {} MiB", BYTES_MAX >> 20),
            Self::NoMemory => f.write_str("there is no memory for the payload"),
            Self::Unclosed => {
                write!(f, "standard input was not closed for {} s", (QUIET * QUIETS_MAX).as_secs())
            }
            Self::Broken => f.write_str("standard input could not be read"),
        }
    }
}

/// A reader that can be polled.
pub(super) trait Source: Read {
    /// Waits at most this long, and returns whether there are bytes to read or the end was reached.
    fn is_ready(&self, within: Duration) -> bool;
}

impl Source for StdinLock<'_> {
    #[cfg(unix)]
    fn is_ready(&self, within: Duration) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        let mut stdin = [PollFd::new(self, PollFlags::IN)];
        let within = Timespec::try_from(within).ok();
        // A file that cannot be polled can still be read.
        poll(&mut stdin, within.as_ref())
            .map_or_else(|error| error != rustix::io::Errno::INTR, |ready| ready > 0)
    }

    /// Pipes cannot be polled here, so a read waits until the agent closes the pipe.
    #[cfg(not(unix))]
    fn is_ready(&self, _: Duration) -> bool {
        true
    }
}

/// Reads `source` to the end. An input that is too long is read, too, because the agent writes all of it, up
/// to [`READ_MAX`].
pub(super) fn read(source: impl Source) -> Result<Vec<u8>, Unread> {
    read_with(source, |bytes| bytes.try_reserve(CHUNK).is_ok())
}

/// Like [`read`]. `make_room` returns whether there is room for one more chunk.
fn read_with(
    mut source: impl Source,
    make_room: impl Fn(&mut Vec<u8>) -> bool,
) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    // The reason why the input is dropped, if it is.
    let (mut cut, mut quiets, mut seen) = (None, 0, None);
    let mut taken = 0;
    loop {
        if !source.is_ready(QUIET) {
            quiets += 1;
            if seen != Some(bytes.len()) && cut.is_none() && is_whole(&bytes) {
                return Ok(bytes);
            }
            seen = Some(bytes.len());
            if quiets < QUIETS_MAX {
                continue;
            }
            return Err(cut.unwrap_or(Unread::Unclosed));
        }
        if cut.is_none() && !make_room(&mut bytes) {
            cut = Some(Unread::NoMemory);
        }
        // The rest of an input that is dropped is read into the same bytes again and again.
        let length = if cut.is_some() { 0 } else { bytes.len() };
        let is_first = length < CHUNK_FIRST && cut.is_none();
        let chunk = if is_first { CHUNK_FIRST } else { CHUNK };
        bytes.resize(length + chunk, 0);
        let read = source.read(bytes.get_mut(length..).unwrap_or_default());
        let count = *read.as_ref().unwrap_or(&0);
        bytes.truncate(length + count);
        taken += count;
        match read {
            Ok(_) if taken > READ_MAX => return Err(Unread::TooLong),
            Ok(0) => return cut.map_or(Ok(bytes), Err),
            Ok(_) if bytes.len() > BYTES_MAX => cut = Some(Unread::TooLong),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(Unread::Broken),
        }
    }
}

/// Reads the payload on standard input.
pub(crate) fn payload() -> Result<Vec<u8>, Unread> {
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

    use super::{BYTES_MAX, CHUNK, QUIETS_MAX, Source, Unread, read, read_with};

    /// A pipe that delivers its parts one by one, with a pause before each.
    struct Pipe<'a> {
        parts: Vec<&'a [u8]>,
        quiets: Cell<u32>,
        is_closed: bool,
        /// A part has been read only partly.
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
    fn any_input_is_read_to_the_end() {
        let long = "x".repeat(200_000);
        for text in ["", "{\"a\":", "no JSON", &long] {
            let read = read(Pipe::of(&[text.as_bytes()], true));
            assert_eq!(read, Ok(text.as_bytes().to_vec()));
        }
    }

    #[test]
    fn a_payload_that_is_too_long_is_read_and_dropped() {
        let long = vec![b' '; BYTES_MAX + 1];
        let at_most = read(Pipe::of(&[&long[1..]], true));
        assert_eq!(at_most.map(|read| read.len()), Ok(BYTES_MAX));
        let mut longer = Pipe::of(&[&long], true);
        assert_eq!(read(&mut longer), Err(Unread::TooLong));
        assert!(longer.parts.is_empty());
    }

    #[test]
    fn an_input_without_an_end_is_given_up() {
        struct Endless;
        impl Source for Endless {
            fn is_ready(&self, _: Duration) -> bool {
                true
            }
        }
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                Ok(buffer.len())
            }
        }
        assert_eq!(read(Endless), Err(Unread::TooLong));
    }

    #[test]
    fn a_payload_without_room_is_read_and_dropped() {
        let long = vec![b' '; 10 * CHUNK];
        let mut pipe = Pipe::of(&[&long], true);
        let room = |bytes: &mut Vec<u8>| bytes.len() < 3 * CHUNK;
        assert_eq!(read_with(&mut pipe, room), Err(Unread::NoMemory));
        assert!(pipe.parts.is_empty());
    }

    #[test]
    fn pitfall_06_a_complete_payload_is_enough_if_the_pipe_stays_open() {
        let mut pipe = Pipe::of(&[b"{\"a\":", b"[1]", b"}\n"], false);
        assert_eq!(read(&mut pipe), Ok(b"{\"a\":[1]}\n".to_vec()));
        assert!(pipe.quiets.get() < QUIETS_MAX);
    }

    #[test]
    fn pitfall_06_an_incomplete_payload_ends_in_a_time_out() {
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
