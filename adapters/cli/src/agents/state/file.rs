//! The files of the state folder, and the state of one worker under an exclusive lock.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fmt, thread};

use fs4::{FileExt, TryLockError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::folder::STATES;
use crate::frame::Frame;
use crate::private;

/// The format of a state file. Every change of a stored type raises its version.
const STATE: Frame = Frame { magic: *b"ustk", version: 12 };

/// The longest state that is read: ten times the size of a detector with full tables.
const STATE_MAX: usize = 256 * 1024;

/// The shortest time after which a hook stops waiting for a lock. Missing one event does less harm than
/// holding up the agent for longer. The work under the lock takes a fifth of a millisecond.
pub(super) const WAIT_MIN: Duration = Duration::from_millis(50);

/// The longest wait for a lock: a fifth of the time that every agent allows a hook.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// The most that is read of a file, so that no file fills the memory.
const BYTES_MAX: u64 = 16 << 20;

/// The pause between two attempts to take a lock.
const PAUSE: Duration = Duration::from_micros(250);

/// The reason why a state file cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// A later version of this program wrote it. A copy of the file is kept for that version.
    Newer,
    /// An earlier version of this program wrote it.
    Older,
    /// The file is incomplete or another program wrote to it.
    Torn,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Newer => {
                "a newer version of unstuck wrote the state, of which a copy is kept; the session begins anew"
            }
            Self::Older => "an older version of unstuck wrote the state; the session begins anew",
            Self::Torn => "the state is damaged; the session begins anew",
        })
    }
}

/// The reason why a state cannot be read or written.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Another process held the lock for this long.
    Busy(Duration),
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
            Self::Busy(waited) => write!(
                f,
                "the state was locked for {} ms; this event is not counted",
                waited.as_millis()
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
    /// Opens and locks the file `path`, which is created if it does not exist. Waits as long as the event has
    /// taken so far: where reading it takes long, other hooks may read as much, or the machine is busy.
    pub(super) fn open(path: &Path, taken: Duration) -> Result<Self, Trouble> {
        let wait = taken.clamp(WAIT_MIN, WAIT_MAX);
        let begun = Instant::now();
        loop {
            let file = create(&mut private::options(), path)?;
            lock(&file, begun, wait)?;
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
        (&self.0).take(STATE_MAX as u64 + 64).read_to_end(&mut bytes)?;
        opened(&bytes).map_err(Trouble::Damage)
    }

    /// Writes `state` in place of the previous one.
    pub(crate) fn write(&mut self, state: &impl Serialize) -> Result<(), Trouble> {
        let bytes = sealed(state).ok_or(Trouble::TooLong)?;
        self.0.rewind()?;
        self.0.write_all(&bytes)?;
        self.0.set_len(bytes.len() as u64)?;
        Ok(())
    }
}

/// Returns the content of a state file for `state`, or `None` if it is longer than [`STATE_MAX`].
fn sealed(state: &impl Serialize) -> Option<Vec<u8>> {
    let before = [&STATE.head()[..], &[0; Frame::BEFORE]].concat();
    let longest = before.len() + STATE_MAX;
    let mut bytes = postcard::to_extend(state, before).ok()?;
    STATE.seal(bytes.get_mut(Frame::HEAD..)?);
    (bytes.len() <= longest).then_some(bytes)
}

/// Reads the content of a state file. `T` may be a prefix of the stored type. Returns `None` for an empty file, which has
/// just been created. The rest of a longer earlier state may follow.
pub(super) fn opened<T: DeserializeOwned>(bytes: &[u8]) -> Result<Option<T>, Damage> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let behind = STATE
        .behind_head(bytes)
        .map_err(|version| if version > STATE.version { Damage::Newer } else { Damage::Older })?;
    let (body, _) = behind.and_then(|rest| STATE.body(rest)).ok_or(Damage::Torn)?;
    let (value, _) = postcard::take_from_bytes(body).map_err(|_| Damage::Torn)?;
    Ok(Some(value))
}

/// Opens a file of the state folder. Only this user can read a new file. Anything else in its place is an error that
/// says what it is: opening a pipe could wait forever, and another user may have made a link to a file of this one.
pub(super) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    refuse_others(path)?;
    private::restrict(options);
    let opened = options.open(path);
    let kind = match &opened {
        Ok(file) => file.metadata()?.file_type(),
        // It may be that a pipe has no reader, or that a folder cannot be written to.
        Err(_) => match fs::symlink_metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(_) => return opened,
        },
    };
    match other(kind) {
        None => opened,
        Some(what) => Err(io::Error::other(format!("{what} stands in its place"))),
    }
}

/// Opens a file of the state folder like [`open`], and creates its folder if there is none.
pub(super) fn create(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    match (open(options, path), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == ErrorKind::NotFound => {
            private::make(folder)?;
            open(options, path)
        }
        (opened, _) => opened,
    }
}

/// Returns options to write a file anew.
pub(super) fn anew() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    options
}

/// Checks that no other user can exchange a file: its folder belongs to this user or to the administrator, and the
/// folder above it as well if that is of the state, too.
#[cfg(unix)]
fn refuse_others(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    let own = path.parent();
    let above = own.filter(|folder| folder.ends_with(STATES)).and_then(Path::parent);
    let user = rustix::process::geteuid().as_raw();
    for folder in [own, above].into_iter().flatten() {
        let owner = fs::metadata(folder)?.uid();
        if owner != user && owner != 0 {
            let what = format!("the folder belongs to user {owner}, and this is user {user}");
            return Err(io::Error::new(ErrorKind::PermissionDenied, what));
        }
    }
    Ok(())
}

/// Reads a file of the state folder.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(OpenOptions::new().read(true), path)?.take(BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the name of a thing that is not a file, or `None` for a file.
fn other(kind: FileType) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return Some("a pipe");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
    }
    match kind {
        kind if kind.is_file() => None,
        kind if kind.is_dir() => Some("a folder"),
        kind if kind.is_symlink() => Some("a link"),
        _ => Some("a device"),
    }
}

/// Takes the lock of `file`, which ends when the file is closed. Waits for at most `wait` after `begun`.
pub(super) fn lock(file: &File, begun: Instant, wait: Duration) -> Result<(), Trouble> {
    loop {
        match FileExt::try_lock(file) {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < wait => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Err(Trouble::Busy(wait)),
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
    use super::*;

    const NO_TIME: Duration = Duration::ZERO;

    fn pair(bytes: &[u8]) -> Result<Option<(u64, String)>, Damage> {
        opened(bytes)
    }

    #[test]
    fn a_sealed_state_and_a_prefix_of_it_can_be_read() {
        let state = (7_u64, "main".to_owned());
        let bytes = sealed(&state).expect("a short state");
        assert_eq!(pair(&bytes), Ok(Some(state)));
        assert_eq!(opened::<u64>(&bytes), Ok(Some(7)));
        assert_eq!(pair(&[]), Ok(None));
        let longer = [&bytes[..], b"the rest of what was there"].concat();
        assert_eq!(pair(&longer), pair(&bytes));
    }

    #[test]
    fn newer_older_and_torn_states_are_different_errors() {
        let bytes = sealed(&(7_u64, String::new())).expect("a short state");
        for (version, damage) in [(0, Damage::Older), (STATE.version + 1, Damage::Newer)] {
            let mut other = bytes.clone();
            other[4..6].copy_from_slice(&version.to_le_bytes());
            assert_eq!(pair(&other), Err(damage));
        }
        assert_eq!(pair(b"something else entirely"), Err(Damage::Torn));
        // Complete, but of another type.
        assert_eq!(opened::<(u64, String)>(&sealed(&7_u8).expect("a byte")), Err(Damage::Torn));
    }

    #[test]
    fn a_state_that_is_too_long_to_read_is_not_written() {
        assert!(sealed(&vec![0_u8; STATE_MAX - 8]).is_some());
        assert_eq!(sealed(&vec![0_u8; STATE_MAX]), None);
    }

    #[test]
    fn a_state_is_rewritten_in_place_and_may_become_shorter() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.state");
        for text in ["a long state", "short", ""] {
            let mut file = StateFile::open(&path, NO_TIME).expect("a state file");
            file.write(&text).expect("a disk to write to");
            drop(file);
            let read = StateFile::open(&path, NO_TIME).and_then(|mut file| file.read::<String>());
            assert_eq!(read.expect("a state").as_deref(), Some(text));
        }
    }

    #[test]
    fn waiting_for_a_locked_file_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.state");
        let held = StateFile::open(&path, NO_TIME).expect("a state file");
        // An event that took long waits as long again, up to a limit.
        let twice = 2 * WAIT_MIN;
        for (taken, expected) in [(NO_TIME, WAIT_MIN), (twice, twice), (2 * WAIT_MAX, WAIT_MAX)] {
            let busy = StateFile::open(&path, taken);
            assert!(matches!(busy, Err(Trouble::Busy(waited)) if waited == expected), "{taken:?}");
        }
        drop(held);
        assert!(StateFile::open(&path, NO_TIME).is_ok());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_and_no_panic() {
        let full = private::options().open("/dev/full").expect("a device that can be opened");
        let mut file = StateFile(full);
        assert!(matches!(file.read::<String>(), Err(Trouble::Damage(_))));
        assert!(matches!(file.write(&"state"), Err(Trouble::Io(_))));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_named_and_never_waited_for() {
        use std::os::unix::{fs::symlink, net::UnixListener};
        use std::process::Command;

        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let made = Command::new("mkfifo").arg(path("a pipe")).status().expect("a program");
        assert!(made.success());
        fs::create_dir(path("a folder")).expect("a folder");
        let _socket = UnixListener::bind(path("a socket")).expect("a socket");
        fs::write(path("a file"), "text").expect("a file");
        symlink(path("a file"), path("a link")).expect("a link");
        for name in ["a pipe", "a folder", "a device", "a socket", "a link"] {
            let path = |name| if name == "a device" { "/dev/null".into() } else { path(name) };
            let mut add = OpenOptions::new();
            add.append(true).create(true);
            let all = [
                open(&mut add, &path(name)),
                open(&mut anew(), &path(name)),
                open(&mut private::options(), &path(name)),
            ];
            let errors = all.map(|opened| opened.expect_err(name));
            for error in errors.into_iter().chain(read(&path(name)).err()) {
                assert_eq!(error.to_string(), format!("{name} stands in its place"));
            }
            let locked = StateFile::open(&path(name), NO_TIME);
            assert!(matches!(locked, Err(Trouble::Io(_))), "{locked:?}");
        }
        assert_eq!(read(&path("a file")).expect("a file"), b"text");
        assert_eq!(read(&path("none")).map_err(|error| error.kind()), Err(ErrorKind::NotFound));
    }
}
