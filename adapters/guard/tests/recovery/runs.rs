//! Runs by name, and numbers that are given once.

use std::collections::BTreeSet;
use std::thread;

use unstuck::{GitError, GitWorkTree};

use crate::repository::{Repository, beginning, edits};

#[test]
fn a_run_is_begun_once_unless_it_is_begun_again() {
    let repository = Repository::new();
    repository.write("a", "first");
    GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.write("a", "second");
    let error = GitWorkTree::begin(repository.top(), "run").expect_err("a run that is there");
    assert!(matches!(error, GitError::AlreadyBegun { .. }), "{error}");
    let second = repository.files();
    let mut tree = GitWorkTree::begin_again(repository.top(), "run").expect("another start");
    repository.write("a", "third");
    tree.start_over().expect("the start");
    assert_eq!(repository.files(), second);
    // The first start is not lost.
    tree.restore(1).expect("the first start");
    assert_eq!(std::fs::read(repository.top().join("a")).expect("a file"), b"first");
}

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
fn a_run_without_a_name_gets_the_next_that_is_free() {
    let repository = Repository::new();
    let next = || GitWorkTree::begin_next(repository.top()).expect("a start").run().to_owned();
    assert_eq!([next(), next()], ["run-1", "run-2"]);
    GitWorkTree::begin(repository.top(), "run-7").expect("a start");
    assert_eq!(next(), "run-8");
}

#[test]
fn a_number_that_is_not_there_is_refused() {
    let repository = Repository::new();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    assert!(matches!(tree.restore(1), Err(GitError::NoNumber { number: 1, .. })));
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
fn a_ref_of_somebody_else_is_left_out() {
    let repository = Repository::new();
    repository.write("a", "a");
    repository.commit();
    for name in ["refs/unstuck/run/1", "refs/unstuck/other", "refs/unstuck/run/x"] {
        repository.git(["update-ref", name, "HEAD"]);
    }
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    assert_eq!(GitWorkTree::list(repository.top()).expect("a list").len(), 1);
    assert!(matches!(tree.restore(1), Err(GitError::NoNumber { .. })));
    assert_eq!(tree.start_over().expect("the start").number, 2);
}
