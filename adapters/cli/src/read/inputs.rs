//! The inputs of a command: files, folders, standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::read::progress::Progress;

/// The size of the read buffer in bytes.
const BUFFER: usize = 256 * 1024;

/// The file name extensions of transcripts. Other files of a folder are left out. A file that is
/// named on the command line is read whatever its name.
const ENDINGS: [&str; 4] = ["jsonl", "json", "ndjson", "traj"];

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
            Self::File(path) => path.display().to_string(),
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

    pub(crate) fn open<'p>(&self, progress: &'p Progress) -> io::Result<Box<dyn BufRead + 'p>> {
        let reader: Box<dyn Read + 'p> = match self {
            Self::Stdin => Box::new(progress.count(io::stdin().lock(), None)),
            Self::File(path) => Box::new(progress.count(File::open(path)?, self.size())),
        };
        Ok(Box::new(BufReader::with_capacity(BUFFER, reader)))
    }
}

/// The inputs that the paths on the command line lead to.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) found: Vec<Input>,
    /// The files of a folder that were left out because of their name or type.
    pub(crate) left_out: Vec<PathBuf>,
    /// The paths that could not be read, each with the reason.
    pub(crate) errors: Vec<(String, String)>,
}

/// Finds the inputs of `paths`, in order. The files of a folder come in the order of their names.
pub(crate) fn find(paths: &[PathBuf]) -> Inputs {
    let mut inputs = Inputs::default();
    for path in paths {
        if path.as_os_str() == "-" {
            inputs.stdin();
        } else if path.is_dir() {
            inputs.folder(path);
        } else {
            inputs.found.push(Input::File(path.clone()));
        }
    }
    inputs
}

impl Inputs {
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
            Ok(file) if file.is_file() => self.found.push(Input::File(path)),
            Ok(_) => self.left_out.push(path),
            Err(error) => self.errors.push((path.display().to_string(), explained(&error))),
        }
    }

    /// Adds the transcripts of a folder that was named. A folder without any is an error.
    fn folder(&mut self, folder: &Path) {
        let before = self.found.len() + self.errors.len();
        self.walk(folder, has_ending);
        if self.found.len() + self.errors.len() == before {
            let why = format!("no transcript in this folder: expected *.{}", ENDINGS.join(", *."));
            self.errors.push((folder.display().to_string(), why));
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
                    let path = error.path().unwrap_or(folder).display().to_string();
                    let why =
                        error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    self.errors.push((path, why));
                }
            }
        }
    }
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

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}
