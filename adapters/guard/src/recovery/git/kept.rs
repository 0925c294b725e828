//! The refs that states are kept under, and what the commits there say of them.

use std::ffi::OsString;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::command::{Git, complaint, text};
use super::error::GitError;
use super::head::{Head, Tip};
use super::path::os;
use super::place::Place;

/// Where all refs are.
const REFS: &str = "refs/unstuck";

/// The last part of the ref of a start. The others are numbers.
const START: &str = "start";

/// The longest name of a run: names of files may be no longer than 255 bytes, and the commands'
/// output should stay readable.
const NAME_MAX: usize = 100;

/// A state of a work tree that is kept under a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// The run that it is of.
    pub run: String,
    /// Its number; none is the start of the run.
    pub number: Option<u32>,
    /// The ref.
    pub reference: String,
    /// The commit there, whose tree is the files byte by byte.
    pub commit: String,
    /// When it was kept.
    pub time: SystemTime,
    /// The branch that was checked out, if one was.
    pub branch: Option<String>,
    /// The commit that was checked out, if there was any.
    pub head: Option<String>,
    /// Whether it is of the work tree that was asked, and not of another one of its repository.
    pub is_here: bool,
}

/// What a commit says beside its tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) run: String,
    /// Which of the work trees of the repository it is of.
    pub(super) work_tree: String,
    /// Nanoseconds since 1970: what git itself notes would not tell which of two is the later.
    pub(super) time: u64,
    pub(super) head: Head,
    /// The tree of what was staged.
    pub(super) index: String,
    /// Where the branches were that a way back moves, other than the one that was checked out.
    pub(super) tips: Vec<Tip>,
    /// The commit of the state that the work tree went to from this one. What that has and this
    /// one has not was not there at all: had it been, ignored or not, it would be kept.
    pub(super) toward: Option<String>,
}

impl State {
    /// The text of the commit's message.
    fn message(&self, title: &str) -> Vec<u8> {
        let mut text = format!(
            "unstuck: {title}\n\nRun: {}\nWork-Tree: {}\nTime: {}\nIndex: {}\n",
            self.run, self.work_tree, self.time, self.index
        )
        .into_bytes();
        for (key, commit) in [("Commit", &self.head.commit), ("Toward", &self.toward)] {
            if let Some(commit) = commit {
                text.extend_from_slice(format!("{key}: {commit}\n").as_bytes());
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

    /// What a message says.
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
            toward: word("Toward: "),
            tips: lines()
                .filter_map(|line| line.strip_prefix(b"Tip: "))
                .map(tip)
                .collect::<Option<_>>()?,
        })
    }
}

/// Nanoseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A state and where it is kept.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) reference: String,
    pub(super) commit: String,
    pub(super) number: Option<u32>,
    pub(super) state: State,
}

impl Entry {
    pub(super) fn kept(self, place: &Place) -> Kept {
        Kept {
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

/// Refuses what cannot be the name of a run: it is a part of a ref, which must not end like the
/// files with which git locks refs.
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

/// The ref of the start of `run`.
pub(super) fn start(run: &str) -> String {
    format!("{REFS}/{run}/{START}")
}

/// The ref of what is kept of `run` under `number`.
pub(super) fn numbered(run: &str, number: u32) -> String {
    format!("{REFS}/{run}/{number}")
}

/// The run and the number that a ref is of.
fn parts(reference: &str) -> Option<(&str, Option<u32>)> {
    let (run, last) = reference.strip_prefix(REFS)?.strip_prefix('/')?.split_once('/')?;
    match last {
        START => Some((run, None)),
        number => number.parse().ok().map(|number| (run, Some(number))),
    }
}

/// All that is kept in the repository, of each run the start first. Refs that somebody else put
/// there are left out.
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
    // A line's end stands between two of them.
    let reference = String::from_utf8(reference.strip_prefix(b"\n").unwrap_or(reference).to_vec());
    let (reference, state) = (reference.ok()?, State::read(message)?);
    let (run, number) = parts(&reference)?;
    let commit = String::from_utf8(commit.to_vec()).ok()?;
    (run == state.run).then_some(Entry { reference, commit, number, state })
}

/// Makes a commit of the state, with the tree `tree`. Its parents keep what belongs to it from
/// being swept away: what was checked out, what was staged, the branches' commits, the state that it
/// went to.
pub(super) fn commit(
    git: &Git,
    tree: &str,
    state: &State,
    title: &str,
) -> Result<String, GitError> {
    let staged = state.message(&format!("what was staged, {title}"));
    let index = text(&git.fed(&["commit-tree", &state.index], &staged)?);
    let tips = state.tips.iter().filter_map(|(_, commit)| commit.clone());
    let mut parents: Vec<String> = state.head.commit.clone().into_iter().collect();
    for parent in [index].into_iter().chain(tips).chain(state.toward.clone()) {
        if !parents.contains(&parent) {
            parents.push(parent);
        }
    }
    let mut command = vec!["commit-tree".to_owned(), tree.to_owned()];
    command.extend(parents.into_iter().flat_map(|parent| ["-p".to_owned(), parent]));
    Ok(text(&git.fed(&command, &state.message(title))?))
}

/// Makes `reference`, which must not be there; whether that went well.
pub(super) fn create(git: &Git, reference: &str, commit: &str) -> Result<bool, GitError> {
    // An empty name of the old commit says that there must be none.
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

/// Keeps `commit` under the next number of `run` that nobody has, and says which that is.
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
            tips: vec![tip("refs/heads/x", None), tip("refs/heads/y", Some("56ef"))],
            toward: Some("78ab".to_owned()),
        };
        assert_eq!(State::read(&state.message("a title")), Some(state.clone()));
        let head = Head { branch: None, commit: None };
        let unborn = State { head, tips: vec![], toward: None, ..state };
        assert_eq!(State::read(&unborn.message("a title")), Some(unborn));
        assert_eq!(State::read(b"another commit\n"), None);
    }
}
