//! The streams that output goes to, and how it fits into a terminal.

pub(crate) mod effect;

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use tempfile::TempPath;
use terminal_size::{Width, terminal_size_of};
use textwrap::Options;
use unstuck::Evidence;
use unstuck_report::failure::Failure;
use unstuck_report::recurring::{TOOL_MAX, result, what_recurs};
use unstuck_report::shown::{COLUMNS, is_hidden, plain, tool_name};

use crate::exit::Exit;

/// Returns `text` in lines of the usual width that begin with `indent`.
pub(crate) fn filled(text: &str, indent: &str) -> String {
    let options = Options::new(COLUMNS).initial_indent(indent).subsequent_indent(indent);
    textwrap::fill(text, options) + "\n"
}

/// Describes a finding, and for a swarm the number of its workers.
pub(crate) fn what_was_found(found: &Evidence) -> String {
    if !found.is_of_swarm() {
        return what_recurs(&found.finding, &found.tool);
    }
    let (tool, result) = (tool_name(&found.tool, TOOL_MAX), result(&found.finding));
    format!("`{tool}` {} times by {} workers{result}", found.finding.laps, found.workers)
}

/// The reader of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A person, with colours if the terminal wants them.
    Person,
    /// A program, which gets the exact bytes.
    Program,
}

/// The fewest and the most columns of a terminal that are used.
const COLUMNS_USED: RangeInclusive<usize> = 40..=200;

/// The most bytes that are written in one piece.
const PIECE: usize = 64 * 1024;

/// Standard output, or a file.
pub(crate) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    name: String,
    columns: usize,
    /// The temporary file that is written, if it becomes the output only at the end.
    temporary: Option<Replacement>,
}

/// A temporary file that replaces another file. It is removed if it is not committed.
pub(crate) struct Replacement {
    file: File,
    path: TempPath,
    target: PathBuf,
}

impl Output {
    /// An output of the usual width.
    fn new(name: String, writer: Box<dyn Write>) -> Self {
        let writer = BufWriter::with_capacity(PIECE, writer);
        Self { writer, name, columns: COLUMNS, temporary: None }
    }

    pub(crate) fn stdout(reader: Reader) -> Self {
        let writer: Box<dyn Write> = match reader {
            Reader::Person => Box::new(anstream::stdout()),
            Reader::Program => Box::new(io::stdout()),
        };
        let columns = match terminal_size_of(io::stdout()) {
            Some((Width(columns), _)) => {
                usize::from(columns).clamp(*COLUMNS_USED.start(), *COLUMNS_USED.end())
            }
            None => COLUMNS,
        };
        Self { columns, ..Self::new("standard output".to_owned(), writer) }
    }

    /// Creates the file `path`, or empties it.
    pub(crate) fn file(path: &Path, reader: Reader) -> Result<Self, Exit> {
        let name = path.display().to_string();
        let file = File::create(path)
            .map_err(|error| fail(Exit::Setup, &name, &format!("cannot be written: {error}")))?;
        let writer: Box<dyn Write> = match reader {
            Reader::Person => Box::new(anstream::StripStream::new(file)),
            Reader::Program => Box::new(file),
        };
        Ok(Self::new(name, writer))
    }

    /// Creates a file that becomes the file `path` by [`Output::commit`]. Until then, `path` stays as it is. A
    /// device or a pipe is written directly.
    pub(crate) fn replacing(path: &Path) -> Result<Self, Exit> {
        let name = path.display().to_string();
        if path.metadata().is_ok_and(|file| !file.is_file() && !file.is_dir()) {
            return Self::file(path, Reader::Program);
        }
        let opened = Replacement::of(path).and_then(|new| Ok((new.file.try_clone()?, new)));
        let (file, temporary) = opened
            .map_err(|error| fail(Exit::Setup, &name, &format!("cannot be written: {error}")))?;
        Ok(Self { temporary: Some(temporary), ..Self::new(name, Box::new(file)) })
    }

    /// Returns the number of columns of a line: the terminal's width, or 80 for a pipe or a file.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Writes `text` in one piece and flushes it, so that no reader sees half of it.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Closed> {
        self.take(|output| output.write_all(text.as_bytes()))
    }

    /// Takes what `write` writes, in one piece if it is short, and flushes it.
    pub(crate) fn take(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Closed> {
        let written = write(&mut self.writer).and_then(|()| self.writer.flush());
        self.checked(written)
    }

    /// Ends the output. A temporary file, if it was written, replaces its target.
    pub(crate) fn commit(&mut self) -> Result<(), Closed> {
        let committed = self.temporary.take().map_or(Ok(()), Replacement::commit);
        self.checked(committed)
    }

    fn checked(&self, written: io::Result<()>) -> Result<(), Closed> {
        written.map_err(|error| {
            if error.kind() == ErrorKind::BrokenPipe {
                return Closed::Reader;
            }
            let Some(failure) = Failure::of(&error) else {
                complain(&self.name, &format!("cannot be written: {error}"));
                return Closed::Error;
            };
            complain(&failure.about, &failure.why);
            show(&failure.help);
            let is_usage = error.kind() == ErrorKind::InvalidInput;
            Closed::Writer(if is_usage { Exit::Usage } else { Exit::Setup })
        })
    }
}

impl Replacement {
    /// Creates a file beside `path`, or beside its target if it is a symbolic link. It has the permissions of the one that
    /// it replaces.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::Error::other("it is a folder, but a file is expected"));
        }
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let mut builder = tempfile::Builder::new();
        let prefix = format!(".{name}.");
        builder.prefix(&prefix).suffix(".unfinished");
        // By default, only its owner may read it.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let (file, path) = builder.tempfile_in(folder)?.into_parts();
        if let Ok(replaced) = target.metadata() {
            file.set_permissions(replaced.permissions())?;
        }
        Ok(Self { file, path, target })
    }

    /// Writes the whole content.
    pub(crate) fn write(mut self, text: &str) -> io::Result<Self> {
        self.file.write_all(text.as_bytes()).map(|()| self)
    }

    /// Puts the file into its place.
    pub(crate) fn commit(self) -> io::Result<()> {
        self.file.sync_all()?;
        self.path.persist(&self.target)?;
        // The file is complete on disk; losing the rename in a crash does little harm.
        if let Some(folder) = self.target.parent().and_then(|folder| File::open(folder).ok()) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// Prints `text` on standard output. Returns `exit`, or the exit code of an output that failed.
pub(crate) fn print(reader: Reader, text: &str, exit: Exit) -> Exit {
    match Output::stdout(reader).write(text) {
        Ok(()) => exit,
        Err(closed) => closed.exit(exit),
    }
}

/// The reason why the output is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// The reader stopped reading, which is not a failure.
    Reader,
    Error,
    /// The writer of the report failed.
    Writer(Exit),
}

impl Closed {
    /// Returns the exit code, where `exit` is the code of an open output.
    pub(crate) fn exit(self, exit: Exit) -> Exit {
        match self {
            Self::Reader => exit,
            Self::Error => Exit::Setup,
            Self::Writer(exit) => exit,
        }
    }
}

/// Prints the help that a command line asks for, or the error in it, which gives the error [`Exit::Usage`].
///
/// The parser quotes the command line in its errors, for example the name of a file that a shell found.
pub(crate) fn usage(mut error: clap::Error) -> Result<Exit, Exit> {
    if !error.use_stderr() {
        return Ok(print(Reader::Person, &error.render().ansi().to_string(), Exit::Clean));
    }
    let quoted: Vec<_> = error.context().filter_map(|(kind, value)| quoted(kind, value)).collect();
    for (kind, value) in quoted {
        error.insert(kind, value);
    }
    let message = error.render();
    let bare = message.to_string();
    if bare.contains(|c| c != '\n' && is_hidden(c)) {
        let lines: Vec<_> = bare.lines().map(plain).collect();
        show(&(lines.join("\n") + "\n"));
    } else {
        show(&message.ansi().to_string());
    }
    Err(Exit::Usage)
}

/// Prints `what` as a usage error of the command `name`, whose options are `A`.
pub(crate) fn misused<A: clap::Args>(name: &'static str, what: String) -> Exit {
    let command = clap::Command::new(name).bin_name(format!("unstuck {name}"));
    // Printing fails only if the reader is gone. The exit code still shows the error.
    let _ = A::augment_args(command)
        .error(clap::error::ErrorKind::MissingRequiredArgument, what)
        .print();
    Exit::Usage
}

/// Returns what the parser quotes, as it may be shown.
fn quoted(kind: ContextKind, value: &ContextValue) -> Option<(ContextKind, ContextValue)> {
    let value = match value {
        ContextValue::String(text) => ContextValue::String(plain(text)),
        ContextValue::Strings(texts) => {
            ContextValue::Strings(texts.iter().map(|text| plain(text)).collect())
        }
        _ => return None,
    };
    Some((kind, value))
}

/// Prints an error about `path` on standard error.
pub(crate) fn complain(path: &str, what: &str) {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    say(&format!("{red}error{red:#}: "), path, what);
}

/// Prints an error about `path` on standard error, and returns `exit`.
pub(crate) fn fail(exit: Exit, path: &str, what: &str) -> Exit {
    complain(path, what);
    exit
}

/// Prints a remark about `path` on standard error.
pub(crate) fn remark(path: &str, what: &str) {
    say("", path, what);
}

/// Prints `lines` on standard error. They must not contain control characters other than styles.
pub(crate) fn show(lines: &str) {
    // If nobody reads this, the exit code still shows the error.
    let _ = write!(anstream::stderr(), "{lines}");
}

fn say(head: &str, path: &str, what: &str) {
    let (path, what) = (plain(path), plain(what));
    // If nobody reads this, the exit code still shows the error.
    let _ = writeln!(anstream::stderr(), "{head}{path}: {what}");
}
