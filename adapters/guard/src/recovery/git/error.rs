//! The errors of saving a work tree and of going back.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The reason why a work tree could not be saved, or could not go back.
///
/// The tree is unchanged, except after [`GitError::Midway`].
///
/// ```
/// use unstuck::{GitError, GitWorkTree};
///
/// let error = GitWorkTree::check_name("no/name").expect_err("a slash");
/// assert!(matches!(error, GitError::RunName { .. }));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum GitError {
    /// The program `git` does not start.
    NoGit(io::Error),
    /// The folder is in no work tree of git.
    Outside {
        /// The folder that was named.
        folder: PathBuf,
        /// The message of git.
        said: String,
    },
    /// A command of git that takes several steps is under way.
    Busy {
        /// The top of the work tree.
        folder: PathBuf,
        /// The command, for example "a merge".
        doing: &'static str,
        /// The command that ends it.
        way_out: &'static str,
    },
    /// The work tree is a submodule without a branch: its commits belong to the repository around it.
    DetachedSubmodule {
        /// The top of the submodule.
        folder: PathBuf,
    },
    /// Only a part of the files is checked out.
    Sparse {
        /// The top of the work tree.
        folder: PathBuf,
    },
    /// The name is not valid for a run.
    RunName {
        /// The name.
        name: String,
    },
    /// A run of this name was begun before.
    AlreadyBegun {
        /// Its name.
        run: String,
    },
    /// There is no such run.
    NoRun {
        /// The name that was given, if any.
        run: Option<String>,
        /// The top of the work tree.
        folder: PathBuf,
    },
    /// The run was begun in another work tree of the same repository.
    OtherWorkTree {
        /// The run.
        run: String,
    },
    /// There is no state with this number.
    NoNumber {
        /// The run.
        run: String,
        /// The number.
        number: u32,
    },
    /// A branch that would have to be moved is checked out in another work tree.
    BranchElsewhere {
        /// The branch.
        branch: String,
    },
    /// A thing that cannot be saved stands where a file has to go.
    InTheWay {
        /// Its path from the top of the work tree.
        path: PathBuf,
        /// A description of it.
        what: &'static str,
    },
    /// Git takes no file of this name into a tree, for example one in a folder `.GIT`.
    Name {
        /// The file, from the top of the work tree.
        path: PathBuf,
    },
    /// The ref was made by another program, or is damaged.
    Damaged {
        /// The ref.
        reference: String,
        /// A description of the damage.
        what: String,
    },
    /// A command of git failed.
    Git {
        /// The command of git.
        command: String,
        /// The message of git.
        said: String,
    },
    /// A file cannot be read or written.
    Disk {
        /// The file, from the top of the work tree.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// Going back broke off: the tree is partly back.
    Midway {
        /// The ref under which the former state is saved.
        reference: String,
        /// The error that broke it off.
        why: Box<GitError>,
    },
}

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGit(error) => {
                write!(f, "the program git does not start ({error}): install it, or mend PATH")
            }
            Self::Outside { folder, said } => write!(
                f,
                "{}: in no work tree of git, where alone it is possible to start over ({said})",
                folder.display()
            ),
            Self::Busy { folder, doing, way_out } => write!(
                f,
                "{}: {doing} is under way: finish it, or end it with {way_out}",
                folder.display()
            ),
            Self::DetachedSubmodule { folder } => write!(
                f,
                "{}: a submodule that is on no branch: check one out in it, or start over in the \
                 repository around it",
                folder.display()
            ),
            Self::Sparse { folder } => write!(
                f,
                "{}: a sparse checkout, of which git says nothing that could be kept: check all \
                 of it out with git sparse-checkout disable",
                folder.display()
            ),
            Self::RunName { name } => write!(
                f,
                "{name:?}: no name for a run: expected letters, digits, \".\", \"-\" and \"_\", \
                 the first and the last a letter, digit or \"_\", and no \"..\" and no \".lock\" \
                 at the end; 100 characters at most"
            ),
            Self::AlreadyBegun { run } => write!(
                f,
                "the run {run} was begun before: begin it again, with a new start, or give \
                 another name"
            ),
            Self::NoRun { run: Some(run), folder } => {
                write!(f, "{}: no run {run} was begun here", folder.display())
            }
            Self::NoRun { run: None, folder } => {
                write!(f, "{}: no run was begun here", folder.display())
            }
            Self::OtherWorkTree { run } => write!(
                f,
                "the run {run} was begun in another work tree of this repository: start over there"
            ),
            Self::NoNumber { run, number } => {
                write!(f, "nothing is kept under the number {number} of the run {run}")
            }
            Self::BranchElsewhere { branch } => write!(
                f,
                "the branch {branch} would have to go back, but is checked out in another work \
                 tree: check out another one there"
            ),
            Self::InTheWay { path, what } => write!(
                f,
                "{}: {what}, which cannot be kept, stands where a file has to go: move it away",
                path.display()
            ),
            Self::Name { path } => write!(
                f,
                "{}: git keeps no file of that name: rename it, or have git ignore it",
                path.display()
            ),
            Self::Damaged { reference, what } => {
                write!(f, "{reference}: not a state of a work tree that was kept: {what}")
            }
            Self::Git { command, said } => write!(f, "git {command}: {said}"),
            Self::Disk { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Midway { reference, why } => write!(
                f,
                "{why}. The work tree may be partly back; what was there is kept under {reference}. \
                 Mend that and start over once more, or restore it"
            ),
        }
    }
}

impl Error for GitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NoGit(error) | Self::Disk { error, .. } => Some(error),
            Self::Midway { why, .. } => Some(&**why),
            _ => None,
        }
    }
}
