//! A run that is begun, undone and brought back, with something of every kind in it.

use unstuck::{GitWorkTree, Undone};

use crate::repository::{Repository, beginning, edits};

#[test]
fn the_tree_goes_back_to_its_start_and_comes_again() {
    let repository = beginning();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    let (start, start_staged) = (repository.files(), repository.staged());
    edits(&repository);
    let (end, end_staged) = (repository.files(), repository.staged());

    let went = tree.start_over().expect("the start");
    assert_eq!((repository.files(), repository.staged()), (start.clone(), start_staged.clone()));
    assert_eq!((went.number, &*went.reference), (1, "refs/unstuck/run/1"));
    assert!(went.left.is_empty() && went.nested.is_empty(), "{went:?}");

    let went = tree.restore(1).expect("the end");
    assert_eq!((repository.files(), repository.staged()), (end, end_staged));
    // The former state is saved, too, although it is the start.
    assert_eq!((went.number, went.to.number), (2, Some(1)));
    tree.restore(2).expect("the start once more");
    assert_eq!((repository.files(), repository.staged()), (start, start_staged));
}

#[test]
fn to_keep_a_tree_is_not_to_touch_it() {
    let repository = beginning();
    let index = || std::fs::read(repository.top().join(".git/index")).expect("an index");
    let (files, before) = (repository.files(), index());
    GitWorkTree::begin(repository.top(), "run").expect("a start");
    assert_eq!((repository.files(), index()), (files, before));
    let leftovers = std::fs::read_dir(repository.top().join(".git")).expect("git's folder");
    let names = leftovers.map(|entry| entry.expect("an entry").file_name());
    let names: Vec<_> =
        names.filter(|name| name.to_string_lossy().starts_with("unstuck")).collect();
    assert!(names.is_empty(), "{names:?}");
}

/// Returns the message for the model after these edits.
fn message(edit: impl Fn(&Repository)) -> String {
    let repository = Repository::new();
    repository.write("a", "a");
    repository.commit();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    edit(&repository);
    let undone: Undone = tree.start_over().expect("the start").into();
    undone.message()
}

#[test]
fn the_message_says_what_was_undone() {
    let edits: [fn(&Repository); 4] = [
        |_| {},
        |repository| repository.write("a", "b"),
        |repository| {
            repository.remove("a");
            repository.write("b", "b");
            repository.commit();
            repository.write("c", "c");
            repository.git(["add", "c"]);
        },
        |repository| drop(repository.git(["checkout", "-q", "-b", "other"])),
    ];
    insta::assert_snapshot!(edits.map(message).join("\n\n"));
}

#[test]
fn it_is_a_recovery() {
    let repository = beginning();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.write("changed", "changed once more\n");
    let recovery: &mut dyn unstuck::Recovery = &mut tree;
    assert_eq!(recovery.start_over().expect("the start").kept(), Some("refs/unstuck/run/1"));
    repository.write(".git/MERGE_HEAD", "");
    let error = recovery.start_over().expect_err("a merge").to_string();
    assert!(error.starts_with("cannot start over: ") && error.contains("a merge"), "{error}");
}
