//! Starting over in a work tree of git: everything is kept under a ref, then the tree goes back.

mod command;
mod disk;
mod error;
mod going_back;
mod head;
mod in_the_way;
mod index;
mod kept;
mod path;
mod place;
mod snapshot;
#[cfg(test)]
mod tests;
mod went_back;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use error::GitError;
use going_back::Way;
use head::{Head, Tip};
pub use kept::Kept;
use kept::{Entry, State};
use place::Place;
use snapshot::Files;
pub use went_back::WentBack;

use super::{Recovery, RecoveryError, Undone};

/// A work tree of git that can go back to where a run began.
///
/// [`begin`](Self::begin) keeps the start of a run under `refs/unstuck/<run>/start`;
/// [`start_over`](Self::start_over) keeps what there is by then under `refs/unstuck/<run>/<n>` and
/// goes back; [`restore`](Self::restore) goes to one of those, and keeps what there was before
/// that, too. Kept are
///
/// - all files in git's index and all that are neither there nor ignored, byte by byte: line ends
///   are not converted and no filter runs;
/// - what is staged, the branch that is checked out, and its commit.
///
/// So commits that were made since are taken off the branch, and stay reachable from the ref. If
/// another branch is checked out by then, the first is checked out again; the other stays where
/// it is.
///
/// What is ignored is left alone, unless it stands where a file has to go; then it is kept first.
/// Where the start has no such rule, it is ignored no longer: [`WentBack::uncovered`] counts that,
/// and a second call keeps and removes it.
/// Repositories within the tree (submodules are some) are left alone, and [`WentBack::nested`]
/// names them. Folders with nothing in them, permissions other than to execute (a file that is
/// changed back has those that it had last), and marks of `git add --intent-to-add` are not kept.
///
/// Whatever happens on the way, each file is in the tree or under the ref: the ref is there before
/// the first change, no file is written over, and one is removed only after it was moved aside and
/// found to be, byte by byte, what is kept. If it is not, since another process is at work there,
/// it gets its name back and [`WentBack::left`] names it. One thing no program can see: what
/// another process writes afterwards to a file that it had opened before.
///
/// This needs the program `git`, and runs none of the user's hooks.
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
    place: Place,
    run: String,
}

impl GitWorkTree {
    /// Keeps what there is as the start of the run `run`, in the work tree that `folder` is in.
    ///
    /// # Errors
    ///
    /// If there is such a run already, or the tree cannot be kept.
    pub fn begin(folder: &Path, run: &str) -> Result<Self, GitError> {
        let tree = Self::named(folder, run)?;
        let reference = kept::start(run);
        let commit = tree.keep(None, &format!("the start of {run}"))?.commit;
        if kept::create(&tree.place.git, &reference, &commit)? {
            Ok(tree)
        } else {
            Err(GitError::AlreadyBegun { run: run.to_owned() })
        }
    }

    /// The same for a run that may have been begun before. Its former start stays, under the next
    /// number.
    ///
    /// # Errors
    ///
    /// If the tree cannot be kept.
    pub fn begin_again(folder: &Path, run: &str) -> Result<Self, GitError> {
        let tree = match Self::begin(folder, run) {
            Err(GitError::AlreadyBegun { .. }) => Self::named(folder, run)?,
            begun => return begun,
        };
        let git = &tree.place.git;
        let reference = kept::start(run);
        let former = git.line(&["rev-parse", "--verify", &reference])?;
        let commit = tree.keep(None, &format!("the start of {run}"))?.commit;
        kept::number(git, run, &former)?;
        git.run(&["update-ref", &reference, &commit, &former])?;
        Ok(tree)
    }

    /// The same for a new run, `run-1` or the next such name that is free.
    ///
    /// # Errors
    ///
    /// If the tree cannot be kept.
    pub fn begin_next(folder: &Path) -> Result<Self, GitError> {
        let taken = Self::list(folder)?;
        let numbers = taken.iter().filter_map(|kept| kept.run.strip_prefix("run-")?.parse().ok());
        let mut number: u64 = numbers.max().unwrap_or(0);
        loop {
            number = number.saturating_add(1);
            match Self::begin(folder, &format!("run-{number}")) {
                // Somebody else began it meanwhile.
                Err(GitError::AlreadyBegun { .. }) => {}
                begun => return begun,
            }
        }
    }

    /// The run `run` of the work tree that `folder` is in, or the one that was begun last.
    ///
    /// # Errors
    ///
    /// If none was begun there.
    pub fn open(folder: &Path, run: Option<&str>) -> Result<Self, GitError> {
        run.map_or(Ok(()), kept::check_name)?;
        let place = Place::of(folder)?;
        let entries = kept::all(&place.git)?.into_iter().filter(|entry| entry.number.is_none());
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

    /// All that is kept in the repository that `folder` is in, of each run the start first.
    ///
    /// # Errors
    ///
    /// If it is in none.
    pub fn list(folder: &Path) -> Result<Vec<Kept>, GitError> {
        let place = Place::of(folder)?;
        Ok(kept::all(&place.git)?.into_iter().map(|entry| entry.kept(&place)).collect())
    }

    /// Keeps what there is and goes back to the start of the run.
    ///
    /// # Errors
    ///
    /// If it cannot be kept, and then nothing is changed; or if the way breaks off, and then
    /// nothing is lost: a second call goes on, and [`restore`](Self::restore) goes back.
    pub fn start_over(&mut self) -> Result<WentBack, GitError> {
        self.go_to(&kept::start(&self.run), Self::no_run)
    }

    /// Keeps what there is and goes to what is kept under `number`.
    ///
    /// # Errors
    ///
    /// As those of [`start_over`](Self::start_over), or if nothing is kept there.
    pub fn restore(&mut self, number: u32) -> Result<WentBack, GitError> {
        self.go_to(&kept::numbered(&self.run, number), |tree| GitError::NoNumber {
            run: tree.run.clone(),
            number,
        })
    }

    /// What is kept as the start of the run.
    ///
    /// # Errors
    ///
    /// If somebody has removed it.
    pub fn start(&self) -> Result<Kept, GitError> {
        let reference = kept::start(&self.run);
        let all = kept::all(&self.place.git)?;
        let entry = all.into_iter().find(|entry| entry.reference == reference);
        Ok(entry.ok_or_else(|| self.no_run())?.kept(&self.place))
    }

    /// Refuses what cannot be the name of a run.
    ///
    /// # Errors
    ///
    /// If it cannot, with what could.
    pub fn check_name(run: &str) -> Result<(), GitError> {
        kept::check_name(run)
    }

    /// The name of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The top of the work tree.
    pub fn top(&self) -> &Path {
        &self.place.top
    }

    fn no_run(&self) -> GitError {
        GitError::NoRun { run: Some(self.run.clone()), folder: self.place.top.clone() }
    }

    fn named(folder: &Path, run: &str) -> Result<Self, GitError> {
        kept::check_name(run)?;
        Ok(Self { place: Place::of(folder)?, run: run.to_owned() })
    }

    /// Makes a commit of what there is. With a `target` to go to from there, it has all that such a
    /// way would touch.
    fn keep(&self, target: Option<&Target>, title: &str) -> Result<Present, GitError> {
        let Place { git, name, .. } = &self.place;
        self.place.check()?;
        let head = Head::of(git)?;
        let touched = target.into_iter().flat_map(Target::branches);
        let touched: Vec<_> =
            touched.filter(|&branch| Some(branch) != head.branch.as_ref()).collect();
        head::check_free(git, head.branch.as_ref(), touched.iter().copied())?;
        let tips = head::tips(git, touched)?;
        let index = index::tree(&self.place)?;
        let taken = snapshot::take(&self.place, target.map(|target| &target.files))?;
        let tree = snapshot::tree(&self.place, &taken.files)?;
        let (run, work_tree, time) = (self.run.clone(), name.clone(), kept::now());
        let toward = target.map(|target| target.entry.commit.clone());
        let state = State { run, work_tree, time, head, index, tips, toward };
        let commit = kept::commit(git, &tree, &state, title)?;
        Ok(Present { commit, state, files: taken.files, nested: taken.nested })
    }

    /// Keeps what there is under the next number and goes to what is kept under `reference`.
    fn go_to(
        &self,
        reference: &str,
        missing: impl FnOnce(&Self) -> GitError,
    ) -> Result<WentBack, GitError> {
        let target = self.target(reference)?.ok_or_else(|| missing(self))?;
        let present = self.keep(Some(&target), &format!("{}, before it went back", self.run))?;
        let number = kept::number(&self.place.git, &self.run, &present.commit)?;
        self.go(&present, &target, number).map_err(|why| GitError::Midway {
            reference: kept::numbered(&self.run, number),
            why: Box::new(why),
        })
    }

    /// What is kept under `reference`, if anything is.
    fn target(&self, reference: &str) -> Result<Option<Target>, GitError> {
        let entries = kept::all(&self.place.git)?;
        let Some(entry) = entries.into_iter().find(|entry| entry.reference == reference) else {
            return Ok(None);
        };
        if entry.state.work_tree != self.place.name {
            return Err(GitError::OtherWorkTree { run: self.run.clone() });
        }
        let files = snapshot::read(&self.place.git, &entry.commit)?;
        let toward = entry.state.toward.as_ref();
        let seen = toward.map(|commit| snapshot::read(&self.place.git, commit)).transpose()?;
        Ok(Some(Target { entry, files, seen: seen.unwrap_or_default() }))
    }

    /// Goes from what there is, which is kept under `number`, to `target`.
    fn go(&self, now: &Present, target: &Target, number: u32) -> Result<WentBack, GitError> {
        let (place, to) = (&self.place, &target.entry.state);
        head::go_back(&place.git, (&to.head, &target.tips()), (&now.state.head, &now.tips()))?;
        let mut way = Way::new(place, &now.files, (&target.files, &target.seen))?;
        way.put_rules_back()?;
        if to.index != now.state.index {
            index::go_back(place, &to.index)?;
        }
        let figures = way.finish()?;
        Ok(WentBack {
            run: self.run.clone(),
            number,
            reference: kept::numbered(&self.run, number),
            to: target.entry.clone().kept(place),
            changed: figures.changed,
            returned: figures.returned,
            removed: figures.removed,
            was_staged: to.index != now.state.index,
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
    /// Files that were looked for when it was kept: what is not among its own was not there.
    seen: Files,
}

impl Target {
    /// Where the branches have to be.
    fn tips(&self) -> Vec<Tip> {
        tips(&self.entry.state)
    }

    /// The branches that have to be somewhere.
    fn branches(&self) -> impl Iterator<Item = &OsString> {
        let State { head, tips, .. } = &self.entry.state;
        head.branch.iter().chain(tips.iter().map(|(branch, _)| branch))
    }
}

/// The state that there is, as it is kept.
struct Present {
    commit: String,
    state: State,
    files: Files,
    nested: Vec<PathBuf>,
}

impl Present {
    fn tips(&self) -> Vec<Tip> {
        tips(&self.state)
    }
}

/// Where the branches of a state are: the one that is checked out, and the others.
fn tips(state: &State) -> Vec<Tip> {
    let own = state.head.branch.clone().map(|branch| (branch, state.head.commit.clone()));
    own.into_iter().chain(state.tips.iter().cloned()).collect()
}
