//! Standard input: read to its end, or as far as it is a whole payload where it is never closed.

use std::fmt;
use std::io::{ErrorKind, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;

/// The longest payload that is looked at. A result of a megabyte is long; what is longer than this
/// is no text.
pub(super) const BYTES_MAX: usize = 16 << 20;

/// How long nothing must come before a payload that is whole is taken for all there is.
const QUIET: Duration = Duration::from_millis(10);

/// How long is waited in all: less than the shortest time that an agent gives a hook.
const WAIT_MAX: Duration = Duration::from_secs(2);

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
                write!(f, "standard input was not closed for {} s", WAIT_MAX.as_secs())
            }
            Self::Broken => f.write_str("standard input could not be read"),
        }
    }
}

/// What was read so far.
#[derive(Debug, Default)]
struct Gathered {
    bytes: Vec<u8>,
    /// Whether there was more than is kept.
    is_cut: bool,
    end: Option<Result<(), ErrorKind>>,
}

/// What is shared with the thread that reads.
#[derive(Debug, Default)]
struct Shared {
    gathered: Mutex<Gathered>,
    ended: Condvar,
}

impl Shared {
    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads to the end. What is too long is read, too: the agent writes all of it.
    fn gather(&self, mut source: impl Read) {
        let mut chunk = vec![0; CHUNK];
        let end = loop {
            match source.read(&mut chunk) {
                Ok(0) => break Ok(()),
                Ok(read) => self.gathered().add(chunk.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Err(error.kind()),
            }
        };
        self.gathered().end = Some(end);
        self.ended.notify_one();
    }
}

impl Gathered {
    fn add(&mut self, bytes: &[u8]) {
        self.is_cut |= self.bytes.len() + bytes.len() > BYTES_MAX;
        if !self.is_cut {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn is_whole(&self) -> bool {
        !self.is_cut && serde_json::from_slice::<IgnoredAny>(&self.bytes).is_ok()
    }

    fn taken(&mut self) -> Result<Vec<u8>, Unread> {
        if self.is_cut { Err(Unread::TooLong) } else { Ok(std::mem::take(&mut self.bytes)) }
    }
}

/// All that `source` gives, which is read by a thread of its own: reading cannot be given up.
pub(super) fn read(source: impl Read + Send + 'static) -> Result<Vec<u8>, Unread> {
    let shared = Arc::new(Shared::default());
    let reader = Arc::clone(&shared);
    let spawned = thread::Builder::new().spawn(move || reader.gather(source));
    if spawned.is_err() {
        return Err(Unread::Broken);
    }
    let deadline = Instant::now() + WAIT_MAX;
    let mut gathered = shared.gathered();
    let mut length = None;
    loop {
        let waited = shared.ended.wait_timeout_while(gathered, QUIET, |now| now.end.is_none());
        (gathered, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match gathered.end {
            Some(Ok(())) => return gathered.taken(),
            Some(Err(_)) => return Err(Unread::Broken),
            None => {}
        }
        let is_quiet = length == Some(gathered.bytes.len());
        if is_quiet && gathered.is_whole() {
            return gathered.taken();
        }
        length = Some(gathered.bytes.len());
        if Instant::now() > deadline {
            return Err(if gathered.is_cut { Unread::TooLong } else { Unread::Unclosed });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::sync::mpsc::{Receiver, channel};

    use super::{BYTES_MAX, Unread, read};

    /// Gives what is sent, and does not end before its sender does.
    struct Pipe(Receiver<&'static [u8]>);

    impl Read for Pipe {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Ok(bytes) = self.0.recv() else { return Ok(0) };
            buffer[..bytes.len()].copy_from_slice(bytes);
            Ok(bytes.len())
        }
    }

    #[test]
    fn all_is_read_to_the_end_be_it_json_or_not() {
        let long = "x".repeat(200_000);
        for text in ["", "{}", "{\"a\":", "no JSON", &long] {
            let source = std::io::Cursor::new(text.to_owned());
            assert_eq!(read(source), Ok(text.as_bytes().to_vec()));
        }
    }

    #[test]
    fn what_is_too_long_is_read_and_not_kept() {
        let at_most = vec![b' '; BYTES_MAX];
        assert_eq!(read(io::Cursor::new(at_most)).map(|read| read.len()), Ok(BYTES_MAX));
        let longer = io::repeat(b' ').take(BYTES_MAX as u64 + 1);
        assert_eq!(read(longer), Err(Unread::TooLong));
    }

    #[test]
    fn pitfall_06_a_whole_payload_is_enough_where_the_end_never_comes() {
        let (sender, receiver) = channel();
        for part in [&b"{\"a\":"[..], b"[1]", b"}\n"] {
            sender.send(part).expect("a reader");
        }
        assert_eq!(read(Pipe(receiver)), Ok(b"{\"a\":[1]}\n".to_vec()));
        drop(sender);
    }

    #[test]
    fn pitfall_06_a_part_of_one_is_not_waited_for_without_end() {
        let (sender, receiver) = channel();
        sender.send(&b"{\"a\":"[..]).expect("a reader");
        assert_eq!(read(Pipe(receiver)), Err(Unread::Unclosed));
        drop(sender);
    }
}
