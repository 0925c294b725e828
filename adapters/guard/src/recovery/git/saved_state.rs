//! The refs under which states are saved, and the messages of their commits.

use std::ffi::OsString;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::command::{Git, complaint, text};
use super::error::GitError;
use super::head::{Head, Tip};
use super::path::os;
use super::work_tree::WorkTree;

/// The folder of all refs.
const REFS: &str = "refs/unstuck";

/// The last part of the ref of a start. The other refs end with a number.
const START: &str = "start";

/// The longest name of a run. File names are limited to 255 bytes, and the output of the commands should
/// stay readable.
const NAME_MAX: usize = 100;

/// A state of a work tree that is saved under a ref.
///
/// ```no_run
/// use unstuck::{GitWorkTree, SavedState};
///
/// let states: Vec<SavedState> = GitWorkTree::list(".".as_ref())?;
/// for state in states.iter().filter(|state| state.is_here) {
///     println!("{} of {}", state.reference, state.run);
/// }
/// # Ok::<(), unstuck::GitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SavedState {
    /// The run.
    pub run: String,
    /// The number, or `None` for the start of the run.
    pub number: Option<u32>,
    /// The ref.
    pub reference: String,
    /// The commit under the ref. Its tree has the files byte by byte.
    pub commit: String,
    /// The time at which it was saved.
    pub time: SystemTime,
    /// The branch that was checked out, if one was.
    pub branch: Option<String>,
    /// The commit that was checked out, if there was any.
    pub head: Option<String>,
    /// Whether it belongs to this work tree, rather than to another one of the same repository.
    pub is_here: bool,
}

/// The facts in the message of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) run: String,
    /// The name of the work tree.
    pub(super) work_tree: String,
    /// Nanoseconds since 1970. The times of git, in seconds, would not show which of two states is later.
    pub(super) time: u64,
    pub(super) head: Head,
    /// The tree of the index.
    pub(super) index: String,
    /// The tree of the files with a mark of `git add --intent-to-add`, if there are any.
    pub(super) intended: Option<String>,
    /// The commits of the branches that going back moves, except for the one that was checked out.
    pub(super) tips: Vec<Tip>,
    /// The commit of the state to which the work tree went from this one. A file that only that state has
    /// did not exist here: otherwise it would have been saved, even if ignored.
    pub(super) toward: Option<String>,
}

impl State {
    /// Returns the message of the commit.
    fn message(&self, title: &str) -> Vec<u8> {
        let mut text = format!(
            "unstuck: {title}\n\nRun: {}\nWork-Tree: {}\nTime: {}\nIndex: {}\n",
            self.run, self.work_tree, self.time, self.index
        )
        .into_bytes();
        let ids =
            [("Commit", &self.head.commit), ("Toward", &self.toward), ("Intended", &self.intended)];
        for (key, id) in ids {
            if let Some(id) = id {
                text.extend_from_slice(format!("{key}: {id}\n").as_bytes());
            }
        }
        let mut line = |start: String, name: &OsString| {
            text.extend_from_slice(start.as_bytes());
            text.extend_from_slice(name.as_encoded_bytes());
            text.push(b'\n');
        };
        if let Some(branch) = &self.head.branch {
            line("Branch: ".to_owned(), branch);
        }
        for (branch, commit) in &self.tips {
            line(format!("Tip: {} ", commit.as_deref().unwrap_or("none")), branch);
        }
        text
    }

    /// Reads the message of a commit.
    fn read(message: &[u8]) -> Option<Self> {
        let lines = || message.split(|&byte| byte == b'\n');
        let bytes = |key: &str| lines().find_map(|line| line.strip_prefix(key.as_bytes()));
        let word = |key| bytes(key).and_then(|word| String::from_utf8(word.to_owned()).ok());
        let tip = |line: &[u8]| {
            let space = line.iter().position(|&byte| byte == b' ')?;
            let commit = String::from_utf8(line.get(..space)?.to_owned()).ok()?;
            Some((os(line.get(space + 1..)?), Some(commit).filter(|commit| commit != "none")))
        };
        Some(Self {
            run: word("Run: ")?,
            work_tree: word("Work-Tree: ")?,
            time: word("Time: ")?.parse().ok()?,
            head: Head { branch: bytes("Branch: ").map(os), commit: word("Commit: ") },
            index: word("Index: ")?,
            intended: word("Intended: "),
            toward: word("Toward: "),
            tips: lines()
                .filter_map(|line| line.strip_prefix(b"Tip: "))
                .map(tip)
                .collect::<Option<_>>()?,
        })
    }
}

/// Returns the time in nanoseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A state and its ref.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) reference: String,
    pub(super) commit: String,
    pub(super) number: Option<u32>,
    pub(super) state: State,
}

impl Entry {
    pub(super) fn saved_state(self, place: &WorkTree) -> SavedState {
        SavedState {
            is_here: self.state.work_tree == place.name,
            branch: self.state.head.branch_name(),
            run: self.state.run,
            number: self.number,
            reference: self.reference,
            commit: self.commit,
            time: UNIX_EPOCH + Duration::from_nanos(self.state.time),
            head: self.state.head.commit,
        }
    }
}

/// Checks the name of a run. It is a part of a ref, which must not end like git's lock files.
pub(super) fn check_name(run: &str) -> Result<(), GitError> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = run.len() <= NAME_MAX
        && run.starts_with(is_word)
        && run.ends_with(is_word)
        && run.chars().all(|c| is_word(c) || c == '-' || c == '.')
        && !run.contains("..")
        && run.rsplit('.').next() != Some("lock");
    if is_name { Ok(()) } else { Err(GitError::RunName { name: run.to_owned() }) }
}

/// Returns the ref of the start of `run`.
pub(super) fn start(run: &str) -> String {
    format!("{REFS}/{run}/{START}")
}

/// Returns the ref of the state `number` of `run`.
pub(super) fn numbered(run: &str, number: u32) -> String {
    format!("{REFS}/{run}/{number}")
}

/// Splits a ref into the run and the number.
fn parts(reference: &str) -> Option<(&str, Option<u32>)> {
    let (run, last) = reference.strip_prefix(REFS)?.strip_prefix('/')?.split_once('/')?;
    match last {
        START => Some((run, None)),
        number => number.parse().ok().map(|number| (run, Some(number))),
    }
}

/// Returns all states in the repository, the start of each run first. Refs of other programs are left out.
pub(super) fn all(git: &Git) -> Result<Vec<Entry>, GitError> {
    let format = "--format=%(refname)%00%(objectname)%00%(contents)%00";
    let listing = git.run(&["for-each-ref", format, REFS])?;
    let fields: Vec<&[u8]> = listing.split(|&byte| byte == 0).collect();
    let mut entries: Vec<Entry> = fields.chunks_exact(3).filter_map(entry).collect();
    entries.sort_by(|a, b| (&a.state.run, a.number).cmp(&(&b.state.run, b.number)));
    Ok(entries)
}

fn entry(fields: &[&[u8]]) -> Option<Entry> {
    let [reference, commit, message] = fields else { return None };
    // A line end separates two entries.
    let reference = String::from_utf8(reference.strip_prefix(b"\n").unwrap_or(reference).to_vec());
    let (reference, state) = (reference.ok()?, State::read(message)?);
    let (run, number) = parts(&reference)?;
    let commit = String::from_utf8(commit.to_vec()).ok()?;
    (run == state.run).then_some(Entry { reference, commit, number, state })
}

/// Makes a commit of the state, with the tree `tree`. Its parents protect the parts of the state from
/// garbage collection: the commit that was checked out, the index with its marks, the commits of the
/// branches, and the state to which the work tree went.
pub(super) fn commit(
    git: &Git,
    tree: &str,
    state: &State,
    title: &str,
) -> Result<String, GitError> {
    let staged = state.message(&format!("what was staged, {title}"));
    let staged = |tree: &String| git.fed(&["commit-tree", tree], &staged).map(|id| text(&id));
    let index = staged(&state.index)?;
    let intended = state.intended.as_ref().map(staged).transpose()?;
    let tips = state.tips.iter().filter_map(|(_, commit)| commit.clone());
    let mut parents: Vec<String> = state.head.commit.clone().into_iter().collect();
    for parent in [index].into_iter().chain(intended).chain(tips).chain(state.toward.clone()) {
        if !parents.contains(&parent) {
            parents.push(parent);
        }
    }
    let mut command = vec!["commit-tree".to_owned(), tree.to_owned()];
    command.extend(parents.into_iter().flat_map(|parent| ["-p".to_owned(), parent]));
    Ok(text(&git.fed(&command, &state.message(title))?))
}

/// Makes the new ref `reference`. Returns whether the ref is new.
pub(super) fn create(git: &Git, reference: &str, commit: &str) -> Result<bool, GitError> {
    // An empty old commit means that the ref must not exist.
    let asked = git.output(["update-ref", reference, commit, ""])?;
    if asked.status.success() {
        return Ok(true);
    }
    if git.output(["rev-parse", "-q", "--verify", reference])?.status.success() {
        return Ok(false);
    }
    let said = complaint(&asked);
    Err(GitError::Git { command: "update-ref".to_owned(), said })
}

/// Saves `commit` under the next free number of `run`, and returns the number.
pub(super) fn number(git: &Git, run: &str, commit: &str) -> Result<u32, GitError> {
    let refs = git.run(&["for-each-ref", "--format=%(refname)", &format!("{REFS}/{run}")])?;
    let refs = String::from_utf8_lossy(&refs).into_owned();
    let last = refs.lines().filter_map(|reference| parts(reference)?.1).max().unwrap_or(0);
    let mut number = last.saturating_add(1);
    while !create(git, &numbered(run, number), commit)? {
        number = number.checked_add(1).ok_or_else(|| GitError::Damaged {
            reference: numbered(run, number),
            what: "it has the last number, and nothing can be kept after it".to_owned(),
        })?;
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_part_of_a_ref() {
        for name in ["a", "run-1", "2026-11-22T10.57", "_", "9f8e7d6c-0000-4000-8000-000000000000"]
        {
            assert!(check_name(name).is_ok(), "{name}");
        }
        let long = "a".repeat(NAME_MAX + 1);
        for name in
            ["", "-a", ".a", "a.", "a-", "a b", "a/b", "a..b", "a.lock", "lock", "é", "a\n", &long]
        {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_ref_says_its_run_and_number() {
        assert_eq!(parts(&start("r-1")), Some(("r-1", None)));
        assert_eq!(parts(&numbered("r-1", 12)), Some(("r-1", Some(12))));
        for other in ["refs/unstuck/r", "refs/unstuck/r/x", "refs/heads/r/1", "refs/unstuck/r/1/2"]
        {
            assert_eq!(parts(other), None, "{other}");
        }
    }

    #[test]
    fn what_a_message_says_is_read_from_it() {
        let tip = |name: &str, commit: Option<&str>| (name.into(), commit.map(str::to_owned));
        let state = State {
            run: "r".to_owned(),
            work_tree: ".".to_owned(),
            time: 1_700_000_000_123_456_789,
            head: Head { branch: Some("refs/heads/a b".into()), commit: Some("12ab".to_owned()) },
            index: "34cd".to_owned(),
            intended: Some("90ef".to_owned()),
            tips: vec![tip("refs/heads/x", None), tip("refs/heads/y", Some("56ef"))],
            toward: Some("78ab".to_owned()),
        };
        assert_eq!(State::read(&state.message("a title")), Some(state.clone()));
        let head = Head { branch: None, commit: None };
        let unborn = State { head, tips: vec![], toward: None, intended: None, ..state };
        assert_eq!(State::read(&unborn.message("a title")), Some(unborn));
        assert_eq!(State::read(b"another commit\n"), None);
    }
}
