//! The folder of the state files: their names, what they tell together, and how long they are kept.

use std::ffi::OsString;
use std::fs::{self, DirEntry, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, process};

use serde::Deserialize;
use unstuck::{Account, Spent};
use unstuck_json::{Hash64 as _, Rapid};

use super::PAUSES;
use super::file::{self, StateFile, Trouble};
use super::journal::{Entry, JOURNAL, LOG};
use super::session::{Key, Session};
use crate::agents::Agent;
use crate::agents::host::home;
use crate::private;

/// The extension of a state file.
const ENDING: &str = "state";

/// The ending of copies of states that a newer version of this program wrote.
const NEWER: &str = "newer";

/// The ending of a file with what a worker has spent of a budget. It stays when the session ends, because the day goes on.
const SPENT: &str = "spent";

/// The name of the folder of the state files.
pub(super) const STATES: &str = "sessions";

/// Returns the prefix of the names of all files of a session.
fn session_name(key: &Key<'_>) -> String {
    format!("{:016x}", digest(&[key.agent.name(), key.session]))
}

/// Returns the name of a worker's file. It consists of digests, because an agent's name for a session may
/// be a path or a secret.
fn file_name(key: &Key<'_>) -> String {
    format!("{}-{:016x}.{ENDING}", session_name(key), digest(&[key.worker]))
}

/// Returns a digest of words, with a mark after each.
pub(crate) fn digest(words: &[&str]) -> u64 {
    let marked: Vec<u8> = words.iter().flat_map(|word| word.bytes().chain([0xff])).collect();
    Rapid::new(0).hash(&marked)
}

/// The folder of all state.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Returns the folder that the environment names: `$UNSTUCK_STATE_DIR`, else `unstuck` in
    /// `$XDG_STATE_HOME`, else `unstuck` in `.local/state` of the home folder. Returns `None` if there is
    /// none of them.
    pub(crate) fn find() -> Option<Self> {
        let named = |name| env::var_os(name).filter(|folder: &OsString| !folder.is_empty());
        if let Some(folder) = named("UNSTUCK_STATE_DIR") {
            return Some(Self(folder.into()));
        }
        // The specification says to ignore a relative path.
        let state = named("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = state.or_else(|| home().map(|home| home.join(".local/state")))?;
        Some(Self(folder.join("unstuck")))
    }

    #[cfg(test)]
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Returns a folder that does not exist yet, and the temporary folder around it.
    #[cfg(test)]
    pub(crate) fn temporary() -> (tempfile::TempDir, Self) {
        let around = tempfile::tempdir().expect("a folder");
        let folder = Self(around.path().join("state/unstuck"));
        (around, folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Opens and locks the state of this worker, for an event that took this long to read.
    pub(crate) fn open(&self, key: &Key<'_>, taken: Duration) -> Result<StateFile, Trouble> {
        StateFile::open(&self.states().join(file_name(key)), taken)
    }

    /// Keeps a copy of the state of this worker, which a newer version of this program wrote.
    pub(crate) fn keep_newer(&self, key: &Key<'_>) -> Result<(), Trouble> {
        let path = self.states().join(file_name(key));
        let mut copy = file::open(&mut file::anew(), &path.with_extension(NEWER))?;
        Ok(copy.write_all(&file::read(&path)?)?)
    }

    /// Removes the state of a session and its subagents at the time `now`. Returns the lines for the journal.
    pub(crate) fn end(&self, key: &Key<'_>, now: u64) -> io::Result<Vec<Entry>> {
        let name = session_name(key);
        let is_of = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(&name);
        let mut ended = Vec::new();
        for entry in self.entries().filter(is_of) {
            ended.extend(session(&entry).map(|session| Entry::ended(&session, now)));
            fs::remove_file(entry.path())?;
        }
        Ok(ended)
    }

    /// Returns the public part of each worker's state in the session with this id, whichever agent has it.
    pub(crate) fn of_session(&self, session: &str) -> impl Iterator<Item = Session> {
        let names = Agent::ALL
            .iter()
            .map(|agent| session_name(&Key { agent: *agent, session, worker: "" }));
        let names: Vec<_> = names.collect();
        self.entries().filter_map(move |entry| {
            let file = entry.file_name();
            let is_of = names.iter().any(|name| file.to_string_lossy().starts_with(name));
            is_of.then(|| self::session(&entry)).flatten()
        })
    }

    /// Checks that the states can be listed. A folder that is not there has none.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub(crate) fn check(&self) -> io::Result<()> {
        match fs::read_dir(self.states()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the public part of every state, in no particular order. Skips files that cannot be read.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = Session> {
        self.entries().filter_map(|entry| session(&entry))
    }

    /// Returns the folder of the state files.
    fn states(&self) -> PathBuf {
        self.0.join(STATES)
    }

    /// Returns the state files.
    fn entries(&self) -> impl Iterator<Item = DirEntry> + use<> {
        self.ending_with(&[ENDING])
    }

    /// Returns the files of states whose names have one of these `endings`.
    fn ending_with(&self, endings: &'static [&str]) -> impl Iterator<Item = DirEntry> + use<> {
        let entries = fs::read_dir(self.states()).into_iter().flatten().flatten();
        entries.filter(|entry| endings.iter().any(|ending| has_ending(entry, ending)))
    }
}

/// The age after the last event at which a session counts as over.
const AGE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The time between two searches for old states.
const EVERY: Duration = Duration::from_secs(60 * 60);

/// The largest number of files in one search, so that no event waits for long.
const LOOKED_AT_MAX: usize = 1024;

/// The largest number of files that one search removes.
const REMOVED_MAX: usize = 128;

impl Folder {
    /// Removes states that are too old at the time `now`, unless another search was recent.
    pub(crate) fn remove_old(&self, now: SystemTime) {
        let mark = self.states().join("swept");
        // A mark of the future is from before the clock was set back.
        let is_recent = |swept| now.duration_since(swept).is_ok_and(|passed| passed < EVERY);
        if modified(&mark).is_some_and(is_recent) {
            return;
        }
        // The mark comes first, so that only one of many processes searches.
        if file::open(&mut file::anew(), &mark).and_then(|file| file.set_modified(now)).is_err() {
            return;
        }
        // After a clock was set back, nothing is old.
        let is_old = |used| now.duration_since(used).is_ok_and(|passed| passed >= AGE_MAX);
        let old = self.ending_with(&[ENDING, NEWER, SPENT]).take(LOOKED_AT_MAX);
        let old = old.filter(|entry| modified(&entry.path()).is_some_and(is_old));
        let mut ended = Vec::new();
        for entry in old.take(REMOVED_MAX) {
            // A file of what was spent is not a session that ended.
            let session = session(&entry).filter(|_| !has_ending(&entry, SPENT));
            ended.extend(session.map(|session| Entry::ended(&session, session.last_seen)));
            let _ = fs::remove_file(entry.path());
        }
        // Without it, these sessions are only missing in reports.
        let _ = self.record(&ended);
    }
}

/// The length of a day, after which a file is of another one.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Folder {
    /// Opens what this worker has spent. The caller holds the lock of its state.
    pub(crate) fn open_spent(&self, key: &Key<'_>) -> Result<StateFile, Trouble> {
        let path = self.states().join(file_name(key)).with_extension(SPENT);
        StateFile::open(&path, Duration::ZERO)
    }

    /// Returns what the other workers have spent: those of the same session, and, if `of_day`, all on the day of the
    /// time `now` since 1970. A worker that writes at the same time may be missing.
    pub(crate) fn spent_beside(
        &self,
        key: &Key<'_>,
        of_day: bool,
        now: Duration,
    ) -> (Spent, Spent) {
        let (own, session_name) = (file_name(key), session_name(key));
        let (mut session, mut day) = (Spent::default(), Spent::default());
        for entry in self.ending_with(&[SPENT]) {
            let is_of_session = entry.file_name().to_string_lossy().starts_with(&session_name);
            let is_own = entry.path().file_stem() == Path::new(&own).file_stem();
            if is_own || !(is_of_session || (of_day && is_of_last_day(&entry.path(), now))) {
                continue;
            }
            let Some(account) = account(&entry) else { continue };
            day += account.spent_on_day(now);
            if is_of_session {
                session += account.spent();
            }
        }
        (session, day)
    }
}

/// The size of the file of a trial: a block of most file systems, and as much as a session needs at first.
const BYTES: usize = 4096;

/// A trial of the folder, for `unstuck doctor`: whether a hook could store its state.
impl Folder {
    /// Writes a file like a state and removes it, together with the folders that it needed. Returns what the
    /// system knew about the file.
    pub(crate) fn try_out(&self) -> io::Result<Metadata> {
        let states = self.states();
        let is_missing = |folder: &&Path| fs::symlink_metadata(folder).is_err();
        let missing: Vec<_> = states.ancestors().take_while(is_missing).collect();
        let file = states.join(format!("trial-{}", process::id()));
        let tried = private::make(&states).and_then(|()| write(&file));
        // What cannot be removed was not made, or a hook uses it by now.
        let _ = fs::remove_file(&file);
        for folder in missing {
            let _ = fs::remove_dir(folder);
        }
        tried
    }

    /// Opens the log, the journal and everything else in the folder as a hook does, if they exist. Returns the
    /// errors with the files' names.
    pub(crate) fn try_files(&self) -> Vec<(String, io::Error)> {
        let others = fs::read_dir(self.states()).into_iter().flatten().flatten();
        // A state may be that of another version.
        let others = others.filter(|entry| entry.metadata().is_ok_and(|entry| !entry.is_file()));
        let others = others.map(|entry| Path::new(STATES).join(entry.file_name()));
        let error = |name: PathBuf| {
            let opened = file::open(OpenOptions::new().append(true), &self.path().join(&name));
            let error = opened.err().filter(|error| error.kind() != io::ErrorKind::NotFound)?;
            Some((name.to_string_lossy().into_owned(), error))
        };
        [LOG, JOURNAL, PAUSES].map(Into::into).into_iter().chain(others).filter_map(error).collect()
    }
}

/// Returns whether the name of a file has this ending.
fn has_ending(entry: &DirEntry, ending: &str) -> bool {
    entry.path().extension().is_some_and(|own| own == ending)
}

/// Reads the public part of a state file.
fn session(entry: &DirEntry) -> Option<Session> {
    file::opened(&file::read(&entry.path()).ok()?).ok()?
}

/// Returns what the worker of a file has spent.
fn account(entry: &DirEntry) -> Option<Account> {
    /// The first part of the file.
    #[derive(Deserialize)]
    struct Front {
        account: Account,
    }
    let front: Front = file::opened(&file::read(&entry.path()).ok()?).ok()??;
    Some(front.account)
}

/// Returns whether a file was changed in the day before `now`, a time since 1970, or may have been.
fn is_of_last_day(path: &Path, now: Duration) -> bool {
    let changed = modified(path).and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    changed.is_none_or(|changed| changed + DAY > now)
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Writes a file like that of a new session.
fn write(path: &Path) -> io::Result<Metadata> {
    let mut file = file::open(OpenOptions::new().write(true).create_new(true), path)?;
    file.write_all(&[0; BYTES])?;
    // Some file systems report a full disk only now.
    file.sync_all()?;
    file.metadata()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(folder: &Folder, key: &Key<'_>) {
        let mut file = folder.open(key, Duration::ZERO).expect("a state file");
        file.write(&Session::new(key, 0)).expect("a disk to write to");
    }

    #[test]
    fn each_worker_session_and_agent_has_its_own_state() {
        let (_around, folder) = Folder::temporary();
        let key = |agent, session, worker| Key { agent, session, worker };
        let keys = [
            key(Agent::ALL[0], "s", "main"),
            key(Agent::ALL[0], "s", "a1"),
            key(Agent::ALL[0], "sa", "1"),
            key(Agent::ALL[1], "s", "main"),
            key(Agent::ALL[2], "../../../etc/passwd", "main"),
        ];
        for key in &keys {
            keep(&folder, key);
        }
        keep(&folder, &keys[0]);
        let mut found: Vec<_> =
            folder.sessions().map(|one| (one.agent.name(), one.session, one.worker)).collect();
        found.sort();
        let mut expected: Vec<_> = keys
            .iter()
            .map(|key| (key.agent.name(), key.session.to_owned(), key.worker.to_owned()))
            .collect();
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!(folder.entries().count(), keys.len());

        let ended = folder.end(&keys[0], 9).expect("files that can be removed").into_iter();
        assert_eq!(folder.entries().count(), keys.len() - 2);
        let mut ended: Vec<_> = ended.map(|one| (one.session, one.worker, one.at)).collect();
        ended.sort();
        let both = ["a1", "main"].map(|worker| ("s".to_owned(), worker.to_owned(), 9));
        assert_eq!(ended, both);
    }

    #[cfg(unix)]
    #[test]
    fn no_file_is_written_through_a_link() {
        use std::os::unix::fs::symlink;

        let (_around, folder) = Folder::temporary();
        let key = Key { agent: Agent::ALL[1], session: "s", worker: "main" };
        keep(&folder, &key);
        let state = folder.entries().next().expect("a state file").path();
        let precious = folder.path().join("precious");
        let begin = SystemTime::UNIX_EPOCH;
        fs::write(&precious, "precious").expect("a file");
        fs::File::open(&precious).and_then(|file| file.set_modified(begin)).expect("a file");
        let entry = Entry::ended(&Session::new(&key, 0), 1);
        let all: &[(PathBuf, &dyn Fn())] = &[
            (state.with_extension(NEWER), &|| drop(folder.keep_newer(&key))),
            (state, &|| drop(folder.open(&key, Duration::ZERO))),
            (folder.states().join("swept"), &|| folder.remove_old(SystemTime::now())),
            (folder.path().join("hook.log"), &|| folder.log(1, "codex", "late")),
            (folder.path().join("findings.jsonl"), &|| {
                drop(folder.record(std::slice::from_ref(&entry)));
            }),
            #[cfg(feature = "fleet")]
            (folder.path().join(PAUSES), &|| folder.pause("a", 1)),
        ];
        for (path, write) in all {
            let _ = fs::remove_file(path);
            symlink(&precious, path).expect("a link");
            write();
            let metadata = fs::metadata(&precious).expect("a file");
            let text = fs::read_to_string(&precious).expect("a file");
            assert_eq!((&*text, metadata.modified().ok()), ("precious", Some(begin)), "{path:?}");
            fs::remove_file(path).expect("a link");
            keep(&folder, &key);
        }
    }

    /// Only the administrator can make files of another user.
    #[cfg(unix)]
    #[test]
    fn a_folder_of_another_user_is_not_used() {
        use std::os::unix::fs::chown;

        let (_around, folder) = Folder::temporary();
        let key = Key { agent: Agent::ALL[1], session: "s", worker: "main" };
        keep(&folder, &key);
        for path in [folder.path().to_owned(), folder.states()] {
            if chown(&path, Some(4242), None).is_err() {
                return;
            }
            let opened =
                folder.open(&key, Duration::ZERO).map(|_| ()).map_err(|why| why.to_string());
            assert!(
                opened.as_ref().is_err_and(|why| why.contains("belongs to user 4242")),
                "{opened:?}"
            );
            assert!(folder.try_out().is_err() && folder.sessions().next().is_none());
            chown(&path, Some(0), None).expect("a folder");
        }
        assert!(folder.sessions().next().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn other_users_cannot_read_the_state() {
        use std::os::unix::fs::PermissionsExt as _;

        let (_around, folder) = Folder::temporary();
        let key = Key { agent: Agent::ALL[1], session: "s", worker: "main" };
        keep(&folder, &key);
        folder.remove_old(SystemTime::now());
        folder.record(&[Entry::ended(&Session::new(&key, 0), 1)]).expect("a journal");
        #[cfg(feature = "fleet")]
        folder.pause("a", 1);
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!((mode(folder.path()), mode(&folder.states())), (0o700, 0o700));
        let file = folder.entries().next().expect("a state file").path();
        let files = [
            file,
            folder.states().join("swept"),
            folder.path().join(JOURNAL),
            #[cfg(feature = "fleet")]
            folder.path().join(PAUSES),
        ];
        for path in files {
            assert_eq!(mode(&path), 0o600, "{path:?}");
        }
    }

    #[test]
    fn a_clock_that_was_ahead_does_not_end_the_search() {
        let (_around, folder) = Folder::temporary();
        fs::create_dir_all(folder.states()).expect("a folder");
        let (now, path) = (SystemTime::now(), folder.states().join(format!("a.{ENDING}")));
        for (searched, is_searched) in
            [(now, true), (now, false), (now + AGE_MAX, true), (now, true)]
        {
            let file = fs::File::create(&path).expect("a file");
            file.set_modified(now - 2 * AGE_MAX).expect("a file");
            folder.remove_old(searched);
            assert_eq!(path.exists(), !is_searched, "{searched:?}");
        }
    }

    #[test]
    fn a_trial_leaves_the_disk_as_it_was() {
        let (around, folder) = Folder::temporary();
        for exists in [false, true] {
            if exists {
                fs::create_dir_all(folder.path()).expect("a folder");
            }
            assert!(folder.try_out().is_ok() && folder.try_files().is_empty());
            assert_eq!(folder.path().exists(), exists);
            assert!(!folder.path().join("sessions").exists());
        }
        assert!(around.path().join("state").exists());
    }

    #[test]
    fn a_file_in_place_of_the_folder_and_a_folder_in_place_of_the_log_are_errors() {
        let around = tempfile::tempdir().expect("a folder");
        let path = around.path().join("unstuck");
        fs::write(&path, "").expect("a file");
        assert!(Folder::at(path.clone()).try_out().is_err());
        fs::remove_file(&path).expect("a file");
        fs::create_dir_all(path.join("hook.log")).expect("a folder");
        let errors = Folder::at(path).try_files();
        assert_eq!(errors.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["hook.log"]);
    }
}
