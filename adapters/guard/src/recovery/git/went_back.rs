//! The report on a work tree that went back, in numbers and in words.

use std::path::PathBuf;

use super::saved_state::SavedState;
use crate::recovery::Undone;

/// The report on a work tree that went back.
///
/// ```no_run
/// use unstuck::{GitWorkTree, WentBack};
///
/// let went: WentBack = GitWorkTree::open(".".as_ref(), None)?.start_over()?;
/// println!("{} under {}", went.files(), went.reference);
/// # Ok::<(), unstuck::GitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WentBack {
    /// The run.
    pub run: String,
    /// The number under which the former state is saved.
    pub number: u32,
    /// The ref of the former state.
    pub reference: String,
    /// The state to which the work tree went.
    pub to: SavedState,
    /// The number of files that were changed back.
    pub changed: usize,
    /// The number of missing files that were brought back.
    pub returned: usize,
    /// The number of added files that were removed.
    pub removed: usize,
    /// Whether the index was changed back.
    pub was_staged: bool,
    /// The branch that was checked out before.
    pub branch: Option<String>,
    /// The commit that was checked out before.
    pub head: Option<String>,
    /// Files that were left as they are, because they changed meanwhile or something new stood in the way.
    pub left: Vec<PathBuf>,
    /// The number of files that were ignored, were left alone, and are not ignored any more.
    pub uncovered: usize,
    /// Repositories within the tree, which were left alone.
    pub nested: Vec<PathBuf>,
}

impl WentBack {
    /// Returns whether another commit or branch was checked out before.
    pub fn has_moved(&self) -> bool {
        self.branch != self.to.branch || self.head != self.to.head
    }

    /// Returns whether there was anything to undo.
    pub fn is_change(&self) -> bool {
        self.changed + self.returned + self.removed > 0 || self.was_staged || self.has_moved()
    }

    /// Returns the counts in words, for example "2 files changed back, 1 removed". The text is empty if no
    /// file changed.
    pub fn files(&self) -> String {
        let figures = [
            (self.changed, "changed back"),
            (self.returned, "brought back"),
            (self.removed, "removed"),
        ];
        let mut said = Vec::new();
        for (n, what) in figures {
            match (n, said.is_empty()) {
                (0, _) => {}
                (1, true) => said.push(format!("1 file {what}")),
                (n, true) => said.push(format!("{n} files {what}")),
                (n, false) => said.push(format!("{n} {what}")),
            }
        }
        said.join(", ")
    }
}

impl From<WentBack> for Undone {
    fn from(went: WentBack) -> Self {
        if !went.is_change() && went.left.is_empty() {
            return Self::new("The working folder is as it was when this run began.");
        }
        let mut what = "The working folder is again as it was when this run began".to_owned();
        let mut parts = Vec::from_iter(Some(went.files()).filter(|files| !files.is_empty()));
        match (went.branch == went.to.branch, went.head == went.to.head) {
            (true, true) => {}
            (true, false) => parts.push("your commits taken off the branch".to_owned()),
            (false, _) => parts.push("its branch checked out again".to_owned()),
        }
        if went.was_staged {
            parts.push("what you staged taken back".to_owned());
        }
        if !parts.is_empty() {
            what = format!("{what}: {}", parts.join(", "));
        }
        what.push('.');
        let left = match went.left.len() {
            0 => String::new(),
            1 => " One file was being changed meanwhile and was left as it is.".to_owned(),
            n => format!(" {n} files were being changed meanwhile and were left as they are."),
        };
        Self::new(what + &left).kept_under(went.reference)
    }
}
