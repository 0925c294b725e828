//! Where a work tree is, and whether it is in a state to be kept and to go back.

use std::path::{Path, PathBuf};

use super::command::{Git, complaint};
use super::error::GitError;
use super::path::path;

/// What git does in several steps: the file or folder that is there meanwhile, and how to end it.
/// The last two are looked for in this order, since `am` leaves both.
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

/// A work tree, and the folder that git keeps of it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Git, at the top of the work tree.
    pub(super) git: Git,
    pub(super) top: PathBuf,
    /// The folder of this work tree's index and head.
    pub(super) own: PathBuf,
    /// Which of the work trees of its repository it is: the last part of `own`, if that is not
    /// the repository's own folder.
    pub(super) name: String,
}

impl Place {
    /// The work tree that `folder` is in.
    pub(super) fn of(folder: &Path) -> Result<Self, GitError> {
        let git = Git::at(folder);
        let asked = git.output(["rev-parse", "--show-toplevel"])?;
        let top = asked.stdout.strip_suffix(b"\n").unwrap_or_default();
        if !asked.status.success() || top.is_empty() {
            let said = complaint(&asked);
            return Err(GitError::Outside { folder: folder.to_owned(), said });
        }
        let top = path(top);
        let git = Git::at(&top);
        let own = git.run(&["rev-parse", "--absolute-git-dir"])?;
        let own = path(own.strip_suffix(b"\n").unwrap_or(&own));
        let name = name(&own);
        Ok(Self { git, top, own, name })
    }

    /// Refuses where a work tree cannot be kept as a whole or cannot go back.
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

    /// Whether the work tree is on no branch.
    fn is_detached(&self) -> Result<bool, GitError> {
        Ok(!self.git.output(["symbolic-ref", "-q", "HEAD"])?.status.success())
    }
}

/// What the work tree with the folder `own` is called: git keeps those beyond the first in
/// folders of a folder `worktrees`.
fn name(own: &Path) -> String {
    let is_linked = own.parent().is_some_and(|parent| parent.ends_with("worktrees"));
    let last = own.file_name().filter(|_| is_linked);
    last.map_or_else(|| ".".to_owned(), |last| last.to_string_lossy().into_owned())
}
