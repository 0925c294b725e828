//! The folder of the state files, and their names.

use std::ffi::OsString;
use std::fs::{self, DirEntry, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, io};

use unstuck_json::{Hash64 as _, Rapid};

use super::envelope;
use super::file::{self, StateFile, Trouble};
use super::journal::Entry;
use super::session::{Key, Session};
use crate::agents::Agent;
use crate::agents::host::home;

/// The extension of a state file.
pub(super) const ENDING: &str = "state";

/// The ending of copies of states that a newer version of this program wrote.
pub(super) const NEWER: &str = "newer";

/// The name of the folder of the state files.
pub(super) const STATES: &str = "sessions";

/// Returns the prefix of the names of all files of a session.
pub(super) fn session_name(key: &Key<'_>) -> String {
    format!("{:016x}", digest(&[key.agent.name(), key.session]))
}

/// Returns the name of a worker's file. It consists of digests, because an agent's name for a session may
/// be a path or a secret.
pub(super) fn file_name(key: &Key<'_>) -> String {
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
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let mut copy = file::open(&mut options, &path.with_extension(NEWER))?;
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
    pub(super) fn states(&self) -> PathBuf {
        self.0.join(STATES)
    }

    /// Returns the state files.
    pub(super) fn entries(&self) -> impl Iterator<Item = DirEntry> + use<> {
        self.ending_with(&[ENDING])
    }

    /// Returns the files of states whose names have one of these `endings`.
    pub(super) fn ending_with(
        &self,
        endings: &'static [&str],
    ) -> impl Iterator<Item = DirEntry> + use<> {
        let entries = fs::read_dir(self.states()).into_iter().flatten().flatten();
        entries.filter(|entry| endings.iter().any(|ending| has_ending(entry, ending)))
    }
}

/// Returns whether the name of a file has this ending.
pub(super) fn has_ending(entry: &DirEntry, ending: &str) -> bool {
    entry.path().extension().is_some_and(|own| own == ending)
}

/// Reads the public part of a state file.
pub(super) fn session(entry: &DirEntry) -> Option<Session> {
    let bytes = file::read(&entry.path()).ok()?;
    envelope::open(&bytes).ok()?
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Folder, Key};
    use crate::agents::Agent;
    use crate::agents::state::file::StateFile;
    use crate::agents::state::{Entry, Session};

    fn folder() -> (tempfile::TempDir, Folder) {
        let around = tempfile::tempdir().expect("a folder");
        let folder = Folder(around.path().join("state/unstuck"));
        (around, folder)
    }

    fn keep(folder: &Folder, key: &Key<'_>) {
        let mut file: StateFile = folder.open(key, Duration::ZERO).expect("a state file");
        file.write(&Session::new(key, 0)).expect("a disk to write to");
    }

    #[test]
    fn each_worker_session_and_agent_has_its_own_state() {
        let (_around, folder) = folder();
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
        use std::fs;
        use std::os::unix::fs::symlink;
        use std::time::SystemTime;

        let (_around, folder) = folder();
        let key = Key { agent: Agent::ALL[1], session: "s", worker: "main" };
        keep(&folder, &key);
        let state = folder.entries().next().expect("a state file").path();
        let precious = folder.path().join("precious");
        let begin = SystemTime::UNIX_EPOCH;
        fs::write(&precious, "precious").expect("a file");
        fs::File::open(&precious).and_then(|file| file.set_modified(begin)).expect("a file");
        let entry = Entry::ended(&Session::new(&key, 0), 1);
        let all: &[(std::path::PathBuf, &dyn Fn())] = &[
            (state.with_extension(super::NEWER), &|| drop(folder.keep_newer(&key))),
            (state, &|| drop(folder.open(&key, Duration::ZERO))),
            (folder.states().join("swept"), &|| folder.remove_old(SystemTime::now())),
            (folder.path().join("hook.log"), &|| folder.log(1, "codex", "late")),
            (folder.path().join("findings.jsonl"), &|| {
                drop(folder.record(std::slice::from_ref(&entry)));
            }),
            #[cfg(feature = "fleet")]
            (folder.path().join(super::super::PAUSES), &|| folder.pause("a", 1)),
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

        let (_around, folder) = folder();
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
        use std::fs;
        use std::os::unix::fs::PermissionsExt as _;

        let (_around, folder) = folder();
        let key = Key { agent: Agent::ALL[1], session: "s", worker: "main" };
        keep(&folder, &key);
        folder.remove_old(std::time::SystemTime::now());
        #[cfg(feature = "fleet")]
        folder.pause("a", 1);
        let mode = |path: &std::path::Path| {
            fs::metadata(path).expect("a file").permissions().mode() & 0o777
        };
        assert_eq!((mode(folder.path()), mode(&folder.states())), (0o700, 0o700));
        let file = folder.entries().next().expect("a state file").path();
        let files = [
            file,
            folder.states().join("swept"),
            #[cfg(feature = "fleet")]
            folder.path().join(super::super::PAUSES),
        ];
        for path in files {
            assert_eq!(mode(&path), 0o600, "{path:?}");
        }
    }
}
