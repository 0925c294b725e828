//! Problems of an input: what is wrong, where, and what was expected.

use core::fmt;

use crate::format::{self, Format};

/// The longest line, or element of a document, that is read.
///
/// A record holds at most a screenshot or two as base64, some MiB each. A longer line belongs to
/// another kind of file, and reading it would need as much memory.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// A part of an input that could not be read.
///
/// ```
/// use unstuck_trace::{Format, read};
///
/// let file = b"{\"type\":\"call\",\"tool\":\"ls\"}\n[1]\n";
/// let trace = read(&file[..], Some(Format::NATIVE), &mut |_| {})?;
/// let message = trace.problems[0].to_string();
/// assert_eq!(message, "line 2: expected a JSON object, found an array");
/// # Ok::<(), unstuck_trace::Problem>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1. `None` if the problem is of the whole input. For an element of a
    /// JSON document this is the line on which the element ends.
    pub line: Option<u64>,
    /// The kind of problem.
    pub kind: ProblemKind,
}

/// The kinds of problem.
///
/// ```
/// use unstuck_trace::{ProblemKind, read};
///
/// let problem = read(&b" \n"[..], None, &mut |_| {}).map_err(|problem| problem.kind);
/// assert_eq!(problem, Err(ProblemKind::Empty));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The input has only white space.
    Empty,
    /// The input has a format that is known but not read.
    Foreign {
        /// The format, with its article: "a Cursor transcript".
        looks_like: &'static str,
    },
    /// The input has no known format.
    Unrecognized,
    /// The input has no record of the format that the caller named.
    NoRecord {
        /// The format that was asked for.
        format: Format,
    },
    /// The input could not be read to its end.
    Io {
        /// The message of the operating system.
        message: String,
    },
    /// A line holds bytes that are not UTF-8.
    NotUtf8 {
        /// The first such byte, counted from 1.
        column: usize,
    },
    /// A line is not JSON.
    NotJson {
        /// The parser's message: what it expected, and where.
        message: String,
    },
    /// A JSON document breaks off or is not JSON from there on. The records before it were read.
    Broken {
        /// The parser's message: what it expected, and where.
        message: String,
    },
    /// A line or an element is JSON, but not an object.
    NotAnObject {
        /// The type that was found, with its article: "a string".
        found: &'static str,
    },
    /// A record lacks a field.
    Missing {
        /// The record, with its article: "a call".
        record: &'static str,
        /// The field's name.
        field: &'static str,
    },
    /// A field has the wrong type.
    WrongType {
        /// The field's name.
        field: &'static str,
        /// The right type, with its article: "a string".
        expected: &'static str,
    },
    /// A record has a part of another format.
    ForeignPart {
        /// The whole message: what was found, and what was expected.
        message: &'static str,
    },
    /// A file in an archive could not be read, wholly or in part. The others were.
    Member {
        /// The file's name in the archive.
        name: String,
        /// The message of its own problem, with the line in the file.
        message: String,
    },
    /// A line or an element is longer than [`LINE_BYTES_MAX`].
    TooLong,
}

/// The end of reading a record, or the problem that it has.
pub(crate) type Done = Result<(), ProblemKind>;

impl ProblemKind {
    /// Returns this problem on a line.
    pub(crate) const fn at(self, line: u64) -> Problem {
        Problem { line: Some(line), kind: self }
    }

    /// Returns this problem of the whole input.
    pub(crate) const fn of_input(self) -> Problem {
        Problem { line: None, kind: self }
    }

    /// Takes the parser's message about one line.
    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Self::NotJson { message: without_line(error) }
    }

    /// Wraps the problem of a file in an archive as a problem of the archive.
    pub(crate) fn member(name: &str, problem: &Problem) -> Self {
        Self::Member { name: name.to_owned(), message: problem.to_string() }
    }

    pub(crate) fn io(error: &std::io::Error) -> Self {
        Self::Io { message: error.to_string() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "line {line}: {}", self.kind),
            None => self.kind.fmt(out),
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => out.write_str("the input is empty: expected a trace"),
            Self::Foreign { looks_like } => write!(
                out,
                "looks like {looks_like}, which is not read yet; read are: {}",
                Format::names()
            ),
            Self::Unrecognized => {
                let names = Format::names();
                write!(
                    out,
                    "not recognised as a trace; read are: {names}; `--from` names one of these"
                )
            }
            Self::NoRecord { format } => out.write_str(format::missing(*format)),
            Self::Io { message } => write!(out, "reading failed: {message}"),
            Self::NotUtf8 { column } => {
                write!(out, "not UTF-8 at byte {column}: expected JSON in UTF-8")
            }
            Self::NotJson { message } => write!(out, "not a JSON object: {message}"),
            Self::Broken { message } => write!(out, "the document is broken here: {message}"),
            Self::NotAnObject { found } => write!(out, "expected a JSON object, found {found}"),
            Self::Missing { record, field } => write!(out, "{record} needs the field `{field}`"),
            Self::WrongType { field, expected } => {
                write!(out, "the field `{field}` must be {expected}")
            }
            Self::ForeignPart { message } => out.write_str(message),
            Self::Member { name, message } => write!(out, "{name} in the archive: {message}"),
            Self::TooLong => {
                write!(out, "longer than {} MiB: expected one record", LINE_BYTES_MAX >> 20)
            }
        }
    }
}

impl core::error::Error for Problem {}

/// Returns the parser's message without the line, which a [`Problem`] has already.
fn without_line(error: &serde_json::Error) -> String {
    let what = without_place(error);
    if error.line() == 0 { what } else { format!("{what} at column {}", error.column()) }
}

/// Returns what the parser says, without the line and the column.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let mut text = error.to_string();
    if text.ends_with(&place) {
        text.truncate(text.len() - place.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_is_wrong_where_and_what_was_expected() {
        let error = serde_json::from_str::<serde::de::IgnoredAny>("{\"a\":1 2}").err();
        let kind = error.map(|error| ProblemKind::not_json(&error));
        assert_eq!(
            kind.map(|kind| kind.at(7).to_string()).as_deref(),
            Some("line 7: not a JSON object: expected `,` or `}` at column 8")
        );
        let foreign = ProblemKind::Foreign { looks_like: "a Cursor transcript" };
        assert_eq!(
            foreign.of_input().to_string(),
            format!(
                "looks like a Cursor transcript, which is not read yet; read are: {}",
                Format::names()
            )
        );
    }
}
