//! Running the program `git`: plumbing alone, with nothing of the user's that could run or differ.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::thread;

use super::disk::step;
use super::error::GitError;

/// What is said on every command line, before the command.
const OPTIONS: [&str; 10] = [
    // Nothing is locked or written in passing.
    "--no-optional-locks",
    "--no-pager",
    "--literal-pathspecs",
    // No program of the user's runs.
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    // Names that some other file system could not hold are names here.
    "-c",
    "core.protectNTFS=false",
    "--no-replace-objects",
];

/// What in the surroundings would lead git to another repository, index or setting.
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

/// Who makes the commits: they are nobody's work, and need no name that is set up.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "unstuck"),
    ("GIT_AUTHOR_EMAIL", "unstuck@localhost"),
    ("GIT_COMMITTER_NAME", "unstuck"),
    ("GIT_COMMITTER_EMAIL", "unstuck@localhost"),
];

/// The program `git`, to be run in one folder.
#[derive(Clone, Debug)]
pub(super) struct Git {
    folder: PathBuf,
    /// The index to use in the place of the user's.
    index: Option<PathBuf>,
}

impl Git {
    pub(super) fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), index: None }
    }

    /// The same, with another index than the user's.
    pub(super) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        for variable in SURROUNDINGS {
            command.env_remove(variable);
        }
        command.envs(IDENTITY).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        command.args(OPTIONS).arg("-C").arg(&self.folder);
        if let Some(index) = &self.index {
            command.args(["-c", "core.splitIndex=false"]).env("GIT_INDEX_FILE", index);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `git` with these arguments; how it ended is the caller's to judge.
    pub(super) fn output<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Output, GitError> {
        step().and_then(|()| self.command().args(arguments).output()).map_err(GitError::NoGit)
    }

    /// What `git` prints with these arguments.
    pub(super) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>, GitError> {
        said(arguments, self.output(arguments)?)
    }

    /// What `git` prints with these arguments and with `input` on its standard input.
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
                // What git prints must be read while it is still being fed. One that stops to read
                // says itself why.
                scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
                child.wait_with_output()
            })
        });
        said(arguments, output.map_err(GitError::NoGit)?)
    }

    /// The object or ref that `git` names with these arguments: its one line.
    pub(super) fn line<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<String, GitError> {
        Ok(text(&self.run(arguments)?))
    }

    /// The contents of objects, one after the other, from one process.
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

/// What git printed, if all went well.
fn said<A: AsRef<OsStr>>(arguments: &[A], output: Output) -> Result<Vec<u8>, GitError> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let command = arguments.first().map(|word| word.as_ref().to_string_lossy().into_owned());
    let said = complaint(&output);
    Err(GitError::Git { command: command.unwrap_or_default(), said })
}

/// What git said on standard error, without its own "fatal: " and the last full stop.
pub(super) fn complaint(output: &Output) -> String {
    let said = text(&output.stderr);
    if said.is_empty() {
        return output.status.to_string();
    }
    said.strip_prefix("fatal: ").unwrap_or(&said).trim_end_matches('.').to_owned()
}

/// `bytes` as text, without the line's end.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// What git printed with `-z`, piece by piece.
pub(super) fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == 0).filter(|piece| !piece.is_empty())
}

/// A process of git that prints objects byte by byte as they are kept, without any filter.
#[derive(Debug)]
pub(super) struct Blobs {
    child: Child,
    /// None at the end, which is how the process learns of it.
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
        // Whatever became of the sink, the next object begins behind this one.
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
        // It ends by itself now; how is of no interest.
        let _ = self.child.wait();
    }
}
