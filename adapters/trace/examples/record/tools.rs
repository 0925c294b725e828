//! The agent's tools, which really list, read, write, edit and run, inside a scratch folder of their own.
//!
//! The result of a tool must be the same on every machine and in every run. So listings are sorted,
//! errors are worded here and not by the operating system, and commands get an environment of two
//! variables.

use std::env;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use crate::script::Page;

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) text: String,
    pub(crate) failed: bool,
}

impl Outcome {
    /// The outcome of a call that worked.
    pub(crate) fn done(text: impl Into<String>) -> Self {
        Outcome { text: text.into(), failed: false }
    }

    fn failed(text: impl Into<String>) -> Self {
        Outcome { text: text.into(), failed: true }
    }
}

/// The folder in which one scenario's tools work; it is removed when dropped.
///
/// A tool returns an [`Outcome`], also for a failure that the script causes. If the machine causes
/// the failure, it returns an error, and nothing is recorded.
#[derive(Debug)]
pub(crate) struct Scratch {
    root: PathBuf,
}

impl Scratch {
    /// Creates a scratch folder that holds the files of a project.
    pub(crate) fn create(name: &str, project: &[(&str, &str)]) -> io::Result<Self> {
        let folder = format!("unstuck-record-{}-{name}", process::id());
        let root = env::temp_dir().join(folder);
        fs::create_dir(&root).map_err(|error| at(&root, &error))?;
        let scratch = Scratch { root };
        for (path, content) in project {
            scratch.write(path, content)?;
        }
        Ok(scratch)
    }

    /// Lists a folder in order of its names, folders with a slash behind them.
    pub(crate) fn list(&self, path: &str) -> io::Result<Outcome> {
        let folder = self.root.join(path);
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).map_err(|error| at(&folder, &error))? {
            let entry = entry?;
            let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
            names.push(format!("{}{slash}\n", entry.file_name().to_string_lossy()));
        }
        names.sort_unstable();
        Ok(Outcome::done(names.concat()))
    }

    /// Reads a file, or the lines of it that a page names.
    pub(crate) fn read(&self, path: &str, page: Option<Page>) -> io::Result<Outcome> {
        let Some(text) = self.content(path)? else {
            return Ok(no_such_file(path));
        };
        let Some(Page { offset, limit }) = page else {
            return Ok(Outcome::done(text));
        };
        let lines = text.split_inclusive('\n');
        Ok(Outcome::done(lines.skip(offset.saturating_sub(1)).take(limit).collect::<String>()))
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn write(&self, path: &str, content: &str) -> io::Result<Outcome> {
        let file = self.root.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| at(folder, &error))?;
        }
        fs::write(&file, content).map_err(|error| at(&file, &error))?;
        Ok(Outcome::done(format!("wrote {} bytes", content.len())))
    }

    /// Replaces the only place in a file where `old` stands; anything but one place is a failure.
    pub(crate) fn edit(&self, path: &str, old: &str, new: &str) -> io::Result<Outcome> {
        let Some(text) = self.content(path)? else {
            return Ok(no_such_file(path));
        };
        match text.matches(old).count() {
            0 => Ok(Outcome::failed(format!("error: text to replace not found in {path}"))),
            1 => {
                self.write(path, &text.replace(old, new))?;
                Ok(Outcome::done(format!("edited {path}")))
            }
            places => Ok(Outcome::failed(format!(
                "error: text to replace found {places} times in {path}"
            ))),
        }
    }

    /// Runs a command line in the folder: what it printed, then how it ended unless it ended well.
    pub(crate) fn shell(&self, command: &str) -> io::Result<Outcome> {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.root)
            .env_clear()
            .envs(env::var_os("PATH").map(|path| ("PATH", path)))
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| at(Path::new("sh"), &error))?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        if output.status.success() {
            return Ok(Outcome::done(text));
        }
        let ending = match output.status.code() {
            Some(code) => format!("exit status {code}\n"),
            None => "ended by a signal\n".to_owned(),
        };
        Ok(Outcome::failed(text + &ending))
    }

    /// Returns the content of a file, or `None` if there is no such file.
    fn content(&self, path: &str) -> io::Result<Option<String>> {
        let file = self.root.join(path);
        match fs::read_to_string(&file) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(at(&file, &error)),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            eprintln!("record: {}", at(&self.root, &error));
        }
    }
}

fn no_such_file(path: &str) -> Outcome {
    Outcome::failed(format!("error: no such file: {path}"))
}

/// An error that names the path at which it arose.
pub(crate) fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
