//! Repositories for tests, and their contents down to the last byte.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The bytes of a file, or the target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    File { executable: bool, bytes: Vec<u8> },
    Link(PathBuf),
}

/// A temporary repository.
#[derive(Debug)]
pub(crate) struct Repository {
    folder: TempDir,
}

impl Repository {
    /// Creates a repository without a commit, on the branch `main`.
    pub(crate) fn new() -> Self {
        let repository = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        repository.git(["init", "-q", "--template="]);
        repository.git(["symbolic-ref", "HEAD", "refs/heads/main"]);
        repository
    }

    /// Copies the repository.
    pub(crate) fn copied(&self) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        copy(self.top(), folder.path());
        Self { folder }
    }

    pub(crate) fn top(&self) -> &Path {
        self.folder.path()
    }

    /// Runs git, which must succeed. Returns its output.
    pub(crate) fn git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> String {
        git(self.top(), arguments)
    }

    /// Commits everything that is not ignored.
    pub(crate) fn commit(&self) {
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "--allow-empty", "-m", "a commit"]);
    }

    /// Writes a file, and makes missing folders.
    pub(crate) fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.top().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to write to");
        fs::write(path, bytes).expect("a file that can be written");
    }

    /// Removes a file, or a folder with its contents.
    pub(crate) fn remove(&self, name: impl AsRef<Path>) {
        let path = self.top().join(name);
        match path.symlink_metadata().expect("something to remove") {
            found if found.is_dir() => fs::remove_dir_all(path),
            _ => fs::remove_file(path),
        }
        .expect("a thing that can be removed");
    }

    /// Returns every file below the top, ignored or not, except git's own.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Content> {
        let mut files = BTreeMap::new();
        walk(self.top(), Path::new(""), &mut files);
        files
    }

    /// Returns the branch, the commit and the index.
    pub(crate) fn staged(&self) -> String {
        let head = fs::read_to_string(self.top().join(".git/HEAD")).expect("a head");
        let branch = head.trim().trim_start_matches("ref: ");
        let commit = self.git(["for-each-ref", "--format=%(objectname)", branch]);
        format!("{head}{commit}{}", self.git(["ls-files", "-z", "--stage"]))
    }
}

/// Runs git in `folder` without settings of the user; it must succeed. Returns its output.
pub(crate) fn git<A: AsRef<OsStr>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> String {
    let mut command = Command::new("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.c", "-C"]).arg(folder);
    let output = command.args(arguments).output().expect("these tests need the program git");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn walk(top: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Content>) {
    for entry in fs::read_dir(top.join(folder)).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = folder.join(entry.file_name());
        let found = entry.metadata().expect("metadata");
        if found.is_symlink() {
            files.insert(name, Content::Link(entry.path().read_link().expect("a link")));
        } else if found.is_file() {
            let bytes = fs::read(entry.path()).expect("a file that can be read");
            files.insert(name, Content::File { executable: is_executable(&found), bytes });
        } else if entry.file_name() != ".git" {
            walk(top, &name, files);
        }
    }
}

#[cfg(unix)]
fn is_executable(file: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_file: &fs::Metadata) -> bool {
    false
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (kind, to) = (entry.file_type().expect("a kind"), to.join(entry.file_name()));
        if kind.is_dir() {
            fs::create_dir(&to).expect("a folder");
            copy(&entry.path(), &to);
        } else if kind.is_symlink() {
            link(&entry.path().read_link().expect("a link"), &to);
        } else {
            fs::copy(entry.path(), &to).expect("a copy");
        }
    }
}

/// Makes a link at `at`.
#[cfg(unix)]
pub(crate) fn link(target: &Path, at: &Path) {
    std::os::unix::fs::symlink(target, at).expect("a link");
}

/// Makes a file in place of a link at `at`.
#[cfg(not(unix))]
pub(crate) fn link(target: &Path, at: &Path) {
    fs::write(at, target.as_os_str().as_encoded_bytes()).expect("a file");
}

/// Makes a file executable, or not.
#[cfg(unix)]
pub(crate) fn set_executable(path: &Path, executable: bool) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if executable { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a file of one's own");
}

/// Does nothing: on this system files have no such permission.
#[cfg(not(unix))]
pub(crate) fn set_executable(_path: &Path, _executable: bool) {}

/// Creates a repository with files of every kind, where a run can begin.
pub(crate) fn beginning() -> Repository {
    let repository = Repository::new();
    for name in ["changed", "deleted", "folder/deep/gone", "script", "renamed", "to-folder"] {
        repository.write(name, format!("{name} at the start\n"));
    }
    repository.write("from-folder/a", "a at the start\n");
    repository.write("line-ends", "one\r\ntwo\n");
    repository.write(".gitignore", "*.o\n");
    repository.write(".gitattributes", "line-ends text eol=lf\n");
    link(Path::new("changed"), &repository.top().join("link"));
    repository.commit();
    repository.write("changed", "changed, and not staged\n");
    repository.write("staged", "staged at the start\n");
    repository.git(["add", "staged"]);
    repository.write("untracked", "untracked at the start\n");
    repository.write("ignored.o", "ignored\n");
    repository
}

/// Changes the repository as an agent may.
pub(crate) fn edits(repository: &Repository) {
    let top = repository.top();
    repository.write("changed", "changed once more\n");
    repository.write("committed", "committed since\n");
    repository.git(["add", "committed"]);
    repository.git(["commit", "-q", "-m", "by the agent"]);
    repository.git(["rm", "-q", "--cached", "staged"]);
    repository.write("deleted-too", "staged since\n");
    repository.git(["add", "deleted-too"]);
    repository.remove("deleted");
    repository.remove("folder");
    set_executable(&top.join("script"), true);
    fs::rename(top.join("renamed"), top.join("renamed-since")).expect("a new name");
    repository.remove("to-folder");
    repository.write("to-folder/new", "in the way\n");
    repository.write("to-folder/deep/ignored.o", "ignored, and in the way\n");
    repository.remove("from-folder");
    repository.write("from-folder", "a file now\n");
    repository.write("line-ends", "one\ntwo\r\nthree\r\n");
    repository.write("untracked", "untracked, and changed since\n");
    repository.write("new/deep/file", "new\n");
    repository.remove("link");
    link(Path::new("nowhere"), &top.join("link"));
}
