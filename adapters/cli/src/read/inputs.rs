//! The inputs of a command: files, folders, standard input.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::fs::{File, Metadata};
#[cfg(unix)]
use std::io::IsTerminal as _;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use walkdir::WalkDir;

use crate::read::progress::Progress;

/// The size of the read buffer in bytes.
const BUFFER: usize = 256 * 1024;

/// The file name extensions of transcripts. Other files of a folder are left out. A file that is
/// named on the command line is read whatever its name.
const ENDINGS: [&str; 5] = ["jsonl", "json", "ndjson", "traj", "eval"];

/// The extensions of packed files, which may follow the extension of a transcript.
const PACKINGS: [&str; 2] = ["gz", "zst"];

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// Returns the name of the input in messages and reports.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::File(path) => name(path),
        }
    }

    /// Returns the number of bytes in the input, or `None` if it is unknown.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::Stdin => None,
            // Opening the file reports the error.
            Self::File(path) => Some(path.metadata().map_or(0, |file| file.len())),
        }
    }

    /// Returns whether the input can be read a second time, unlike a pipe.
    pub(crate) fn can_be_read_again(&self) -> bool {
        match self {
            Self::Stdin => false,
            // Opening the file reports the error.
            Self::File(path) => path.metadata().map_or(true, |file| file.is_file()),
        }
    }

    /// Returns the time of the last change, or `None` if it is unknown.
    pub(crate) fn modified(&self) -> Option<SystemTime> {
        match self {
            Self::Stdin => None,
            Self::File(path) => path.metadata().and_then(|file| file.modified()).ok(),
        }
    }

    pub(crate) fn open<'p>(&self, progress: &'p Progress) -> io::Result<Box<dyn BufRead + 'p>> {
        let reader: Box<dyn Read + 'p> = match self {
            Self::Stdin => Box::new(progress.count(io::stdin().lock(), None)),
            Self::File(path) => Box::new(progress.count(File::open(path)?, self.size())),
        };
        Ok(Box::new(BufReader::with_capacity(BUFFER, reader)))
    }
}

/// Returns a path as text. A byte that is not UTF-8 becomes `\xff`, so that two paths stay different.
fn name(path: &Path) -> String {
    let mut name = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        name.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(name, "\\x{byte:02x}");
        }
    }
    name
}

/// The inputs that the paths on the command line lead to.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) found: Vec<Input>,
    /// The files of a folder that were left out because of their name or type.
    pub(crate) left_out: Vec<PathBuf>,
    /// The paths that could not be read, each with the reason.
    pub(crate) errors: Vec<(String, String)>,
    /// The time before which the files of a folder are left out. A file that is named is read whatever its
    /// age.
    since: Option<SystemTime>,
    /// The number of files that were left out because of their age.
    pub(crate) older: usize,
}

/// Finds the inputs of `paths`, in order. The files of a folder come in the order of their names.
pub(crate) fn find(paths: &[PathBuf]) -> Inputs {
    Inputs::default().find(paths)
}

impl Inputs {
    /// Leaves out the files of a folder that were last changed before `since`.
    pub(crate) fn since(since: Option<SystemTime>) -> Self {
        Self { since, ..Self::default() }
    }

    /// Adds the inputs of `paths`, in order.
    pub(crate) fn find(mut self, paths: &[PathBuf]) -> Self {
        for path in paths {
            if path.as_os_str() == "-" {
                self.stdin();
            } else if path.is_dir() {
                self.folder(path);
            } else {
                self.found.push(Input::File(path.clone()));
            }
        }
        self
    }

    /// Orders the inputs by the times of their last changes, the newest first.
    pub(crate) fn newest_first(&mut self) {
        self.found.sort_by_cached_key(|input| Reverse(input.modified()));
    }

    /// Adds standard input, which can be read only once.
    fn stdin(&mut self) {
        if self.found.contains(&Input::Stdin) {
            let why = "standard input can be read only once, but - is given twice".to_owned();
            self.errors.push(("-".to_owned(), why));
        } else {
            self.found.push(Input::Stdin);
        }
    }

    /// Adds a file of a folder. A symbolic link counts as its target. A pipe is left out, because
    /// reading it could wait forever.
    fn take(&mut self, path: PathBuf) {
        match path.metadata() {
            Ok(file) if file.is_file() && self.is_older(&file) => self.older += 1,
            Ok(file) if file.is_file() => self.found.push(Input::File(path)),
            Ok(_) => self.left_out.push(path),
            Err(error) => self.errors.push((name(&path), explained(&error))),
        }
    }

    fn is_older(&self, file: &Metadata) -> bool {
        let since = self.since.zip(file.modified().ok());
        since.is_some_and(|(since, modified)| modified < since)
    }

    /// Adds the transcripts of a folder that was named. A folder without any is an error.
    fn folder(&mut self, folder: &Path) {
        let count = |inputs: &Self| inputs.found.len() + inputs.errors.len() + inputs.older;
        let before = count(self);
        self.walk(folder, has_ending);
        if count(self) == before {
            let (endings, packings) = (ENDINGS.join(", *."), PACKINGS.join(" or ."));
            let why = format!(
                "no transcript in this folder: expected *.{endings}, also with .{packings}"
            );
            self.errors.push((name(folder), why));
        }
    }

    /// Adds the files below `folder` that are `wanted`, in the order of their names.
    pub(crate) fn walk(&mut self, folder: &Path, wanted: impl Fn(&Path) -> bool) {
        for entry in WalkDir::new(folder).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) if wanted(entry.path()) => self.take(entry.into_path()),
                Ok(entry) => self.left_out.push(entry.into_path()),
                Err(error) => {
                    let path = name(error.path().unwrap_or(folder));
                    let why =
                        error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    self.errors.push((path, why));
                }
            }
        }
    }
}

/// The time that a pipe has to deliver its first byte, if it is not named.
#[cfg(unix)]
const PIPE_WAIT: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// Returns whether someone writes to standard input, so that it is read although no path is given.
///
/// Programs often start others with a standard input that has no data: `/dev/null`, a pipe that is closed, or
/// a pipe that stays open and silent, as on many CI runners. None of them is an input, so only data counts.
/// The program before a pipe needs a moment for its first byte, so the pipe has [`PIPE_WAIT`] to deliver it, and
/// a pipe that stays silent is not waited for any longer. Passes a remark about it to `tell`.
#[cfg(unix)]
pub(crate) fn is_piped(tell: impl Fn(&str, &str)) -> bool {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return false;
    }
    let mut files = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut files, Some(&PIPE_WAIT)) {
        // Data, or the end. Reading does not wait now, and the data stays in the buffer of `stdin`.
        Ok(1..) => stdin.lock().fill_buf().is_ok_and(|bytes| !bytes.is_empty()),
        Ok(0) => {
            let why = "standard input has been silent for 2 seconds and is not read; give - to wait for it";
            tell("-", why);
            false
        }
        Err(_) => false,
    }
}

/// Returns `false`: whether a pipe has data cannot be asked here.
#[cfg(not(unix))]
pub(crate) fn is_piped(_tell: impl Fn(&str, &str)) -> bool {
    false
}

/// Returns whether both paths lead to one file, also by other names of it.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    let (Ok(one), Ok(other)) = (a.canonicalize(), b.canonicalize()) else { return false };
    one == other || is_linked(&one, &other)
}

/// Returns whether two names are hard links to one file.
#[cfg(unix)]
fn is_linked(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let place = |path: &Path| path.metadata().ok().map(|file| (file.dev(), file.ino()));
    place(a).is_some_and(|a| place(b) == Some(a))
}

/// Returns `false`: the number of a file cannot be asked here.
#[cfg(not(unix))]
fn is_linked(_a: &Path, _b: &Path) -> bool {
    false
}

/// Describes the operating system's `error` about a file that was named on the command line.
pub(crate) fn explained(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "no such file: expected a transcript, a folder of them, or - for standard input"
                .to_owned()
        }
        _ => format!("cannot be read: {error}"),
    }
}

/// Returns whether a file is a transcript, by its name.
pub(crate) fn has_ending(path: &Path) -> bool {
    let ends = |path: &Path, endings: &[&str]| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| endings.iter().any(|known| known.eq_ignore_ascii_case(ending)))
    };
    let is_packed = ends(path, &PACKINGS);
    ends(path, &ENDINGS) || is_packed && ends(&path.with_extension(""), &ENDINGS)
}
