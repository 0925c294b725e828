//! Indexes: one of our own to make trees with, and the user's, which is read and set back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::GitError;
use super::place::Place;

/// A file for an index that nobody else uses, beside the user's, and gone in the end.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(place: &Place) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        // A process that was killed may have left one, and its number is given again some day.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Self(place.own.join(format!("unstuck-index-{}-{n}-{now}", process::id())))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // One that stays is in nobody's way.
        let _ = fs::remove_file(&self.0);
    }
}

/// The tree of what is staged. It is made from a copy, so that the user's index is not touched.
pub(super) fn tree(place: &Place) -> Result<String, GitError> {
    let index = place.git.run(&["rev-parse", "--git-path", "index"])?;
    let index = super::path::path(index.strip_suffix(b"\n").unwrap_or(&index));
    // It is told from the folder that git runs in.
    let index = place.top.join(index);
    let copy = Scratch::new(place);
    match fs::copy(&index, copy.path()) {
        Ok(_) => {}
        // Where nothing was ever staged, there is none.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(GitError::Disk { path: index, error }),
    }
    place.git.with_index(copy.path()).line(&["write-tree"])
}

/// Stages what `tree` has, and nothing else. What was noted of files that it has already (as that
/// git is to take them for unchanged) stays.
pub(super) fn go_back(place: &Place, tree: &str) -> Result<(), GitError> {
    place.git.run(&["read-tree", "--reset", "-i", tree]).map(drop)
}
