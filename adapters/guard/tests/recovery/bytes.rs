//! Files that git would change, hide or refuse come back byte by byte, and unsaved files stay.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use unstuck::GitWorkTree;

use crate::repository::Repository;

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
