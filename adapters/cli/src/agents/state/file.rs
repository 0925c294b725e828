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

/// How long a lock is waited for: an agent that waits longer for a guard is worse off than one that
/// is not guarded for one call. What is done under the lock takes a fifth of a millisecond.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// How long a lock is waited for before it is tried again.
const PAUSE: Duration = Duration::from_micros(250);

/// Why a state cannot be worked with.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Somebody else held the lock for too long.
    Busy,
    /// What a state says is of no use.
    Damage(Damage),
    /// What would be kept is longer than what is read again.
    TooLong,
    /// The disk, or whoever may write to it.
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
            Self::Busy => write!(f, "the state was locked for {} ms", WAIT_MAX.as_millis()),
            Self::Damage(damage) => damage.fmt(f),
            Self::TooLong => f.write_str("the state is too long to be kept"),
            Self::Io(error) => write!(f, "the state cannot be kept: {error}"),
        }
    }
}

/// A state file that nobody else reads or writes as long as this value lives.
#[derive(Debug)]
pub(crate) struct StateFile(File);

impl StateFile {
    /// Opens the file `path`, which is made if there is none.
    pub(super) fn open(path: &Path) -> Result<Self, Trouble> {
        let deadline = Instant::now() + WAIT_MAX;
        loop {
            let file = options().open(path)?;
            lock(&file, deadline)?;
            // Whoever held the lock may have removed the file: then another one has that name.
            if is_linked(&file) {
                return Ok(Self(file));
            }
        }
    }

    /// What was kept, or the beginning of it; none if the file is new.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Trouble> {
        let mut bytes = Vec::with_capacity(16 * 1024);
        self.0.rewind()?;
        (&self.0).take(envelope::BYTES_MAX as u64 + 64).read_to_end(&mut bytes)?;
        envelope::open(&bytes).map_err(Trouble::Damage)
    }

    /// Keeps `state` in the place of what was kept before.
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

/// Takes the lock of `file`, which goes with the file.
fn lock(file: &File, deadline: Instant) -> Result<(), Trouble> {
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

/// No file that is open can be removed here.
#[cfg(not(unix))]
fn is_linked(_: &File) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::{StateFile, Trouble};

    #[test]
    fn a_state_is_kept_in_place_and_may_become_shorter() {
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
    fn a_file_that_another_holds_is_not_waited_for_without_end() {
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
