//! Runs by name, and numbers that are given once.

use std::collections::BTreeSet;
use std::thread;

use unstuck::{GitError, GitWorkTree};

use crate::repository::{Repository, beginning, edits, git};

#[test]
fn the_run_that_was_begun_last_is_meant() {
    let repository = Repository::new();
    let open = |run| GitWorkTree::open(repository.top(), run);
    assert!(matches!(open(None), Err(GitError::NoRun { run: None, .. })));
    for run in ["b", "a"] {
        GitWorkTree::begin(repository.top(), run).expect("a start");
        assert_eq!(open(None).expect("a run").run(), run);
    }
    assert_eq!(open(Some("b")).expect("a run").run(), "b");
    assert!(matches!(open(Some("c")), Err(GitError::NoRun { run: Some(_), .. })));
    GitWorkTree::begin_again(repository.top(), "b").expect("another start");
    assert_eq!(open(None).expect("a run").run(), "b");
}

#[test]
fn each_run_and_each_number_is_given_once() {
    let repository = Repository::new();
    repository.write("a", "a");
    let top = repository.top();
    let begin = || GitWorkTree::begin_next(top).expect("a start").run().to_owned();
    let runs: BTreeSet<_> = thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(begin));
        threads.map(|thread| thread.join().expect("a run")).into()
    });
    assert_eq!(runs.len(), 4, "{runs:?}");
    let now = || {
        let mut tree = GitWorkTree::open(top, Some("run-1")).expect("a run");
        tree.start_over().expect("the start").number
    };
    let numbers: BTreeSet<_> = thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(now));
        threads.map(|thread| thread.join().expect("a number")).into()
    });
    assert_eq!(numbers, BTreeSet::from([1, 2, 3, 4]));
}

#[test]
fn two_at_once_lose_nothing() {
    let repository = beginning();
    GitWorkTree::begin(repository.top(), "run").expect("a start");
    let start = (repository.files(), repository.staged());
    edits(&repository);
    let end = (repository.files(), repository.staged());
    let open = || GitWorkTree::open(repository.top(), None).expect("a run");
    thread::scope(|scope| {
        for _ in 0..2 {
            // One process may meet the other on the way and give up.
            scope.spawn(|| open().start_over().ok());
        }
    });
    open().start_over().expect("the start");
    assert_eq!((repository.files(), repository.staged()), start);
    // The process with the first number had seen all files, because the other began later.
    open().restore(1).expect("the end");
    assert_eq!((repository.files(), repository.staged()), end);
}

#[test]
fn each_work_tree_of_a_repository_has_its_own_runs() {
    let repository = Repository::new();
    repository.write("a", "at the start");
    repository.commit();
    let folder = tempfile::tempdir().expect("a folder");
    let linked = folder.path().join("linked");
    let add =
        ["worktree".as_ref(), "add".as_ref(), "-q".as_ref(), "-bother".as_ref(), linked.as_path()];
    repository.git(add);
    GitWorkTree::begin(repository.top(), "one").expect("a start");
    let mut other = GitWorkTree::begin(&linked, "two").expect("a start");
    for (folder, run) in [(repository.top(), "one"), (linked.as_path(), "two")] {
        assert_eq!(GitWorkTree::open(folder, None).expect("a run").run(), run);
    }
    let error = GitWorkTree::open(&linked, Some("one")).expect_err("a run elsewhere");
    assert!(matches!(error, GitError::OtherWorkTree { .. }), "{error}");

    std::fs::write(linked.join("b"), "b").expect("a file");
    git(&linked, ["add", "b"]);
    git(&linked, ["commit", "-q", "-m", "by the agent"]);
    let went = other.start_over().expect("the start");
    assert_eq!((went.removed, went.has_moved()), (1, true));
    assert_eq!(git(&linked, ["status", "--porcelain"]), "");
    let kept = GitWorkTree::list(repository.top()).expect("a list");
    let here: Vec<_> =
        kept.iter().map(|kept| (kept.run.as_str(), kept.number, kept.is_here)).collect();
    assert_eq!(here, [("one", None, true), ("two", None, false), ("two", Some(1), false)]);
}
