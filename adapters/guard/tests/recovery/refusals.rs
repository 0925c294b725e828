//! States in which it is not possible to start over. They stay unchanged.

use std::path::Path;
use std::process::Command;

use unstuck::{GitError, GitWorkTree};

use crate::repository::{Repository, git};

/// Runs git, which must stop on the way.
fn stopping(repository: &Repository, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_EDITOR", "true");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.c", "-C"]).arg(repository.top());
    let output = command.args(arguments).output().expect("these tests need the program git");
    assert!(!output.status.success(), "{command:?} went through");
}

/// Creates a repository with two conflicting branches, and a patch that does not apply.
fn disagreeing() -> Repository {
    let repository = Repository::new();
    repository.write("a", "first\n");
    repository.commit();
    repository.git(["checkout", "-q", "-b", "other"]);
    repository.write("a", "by the other\n");
    repository.commit();
    let patch = repository.git(["format-patch", "-1", "--stdout"]);
    repository.git(["checkout", "-q", "main"]);
    repository.write("a", "by main\n");
    repository.commit();
    repository.write(".git/patch", patch);
    repository
}

#[test]
fn what_is_under_way_is_to_be_ended_first() {
    let original = disagreeing();
    let mut run = GitWorkTree::begin(original.top(), "run").expect("a start");
    assert!(!run.start_over().expect("the start").is_change());
    let patch = original.top().join(".git/patch");
    let patch = patch.to_str().expect("UTF-8");
    for (stops, arguments, doing, way_out) in [
        (true, &["merge", "other"][..], "a merge", "git merge --abort"),
        (true, &["rebase", "other"], "a rebase", "git rebase --abort"),
        (true, &["rebase", "--apply", "other"], "a rebase", "git rebase --abort"),
        (true, &["cherry-pick", "other"], "a cherry-pick", "git cherry-pick --abort"),
        (true, &["revert", "--no-edit", "HEAD~1"], "a revert", "git revert --abort"),
        (true, &["am", patch], "git am", "git am --abort"),
        (false, &["bisect", "start"], "a bisection", "git bisect reset"),
        (true, &["checkout", "-q", "--merge", "other"], "a merge with conflicts", "git reset"),
    ] {
        let repository = original.copied();
        let mut tree = GitWorkTree::open(repository.top(), Some("run")).expect("a run");
        match (stops, arguments) {
            (_, ["checkout", ..]) => {
                repository.write("a", "in the tree\n");
                repository.git(arguments);
            }
            (true, _) => stopping(&repository, arguments),
            (false, _) => drop(repository.git(arguments)),
        }
        let (files, staged) = (repository.files(), repository.staged());
        let refs = repository.git(["for-each-ref"]);
        let begin = GitWorkTree::begin(repository.top(), "another").map(drop);
        for refused in [begin, tree.start_over().map(drop), tree.restore(1).map(drop)] {
            let error = refused.expect_err(doing);
            assert!(matches!(error, GitError::Busy { .. }), "{arguments:?}: {error:?}");
            let said = error.to_string();
            assert!(said.contains(doing) && said.contains(way_out), "{said}");
        }
        assert_eq!((repository.files(), repository.staged()), (files, staged), "{arguments:?}");
        assert_eq!(repository.git(["for-each-ref"]), refs, "{arguments:?}");
    }
}

#[test]
fn outside_of_a_work_tree_nothing_can_be_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let bare = folder.path().join("bare.git");
    git(folder.path(), ["init".as_ref(), "-q".as_ref(), "--bare".as_ref(), bare.as_path()]);
    let missing = folder.path().join("missing");
    let repository = Repository::new();
    for place in [folder.path(), &bare, &missing, &repository.top().join(".git")] {
        let error = GitWorkTree::begin(place, "run").expect_err("no work tree");
        assert!(matches!(error, GitError::Outside { .. }), "{error:?}");
        let place = place.display().to_string();
        assert!(error.to_string().contains(&place), "{error}");
    }
}

#[test]
fn a_submodule_needs_a_branch() {
    let inner = Repository::new();
    inner.write("a", "a");
    inner.commit();
    let outer = Repository::new();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
    let inner_top = inner.top().to_str().expect("UTF-8");
    outer.git(add.into_iter().chain([inner_top, "sub"]));
    outer.commit();
    let sub = outer.top().join("sub");
    git(&sub, ["checkout", "-q", "--detach"]);
    let error = GitWorkTree::begin(&sub, "run").expect_err("no branch");
    assert!(matches!(error, GitError::DetachedSubmodule { .. }), "{error:?}");

    git(&sub, ["checkout", "-q", "-b", "work"]);
    let mut tree = GitWorkTree::begin(&sub, "run").expect("a start");
    std::fs::write(sub.join("b"), "b").expect("a file");
    assert_eq!(tree.start_over().expect("the start").removed, 1);

    // The repository around it leaves it alone.
    let mut around = GitWorkTree::begin(outer.top(), "run").expect("a start");
    std::fs::write(sub.join("c"), "c").expect("a file");
    let went = around.start_over().expect("the start");
    assert_eq!((went.is_change(), &*went.nested), (false, &[Path::new("sub").to_owned()][..]));
    assert!(sub.join("c").exists());
}

#[test]
fn a_name_that_is_no_part_of_a_ref_is_refused() {
    let repository = Repository::new();
    for name in ["", "../heads/main", "a b", "-d", "a.lock"] {
        let error = GitWorkTree::begin(repository.top(), name).expect_err("no name");
        assert!(matches!(error, GitError::RunName { .. }), "{error:?}");
    }
}

#[test]
fn what_git_takes_into_no_tree_is_not_taken_away() {
    for (setting, name) in
        [("core.protectHFS=false", "docs/.GIT/notes"), ("core.protectHFS=true", ".g\u{200c}it")]
    {
        let repository = Repository::new();
        repository.write("a", "a");
        let (key, value) = setting.split_once('=').expect("a setting");
        repository.git(["config", key, value]);
        let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
        repository.write(name, "written since");
        if repository.top().join(".git/notes").exists() {
            // On this file system both names are equal.
            continue;
        }
        let (files, refs) = (repository.files(), repository.git(["for-each-ref"]));
        let error = tree.start_over().expect_err(name);
        assert!(matches!(&error, GitError::Name { path } if path == Path::new(name)), "{error:?}");
        assert!(error.to_string().contains("rename it"), "{error}");
        assert_eq!((repository.files(), repository.git(["for-each-ref"])), (files, refs));
        repository.remove(name);
        assert!(tree.start_over().is_ok());
    }
}
