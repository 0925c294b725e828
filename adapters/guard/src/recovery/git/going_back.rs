//! The way from one state of the files to another. It removes only files that are saved.

use std::collections::BTreeSet;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::command::Blobs;
use super::disk;
use super::error::GitError;
use super::path::{file_name, parents, path};
use super::snapshot::{Files, Kind, Mode, PathState, list, path_state};
use super::work_tree::WorkTree;

/// The counts of changed files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) changed: usize,
    pub(super) returned: usize,
    pub(super) removed: usize,
    pub(super) left: BTreeSet<PathBuf>,
    pub(super) uncovered: usize,
}

/// The way of the files of a work tree from `now`, which is saved, to `target`.
pub(super) struct Way<'w> {
    place: &'w WorkTree,
    blobs: Blobs,
    now: &'w Files,
    target: &'w Files,
    /// Files that the target has, or that did not exist then.
    seen: &'w Files,
    figures: Figures,
}

impl<'w> Way<'w> {
    pub(super) fn new(
        place: &'w WorkTree,
        now: &'w Files,
        (target, seen): (&'w Files, &'w Files),
    ) -> Result<Self, GitError> {
        let blobs = place.git.blobs()?;
        Ok(Self { place, blobs, now, target, seen, figures: Figures::default() })
    }

    /// Puts back the files that say what is ignored. They decide which files may be removed.
    pub(super) fn put_rules_back(&mut self) -> Result<(), GitError> {
        let target = self.target;
        target.keys().filter(|name| is_rule(name)).try_for_each(|name| self.put(name))
    }

    /// Does the rest, once the index is back, too: removes added files, and puts back changed and removed
    /// ones. Files that the rules of `target` ignore stay.
    pub(super) fn finish(mut self) -> Result<Figures, GitError> {
        let (now, target) = (self.now, self.target);
        let added = |name: &&Vec<u8>| !target.contains_key(*name);
        // Added rules are removed first, because a rule may un-ignore files.
        let (rules, others): (Vec<_>, Vec<_>) = now.keys().filter(added).partition(|n| is_rule(n));
        for names in [rules, others] {
            self.remove(&names)?;
        }
        target.keys().filter(|name| !is_rule(name)).try_for_each(|name| self.put(name))?;
        let listed = list(self.place)?.files;
        let others = listed.keys().filter(|name| !target.contains_key(*name));
        self.figures.uncovered =
            others.filter(|name| !self.figures.left.contains(&path(name))).count();
        Ok(self.figures)
    }

    /// Removes the files of `names` that git lists, and those that did not exist in the target. Other files
    /// were ignored then, or are ignored now by the same rules, and may have existed.
    fn remove(&mut self, names: &[&Vec<u8>]) -> Result<(), GitError> {
        if names.is_empty() {
            return Ok(());
        }
        let (listed, seen) = (list(self.place)?.files, self.seen);
        let is_added = |name: &[u8]| listed.contains_key(name) || seen.contains_key(name);
        for name in names.iter().filter(|name| is_added(name)) {
            if self.take_away(name)? {
                self.remove_folders(name)?;
            }
        }
        Ok(())
    }

    /// Removes the folders around `name` that are empty and will stay empty.
    fn remove_folders(&self, name: &[u8]) -> Result<(), GitError> {
        let mut folders: Vec<&[u8]> = parents(name).collect();
        while let Some(folder) = folders.pop() {
            let inside = [folder, b"/"].concat();
            let next = self.target.range(inside.clone()..).next();
            let is_needed = next.is_some_and(|(name, _)| name.starts_with(&inside));
            if is_needed || !disk::remove_folder(&self.at(folder)).map_err(wrong(folder))? {
                break;
            }
        }
        Ok(())
    }

    /// Makes the file `name` equal to the target's file.
    fn put(&mut self, name: &[u8]) -> Result<(), GitError> {
        let (now, Some(wanted)) = (self.now.get(name), self.target.get(name)) else {
            return Ok(());
        };
        let file = self.at(name);
        match now {
            Some(now) if now == wanted => return Ok(()),
            Some(now)
                if now.blob == wanted.blob
                    && now.mode != Mode::Link
                    && wanted.mode != Mode::Link =>
            {
                let executable = wanted.mode == Mode::Executable;
                disk::set_executable(&file, executable).map_err(wrong(name))?;
                self.figures.changed += 1;
                return Ok(());
            }
            _ => {}
        }
        let before = file.symlink_metadata().ok().filter(Metadata::is_file);
        let like = before.map(|file| file.permissions());
        if !self.clear(name)? || !self.make(name, wanted, like)? {
            self.figures.left.insert(path(name));
        } else if now.is_some() {
            self.figures.changed += 1;
        } else {
            self.figures.returned += 1;
        }
        Ok(())
    }

    /// Makes the file `name` if there is none. Returns whether it was made.
    fn make(
        &mut self,
        name: &[u8],
        wanted: &Kind,
        like: Option<Permissions>,
    ) -> Result<bool, GitError> {
        let file = self.at(name);
        let made = if wanted.mode == Mode::Link {
            let mut target = Vec::new();
            self.blobs
                .copy(&wanted.blob, &mut target)
                .and_then(|()| disk::make_link(&file, &target))
        } else {
            disk::make_file(&file, wanted.mode, like, |sink| self.blobs.copy(&wanted.blob, sink))
        };
        match made {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(wrong(name)(error)),
        }
    }

    /// Makes room for a file `name`, and makes the folders around it. Returns whether there is room now.
    fn clear(&mut self, name: &[u8]) -> Result<bool, GitError> {
        for parent in parents(name) {
            match path_state(&self.place.top, parent)? {
                PathState::Folder => continue,
                PathState::File(_) if !self.take_away(parent)? => return Ok(false),
                PathState::Other | PathState::Blocked(_) => return Ok(false),
                PathState::File(_) | PathState::Nothing => {}
            }
            disk::make_folder(&self.at(parent)).map_err(wrong(parent))?;
        }
        match path_state(&self.place.top, name)? {
            PathState::Nothing => Ok(true),
            PathState::File(_) => self.take_away(name),
            PathState::Folder => self.empty(name),
            PathState::Other | PathState::Blocked(_) => Ok(false),
        }
    }

    /// Removes the saved files in the folder `name`, then the folder. Returns whether the folder is gone.
    fn empty(&mut self, name: &[u8]) -> Result<bool, GitError> {
        let inside = [name, b"/"].concat();
        let now = self.now;
        let kept = now.range(inside.clone()..).take_while(|(name, _)| name.starts_with(&inside));
        for (file, _) in kept {
            if let PathState::File(_) = path_state(&self.place.top, file)? {
                self.take_away(file)?;
            }
        }
        let mut folders = vec![path(name)];
        let mut at = 0;
        while let Some(folder) = folders.get(at).cloned() {
            let entries = super::in_the_way::entries(self.place, &folder)?;
            folders.extend(entries.into_iter().filter(|entry| self.is_folder(entry)));
            at += 1;
        }
        // Inner folders come later in the list, and are removed first.
        for folder in folders.iter().rev() {
            if !disk::remove_folder(&self.place.top.join(folder)).map_err(wrong(name))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_folder(&self, entry: &Path) -> bool {
        self.place.top.join(entry).symlink_metadata().is_ok_and(|entry| entry.is_dir())
    }

    /// Removes the file `name` if it equals the saved one. Returns whether it is gone. A file that was
    /// changed since stays.
    fn take_away(&mut self, name: &[u8]) -> Result<bool, GitError> {
        let is_gone = match self.now.get(name) {
            Some(kept) => self.take_away_if(name, kept).map_err(wrong(name))?,
            None => false,
        };
        if !is_gone {
            self.figures.left.insert(path(name));
        } else if !self.target.contains_key(name) {
            self.figures.removed += 1;
        }
        Ok(is_gone)
    }

    fn take_away_if(&mut self, name: &[u8], kept: &Kind) -> io::Result<bool> {
        let file = self.at(name);
        let held = match disk::hold(&file) {
            // Another process has removed it already.
            Err(error) if is_absence(&error) => return Ok(true),
            held => held?,
        };
        let is_kept = self.is_kept(&held, kept);
        if let Ok(true) = is_kept {
            disk::remove(&held)?;
        } else {
            disk::release(&held, &file)?;
        }
        is_kept
    }

    /// Returns whether the file at `held` is, byte by byte, the saved one.
    fn is_kept(&mut self, held: &Path, kept: &Kind) -> io::Result<bool> {
        let kind = held.symlink_metadata()?.file_type();
        if kind.is_symlink() {
            let mut target = Vec::new();
            self.blobs.copy(&kept.blob, &mut target)?;
            let found = held.read_link()?;
            return Ok(kept.mode == Mode::Link && found.as_os_str().as_encoded_bytes() == target);
        }
        if !kind.is_file() || kept.mode == Mode::Link {
            return Ok(false);
        }
        let mut other = Comparison { file: BufReader::new(File::open(held)?), is_same: true };
        self.blobs.copy(&kept.blob, &mut other)?;
        Ok(other.is_same && other.file.read(&mut [0])? == 0)
    }

    fn at(&self, name: &[u8]) -> PathBuf {
        self.place.top.join(path(name))
    }
}

/// A sink that compares its bytes with a file.
struct Comparison {
    file: BufReader<File>,
    is_same: bool,
}

impl Write for Comparison {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut found = vec![0; bytes.len()];
        self.is_same &= match self.file.read_exact(&mut found) {
            Ok(()) => found == bytes,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(error),
        };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether git reads from the file which files to ignore.
fn is_rule(name: &[u8]) -> bool {
    file_name(name) == b".gitignore"
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn wrong(name: &[u8]) -> impl FnOnce(io::Error) -> GitError {
    let path = path(name);
    |error| GitError::Disk { path, error }
}
