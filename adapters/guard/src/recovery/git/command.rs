//! Runs the program `git`: plumbing commands, without hooks, filters and settings of the user.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::thread;

use super::disk::step;
use super::error::GitError;
use super::path::os;

/// The options of every command line, before the command.
const OPTIONS: [&str; 10] = [
    // Commands that read take no lock and do not write.
    "--no-optional-locks",
    "--no-pager",
    "--literal-pathspecs",
    // No program of the user runs.
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    // Names that other file systems do not allow are valid here.
    "-c",
    "core.protectNTFS=false",
    "--no-replace-objects",
];

/// The environment variables that would lead git to another repository, index or setting.
const SURROUNDINGS: [&str; 12] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_EXTERNAL_DIFF",
];

/// The settings of a filter driver. Without a value, none of them names a program, and none is required.
const DRIVER: [&str; 4] = ["clean", "smudge", "process", "required"];

/// An environment variable without a value, for settings whose name has an equals sign.
const EMPTY: &str = "UNSTUCK_EMPTY";

/// The author of the commits, so that the user needs no configured name.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "unstuck"),
    ("GIT_AUTHOR_EMAIL", "unstuck@localhost"),
    ("GIT_COMMITTER_NAME", "unstuck"),
    ("GIT_COMMITTER_EMAIL", "unstuck@localhost"),
];

/// The program `git`, run in one folder.
#[derive(Clone, Debug)]
pub(super) struct Git {
    folder: PathBuf,
    /// The index that replaces the user's.
    index: Option<PathBuf>,
    /// The options that turn the user's filters off.
    filters: Vec<OsString>,
}

impl Git {
    pub(super) fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), index: None, filters: Vec::new() }
    }

    /// Returns the program without the filters of the user. A command that writes an index compares files
    /// that changed in the second of its last update, and would run a filter for each; a filter that fails
    /// would end the command.
    pub(super) fn without_filters(self) -> Result<Self, GitError> {
        let asked = ["config", "-z", "--name-only", "--get-regexp", r"^filter\."];
        // Git fails if there is none.
        let settings = self.output(asked)?.stdout;
        let drivers: BTreeSet<_> = pieces(&settings).filter_map(driver).collect();
        let off = |driver| DRIVER.iter().flat_map(move |setting| turned_off(driver, setting));
        Ok(Self { filters: drivers.into_iter().flat_map(off).collect(), ..self })
    }

    /// Returns the program with another index than the user's.
    pub(super) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        for variable in SURROUNDINGS {
            command.env_remove(variable);
        }
        command.envs(IDENTITY).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        command.env(EMPTY, "").args(OPTIONS).args(&self.filters).arg("-C").arg(&self.folder);
        if let Some(index) = &self.index {
            command.args(["-c", "core.splitIndex=false"]).env("GIT_INDEX_FILE", index);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `git` with these arguments. The caller checks the exit status.
    pub(super) fn output<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Output, GitError> {
        step().and_then(|()| self.command().args(arguments).output()).map_err(GitError::NoGit)
    }

    /// Runs `git` with these arguments. Returns its output.
    pub(super) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, GitError> {
        checked(arguments, self.output(arguments)?)
    }

    /// Runs `git` with these arguments and with `input` on its standard input. Returns its output.
    pub(super) fn fed<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped());
        let output = step().and_then(|()| {
            let mut child = command.spawn()?;
            let stdin = child.stdin.take();
            thread::scope(|scope| {
                // The output must be read while git still reads its input. If git stops reading, it
                // prints the reason.
                scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
                child.wait_with_output()
            })
        });
        checked(arguments, output.map_err(GitError::NoGit)?)
    }

    /// Runs `git` with these arguments. Returns the one line of its output, mostly an object or a ref.
    pub(super) fn line<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String, GitError> {
        Ok(text(&self.run(arguments)?))
    }

    /// Starts a process that prints the contents of objects, one after the other.
    pub(super) fn blobs(&self) -> Result<Blobs, GitError> {
        let mut command = self.command();
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = step().and_then(|()| command.spawn()).map_err(GitError::NoGit)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let broken = || GitError::NoGit(io::ErrorKind::BrokenPipe.into());
        let (stdin, stdout) = pipes.ok_or_else(broken)?;
        Ok(Blobs { child, stdin: Some(stdin), stdout: BufReader::new(stdout) })
    }
}

/// Returns the name of the driver in `filter.<name>.<setting>`.
fn driver(setting: &[u8]) -> Option<&[u8]> {
    let name = setting.strip_prefix(b"filter.")?;
    let dot = name.iter().rposition(|&byte| byte == b'.')?;
    name.get(..dot)
}

/// Returns the options that set `setting` of a filter to nothing.
fn turned_off(driver: &[u8], setting: &str) -> [OsString; 2] {
    let key = [b"filter.", driver, b".", setting.as_bytes(), b"="].concat();
    // `-c` takes the first equals sign for the end of the name, and this option the last one.
    if driver.contains(&b'=') {
        return ["--config-env".into(), os(&[&key, EMPTY.as_bytes()].concat())];
    }
    ["-c".into(), os(&key)]
}

/// Returns the output of git if it succeeded.
fn checked<A: AsRef<OsStr>>(arguments: &[A], output: Output) -> Result<Vec<u8>, GitError> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let command = arguments.first().map(|word| word.as_ref().to_string_lossy().into_owned());
    let said = complaint(&output);
    Err(GitError::Git { command: command.unwrap_or_default(), said })
}

/// Returns the message of git on standard error, without its "fatal: " and the last full stop.
pub(super) fn complaint(output: &Output) -> String {
    let said = text(&output.stderr);
    if said.is_empty() {
        return output.status.to_string();
    }
    said.strip_prefix("fatal: ").unwrap_or(&said).trim_end_matches('.').to_owned()
}

/// Returns `bytes` as text, without the line end.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// Splits the output of git with `-z`.
pub(super) fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == 0).filter(|piece| !piece.is_empty())
}

/// A process of git that prints objects byte by byte, without any filter.
#[derive(Debug)]
pub(super) struct Blobs {
    child: Child,
    /// `None` at the end, which ends the process.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Blobs {
    /// Writes the object `id` to `sink`.
    pub(super) fn copy(&mut self, id: &str, sink: &mut dyn Write) -> io::Result<()> {
        let missing = || io::Error::other(format!("the object {id} is not in the repository"));
        let stdin = self.stdin.as_mut().ok_or_else(missing)?;
        writeln!(stdin, "{id}")?;
        stdin.flush()?;
        let mut head = String::new();
        self.stdout.read_line(&mut head)?;
        let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok());
        let size: u64 = size.ok_or_else(missing)?;
        let mut rest = self.stdout.by_ref().take(size);
        let copied = io::copy(&mut rest, sink);
        // Even if the sink failed, the next object begins behind this one.
        io::copy(&mut rest, &mut io::sink())?;
        self.stdout.read_exact(&mut [0])?;
        match copied? {
            copied if copied == size => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // It ends by itself now. The exit status does not matter.
        let _ = self.child.wait();
    }
}
