//! `unstuck start-over` that is killed in the middle. These tests need git.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::console;
use crate::harness::{Folder, Ran, effort, program};

/// Runs git in `folder`, without any user settings.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = console::git().current_dir(folder).args(arguments).output();
    let output = output.expect("these tests need the program git");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Returns a repository with one commit of the file `a`.
fn repository() -> Folder {
    let folder = Folder::new();
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["symbolic-ref", "HEAD", "refs/heads/main"]);
    folder.file("a", "at the start\n");
    git(folder.path(), &["add", "a"]);
    git(folder.path(), &["commit", "-q", "-m", "a commit"]);
    folder
}

/// Changes the repository as an agent could.
fn edit(folder: &Folder) {
    folder.file("a", "since\n");
    git(folder.path(), &["commit", "-q", "-a", "-m", "by the agent"]);
    folder.file("b", "new\n");
    git(folder.path(), &["add", "b"]);
    folder.file("c/d", "new, and not staged\n");
}

/// Runs `unstuck start-over` with these arguments in `folder`.
fn start_over(folder: &Path, words: &[&str]) -> Ran {
    Ran::by(program().current_dir(folder).arg("start-over").args(words))
}

/// Returns every file below `folder` except git's own.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            files.insert(path.clone(), fs::read(path).expect("a file"));
        } else if !path.ends_with(".git") {
            files.extend(self::files(&path));
        }
    }
    files
}

/// Returns a program `git` that kills its caller after it has run for the `at`th time.
fn deadly(folder: &Folder, at: usize) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = std::env::var_os("PATH").expect("a path");
    let mut folders = std::env::split_paths(&path).map(|folder| folder.join("git"));
    let real = folders.find(|git| git.is_file()).expect("these tests need the program git");
    let count = folder.file("bin/count", "");
    let (real, count) = (real.display(), count.display());
    let script = format!(
        "#!/bin/sh\n'{real}' \"$@\"\nended=$?\necho >> '{count}'\n\
         if [ $(wc -l < '{count}') -eq {at} ]; then kill -9 $PPID; fi\nexit $ended\n"
    );
    let script = folder.file("bin/git", script);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("one's own file");
    let mut path = std::ffi::OsString::from(script.parent().expect("a folder"));
    path.push(":/usr/bin:/bin");
    path.into()
}

/// Returns the files of the numbered states: paths and bytes.
fn kept(top: &Path) -> BTreeMap<PathBuf, Vec<Vec<u8>>> {
    let mut kept = BTreeMap::<_, Vec<_>>::new();
    for reference in git(top, &["for-each-ref", "--format=%(refname)", "refs/unstuck"]).lines() {
        if reference.ends_with("start") {
            continue;
        }
        for name in git(top, &["ls-tree", "-r", "--name-only", reference]).lines() {
            let bytes = git(top, &["cat-file", "blob", &format!("{reference}:{name}")]);
            kept.entry(top.join(name)).or_default().push((bytes + "\n").into_bytes());
        }
    }
    kept
}

#[test]
fn nothing_is_lost_if_any_step_of_git_is_the_last() {
    let (mut at, mut is_killed) = (0, true);
    while is_killed {
        at += [6, 3, 1][effort()];
        let (folder, bin) = (repository(), Folder::new());
        let top = folder.path();
        assert_eq!(start_over(top, &["begin"]).exit, 0);
        let start = files(top);
        edit(&folder);
        let end = files(top);
        let mut command = program();
        command.current_dir(top).env("PATH", deadly(&bin, at)).args(["start-over", "now"]);
        is_killed = command.output().expect("a program that starts").status.code().is_none();
        let (there, kept) = (files(top), kept(top));
        for (name, bytes) in &end {
            let is_kept = kept.get(name).is_some_and(|versions| versions.contains(bytes));
            assert!(is_kept || there.get(name) == Some(bytes), "{at}: lost {}", name.display());
        }
        let ran = start_over(top, &["now"]);
        assert_eq!((ran.exit, files(top)), (0, start), "{at}: {}", ran.err);
        assert_eq!(git(top, &["status", "--porcelain"]), "", "{at}");
        let ran = start_over(top, &["restore", "1"]);
        assert_eq!((ran.exit, files(top)), (0, end), "{at}: {}", ran.err);
    }
    // Fewer steps would mean that another git ran than the one that kills.
    assert!(at > 15, "{at}");
}
