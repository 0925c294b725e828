//! Commits and branches since the start: the branch goes back, and its commits stay reachable.

use std::path::Path;

use unstuck::{GitError, GitWorkTree};

use crate::repository::{Repository, git};

/// A repository with one commit.
fn committed() -> Repository {
    let repository = Repository::new();
    repository.write("a", "at the start");
    repository.commit();
    repository
}

fn head(repository: &Repository) -> String {
    repository.git(["rev-parse", "HEAD"]).trim().to_owned()
}

/// Returns whether `commit` is reachable from a ref of the run.
fn is_kept(repository: &Repository, commit: &str) -> bool {
    let refs = repository.git(["for-each-ref", "--contains", commit, "refs/unstuck/run"]);
    !refs.is_empty()
}

#[test]
fn a_commit_is_taken_off_the_branch_and_stays_reachable() {
    let repository = committed();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    let before = head(&repository);
    repository.write("b", "b");
    repository.commit();
    let after = head(&repository);
    let went = tree.start_over().expect("the start");
    assert!(went.has_moved());
    assert_eq!((&went.head, &went.to.head), (&Some(after.clone()), &Some(before.clone())));
    assert_eq!(head(&repository), before);
    assert!(is_kept(&repository, &after));
    tree.restore(1).expect("the end");
    assert_eq!((head(&repository), &*repository.git(["status", "--porcelain"])), (after, ""));
}

#[test]
fn a_repository_without_a_commit_goes_back_to_none() {
    let repository = Repository::new();
    repository.write("a", "a");
    repository.git(["add", "a"]);
    let (start, staged) = (repository.files(), repository.staged());
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.commit();
    let commit = head(&repository);
    repository.write("b", "b");
    repository.commit();
    let (end, end_staged) = (repository.files(), repository.staged());
    tree.start_over().expect("the start");
    assert_eq!((repository.files(), repository.staged()), (start, staged));
    assert!(is_kept(&repository, &commit));
    tree.restore(1).expect("the end");
    assert_eq!((repository.files(), repository.staged()), (end, end_staged));
}

#[test]
fn a_commit_that_is_checked_out_by_itself_is_again() {
    let repository = committed();
    repository.git(["checkout", "-q", "--detach"]);
    let staged = repository.staged();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    for onto in ["--detach", "-bother"] {
        repository.git(["checkout", "-q", onto]);
        repository.write("b", "b");
        repository.commit();
        let commit = head(&repository);
        tree.start_over().expect("the start");
        assert_eq!(repository.staged(), staged, "{onto}");
        assert!(is_kept(&repository, &commit), "{onto}");
    }
    assert!(!repository.git(["branch", "--list", "other"]).is_empty());
}

#[test]
fn the_first_branch_is_checked_out_again_and_the_other_stays() {
    let repository = committed();
    let staged = repository.staged();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    // The first one moves, too.
    repository.write("b", "b");
    repository.commit();
    let of_main = head(&repository);
    repository.git(["checkout", "-q", "-b", "other"]);
    repository.write("c", "c");
    repository.commit();
    let of_other = head(&repository);
    let end = (repository.files(), repository.staged());

    let went = tree.start_over().expect("the start");
    assert_eq!((went.branch.as_deref(), went.to.branch.as_deref()), (Some("other"), Some("main")));
    assert_eq!(repository.staged(), staged);
    assert_eq!(repository.git(["rev-parse", "other"]).trim(), of_other);
    assert!(is_kept(&repository, &of_main) && is_kept(&repository, &of_other));

    tree.restore(1).expect("the end");
    assert_eq!((repository.files(), repository.staged()), end);
    assert_eq!(repository.git(["rev-parse", "main"]).trim(), of_main);
}

#[test]
fn a_branch_that_was_removed_is_there_again() {
    let repository = committed();
    let staged = repository.staged();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.git(["branch", "-m", "renamed"]);
    tree.start_over().expect("the start");
    assert_eq!(repository.staged(), staged);
    assert!(!repository.git(["branch", "--list", "renamed"]).is_empty());
    tree.restore(1).expect("the end");
    assert_eq!(repository.git(["symbolic-ref", "HEAD"]).trim(), "refs/heads/renamed");
    assert!(repository.git(["branch", "--list", "main"]).is_empty());
}

#[test]
fn a_branch_that_is_checked_out_elsewhere_by_now_is_not_moved() {
    let repository = committed();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.git(["checkout", "-q", "-b", "other"]);
    let linked = tempfile::tempdir().expect("a folder");
    let linked = linked.path().join("linked");
    let add = [Path::new("worktree"), "add".as_ref(), "-q".as_ref(), &linked, "main".as_ref()];
    repository.git(add);
    let error = tree.start_over().expect_err("a branch elsewhere");
    assert!(matches!(error, GitError::BranchElsewhere { .. }), "{error}");
}

#[test]
fn each_work_tree_of_a_repository_has_its_own_runs() {
    let repository = committed();
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
