//! Breaks off at every step in turn and looks whether anything is lost.

#[path = "../../../tests/recovery/repository.rs"]
mod repository;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use repository::{Content, Repository, beginning, edits};

use super::snapshot::Mode;
use super::{GitError, GitWorkTree, kept, path, snapshot};

thread_local! {
    /// How many steps may still be made; none means any number.
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

/// What comes of `work` if it is broken off after `steps`: nothing that it would do then is done.
fn broken_off<T>(steps: usize, work: impl FnOnce() -> T) -> T {
    STEPS.set(Some(steps));
    let done = work();
    STEPS.set(None);
    done
}

/// What is kept under any number.
fn kept_files(tree: &GitWorkTree) -> Vec<BTreeMap<PathBuf, Content>> {
    let entries = kept::all(&tree.place.git).expect("a list");
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

/// Checks that each file of `before` is in the tree or kept.
fn assert_nothing_lost(
    repository: &Repository,
    tree: &GitWorkTree,
    before: &BTreeMap<PathBuf, Content>,
    at: &str,
) {
    let (there, kept) = (repository.files(), kept_files(tree));
    for (name, content) in before {
        let is_kept = kept.iter().any(|files| files.get(name) == Some(content));
        assert!(is_kept || there.get(name) == Some(content), "{at}: lost {}", name.display());
    }
}

/// Breaks `go` off at each of its steps, until there are no more; how many there are.
fn broken_off_everywhere(
    original: &Repository,
    start: (&BTreeMap<PathBuf, Content>, &str),
    go: impl Fn(&mut GitWorkTree) -> Result<(), GitError>,
) -> usize {
    let (before, staged) = (original.files(), original.staged());
    // The start is kept beside the numbers, which begin with 1.
    let kept = GitWorkTree::list(original.top()).expect("a list").len();
    let first = u32::try_from(kept).expect("a small number");
    let mut steps = 0;
    loop {
        let at = format!("after {steps} steps");
        let repository = original.copied();
        let mut tree = GitWorkTree::open(repository.top(), None).expect("a run");
        let is_done = broken_off(steps, || go(&mut tree)).is_ok();
        assert_nothing_lost(&repository, &tree, &before, &at);
        let went = tree.start_over().unwrap_or_else(|error| panic!("{at}: {error}"));
        assert_eq!(went.left, Vec::<PathBuf>::new(), "{at}");
        assert_eq!((&repository.files(), &*repository.staged()), start, "{at}");
        tree.restore(first).unwrap_or_else(|error| panic!("{at}: {error}"));
        assert_eq!(
            (repository.files(), repository.staged()),
            (before.clone(), staged.clone()),
            "{at}"
        );
        if is_done {
            return steps;
        }
        steps += 1;
    }
}

#[test]
fn nothing_is_lost_wherever_it_breaks_off() {
    let original = beginning();
    GitWorkTree::begin(original.top(), "run").expect("a start");
    let (start, staged) = (original.files(), original.staged());
    edits(&original);
    let steps =
        broken_off_everywhere(&original, (&start, &staged), |tree| tree.start_over().map(drop));
    // Fewer would mean that the steps are not those of the work.
    assert!(steps > 80, "{steps}");
}

#[test]
fn nothing_is_lost_wherever_a_way_back_breaks_off() {
    let original = beginning();
    let mut tree = GitWorkTree::begin(original.top(), "run").expect("a start");
    let (start, staged) = (original.files(), original.staged());
    edits(&original);
    tree.start_over().expect("the start");
    original.write(Path::new("changed"), "changed in the second try\n");
    original.write("new", "a file where a folder was\n");
    let steps =
        broken_off_everywhere(&original, (&start, &staged), |tree| tree.restore(1).map(drop));
    assert!(steps > 80, "{steps}");
}
