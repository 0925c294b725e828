//! Files that git would change, hide or refuse come back byte by byte, and unsaved files stay.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use unstuck::{GitError, GitWorkTree};

use crate::repository::{Content, Repository, git};

/// Creates a repository in which git converts all that it can.
fn converting() -> Repository {
    let repository = Repository::new();
    repository.git(["config", "core.autocrlf", "true"]);
    repository.git(["config", "filter.shout.clean", "tr a-z A-Z"]);
    repository.git(["config", "filter.shout.smudge", "tr A-Z a-z"]);
    repository.git(["config", "filter.shout.required", "true"]);
    let attributes =
        "*.sh text eol=lf\n*.big filter=shout\n*.id ident\n*.16 working-tree-encoding=UTF-16\n";
    repository.write(".gitattributes", attributes);
    repository
}

#[test]
fn neither_line_ends_nor_filters_change_a_byte() {
    let repository = converting();
    let names = ["a.txt", "a.sh", "a.big", "a.id"];
    for name in names {
        repository.write(name, "one\n$Id$\n");
    }
    repository.commit();
    for name in names {
        repository.write(name, "one\r\ntwo\n$Id: x $ MiXed \r");
    }
    let start = repository.files();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    for name in names {
        repository.write(name, "three\r\n");
    }
    repository.write("a.16", [0xFE, 0xFF, 0x00]);
    repository.remove("a.big");
    // From here on git itself would refuse most of them.
    repository.git(["config", "core.safecrlf", "true"]);
    let end = repository.files();
    tree.start_over().expect("the start");
    assert_eq!(repository.files(), start);
    tree.restore(1).expect("the end");
    assert_eq!(repository.files(), end);
}

#[test]
fn a_repository_with_longer_names_of_objects_is_one_as_well() {
    let repository = Repository::new();
    repository.remove(".git");
    repository.git(["init", "-q", "--object-format=sha256"]);
    repository.write("a", "a");
    repository.commit();
    let start = repository.files();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.write("a", "b");
    repository.commit();
    assert!(tree.start_over().expect("the start").has_moved());
    assert_eq!(repository.files(), start);
}

#[test]
fn a_file_that_is_only_meant_to_be_added_is_kept_with_its_mark() {
    let repository = Repository::new();
    repository.write(".gitignore", "ignored\n");
    repository.write("staged", "at the start");
    repository.git(["add", "-A"]);
    let names = ["meant", "ignored", "-rf", "folder/*", "gone"];
    for name in names {
        repository.write(name, "at the start");
        repository.git(["add", "--force", "--intent-to-add", "--", name]);
    }
    // The mark of a file that is missing is not kept.
    repository.remove("gone");
    let kept = " A -rf\nA  .gitignore\n A folder/*\n A ignored\n A meant\nA  staged\n";
    let status = || repository.git(["status", "--porcelain", "--untracked-files=all"]);
    let start = repository.files();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    for name in ["meant", "ignored"] {
        repository.write(name, "since");
    }
    repository.commit();
    repository.write("later", "since");
    repository.git(["add", "--intent-to-add", "later"]);
    let end = (repository.files(), status());
    let went = tree.start_over().expect("the start");
    assert!(went.was_staged);
    assert_eq!((repository.files(), status()), (start.clone(), kept.to_owned()));
    repository.git(["add", "meant"]);
    tree.restore(1).expect("the end");
    assert_eq!((repository.files(), status()), end);
    repository.git(["gc", "-q", "--prune=now"]);
    tree.start_over().expect("the start");
    assert_eq!((repository.files(), status()), (start, kept.to_owned()));
    // The index has no other change, and neither do the files.
    assert!(!tree.start_over().expect("the start").is_change());
}

/// Makes `name` a file of which git cannot tell whether it changed after the index was written, so that any
/// command that writes the index compares it.
fn make_racy(repository: &Repository, name: &str) {
    let file = File::options().write(true).open(repository.top().join(name));
    let later = SystemTime::now() + Duration::from_secs(3600);
    file.and_then(|file| file.set_modified(later)).expect("a file of one's own");
}

#[test]
fn no_filter_of_the_user_runs_and_a_missing_one_is_no_obstacle() {
    for program in [
        // As after the removal of a program: the filter is required, and its command fails.
        "no-such-program",
        // One that would work.
        "sh -c 'echo ran >> .git/filter-ran; cat'",
    ] {
        let repository = Repository::new();
        repository.write(".gitattributes", "*.big filter=my.LFS=1\n*.too filter=other\n");
        let names = ["a.big", "b.big", "c.too"];
        for name in names {
            repository.write(name, "at the start");
            make_racy(&repository, name);
        }
        repository.commit();
        repository.write("a.big", "staged");
        make_racy(&repository, "a.big");
        repository.git(["add", "a.big"]);
        let index = repository.top().join(".git/index");
        let first = fs::read(&index).expect("an index");
        repository.git(["rm", "-q", "--cached", "c.too"]);
        let other = fs::read(&index).expect("an index");
        fs::write(&index, first).expect("an index");
        let mut settings = String::new();
        for (driver, keys) in [("my.LFS=1", &["clean", "smudge"][..]), ("other", &["process"])] {
            let _ = writeln!(settings, "\n[filter \"{driver}\"]\n\trequired = true");
            for key in keys {
                let _ = writeln!(settings, "\t{key} = \"{program}\"");
            }
        }
        let config = repository.top().join(".git/config");
        let before = fs::read_to_string(&config).expect("settings");
        fs::write(&config, before + &settings).expect("settings");

        let (start, staged) = (repository.files(), repository.staged());
        let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
        repository.write("b.big", "since");
        repository.write("d.big", "since");
        fs::write(&index, &other).expect("an index");
        let (end, staged_since) = (repository.files(), repository.staged());
        tree.start_over().expect("the start");
        assert_eq!((repository.files(), repository.staged()), (start, staged), "{program}");
        tree.restore(1).expect("the end");
        assert_eq!((repository.files(), repository.staged()), (end, staged_since), "{program}");
        assert!(!repository.top().join(".git/filter-ran").exists(), "a filter ran");
    }
}

#[test]
fn no_hook_of_the_user_runs() {
    let repository = Repository::new();
    repository.write("a", "a");
    repository.commit();
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "pre-commit"] {
        let path = Path::new(".git/hooks").join(hook);
        repository.write(&path, "#!/bin/sh\necho ran >> hook-ran\n");
        crate::repository::set_executable(&repository.top().join(path), true);
    }
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.write("b", "b");
    tree.start_over().expect("the start");
    assert_eq!(repository.files().into_keys().collect::<Vec<_>>(), [Path::new("a")]);
}

#[test]
fn what_is_ignored_is_left_alone() {
    let repository = Repository::new();
    repository.write(".gitignore", "*.o\nbuild/\n");
    repository.write("a.o", "at the start");
    repository.commit();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.write("a.o", "since");
    repository.write("build/b", "since");
    let end = repository.files();
    assert!(!tree.start_over().expect("the start").is_change());
    assert_eq!(repository.files(), end);
}

#[test]
fn what_was_kept_and_is_ignored_by_now_comes_back_and_is_not_lost() {
    let repository = Repository::new();
    repository.write("log", "at the start");
    let start = repository.files();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.write(".gitignore", "log\n");
    repository.write("log", "since");
    let end = repository.files();
    tree.start_over().expect("the start");
    assert_eq!(repository.files(), start);
    tree.restore(1).expect("the end");
    assert_eq!(repository.files(), end);
}

#[test]
fn what_was_ignored_and_is_not_by_now_stays() {
    let repository = Repository::new();
    repository.write(".gitignore", "secret\n*.o\n");
    repository.write("secret", "at the start");
    repository.write("sub/a.o", "at the start");
    repository.commit();
    let start = repository.files();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.write(".gitignore", "\n");
    repository.write("sub/.gitignore", "!*.o\n");
    repository.git(["add", "-A"]);
    tree.start_over().expect("the start");
    assert_eq!(repository.files(), start);
}

#[test]
fn what_was_not_there_is_not_there_again_though_it_would_be_ignored() {
    let repository = Repository::new();
    repository.write("log", "at the start");
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.remove("log");
    repository.write(".gitignore", "log\n");
    let end = repository.files();
    tree.start_over().expect("the start");
    tree.restore(1).expect("the end");
    assert_eq!(repository.files(), end);
}

/// Creates a repository with another one inside, which has a file.
fn nesting(name: &str) -> Repository {
    let repository = Repository::new();
    repository.write("a", "a");
    repository.commit();
    repository.write(Path::new(name).join("inside"), "inside");
    git(&repository.top().join(name), ["init", "-q"]);
    repository
}

#[test]
fn a_repository_within_the_tree_is_left_alone_and_named() {
    let repository = nesting("vendor/it");
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.write("vendor/it/inside", "changed");
    repository.write("vendor/other", "new");
    let went = tree.start_over().expect("the start");
    assert_eq!(went.nested, [Path::new("vendor/it")]);
    let inside = &repository.files()[Path::new("vendor/it/inside")];
    assert_eq!(*inside, Content::File { executable: false, bytes: b"changed".to_vec() });
    assert!(!repository.top().join("vendor/other").exists());
}

#[test]
fn a_repository_that_stands_where_a_file_has_to_go_is_refused() {
    let repository = Repository::new();
    repository.write("it", "a file");
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.remove("it");
    repository.write("it/inside", "inside");
    repository.write("b", "b");
    git(&repository.top().join("it"), ["init", "-q"]);
    let end = repository.files();
    let error = tree.start_over().expect_err("something in the way");
    assert!(
        matches!(&error, GitError::InTheWay { path, .. } if path == Path::new("it")),
        "{error}"
    );
    assert_eq!(repository.files(), end);
}

#[cfg(unix)]
#[test]
fn a_secret_that_is_changed_back_stays_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let repository = Repository::new();
    repository.write("secret", "at the start");
    let secret = repository.top().join("secret");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("one's own file");
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.write("secret", "since");
    tree.start_over().expect("the start");
    assert_eq!(fs::read(&secret).expect("a file"), b"at the start");
    assert_eq!(secret.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    use std::os::unix::fs::symlink;
    let elsewhere = Repository::new();
    elsewhere.write("file", "elsewhere");
    let before = elsewhere.files();
    let repository = Repository::new();
    repository.write("folder/file", "at the start");
    repository.write("folder/other", "at the start");
    repository.commit();
    let start = repository.files();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    repository.remove("folder");
    symlink(elsewhere.top(), repository.top().join("folder")).expect("a link");
    let end = repository.files();
    tree.start_over().expect("the start");
    assert_eq!((repository.files(), elsewhere.files()), (start, before.clone()));
    tree.restore(1).expect("the end");
    assert_eq!((repository.files(), elsewhere.files()), (end, before));
}

/// Names that a careless program stumbles over, as far as the system has them.
fn odd_names() -> Vec<PathBuf> {
    #[cfg(not(unix))]
    let names: [&[u8]; 2] = [b"-rf", b"a b.txt"];
    #[cfg(unix)]
    let names: [&[u8]; 7] =
        [b"-rf", b"a\nb", b"\"q\\", b"\xff\xfe", b":(top)x", b"tab\tin/ \x01", "\u{e4}".as_bytes()];
    names.into_iter().map(odd_name).collect()
}

#[cfg(unix)]
fn odd_name(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes)).to_owned()
}

#[cfg(not(unix))]
fn odd_name(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[test]
fn a_name_may_be_anything() {
    let repository = Repository::new();
    for name in odd_names() {
        repository.write(name, "at the start");
    }
    repository.git(["add", "-A"]);
    let start = repository.files();
    let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
    for name in odd_names() {
        repository.write(&name, "since");
        repository.write(Path::new("new").join(name), "since");
    }
    let end = repository.files();
    let went = tree.start_over().expect("the start");
    assert_eq!(repository.files(), start);
    assert_eq!((went.changed, went.removed), (odd_names().len(), odd_names().len()));
    tree.restore(1).expect("the end");
    assert_eq!(repository.files(), end);
}
