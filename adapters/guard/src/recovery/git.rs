//! Starting over in a work tree of git: the state is saved under a ref, then the tree goes back.
//!
//! The refs belong to all work trees of a repository, and only `push --mirror` pushes them.
//!
//! Ignore rules are read from the target, because a file that was ignored at the start must not be taken for
//! a new one.

mod command;
mod disk;
mod error;
mod going_back;
mod head;
mod in_the_way;
mod index;
mod path;
mod saved_state;
mod snapshot;
#[cfg(test)]
mod tests;
mod went_back;
mod work_tree;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use error::GitError;
use going_back::Way;
use head::{Head, Tip};
use index::Staged;
pub use saved_state::SavedState;
use saved_state::{Entry, State};
use snapshot::Files;
pub use went_back::WentBack;
use work_tree::WorkTree;

use super::{Recovery, RecoveryError, Undone};

/// A work tree of git that can go back to where a run began.
///
/// [`begin`](Self::begin) saves the start of a run under `refs/unstuck/<run>/start`.
/// [`start_over`](Self::start_over) saves the present state under `refs/unstuck/<run>/<n>` and goes back to
/// the start. [`restore`](Self::restore) goes to one of these states, and saves the present one first, too.
///
/// # Saved state
///
/// - All files in git's index, and all other files that are not ignored, byte by byte: line ends are not
///   converted and no filter runs.
/// - The index with the marks of `git add --intent-to-add` on existing files, the branch that is checked
///   out, and its commit.
///
/// Later commits are taken off the branch, and stay reachable from the ref. If another branch is checked
/// out by then, the first is checked out again, and the other stays where it is.
///
/// # Left alone
///
/// - Ignored files, unless one stands where a file has to go; then it is saved first. If the start has no
///   such rule, the files are not ignored afterwards: [`WentBack::uncovered`] counts them, and a second
///   call saves and removes them.
/// - Repositories within the tree, for example submodules: [`WentBack::nested`] names them.
/// - Empty folders, and permissions other than to execute, are not saved: a file that is changed back has
///   the latest ones.
///
/// # Safety of the files
///
/// At any moment each file is in the tree or under the ref. The ref exists before the first change, and no
/// file is overwritten. A file is removed only after it was moved aside and compared, byte by byte, with
/// the saved one. If they differ because another process is at work, the file gets its name back and
/// [`WentBack::left`] names it. No program can see what another process writes afterwards to a file that it
/// had opened before.
///
/// This needs the program `git`, and runs neither the user's hooks nor filters.
///
/// ```no_run
/// use unstuck::{GitWorkTree, Undone};
///
/// let mut tree = GitWorkTree::begin(".".as_ref(), "run-7")?;
/// // … the agent works, and gets stuck …
/// let went = tree.start_over()?;
/// println!("{} under {}", went.files(), went.reference);
/// println!("tell the model: {}", Undone::from(went).message());
/// # Ok::<(), unstuck::GitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GitWorkTree {
    place: WorkTree,
    run: String,
}

impl GitWorkTree {
    /// Saves the present state as the start of the run `run`, in the work tree around `folder`.
    ///
    /// # Errors
    ///
    /// If the run exists already, or the state cannot be saved.
    pub fn begin(folder: &Path, run: &str) -> Result<Self, GitError> {
        let tree = Self::named(folder, run)?;
        let reference = saved_state::start(run);
        let commit = tree.keep(None, &format!("the start of {run}"))?.commit;
        if saved_state::create(&tree.place.git, &reference, &commit)? {
            Ok(tree)
        } else {
            Err(GitError::AlreadyBegun { run: run.to_owned() })
        }
    }

    /// Like [`begin`](Self::begin), for a run that may exist. Its former start stays, under the next number.
    ///
    /// # Errors
    ///
    /// If the state cannot be saved.
    pub fn begin_again(folder: &Path, run: &str) -> Result<Self, GitError> {
        let tree = match Self::begin(folder, run) {
            Err(GitError::AlreadyBegun { .. }) => Self::named(folder, run)?,
            begun => return begun,
        };
        let git = &tree.place.git;
        let reference = saved_state::start(run);
        let former = git.line(&["rev-parse", "--verify", &reference])?;
        let commit = tree.keep(None, &format!("the start of {run}"))?.commit;
        saved_state::number(git, run, &former)?;
        git.run(&["update-ref", &reference, &commit, &former])?;
        Ok(tree)
    }

    /// Like [`begin`](Self::begin), for a new run: `run-1` or the next such name that is free.
    ///
    /// # Errors
    ///
    /// If the state cannot be saved.
    pub fn begin_next(folder: &Path) -> Result<Self, GitError> {
        let taken = Self::list(folder)?;
        let numbers = taken.iter().filter_map(|saved| saved.run.strip_prefix("run-")?.parse().ok());
        let mut number: u64 = numbers.max().unwrap_or(0);
        loop {
            number = number.saturating_add(1);
            match Self::begin(folder, &format!("run-{number}")) {
                // Another process has begun it meanwhile.
                Err(GitError::AlreadyBegun { .. }) => {}
                begun => return begun,
            }
        }
    }

    /// Opens the run `run` of the work tree around `folder`, or the run that was begun last.
    ///
    /// # Errors
    ///
    /// If no run was begun there.
    pub fn open(folder: &Path, run: Option<&str>) -> Result<Self, GitError> {
        run.map_or(Ok(()), saved_state::check_name)?;
        let place = WorkTree::of(folder)?;
        let entries =
            saved_state::all(&place.git)?.into_iter().filter(|entry| entry.number.is_none());
        let is_here = |entry: &Entry| entry.state.work_tree == place.name;
        let found = match run {
            Some(run) => entries.into_iter().find(|entry| entry.state.run == run),
            None => entries.filter(is_here).max_by_key(|entry| entry.state.time),
        };
        match found {
            Some(entry) if is_here(&entry) => Ok(Self { place, run: entry.state.run }),
            Some(entry) => Err(GitError::OtherWorkTree { run: entry.state.run }),
            None => Err(GitError::NoRun { run: run.map(str::to_owned), folder: place.top }),
        }
    }

    /// Returns all saved states of the repository around `folder`, the start of each run first.
    ///
    /// # Errors
    ///
    /// If `folder` is in no repository.
    pub fn list(folder: &Path) -> Result<Vec<SavedState>, GitError> {
        let place = WorkTree::of(folder)?;
        Ok(saved_state::all(&place.git)?
            .into_iter()
            .map(|entry| entry.saved_state(&place))
            .collect())
    }

    /// Saves the present state and goes back to the start of the run.
    ///
    /// # Errors
    ///
    /// If the state cannot be saved; the tree is unchanged then. Or if going back breaks off; no file is lost
    /// then: a second call goes on, and [`restore`](Self::restore) goes back.
    pub fn start_over(&mut self) -> Result<WentBack, GitError> {
        self.go_to(&saved_state::start(&self.run), Self::no_run)
    }

    /// Saves the present state and goes to the state with this number.
    ///
    /// # Errors
    ///
    /// The errors of [`start_over`](Self::start_over), or if there is no such state.
    pub fn restore(&mut self, number: u32) -> Result<WentBack, GitError> {
        self.go_to(&saved_state::numbered(&self.run, number), |tree| GitError::NoNumber {
            run: tree.run.clone(),
            number,
        })
    }

    /// Returns the start of the run.
    ///
    /// # Errors
    ///
    /// If its ref was removed.
    pub fn start(&self) -> Result<SavedState, GitError> {
        let reference = saved_state::start(&self.run);
        let all = saved_state::all(&self.place.git)?;
        let entry = all.into_iter().find(|entry| entry.reference == reference);
        Ok(entry.ok_or_else(|| self.no_run())?.saved_state(&self.place))
    }

    /// Checks the name of a run.
    ///
    /// # Errors
    ///
    /// [`GitError::RunName`], which says which names are valid.
    pub fn check_name(run: &str) -> Result<(), GitError> {
        saved_state::check_name(run)
    }

    /// Returns the name of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Returns the top of the work tree.
    pub fn top(&self) -> &Path {
        &self.place.top
    }

    fn no_run(&self) -> GitError {
        GitError::NoRun { run: Some(self.run.clone()), folder: self.place.top.clone() }
    }

    fn named(folder: &Path, run: &str) -> Result<Self, GitError> {
        saved_state::check_name(run)?;
        Ok(Self { place: WorkTree::of(folder)?, run: run.to_owned() })
    }

    /// Commits the present state. If there is a `target` to go to, the commit has all files that going
    /// there would touch.
    fn keep(&self, target: Option<&Target>, title: &str) -> Result<Present, GitError> {
        let WorkTree { git, name, .. } = &self.place;
        self.place.check()?;
        let head = Head::of(git)?;
        let touched = target.into_iter().flat_map(Target::branches);
        let touched: Vec<_> =
            touched.filter(|&branch| Some(branch) != head.branch.as_ref()).collect();
        head::check_free(git, head.branch.as_ref(), touched.iter().copied())?;
        let tips = head::tips(git, touched)?;
        let Staged { tree: index, intended } = index::staged(&self.place)?;
        let taken = snapshot::take(&self.place, target.map(|target| &target.files))?;
        let tree = snapshot::tree(&self.place, &taken.files)?;
        let mut marked = taken.files.clone();
        marked.retain(|name, _| intended.contains(name));
        let marks = (!marked.is_empty()).then(|| snapshot::tree(&self.place, &marked));
        let intended = marks.transpose()?;
        let (run, work_tree, time) = (self.run.clone(), name.clone(), saved_state::now());
        let toward = target.map(|target| target.entry.commit.clone());
        let state = State { run, work_tree, time, head, index, intended, tips, toward };
        let commit = saved_state::commit(git, &tree, &state, title)?;
        Ok(Present { commit, state, files: taken.files, marked, nested: taken.nested })
    }

    /// Saves the present state under the next number, and goes to the state under `reference`.
    fn go_to(
        &self,
        reference: &str,
        missing: impl FnOnce(&Self) -> GitError,
    ) -> Result<WentBack, GitError> {
        let target = self.target(reference)?.ok_or_else(|| missing(self))?;
        let present = self.keep(Some(&target), &format!("{}, before it went back", self.run))?;
        let number = saved_state::number(&self.place.git, &self.run, &present.commit)?;
        self.go(&present, &target, number).map_err(|why| GitError::Midway {
            reference: saved_state::numbered(&self.run, number),
            why: Box::new(why),
        })
    }

    /// Returns the state under `reference`, if there is one.
    fn target(&self, reference: &str) -> Result<Option<Target>, GitError> {
        let entries = saved_state::all(&self.place.git)?;
        let Some(entry) = entries.into_iter().find(|entry| entry.reference == reference) else {
            return Ok(None);
        };
        if entry.state.work_tree != self.place.name {
            return Err(GitError::OtherWorkTree { run: self.run.clone() });
        }
        let files = snapshot::read(&self.place.git, &entry.commit)?;
        let toward = entry.state.toward.as_ref();
        let read = |id: &String| snapshot::read(&self.place.git, id);
        let seen = toward.map(read).transpose()?.unwrap_or_default();
        let marked = entry.state.intended.as_ref().map(read).transpose()?.unwrap_or_default();
        Ok(Some(Target { entry, files, seen, marked }))
    }

    /// Goes from the present state, which is saved under `number`, to `target`.
    fn go(&self, now: &Present, target: &Target, number: u32) -> Result<WentBack, GitError> {
        let (place, to) = (&self.place, &target.entry.state);
        head::go_back(&place.git, (&to.head, &target.tips()), (&now.state.head, &now.tips()))?;
        let mut way = Way::new(place, &now.files, (&target.files, &target.seen))?;
        way.put_rules_back()?;
        let was_staged = to.index != now.state.index || !target.marked.keys().eq(now.marked.keys());
        if was_staged {
            index::go_back(place, &to.index)?;
        }
        let figures = way.finish()?;
        if was_staged {
            // Only a file that exists can be marked.
            index::intend(place, target.marked.keys())?;
        }
        Ok(WentBack {
            run: self.run.clone(),
            number,
            reference: saved_state::numbered(&self.run, number),
            to: target.entry.clone().saved_state(place),
            changed: figures.changed,
            returned: figures.returned,
            removed: figures.removed,
            was_staged,
            branch: now.state.head.branch_name(),
            head: now.state.head.commit.clone(),
            left: figures.left.into_iter().collect(),
            uncovered: figures.uncovered,
            nested: now.nested.clone(),
        })
    }
}

impl Recovery for GitWorkTree {
    fn start_over(&mut self) -> Result<Undone, RecoveryError> {
        GitWorkTree::start_over(self).map(Undone::from).map_err(RecoveryError::new)
    }
}

/// A state to go to.
struct Target {
    entry: Entry,
    files: Files,
    /// The files that were looked for when it was saved. Those that are not in `files` did not exist.
    seen: Files,
    /// The files with a mark of `git add --intent-to-add`.
    marked: Files,
}

impl Target {
    /// Returns the commits that the branches have to be at.
    fn tips(&self) -> Vec<Tip> {
        tips(&self.entry.state)
    }

    /// Returns the branches that have to be at some commit.
    fn branches(&self) -> impl Iterator<Item = &OsString> {
        let State { head, tips, .. } = &self.entry.state;
        head.branch.iter().chain(tips.iter().map(|(branch, _)| branch))
    }
}

/// The present state, as it is saved.
struct Present {
    commit: String,
    state: State,
    files: Files,
    /// The files with a mark of `git add --intent-to-add`.
    marked: Files,
    nested: Vec<PathBuf>,
}

impl Present {
    fn tips(&self) -> Vec<Tip> {
        tips(&self.state)
    }
}

/// Returns the branches of a state with their commits: the branch that is checked out, and the others.
fn tips(state: &State) -> Vec<Tip> {
    let own = state.head.branch.clone().map(|branch| (branch, state.head.commit.clone()));
    own.into_iter().chain(state.tips.iter().cloned()).collect()
}
