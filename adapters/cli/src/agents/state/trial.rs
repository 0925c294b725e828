//! A trial of the folder, for `unstuck doctor`: whether a hook could store its state.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;

use super::PAUSES;
use super::file::{make, open};
use super::folder::{Folder, STATES};
use super::journal::JOURNAL;
use super::log::LOG;

/// The size of the file: a block of most file systems, and as much as a session needs at first.
const BYTES: usize = 4096;

impl Folder {
    /// Writes a file like a state and removes it, together with the folders that it needed. Returns what the
    /// system knew about the file.
    pub(crate) fn try_out(&self) -> io::Result<Metadata> {
        let states = self.states();
        let is_missing = |folder: &&Path| fs::symlink_metadata(folder).is_err();
        let missing: Vec<_> = states.ancestors().take_while(is_missing).collect();
        let file = states.join(format!("trial-{}", process::id()));
        let tried = make(&states).and_then(|()| write(&file));
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
            let opened = open(OpenOptions::new().append(true), &self.path().join(&name));
            let error = opened.err().filter(|error| error.kind() != io::ErrorKind::NotFound)?;
            Some((name.to_string_lossy().into_owned(), error))
        };
        [LOG, JOURNAL, PAUSES].map(Into::into).into_iter().chain(others).filter_map(error).collect()
    }
}

fn write(path: &Path) -> io::Result<Metadata> {
    let mut file = open(OpenOptions::new().write(true).create_new(true), path)?;
    file.write_all(&[0; BYTES])?;
    // Some file systems report a full disk only now.
    file.sync_all()?;
    file.metadata()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Folder;

    #[test]
    fn a_trial_leaves_the_disk_as_it_was() {
        let around = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(around.path().join("state/unstuck"));
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
