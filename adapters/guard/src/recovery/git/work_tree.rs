//! The paths of a work tree, and the check that it can be saved and can go back.

use std::path::{Path, PathBuf};

use super::command::{Git, complaint};
use super::error::GitError;
use super::path::path;

/// The commands of git that take several steps: the file or folder that exists meanwhile, the name, and
/// the command that ends it. The last two stand in this order because `am` leaves both.
const OPERATIONS: [(&str, &str, &str); 9] = [
    ("index.lock", "another command of git", "rm .git/index.lock, if no git runs"),
    ("MERGE_HEAD", "a merge", "git merge --abort"),
    ("rebase-merge", "a rebase", "git rebase --abort"),
    ("CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --abort"),
    ("REVERT_HEAD", "a revert", "git revert --abort"),
    ("sequencer", "a series of cherry-picks or reverts", "git cherry-pick --abort"),
    ("BISECT_LOG", "a bisection", "git bisect reset"),
    ("rebase-apply/applying", "git am", "git am --abort"),
    ("rebase-apply", "a rebase", "git rebase --abort"),
];

/// A work tree, and git's folder of it.
#[derive(Clone, Debug)]
pub(super) struct WorkTree {
    /// Git, at the top of the work tree.
    pub(super) git: Git,
    pub(super) top: PathBuf,
    /// The folder of this work tree's index and head.
    pub(super) own: PathBuf,
    /// The name of the work tree in its repository: the last part of `own` for a linked one.
    pub(super) name: String,
}

impl WorkTree {
    /// Finds the work tree around `folder`.
    pub(super) fn of(folder: &Path) -> Result<Self, GitError> {
        let git = Git::at(folder);
        let asked = git.output(["rev-parse", "--show-toplevel"])?;
        let top = asked.stdout.strip_suffix(b"\n").unwrap_or_default();
        if !asked.status.success() || top.is_empty() {
            let said = complaint(&asked);
            return Err(GitError::Outside { folder: folder.to_owned(), said });
        }
        let top = path(top);
        let git = Git::at(&top).without_filters()?;
        let own = git.run(&["rev-parse", "--absolute-git-dir"])?;
        let own = path(own.strip_suffix(b"\n").unwrap_or(&own));
        let name = name(&own);
        Ok(Self { git, top, own, name })
    }

    /// Returns an error if the work tree cannot be saved as a whole or cannot go back.
    pub(super) fn check(&self) -> Result<(), GitError> {
        for (file, doing, way_out) in OPERATIONS {
            if self.own.join(file).exists() {
                return Err(GitError::Busy { folder: self.top.clone(), doing, way_out });
            }
        }
        if !self.git.run(&["ls-files", "-z", "--unmerged"])?.is_empty() {
            let (doing, way_out) = ("a merge with conflicts", "git reset");
            return Err(GitError::Busy { folder: self.top.clone(), doing, way_out });
        }
        let around = self.git.run(&["rev-parse", "--show-superproject-working-tree"])?;
        if !around.is_empty() && self.is_detached()? {
            return Err(GitError::DetachedSubmodule { folder: self.top.clone() });
        }
        let sparse = self.git.output(["config", "--type=bool", "core.sparseCheckout"])?;
        if sparse.stdout.starts_with(b"true") {
            return Err(GitError::Sparse { folder: self.top.clone() });
        }
        Ok(())
    }

    /// Returns whether the work tree is on no branch.
    fn is_detached(&self) -> Result<bool, GitError> {
        Ok(!self.git.output(["symbolic-ref", "-q", "HEAD"])?.status.success())
    }
}

/// Returns the name of the work tree with the folder `own`. The folders of linked work trees are in a folder
/// `worktrees`.
fn name(own: &Path) -> String {
    let is_linked = own.parent().is_some_and(|parent| parent.ends_with("worktrees"));
    let last = own.file_name().filter(|_| is_linked);
    last.map_or_else(|| ".".to_owned(), |last| last.to_string_lossy().into_owned())
}
