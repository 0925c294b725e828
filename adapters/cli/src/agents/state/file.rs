//! The state of one worker on disk, held under an exclusive lock.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fmt, thread};

use fs4::{FileExt, TryLockError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::envelope::{self, Damage};

/// The longest wait for a lock. Missing one event does less harm than holding up the agent for longer.
/// The work under the lock takes a fifth of a millisecond.
pub(super) const WAIT_MAX: Duration = Duration::from_millis(50);

/// The pause between two attempts to take a lock.
const PAUSE: Duration = Duration::from_micros(250);

/// The reason why a state cannot be read or written.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Another process held the lock for too long.
    Busy,
    /// The content of the file cannot be used.
    Damage(Damage),
    /// The state is longer than what is read again.
    TooLong,
    /// The file system reported an error, for example a full disk.
    Io(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => write!(
                f,
                "the state was locked for {} ms; this event is not counted",
                WAIT_MAX.as_millis()
            ),
            Self::Damage(damage) => damage.fmt(f),
            Self::TooLong => f.write_str("the state is too long to be stored"),
            Self::Io(error) => write!(f, "the state cannot be stored: {error}"),
        }
    }
}

/// A locked state file. No other hook reads or writes it while this value lives.
#[derive(Debug)]
pub(crate) struct StateFile(File);

impl StateFile {
    /// Opens and locks the file `path`, which is created if it does not exist.
    pub(super) fn open(path: &Path) -> Result<Self, Trouble> {
        let deadline = Instant::now() + WAIT_MAX;
        loop {
            let file = options().open(path)?;
            lock(&file, deadline)?;
            // The previous holder of the lock may have removed the file. Then `path` is another file.
            if is_linked(&file) {
                return Ok(Self(file));
            }
        }
    }

    /// Reads the state, or a prefix of it. Returns `None` if the file is new.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Trouble> {
        let mut bytes = Vec::with_capacity(16 * 1024);
        self.0.rewind()?;
        (&self.0).take(envelope::BYTES_MAX as u64 + 64).read_to_end(&mut bytes)?;
        envelope::open(&bytes).map_err(Trouble::Damage)
    }

    /// Writes `state` in place of the previous one.
    pub(crate) fn write(&mut self, state: &impl Serialize) -> Result<(), Trouble> {
        let bytes = envelope::seal(state).ok_or(Trouble::TooLong)?;
        self.0.rewind()?;
        self.0.write_all(&bytes)?;
        self.0.set_len(bytes.len() as u64)?;
        Ok(())
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Takes the lock of `file`, which ends when the file is closed.
pub(super) fn lock(file: &File, deadline: Instant) -> Result<(), Trouble> {
    loop {
        match FileExt::try_lock(file) {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Err(Trouble::Busy),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}

#[cfg(unix)]
fn is_linked(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    file.metadata().is_ok_and(|metadata| metadata.nlink() > 0)
}

/// An open file cannot be removed here.
#[cfg(not(unix))]
fn is_linked(_: &File) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::{StateFile, Trouble};

    #[test]
    fn a_state_is_rewritten_in_place_and_may_become_shorter() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.state");
        for text in ["a long state", "short", ""] {
            let mut file = StateFile::open(&path).expect("a state file");
            file.write(&text).expect("a disk to write to");
            drop(file);
            let read = StateFile::open(&path).and_then(|mut file| file.read::<String>());
            assert_eq!(read.expect("a state").as_deref(), Some(text));
        }
    }

    #[test]
    fn waiting_for_a_locked_file_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.state");
        let held = StateFile::open(&path).expect("a state file");
        assert!(matches!(StateFile::open(&path), Err(Trouble::Busy)));
        drop(held);
        assert!(StateFile::open(&path).is_ok());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_and_no_panic() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.state");
        std::os::unix::fs::symlink("/dev/full", &path).expect("a link");
        let mut file = StateFile::open(&path).expect("a device that can be opened");
        assert!(matches!(file.read::<String>(), Err(Trouble::Damage(_))));
        assert!(matches!(file.write(&"state"), Err(Trouble::Io(_))));
    }
}
