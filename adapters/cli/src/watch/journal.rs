//! The state folder: a snapshot, and a journal of the requests since then.
//!
//! The journal is a list of entries, each with its length and checksum. A snapshot names the journal that goes
//! on from it, so a kill at any moment leaves a pair that belongs together: first the next journal is created,
//! then the snapshot is renamed into place, then the old journal is removed.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use fs4::{FileExt, TryLockError};

use super::outputs::is_elsewhere;
use crate::frame::Frame;
use crate::output::remark;
use crate::private;

/// The version of both files. Every change of their format raises it.
pub(super) const VERSION: u16 = 5;

/// The formats of the journal and of the snapshot.
const JOURNAL: Frame = Frame { magic: *b"ustj", version: VERSION };
const SNAPSHOT: Frame = Frame { magic: *b"usts", version: VERSION };

/// The length of the head of a file.
const HEAD: u64 = Frame::HEAD as u64;

/// The longest entry: a request with the largest body that can be allowed, and its head.
const ENTRY_MAX: usize = (1 << 30) + 64;

/// An entry of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    /// Spans that were taken in at a time in milliseconds, in the encoding of their request.
    Spans { at: u64, encoding: Encoding, body: &'a [u8] },
    /// An output has delivered the finding with this id, or has dropped it.
    Done { output: u8, id: &'a str },
}

/// The encoding of a request, with its number in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf = 1,
    Json = 2,
}

impl<'a> Entry<'a> {
    pub(super) fn written(self) -> Vec<u8> {
        let mut body = vec![0; Frame::BEFORE];
        match self {
            Self::Spans { at, encoding, body: spans } => {
                body.reserve(spans.len() + 9);
                body.push(encoding as u8);
                body.extend(at.to_le_bytes());
                body.extend(spans);
            }
            Self::Done { output, id } => {
                body.extend([3, output]);
                body.extend(id.as_bytes());
            }
        }
        JOURNAL.seal(&mut body);
        body
    }

    pub(super) fn read(body: &'a [u8]) -> Option<Self> {
        let (kind, rest) = body.split_first()?;
        let spans = |encoding| {
            let (at, body) = rest.split_first_chunk()?;
            Some(Self::Spans { at: u64::from_le_bytes(*at), encoding, body })
        };
        match kind {
            1 => spans(Encoding::Protobuf),
            2 => spans(Encoding::Json),
            3 => {
                let (output, id) = rest.split_first()?;
                Some(Self::Done { output: *output, id: str::from_utf8(id).ok()? })
            }
            _ => None,
        }
    }
}

/// The files of a state folder, which is locked while this value lives.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    lock: File,
    generation: u64,
    journal: File,
    /// The length of the journal.
    length: u64,
    is_dirty: bool,
}

/// The contents of a folder that was opened.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// The content of the snapshot, if there is one.
    pub(super) snapshot: Option<Vec<u8>>,
    /// The entries since then, in their encoding.
    entries: Vec<u8>,
}

impl Stored {
    /// Returns the entries of the journal, in their order.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut rest = &self.entries[..];
        std::iter::from_fn(move || {
            let (body, after) = entry(rest)?;
            rest = after;
            Entry::read(body)
        })
    }
}

impl Store {
    /// Opens the folder `path` and reads its files. Creates the folder if it does not exist. A damaged file is
    /// renamed, and a message says so.
    ///
    /// # Errors
    ///
    /// Why the folder cannot be used.
    pub(super) fn open(path: &Path) -> Result<(Self, Stored), String> {
        let folder = path.to_owned();
        let failed = failed(path);
        private::make(&folder).map_err(failed)?;
        let lock = match locked(&folder) {
            Ok(lock) => lock,
            Err(TryLockError::WouldBlock) => {
                return Err("another process uses this folder: give each its own".to_owned());
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        };
        let (generation, snapshot) = read_snapshot(&folder)?;
        let generation = match generation {
            Some(generation) => generation,
            None => journals(&folder).map_err(failed)?.first().copied().unwrap_or_default(),
        };
        for other in journals(&folder).map_err(failed)? {
            if other != generation {
                // It belongs to a former snapshot, or to one that was not finished and is empty.
                let _ = fs::remove_file(journal_path(&folder, other));
            }
        }
        let (journal, entries) = read_journal(&journal_path(&folder, generation))?;
        let length = HEAD + entries.len() as u64;
        let store = Self { folder, lock, generation, journal, length, is_dirty: false };
        Ok((store, Stored { snapshot, entries }))
    }

    /// Adds an entry. From then on, it survives a kill of the process. Once the file of [`Store::unsynced`] is on the
    /// disk, it also survives a crash of the machine.
    ///
    /// # Errors
    ///
    /// If the entry cannot be written. The journal is then unchanged.
    pub(super) fn add(&mut self, entry: Entry<'_>) -> io::Result<()> {
        if self.is_gone() {
            return Err(io::Error::new(ErrorKind::NotFound, "it was removed or moved"));
        }
        let bytes = entry.written();
        if let Err(error) = self.journal.write_all(&bytes) {
            // Half an entry would hide those behind it.
            self.journal.set_len(self.length)?;
            self.journal.seek(SeekFrom::End(0))?;
            return Err(error);
        }
        self.length += bytes.len() as u64;
        self.is_dirty = true;
        Ok(())
    }

    /// Returns the journal's file if entries were added since the last time, to bring them to the disk.
    pub(super) fn unsynced(&mut self) -> Option<File> {
        if !std::mem::take(&mut self.is_dirty) {
            return None;
        }
        self.journal.try_clone().ok()
    }

    /// Returns whether the journal or the lock are no longer in the folder, so that no restart would find what is
    /// added. A snapshot mends it, once the folder is there again.
    pub(super) fn is_gone(&self) -> bool {
        let journal = journal_path(&self.folder, self.generation);
        let files = [(journal, &self.journal), (lock_path(&self.folder), &self.lock)];
        files.iter().any(|(path, file)| is_elsewhere(path, file).unwrap_or(true))
    }

    /// Returns the length of the journal in bytes.
    pub(super) const fn length(&self) -> u64 {
        self.length
    }

    /// Returns whether the journal has no entries.
    pub(super) const fn is_empty(&self) -> bool {
        self.length <= HEAD
    }

    /// Replaces the snapshot, and begins another journal.
    pub(super) fn snapshot(&mut self, state: &[u8]) -> io::Result<()> {
        if is_elsewhere(&lock_path(&self.folder), &self.lock)? {
            self.lock = locked(&self.folder)?;
        }
        let next = self.generation + 1;
        let path = journal_path(&self.folder, next);
        let mut journal = private::options().truncate(true).open(&path)?;
        journal.write_all(&JOURNAL.head())?;
        let unfinished = self.folder.join("snapshot.new");
        let mut file = private::options().truncate(true).open(&unfinished)?;
        file.write_all(&SNAPSHOT.head())?;
        file.write_all(&next.to_le_bytes())?;
        file.write_all(&SNAPSHOT.sum(state))?;
        file.write_all(state)?;
        file.sync_data()?;
        fs::rename(&unfinished, self.folder.join("snapshot"))?;
        // If it stays, the next start removes it.
        let _ = fs::remove_file(journal_path(&self.folder, self.generation));
        (self.generation, self.journal, self.length) = (next, journal, HEAD);
        Ok(())
    }
}

/// Describes an error of the file system.
fn failed(path: &Path) -> impl Fn(io::Error) -> String + Copy {
    move |error| format!("{}: {error}", path.display())
}

/// Checks the head of a file. Returns the bytes behind it, or `None` if they are damaged.
fn behind_head<'b>(path: &Path, bytes: &'b [u8], of: Frame) -> Result<Option<&'b [u8]>, String> {
    of.behind_head(bytes).map_err(|found| {
        format!(
            "{} has version {found} of the format, and this program reads {VERSION}: finish with the program that \
             wrote it, or name another folder",
            path.display()
        )
    })
}

/// Reads the snapshot and the number of its journal. A damaged one is put aside.
fn read_snapshot(folder: &Path) -> Result<(Option<u64>, Option<Vec<u8>>), String> {
    let path = folder.join("snapshot");
    let mut bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((None, None)),
        Err(error) => return Err(failed(&path)(error)),
    };
    let whole = behind_head(&path, &bytes, SNAPSHOT)?.and_then(|rest| {
        let (generation, rest) = rest.split_first_chunk()?;
        let (expected, state) = rest.split_first_chunk::<8>()?;
        (SNAPSHOT.sum(state) == *expected).then(|| (u64::from_le_bytes(*generation), state.len()))
    });
    if let Some((generation, length)) = whole {
        // A state is large, so it is not copied.
        bytes.drain(..bytes.len() - length);
        return Ok((Some(generation), Some(bytes)));
    }
    let what = "is damaged: the sessions in it begin anew, only the journal is read";
    put_aside(&path, what)?;
    Ok((None, None))
}

/// Opens or creates a journal, and returns its complete entries. The bytes after them are cut off.
fn read_journal(path: &Path) -> Result<(File, Vec<u8>), String> {
    let failed = failed(path);
    let mut bytes = Vec::new();
    let mut file = private::options().open(path).map_err(failed)?;
    file.read_to_end(&mut bytes).map_err(failed)?;
    let Some(entries) = behind_head(path, &bytes, JOURNAL)? else {
        if !bytes.is_empty() && !JOURNAL.head().starts_with(&bytes) {
            put_aside(path, "is damaged: the spans in it are lost")?;
            file = private::options().open(path).map_err(failed)?;
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        file.write_all(&JOURNAL.head()).map_err(failed)?;
        return Ok((file, Vec::new()));
    };
    let mut rest = entries;
    while let Some((_, after)) = entry(rest) {
        rest = after;
    }
    let whole = entries.len() - rest.len();
    if is_damaged(rest) {
        let name = path.display().to_string();
        let copy = path.with_extension("damaged");
        let copied = private::options()
            .truncate(true)
            .open(&copy)
            .and_then(|mut copy| copy.write_all(&bytes));
        copied.map_err(failed)?;
        let what = format!(
            "is damaged behind byte {}: the {} bytes that follow are lost, and kept in {}",
            HEAD + whole as u64,
            rest.len(),
            copy.display()
        );
        remark(&name, &what);
    }
    // An entry that a kill cut off was never answered.
    file.set_len(HEAD + whole as u64).map_err(failed)?;
    file.seek(SeekFrom::End(0)).map_err(failed)?;
    let before = bytes.len() - entries.len();
    bytes.truncate(before + whole);
    bytes.drain(..before);
    Ok((file, bytes))
}

/// Returns the body of the first entry, and the bytes after it. Returns `None` if the entry is incomplete.
pub(super) fn entry(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    JOURNAL.body(bytes).filter(|(body, _)| body.len() <= ENTRY_MAX)
}

/// Returns whether the end of a journal is damaged, and not just an entry that a kill cut off.
fn is_damaged(rest: &[u8]) -> bool {
    let Some((length, body)) = rest.split_first_chunk() else { return false };
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    body.len() >= length.saturating_add(8)
}

/// Renames a damaged file, and prints a message.
fn put_aside(path: &Path, what: &str) -> Result<(), String> {
    let aside = path.with_extension("damaged");
    fs::rename(path, &aside).map_err(failed(path))?;
    remark(&path.display().to_string(), &format!("{what}; it is kept as {}", aside.display()));
    Ok(())
}

fn lock_path(folder: &Path) -> PathBuf {
    folder.join("lock")
}

/// Opens and locks the lock of a folder.
fn locked(folder: &Path) -> Result<File, TryLockError> {
    let lock = private::options().open(lock_path(folder)).map_err(TryLockError::Error)?;
    FileExt::try_lock(&lock).map(|()| lock)
}

fn journal_path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("journal-{generation}"))
}

/// Returns the numbers of the journals in the folder, sorted.
fn journals(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        numbers.extend(
            name.to_str().and_then(|name| name.strip_prefix("journal-")?.parse::<u64>().ok()),
        );
    }
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRIES: [Entry<'static>; 3] = [
        Entry::Spans { at: 5, encoding: Encoding::Protobuf, body: b"spans" },
        Entry::Done { output: 2, id: "0123456789abcdef" },
        Entry::Spans { at: u64::MAX, encoding: Encoding::Json, body: b"" },
    ];

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    fn open(folder: &Path) -> (Store, Stored) {
        Store::open(folder).expect("a state folder")
    }

    fn fill(folder: &Path) {
        let (mut store, _) = open(folder);
        for entry in ENTRIES {
            store.add(entry).expect("an entry");
        }
    }

    #[test]
    fn entries_come_back_until_a_snapshot_replaces_them() {
        let folder = folder();
        fill(folder.path());
        let (mut store, stored) = open(folder.path());
        assert!(stored.entries().eq(ENTRIES) && stored.snapshot.is_none());
        store.snapshot(b"state").expect("a snapshot");
        assert!(store.is_empty());
        store.add(ENTRIES[1]).expect("an entry");
        drop(store);
        let (_store, stored) = open(folder.path());
        assert_eq!(stored.snapshot.as_deref(), Some(&b"state"[..]));
        assert!(stored.entries().eq([ENTRIES[1]]));
        assert_eq!(journals(folder.path()).expect("a folder"), [1]);
    }

    #[test]
    fn a_journal_that_a_kill_cut_off_loses_only_its_last_entry() {
        let folder = folder();
        fill(folder.path());
        let path = journal_path(folder.path(), 0);
        let whole = fs::read(&path).expect("a journal");
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("a journal");
            let (mut store, stored) = open(folder.path());
            let count = stored.entries().count();
            assert!(count < 3 && stored.entries().eq(ENTRIES[..count].iter().copied()));
            store.add(ENTRIES[1]).expect("an entry");
            drop(store);
            let (_store, stored) = open(folder.path());
            assert_eq!(stored.entries().last(), Some(ENTRIES[1]), "cut at {length}");
            assert!(!path.with_extension("damaged").exists());
        }
    }

    #[test]
    fn a_snapshot_that_a_kill_cut_off_changes_nothing() {
        let folder = folder();
        fill(folder.path());
        // The next journal is there, and the snapshot is not in its place.
        fs::write(journal_path(folder.path(), 1), JOURNAL.head()).expect("a journal");
        fs::write(folder.path().join("snapshot.new"), b"us").expect("a snapshot");
        let (mut store, stored) = open(folder.path());
        assert!(stored.entries().eq(ENTRIES));
        store.snapshot(b"state").expect("a snapshot");
        // The old journal was not removed.
        fs::write(journal_path(folder.path(), 0), JOURNAL.head()).expect("a journal");
        drop(store);
        let (_store, stored) = open(folder.path());
        assert_eq!(
            (stored.snapshot.as_deref(), stored.entries().count()),
            (Some(&b"state"[..]), 0)
        );
    }

    #[cfg(unix)]
    #[test]
    fn no_file_is_written_through_a_link() {
        let folder = folder();
        fill(folder.path());
        let precious = folder.path().join("precious");
        fs::write(&precious, "precious").expect("a file");
        let link = |name: &str| {
            let path = folder.path().join(name);
            let _ = fs::remove_file(&path);
            std::os::unix::fs::symlink(&precious, &path).expect("a link");
        };
        let (mut store, _) = open(folder.path());
        for name in ["snapshot.new", "journal-1"] {
            link(name);
            assert!(store.snapshot(b"state").is_err());
            fs::remove_file(folder.path().join(name)).expect("a link");
        }
        drop(store);
        for name in ["journal-0", "lock"] {
            link(name);
            assert!(Store::open(folder.path()).is_err());
        }
        assert_eq!(fs::read(&precious).expect("a file"), b"precious");
    }

    #[test]
    fn damaged_files_are_kept_aside() {
        let folder = folder();
        fill(folder.path());
        let path = journal_path(folder.path(), 0);
        let mut bytes = fs::read(&path).expect("a journal");
        bytes[25] ^= 1;
        fs::write(&path, &bytes).expect("a journal");
        let (mut store, stored) = open(folder.path());
        assert_eq!(stored.entries().count(), 0);
        assert_eq!(fs::read(path.with_extension("damaged")).expect("a copy"), bytes);
        store.snapshot(b"state").expect("a snapshot");
        store.add(ENTRIES[0]).expect("an entry");
        drop(store);
        let snapshot = folder.path().join("snapshot");
        let mut bytes = fs::read(&snapshot).expect("a snapshot");
        *bytes.last_mut().expect("a byte") ^= 1;
        fs::write(&snapshot, &bytes).expect("a snapshot");
        let (_store, stored) = open(folder.path());
        assert!(stored.snapshot.is_none() && stored.entries().eq([ENTRIES[0]]));
        assert!(snapshot.with_extension("damaged").exists());
    }

    #[test]
    fn a_folder_of_another_process_or_version_is_left_unchanged() {
        let folder = folder();
        let (store, _) = open(folder.path());
        let again = Store::open(folder.path()).err();
        assert_eq!(again.as_deref(), Some("another process uses this folder: give each its own"));
        drop(store);
        let newer = [&JOURNAL.magic[..], &(VERSION + 1).to_le_bytes(), b"entries"].concat();
        fs::write(journal_path(folder.path(), 0), &newer).expect("a journal");
        let trouble = Store::open(folder.path()).err();
        let versions =
            format!("has version {} of the format, and this program reads {VERSION}", VERSION + 1);
        assert!(trouble.expect("trouble").contains(&versions));
        assert_eq!(fs::read(journal_path(folder.path(), 0)).expect("a journal"), newer);
    }

    #[cfg(unix)]
    #[test]
    fn only_this_user_can_read_the_state() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = folder();
        let state = folder.path().join("state");
        let (mut store, _) = open(&state);
        store.snapshot(b"state").expect("a snapshot");
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode(&state), 0o700);
        for entry in fs::read_dir(&state).expect("a folder") {
            assert_eq!(mode(&entry.expect("a file").path()), 0o600);
        }
    }
}
