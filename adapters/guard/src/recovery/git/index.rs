//! Two indexes of git: a temporary one that makes trees, and the user's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::GitError;
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

/// Returns the tree of the index. It is made from a copy, so that the user's index does not change.
pub(super) fn tree(place: &WorkTree) -> Result<String, GitError> {
    let index = place.git.run(&["rev-parse", "--git-path", "index"])?;
    let index = super::path::path(index.strip_suffix(b"\n").unwrap_or(&index));
    // The path is relative to the folder in which git runs.
    let index = place.top.join(index);
    let copy = Scratch::new(place);
    match fs::copy(&index, copy.path()) {
        Ok(_) => {}
        // A new repository has no index.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(GitError::Disk { path: index, error }),
    }
    place.git.with_index(copy.path()).line(&["write-tree"])
}

/// Sets the index to `tree`. Marks on unchanged entries (for example `assume-unchanged`) stay.
pub(super) fn go_back(place: &WorkTree, tree: &str) -> Result<(), GitError> {
    place.git.run(&["read-tree", "--reset", "-i", tree]).map(drop)
}
