//! The files of a work tree, byte by byte.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::command::{Git, pieces};
use super::error::GitError;
use super::index::Scratch;
use super::path::{is_safe, parents, path, quoted};
use super::work_tree::WorkTree;

/// The number of times that a listing is repeated because files went away while they were read.
const TRIES: u32 = 8;

/// The kinds of files that git knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    Executable,
    Link,
}

impl Mode {
    /// Returns the name of the kind in git's trees.
    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }

    /// Returns the kind of a file. Returns `None` for what git cannot store, for example a pipe or a folder.
    fn of(file: &Metadata) -> Option<Self> {
        match file.file_type() {
            kind if kind.is_symlink() => Some(Self::Link),
            kind if kind.is_file() && is_executable(file) => Some(Self::Executable),
            kind if kind.is_file() => Some(Self::Plain),
            _ => None,
        }
    }
}

#[cfg(unix)]
fn is_executable(file: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_file: &Metadata) -> bool {
    false
}

/// A saved file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) mode: Mode,
    /// The object with its bytes, or with the target of a link.
    pub(super) blob: String,
}

/// Files by their paths from the top of the work tree.
pub(super) type Files = BTreeMap<Vec<u8>, Kind>;

/// The existing files that git lists: those in the index and the others that are not ignored. Also the
/// repositories within the tree, which are left alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    pub(super) files: BTreeMap<Vec<u8>, Mode>,
    pub(super) nested: Vec<PathBuf>,
}

/// Lists the files of the work tree.
pub(super) fn list(place: &WorkTree) -> Result<Listed, GitError> {
    let mut listed = Listed::default();
    let others = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    for name in pieces(&place.git.run(&others)?) {
        if let Some(folder) = name.strip_suffix(b"/") {
            listed.nested.push(path(folder));
            continue;
        }
        match path_state(&place.top, name)? {
            PathState::File(mode) => {
                listed.files.insert(name.to_owned(), mode);
            }
            // A submodule, of which the index has only the name.
            PathState::Folder if place.top.join(path(name)).join(".git").exists() => {
                listed.nested.push(path(name));
            }
            // It is gone, or git cannot store it.
            PathState::Folder | PathState::Nothing | PathState::Blocked(_) | PathState::Other => {}
        }
    }
    listed.nested.sort();
    listed.nested.dedup();
    Ok(listed)
}

/// The thing at a path.
pub(super) enum PathState<'p> {
    Nothing,
    File(Mode),
    Folder,
    /// Nothing, because this part of the path is a file or a link.
    Blocked(&'p [u8]),
    /// A pipe, a device.
    Other,
}

/// Returns what is at `name`. Links are not followed.
pub(super) fn path_state<'p>(top: &Path, name: &'p [u8]) -> Result<PathState<'p>, GitError> {
    for parent in parents(name) {
        match metadata(top, parent)? {
            None => return Ok(PathState::Nothing),
            Some(folder) if folder.is_dir() => {}
            Some(_) => return Ok(PathState::Blocked(parent)),
        }
    }
    Ok(match metadata(top, name)? {
        None => PathState::Nothing,
        Some(file) if file.is_dir() => PathState::Folder,
        Some(file) => Mode::of(&file).map_or(PathState::Other, PathState::File),
    })
}

fn metadata(top: &Path, name: &[u8]) -> Result<Option<Metadata>, GitError> {
    let file = path(name);
    match top.join(&file).symlink_metadata() {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(GitError::Disk { path: file, error }),
    }
}

/// The present files, with their bytes in the repository.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) files: Files,
    pub(super) nested: Vec<PathBuf>,
}

/// Stores in the repository the bytes of every file that git lists, and of every other file that stands in
/// the way of `target`.
pub(super) fn take(place: &WorkTree, target: Option<&Files>) -> Result<Taken, GitError> {
    let mut tries = 1;
    loop {
        let all = list(place)?;
        let mut listed = all.clone();
        for name in target.into_iter().flat_map(BTreeMap::keys) {
            super::in_the_way::add(place, name, &mut listed)?;
        }
        match hash(place, &listed) {
            Ok(files) => return Ok(Taken { files, nested: listed.nested }),
            // Another process is at work in the tree. Files that are gone need not be saved.
            Err(_) if tries < TRIES && list(place)?.files != all.files => tries += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Stores the bytes of `listed` in the repository, without git's filters for line ends and large files, so
/// that exactly the same bytes come back.
fn hash(place: &WorkTree, listed: &Listed) -> Result<Files, GitError> {
    let (mut names, mut paths) = (Vec::new(), String::new());
    let mut files = Files::new();
    for (name, &mode) in &listed.files {
        if mode == Mode::Link {
            let blob = hash_link(place, name)?;
            files.insert(name.clone(), Kind { mode, blob });
        } else {
            names.push((name, mode));
            paths.push_str(&quoted(name));
            paths.push('\n');
        }
    }
    let command = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
    let ids = place.git.fed(&command, paths.as_bytes())?;
    let ids = String::from_utf8_lossy(&ids);
    for ((name, mode), id) in names.into_iter().zip(ids.lines()) {
        files.insert(name.clone(), Kind { mode, blob: id.to_owned() });
    }
    Ok(files)
}

fn hash_link(place: &WorkTree, name: &[u8]) -> Result<String, GitError> {
    let file = path(name);
    let target = fs::read_link(place.top.join(&file));
    let target = target.map_err(|error| GitError::Disk { path: file, error })?;
    let target = target.as_os_str().as_encoded_bytes();
    let id = place.git.fed(&["hash-object", "-w", "--no-filters", "--stdin"], target)?;
    Ok(super::command::text(&id))
}

/// Makes a tree of git with all `files`.
pub(super) fn tree(place: &WorkTree, files: &Files) -> Result<String, GitError> {
    let mut lines = Vec::new();
    for (name, Kind { mode, blob }) in files {
        lines.extend_from_slice(format!("{} {blob} 0\t", mode.name()).as_bytes());
        lines.extend_from_slice(name);
        lines.push(0);
    }
    let index = Scratch::new(place);
    let git = place.git.with_index(index.path());
    git.fed(&["update-index", "-z", "--index-info"], &lines)?;
    let tree = git.line(&["write-tree"])?;
    // Git silently leaves out names that could lead into its own folder on some system.
    let written = read(&place.git, &tree)?;
    match files.iter().find(|(name, kind)| written.get(*name) != Some(kind)) {
        Some((name, _)) => Err(GitError::Name { path: path(name) }),
        None => Ok(tree),
    }
}

/// Reads the files of a commit or tree.
pub(super) fn read(git: &Git, id: &str) -> Result<Files, GitError> {
    let listing = git.run(&["ls-tree", "-r", "-z", "--full-tree", id])?;
    pieces(&listing)
        .map(|line| {
            file_of(line).ok_or_else(|| GitError::Damaged {
                reference: id.to_owned(),
                what: format!("the entry {:?}", String::from_utf8_lossy(line)),
            })
        })
        .collect()
}

/// Parses a line of a tree's listing: `mode type id TAB path`.
fn file_of(line: &[u8]) -> Option<(Vec<u8>, Kind)> {
    let tab = line.iter().position(|&byte| byte == b'\t')?;
    let (entry, name) = (line.get(..tab)?, line.get(tab + 1..)?);
    let mut words = std::str::from_utf8(entry).ok()?.split(' ');
    let (mode, _, blob) = (words.next()?, words.next()?, words.next()?);
    let modes = [Mode::Plain, Mode::Executable, Mode::Link];
    let mode = modes.into_iter().find(|known| known.name() == mode)?;
    is_safe(name).then(|| (name.to_owned(), Kind { mode, blob: blob.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_is_no_file_or_leads_out_is_not_read() {
        let id = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        for (line, mode) in [
            (format!("100644 blob {id}\ta/b"), Some(Mode::Plain)),
            (format!("100755 blob {id}\ta\tb"), Some(Mode::Executable)),
            (format!("120000 blob {id}\ta"), Some(Mode::Link)),
            (format!("160000 commit {id}\ta"), None),
            (format!("100644 blob {id}\t../a"), None),
            (format!("100644 blob {id}\t.git/hooks/post-checkout"), None),
            (format!("100644 blob {id}"), None),
        ] {
            assert_eq!(file_of(line.as_bytes()).map(|(_, kind)| kind.mode), mode, "{line}");
        }
    }
}
