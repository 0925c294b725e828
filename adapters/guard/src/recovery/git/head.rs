//! The branch and the commit that are checked out.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use super::command::Git;
use super::error::GitError;
use super::path::os;

/// The reason in the reflogs for a ref that goes back.
const WHY: &str = "unstuck: start over";

/// The branch and the commit that are checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The ref of the branch, or `None` if a commit is checked out by itself.
    pub(super) branch: Option<OsString>,
    /// `None` on a branch without any commit.
    pub(super) commit: Option<String>,
}

/// A branch and its commit, if the branch exists.
pub(super) type Tip = (OsString, Option<String>);

impl Head {
    /// Reads what is checked out now.
    pub(super) fn of(git: &Git) -> Result<Self, GitError> {
        let symbolic = git.output(["symbolic-ref", "-q", "HEAD"])?;
        let branch = symbolic.stdout.strip_suffix(b"\n").filter(|name| !name.is_empty()).map(os);
        Ok(Self { branch, commit: commit(git, "HEAD".as_ref())? })
    }

    /// Returns the short name of the branch, for people.
    pub(super) fn branch_name(&self) -> Option<String> {
        let name = self.branch.as_ref()?.to_string_lossy().into_owned();
        Some(name.strip_prefix("refs/heads/").map(str::to_owned).unwrap_or(name))
    }
}

/// Returns the commit of `reference`, if the ref exists.
fn commit(git: &Git, reference: &OsStr) -> Result<Option<String>, GitError> {
    let mut wanted = reference.to_owned();
    wanted.push("^{commit}");
    let asked =
        git.output([OsStr::new("rev-parse"), "-q".as_ref(), "--verify".as_ref(), &wanted])?;
    let id = asked.stdout.strip_suffix(b"\n").filter(|_| asked.status.success());
    Ok(id.map(|id| String::from_utf8_lossy(id).into_owned()))
}

/// Returns the present commits of `branches`.
pub(super) fn tips<'b>(
    git: &Git,
    branches: impl IntoIterator<Item = &'b OsString>,
) -> Result<Vec<Tip>, GitError> {
    branches.into_iter().map(|branch| Ok((branch.clone(), commit(git, branch)?))).collect()
}

/// Returns an error if one of `branches`, which are to be moved, is checked out in another work tree: its
/// files would not move with it.
pub(super) fn check_free<'b>(
    git: &Git,
    here: Option<&OsString>,
    branches: impl IntoIterator<Item = &'b OsString>,
) -> Result<(), GitError> {
    let branches: Vec<_> = branches.into_iter().filter(|&branch| Some(branch) != here).collect();
    if branches.is_empty() {
        return Ok(());
    }
    let list = git.run(&["worktree", "list", "--porcelain"])?;
    let lines = list.split(|&byte| byte == b'\n');
    let taken: BTreeSet<OsString> =
        lines.filter_map(|line| line.strip_prefix(b"branch ")).map(os).collect();
    match branches.into_iter().find(|&branch| taken.contains(branch)) {
        Some(branch) => {
            Err(GitError::BranchElsewhere { branch: branch.to_string_lossy().into_owned() })
        }
        None => Ok(()),
    }
}

/// Moves the branches from their commits in `now` to those in `wanted`, and sets git's `HEAD` to `head`. It
/// changes no files. A branch that has moved on meanwhile stays, with an error.
pub(super) fn go_back(
    git: &Git,
    (head, wanted): (&Head, &[Tip]),
    (head_now, now): (&Head, &[Tip]),
) -> Result<(), GitError> {
    for (branch, commit) in wanted {
        let is_now = now.iter().find(|(name, _)| name == branch);
        let old = is_now.and_then(|(_, commit)| commit.as_deref());
        if old != commit.as_deref() {
            move_branch(git, branch, old, commit.as_deref())?;
        }
    }
    if head.branch == head_now.branch && (head.branch.is_some() || head.commit == head_now.commit) {
        return Ok(());
    }
    let (name, on) = ("HEAD".as_ref(), "-m".as_ref());
    let why = OsStr::new(WHY);
    if let Some(branch) = &head.branch {
        git.run(&[OsStr::new("symbolic-ref"), on, why, name, branch])?;
    } else if let Some(commit) = &head.commit {
        let detached = "--no-deref".as_ref();
        git.run(&[OsStr::new("update-ref"), on, why, detached, name, commit.as_ref()])?;
    }
    Ok(())
}

fn move_branch(
    git: &Git,
    branch: &OsStr,
    old: Option<&str>,
    new: Option<&str>,
) -> Result<(), GitError> {
    let (on, why) = (OsStr::new("-m"), OsStr::new(WHY));
    // An empty name means that the ref must not exist.
    let old = OsStr::new(old.unwrap_or_default());
    let command = OsStr::new("update-ref");
    match new {
        Some(new) => git.run(&[command, on, why, branch, new.as_ref(), old])?,
        None => git.run(&[command, on, why, "-d".as_ref(), branch, old])?,
    };
    Ok(())
}
