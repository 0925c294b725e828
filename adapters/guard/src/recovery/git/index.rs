//! Two indexes of git: a temporary one that makes trees, and the user's.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::command::pieces;
use super::error::GitError;
use super::path::path;
use super::snapshot::{PathState, path_state};
use super::work_tree::WorkTree;

/// A temporary index beside the user's. It is removed on drop.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(place: &WorkTree) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        // A killed process may have left one, and another process may get its number.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Self(place.own.join(format!("unstuck-index-{}-{n}-{now}", process::id())))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A file that stays does no harm.
        let _ = fs::remove_file(&self.0);
    }
}

/// The entries of the index.
pub(super) struct Staged {
    pub(super) tree: String,
    /// The files with a mark of `git add --intent-to-add`, which no tree can have.
    pub(super) intended: BTreeSet<Vec<u8>>,
}

/// Reads the index. The tree is made from a copy, so that the user's index does not change.
pub(super) fn staged(place: &WorkTree) -> Result<Staged, GitError> {
    let index = place.git.run(&["rev-parse", "--git-path", "index"])?;
    let index = path(index.strip_suffix(b"\n").unwrap_or(&index));
    // The path is relative to the folder in which git runs.
    let index = place.top.join(index);
    let copy = Scratch::new(place);
    match fs::copy(&index, copy.path()) {
        Ok(_) => {}
        // A new repository has no index.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(GitError::Disk { path: index, error }),
    }
    let git = place.git.with_index(copy.path());
    let tree = git.line(&["write-tree"])?;
    let (entries, kept) = (
        git.run(&["ls-files", "-z", "--cached"])?,
        git.run(&["ls-tree", "-r", "-z", "--name-only", "--full-tree", &tree])?,
    );
    let mut intended: BTreeSet<_> = pieces(&entries).map(<[u8]>::to_owned).collect();
    for name in pieces(&kept) {
        intended.remove(name);
    }
    Ok(Staged { tree, intended })
}

/// Sets the index to `tree`. Marks on unchanged entries (for example `assume-unchanged`) stay.
pub(super) fn go_back(place: &WorkTree, tree: &str) -> Result<(), GitError> {
    place.git.run(&["read-tree", "--reset", "-i", tree]).map(drop)
}

/// The number of files in one command line.
const NAMES_MAX: usize = 256;

/// Marks files that are not in the index as ones to be added later.
pub(super) fn intend<'n>(
    place: &WorkTree,
    names: impl Iterator<Item = &'n Vec<u8>>,
) -> Result<(), GitError> {
    let mut present = Vec::new();
    for name in names {
        if let PathState::File(_) = path_state(&place.top, name)? {
            present.push(path(name).into_os_string());
        }
    }
    for names in present.chunks(NAMES_MAX) {
        // No plumbing command sets the mark. This one reads no file for it.
        let mark = ["add", "--intent-to-add", "--force", "--"].map(Into::into);
        place.git.run(&[&mark, names].concat())?;
    }
    Ok(())
}
