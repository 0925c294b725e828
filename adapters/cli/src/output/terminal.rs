//! Standard output, output files and error messages.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::RangeInclusive;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use terminal_size::{Width, terminal_size_of};

use crate::exit::Exit;
use crate::output::shown::{COLUMNS, is_hidden, plain};

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

/// Standard output, or a file.
pub(crate) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    name: String,
    columns: usize,
}

impl Output {
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
        Self { writer: BufWriter::new(writer), name: "standard output".to_owned(), columns }
    }

    /// Creates the file `path`, or empties it.
    pub(crate) fn file(path: &Path, reader: Reader) -> Result<Self, Exit> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(|error| {
            complain(&name, &format!("cannot be written: {error}"));
            Exit::Setup
        })?;
        let writer: Box<dyn Write> = match reader {
            Reader::Person => Box::new(anstream::StripStream::new(file)),
            Reader::Program => Box::new(file),
        };
        Ok(Self { writer: BufWriter::new(writer), name, columns: COLUMNS })
    }

    /// Returns the number of columns of a line: the terminal's width, or 80 for a pipe or a file.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Writes `text` in one piece and flushes it, so that no reader sees half of it.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Closed> {
        let written = self.writer.write_all(text.as_bytes()).and_then(|()| self.writer.flush());
        written.map_err(|error| {
            if error.kind() == ErrorKind::BrokenPipe {
                return Closed::ByReader;
            }
            complain(&self.name, &format!("cannot be written: {error}"));
            Closed::ByError
        })
    }
}

/// The reason why the output is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// The reader stopped reading, which is not a failure.
    ByReader,
    ByError,
}

impl Closed {
    /// Returns the exit code, where `exit` is the code of an open output.
    pub(crate) fn exit(self, exit: Exit) -> Exit {
        match self {
            Self::ByReader => exit,
            Self::ByError => Exit::Setup,
        }
    }
}

/// Prints the help that a command line asks for, or the error in it, which gives the error [`Exit::Usage`].
///
/// The parser quotes the command line in its errors, for example the name of a file that a shell found.
pub(crate) fn usage(mut error: clap::Error) -> Result<Exit, Exit> {
    if !error.use_stderr() {
        let printed = Output::stdout(Reader::Person).write(&error.render().ansi().to_string());
        return Ok(printed.map_or_else(|closed| closed.exit(Exit::Clean), |()| Exit::Clean));
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
