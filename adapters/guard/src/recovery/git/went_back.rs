//! What became of a work tree that went back, and how that is put into words.

use std::path::PathBuf;

use super::kept::Kept;
use crate::recovery::Undone;

/// What became of a work tree that went back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WentBack {
    /// The run.
    pub run: String,
    /// The number under which is kept what was there before.
    pub number: u32,
    /// The ref of that.
    pub reference: String,
    /// Where it went.
    pub to: Kept,
    /// How many files were changed back.
    pub changed: usize,
    /// How many files that were missing are there again.
    pub returned: usize,
    /// How many files that were added are gone.
    pub removed: usize,
    /// Whether something else was staged than is now.
    pub was_staged: bool,
    /// The branch that was checked out before.
    pub branch: Option<String>,
    /// The commit that was checked out before.
    pub head: Option<String>,
    /// Files that were left as they are, since they changed meanwhile or something new stood in the
    /// way.
    pub left: Vec<PathBuf>,
    /// How many files were ignored, and so left alone, and are not ignored any more.
    pub uncovered: usize,
    /// Repositories within the tree, which were left alone.
    pub nested: Vec<PathBuf>,
}

impl WentBack {
    /// Whether another commit or branch was checked out than is now.
    pub fn has_moved(&self) -> bool {
        self.branch != self.to.branch || self.head != self.to.head
    }

    /// Whether there was anything to undo.
    pub fn is_change(&self) -> bool {
        self.changed + self.returned + self.removed > 0 || self.was_staged || self.has_moved()
    }

    /// What became of the files, as in "2 files changed back, 1 removed"; empty if nothing did.
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
