//! Breaks off at every step in turn and checks that no file is lost.

#[path = "../../../tests/recovery/repository.rs"]
mod repository;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use repository::{Content, Repository, beginning, edits};

use super::snapshot::Mode;
use super::{GitError, GitWorkTree, path, saved_state, snapshot};

thread_local! {
    /// The number of steps that are left; `None` means any number.
    static STEPS: Cell<Option<usize>> = const { Cell::new(None) };
}

/// One step, or the end of all of them.
pub(super) fn step() -> io::Result<()> {
    match STEPS.get() {
        Some(0) => Err(io::Error::other("broken off")),
        left => {
            STEPS.set(left.map(|left| left - 1));
            Ok(())
        }
    }
}

/// Runs `work` and breaks it off after `steps`: no later step is done.
fn broken_off<T>(steps: usize, work: impl FnOnce() -> T) -> T {
    STEPS.set(Some(steps));
    let done = work();
    STEPS.set(None);
    done
}

/// Returns the states under any number.
fn kept_files(tree: &GitWorkTree) -> Vec<BTreeMap<PathBuf, Content>> {
    let entries = saved_state::all(&tree.place.git).expect("a list");
    let entries = entries.into_iter().filter(|entry| entry.number.is_some());
    entries.map(|entry| contents(tree, &entry.commit)).collect()
}

/// The files of a commit.
fn contents(tree: &GitWorkTree, commit: &str) -> BTreeMap<PathBuf, Content> {
    let files = snapshot::read(&tree.place.git, commit).expect("a tree");
    let mut blobs = tree.place.git.blobs().expect("a process");
    let content = |(name, kind): (Vec<u8>, snapshot::Kind)| {
        let mut bytes = Vec::new();
        blobs.copy(&kind.blob, &mut bytes).expect("a blob");
        let content = match kind.mode {
            Mode::Link => Content::Link(path::path(&bytes)),
            mode => Content::File { executable: mode == Mode::Executable, bytes },
        };
        (path::path(&name), content)
    };
    files.into_iter().map(content).collect()
}

/// The files, and what is checked out and staged.
type Whole = (BTreeMap<PathBuf, Content>, String);

fn whole(repository: &Repository) -> Whole {
    (repository.files(), repository.staged())
}

/// Checks that each file of `before` is in the tree or saved. Returns whether one is only saved.
fn assert_nothing_lost(
    repository: &Repository,
    tree: &GitWorkTree,
    before: &BTreeMap<PathBuf, Content>,
    at: &str,
) -> bool {
    let there = repository.files();
    let is_there = |(name, content): &(&PathBuf, &Content)| there.get(*name) == Some(*content);
    let gone: Vec<_> = before.iter().filter(|file| !is_there(file)).collect();
    let kept = if gone.is_empty() { Vec::new() } else { kept_files(tree) };
    for (name, content) in &gone {
        let is_kept = kept.iter().any(|files| files.get(*name) == Some(*content));
        assert!(is_kept, "{at}: lost {}", name.display());
    }
    !gone.is_empty()
}

/// Breaks `go` off at each of its steps in turn. Returns after how many of them a file was only saved.
fn broken_off_everywhere(
    original: &Repository,
    start: &Whole,
    go: impl Fn(&mut GitWorkTree) -> Result<(), GitError>,
) -> usize {
    let before = whole(original);
    // The start is saved beside the numbers, which begin with 1.
    let kept = GitWorkTree::list(original.top()).expect("a list").len();
    let first = u32::try_from(kept).expect("a small number");
    let mut kept_alone = 0;
    for steps in (0..).step_by(stride()) {
        let at = format!("after {steps} steps");
        let repository = original.copied();
        let mut tree = GitWorkTree::open(repository.top(), None).expect("a run");
        let is_done = broken_off(steps, || go(&mut tree)).is_ok();
        kept_alone += usize::from(assert_nothing_lost(&repository, &tree, &before.0, &at));
        // One goes on; the other turns round, if it got far enough to save the state.
        let is_kept = GitWorkTree::list(repository.top()).expect("a list").len() > kept;
        if steps % 2 == 0 || !is_kept {
            let went = tree.start_over().unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(went.left, Vec::<PathBuf>::new(), "{at}");
            assert_eq!(&whole(&repository), start, "{at}");
        }
        if steps % 2 == 1 || is_done {
            tree.restore(first).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(whole(&repository), before, "{at}");
        }
        if is_done {
            break;
        }
    }
    kept_alone
}

/// Returns the distance of two places to break off: an odd number, so that both ways go on. 2 in `UNSTUCK_EXHAUSTIVE` takes
/// each place.
fn stride() -> usize {
    match std::env::var("UNSTUCK_EXHAUSTIVE").as_deref() {
        Err(_) => 7,
        Ok("1") => 3,
        Ok(_) => 1,
    }
}

#[test]
fn nothing_is_lost_wherever_it_breaks_off() {
    let original = beginning();
    GitWorkTree::begin(original.top(), "run").expect("a start");
    let start = whole(&original);
    edits(&original);
    let go = |tree: &mut GitWorkTree| tree.start_over().map(drop);
    let kept_alone = broken_off_everywhere(&original, &start, go);
    // Less would mean that it was never broken off where it matters.
    assert!(kept_alone > 30 / stride(), "{kept_alone}");
}

#[test]
fn nothing_is_lost_wherever_a_way_back_breaks_off() {
    let original = beginning();
    let mut tree = GitWorkTree::begin(original.top(), "run").expect("a start");
    let start = whole(&original);
    edits(&original);
    tree.start_over().expect("the start");
    original.write("changed", "changed in the second try\n");
    original.write("new", "a file where a folder was\n");
    let go = |tree: &mut GitWorkTree| tree.restore(1).map(drop);
    let kept_alone = broken_off_everywhere(&original, &start, go);
    assert!(kept_alone > 30 / stride(), "{kept_alone}");
}

#[test]
fn what_another_process_does_on_the_way_is_left() {
    let repository = beginning();
    let tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    edits(&repository);
    let target = tree.target(&saved_state::start("run")).expect("refs").expect("a start");
    let present = tree.keep(Some(&target), "a title").expect("what there is");
    // A file of the start, one that was added, one that is missing, one in a folder that goes.
    let names = ["untracked", "new/deep/file", "deleted", "to-folder/new", "from-folder"];
    for name in names {
        repository.write(name, "meanwhile");
    }
    let went = tree.go(&present, &target, 1).expect("the way");
    let files = repository.files();
    let meanwhile = Content::File { executable: false, bytes: b"meanwhile".to_vec() };
    for name in names {
        assert_eq!(files.get(Path::new(name)), Some(&meanwhile), "{name}");
        let is_named = went.left.iter().any(|left| left == Path::new(name));
        assert!(is_named, "{name}: {:?}", went.left);
    }
    assert!(files.keys().all(|name| !name.to_string_lossy().contains("unstuck-held")));
}
