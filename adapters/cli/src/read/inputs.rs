//! Which inputs there are: files, folders, standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::read::progress::Progress;

/// How much is read at a time.
const BUFFER: usize = 256 * 1024;

/// Endings that transcripts have. Other files of a folder are left out; a file that is named on
/// the command line is read whatever its name.
const ENDINGS: [&str; 3] = ["jsonl", "json", "ndjson"];

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// What messages and reports call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// How many bytes it holds, where that can be told before it is read.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::Stdin => None,
            // What is wrong with it shows when it is opened.
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

/// What the paths on the command line lead to.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) found: Vec<Input>,
    /// Files of a folder that were left out by their name or kind.
    pub(crate) left_out: Vec<PathBuf>,
    /// What could not be looked at, and why.
    pub(crate) errors: Vec<(String, String)>,
}

/// Follows `paths`, in their order; the files of a folder in the order of their names.
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
    /// Takes standard input, which is gone once it was read.
    fn stdin(&mut self) {
        if self.found.contains(&Input::Stdin) {
            let why = "standard input can be read once, but - is named twice".to_owned();
            self.errors.push(("-".to_owned(), why));
        } else {
            self.found.push(Input::Stdin);
        }
    }

    /// Takes a file of a folder. A link counts for what it leads to; a pipe is left out, since it
    /// would be waited for.
    fn take(&mut self, path: PathBuf) {
        match path.metadata() {
            Ok(file) if file.is_file() => self.found.push(Input::File(path)),
            Ok(_) => self.left_out.push(path),
            Err(error) => self.errors.push((path.display().to_string(), explained(&error))),
        }
    }

    /// Takes the transcripts of a folder that was named, of which there should be some.
    fn folder(&mut self, folder: &Path) {
        let before = self.found.len() + self.errors.len();
        self.walk(folder, has_ending);
        if self.found.len() + self.errors.len() == before {
            let why = format!("no transcript in this folder: expected *.{}", ENDINGS.join(", *."));
            self.errors.push((folder.display().to_string(), why));
        }
    }

    /// Takes the files below `folder` that are `wanted`, in the order of their names.
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

/// How the operating system's `error` about a file that was named reads to whoever named it.
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
