//! What was wrong with an input, where, and what would be right.

use core::fmt;

use crate::Format;

/// Something in an input that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1; none where the input as a whole is meant. For an element of a
    /// JSON document this is the line on which the element ends.
    pub line: Option<u64>,
    /// What is wrong there.
    pub kind: ProblemKind,
}

/// What was wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The input holds nothing but white space.
    Empty,
    /// The input is of a format that is known and not read.
    Foreign {
        /// What it looks like, with its article: "a Cursor transcript".
        looks_like: &'static str,
    },
    /// The input is of no known format.
    Unrecognized,
    /// The input was read as the format that the caller named and held no record of it.
    NoRecord {
        /// The format that was asked for.
        format: Format,
    },
    /// The input could not be read to its end.
    Io {
        /// The operating system's words.
        message: String,
    },
    /// A line holds bytes that are not UTF-8.
    NotUtf8 {
        /// The first such byte, counted from 1.
        column: usize,
    },
    /// A line is not JSON.
    NotJson {
        /// What the parser expected, and where.
        message: String,
    },
    /// A JSON document breaks off, or is none from there on; what stands before it was read.
    Broken {
        /// What the parser expected, and where.
        message: String,
    },
    /// A line or an element is JSON, but no object.
    NotAnObject {
        /// What it is, with its article: "a string".
        found: &'static str,
    },
    /// A record lacks a field.
    Missing {
        /// The record, with its article: "a call".
        record: &'static str,
        /// The field's name.
        field: &'static str,
    },
    /// A field holds something else than it should.
    WrongType {
        /// The field's name.
        field: &'static str,
        /// What it should hold, with its article: "a string".
        expected: &'static str,
    },
    /// An OpenAI message holds a content block of Anthropic's messages.
    ForeignBlock,
    /// A line or an element is longer than [`LINE_BYTES_MAX`](crate::LINE_BYTES_MAX).
    TooLong,
}

impl ProblemKind {
    /// This problem, on that line.
    pub(crate) const fn at(self, line: u64) -> Problem {
        Problem { line: Some(line), kind: self }
    }

    /// This problem, of the whole input.
    pub(crate) const fn of_input(self) -> Problem {
        Problem { line: None, kind: self }
    }

    /// The parser's message about one line.
    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Self::NotJson { message: without_line(error) }
    }

    /// The parser's message about a document.
    pub(crate) fn broken(error: &serde_json::Error) -> Self {
        Self::Broken { message: without_line(error) }
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
            Self::Unrecognized => write!(
                out,
                "not recognised as a trace; read are: {}",
                Format::names()
            ),
            Self::NoRecord { format } => out.write_str(format.no_record()),
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
            Self::ForeignBlock => out.write_str(
                "holds a content block of Anthropic's messages; OpenAI's keep calls in `tool_calls`",
            ),
            Self::TooLong => write!(
                out,
                "longer than {} MiB: expected one record",
                crate::LINE_BYTES_MAX >> 20
            ),
        }
    }
}

impl core::error::Error for Problem {}

/// The parser's message without the line in it, which a [`Problem`] has already.
fn without_line(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = error.to_string();
    match text.strip_suffix(&place) {
        Some(what) => format!("{what} at column {}", error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_what_where_and_what_would_be_right() {
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
