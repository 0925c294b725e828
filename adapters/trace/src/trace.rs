//! The summary of an input that was read.

use crate::event::Tokens;
use crate::format::Format;
use crate::problem::Problem;

/// The number of problems that a [`Trace`] keeps: enough to see what is wrong with a file.
pub const PROBLEMS_MAX: usize = 16;

/// The number of calls with a message of this project that a [`Trace`] keeps.
pub const NOTES_MAX: usize = 1024;

/// A summary of an input that was read.
///
/// ```
/// use unstuck_trace::{Format, read};
///
/// let file = br#"{"type":"call","tool":"bash","result":"no","is_error":true}
/// not JSON"#;
/// let trace = read(&file[..], None, &mut |_| {})?;
/// assert_eq!((trace.format, trace.calls, trace.errors), (Format::NATIVE, 1, Some(1)));
/// assert_eq!((trace.skipped, trace.problems[0].line), (1, Some(2)));
/// # Ok::<(), unstuck_trace::Problem>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The format: named by the caller, or recognised.
    pub format: Format,
    /// The keys by which the format was recognised, or a note that the caller named it.
    pub reason: &'static str,
    /// The first run's name, if the file has one.
    pub session: Option<String>,
    /// The number of runs: one, and one more for each [`Event::Begin`](crate::Event::Begin).
    pub runs: usize,
    /// The number of calls that were delivered.
    pub calls: usize,
    /// The number of calls whose arguments the recording left out ([`Args::Absent`](crate::Args::Absent)), or that
    /// hold a value which a program has hidden, such as `<redacted>`. They are judged by their tools and failures
    /// alone.
    pub without_args: usize,
    /// The number of workers that issued calls, added up over all runs.
    pub workers: usize,
    /// The number of workers that were forgotten, because there were more than [`WORKERS_MAX`](crate::WORKERS_MAX).
    pub forgotten: usize,
    /// The number of calls that failed. `None` if the format has no flag for failures, for example
    /// OpenAI's, or if the file could have flagged failures and never did, as Codex's can. A failure that a file
    /// reports after the result is counted here, but is not in [`Outcome::failed`](crate::Outcome::failed).
    pub errors: Option<usize>,
    /// The tokens of all answers, added up. `None` if the file has none.
    pub tokens: Option<Tokens>,
    /// The earliest time of a record, in milliseconds since 1970-01-01 00:00 UTC. `None` if the file has no
    /// times.
    pub begin: Option<u64>,
    /// The latest time of a record, like `begin`.
    pub end: Option<u64>,
    /// The calls at which the file has a message of this project, by [`Call::index`](crate::Call::index) in rising
    /// order: the call that was refused, or about the latest one before a note. The first [`NOTES_MAX`] of them.
    pub notes: Vec<usize>,
    /// The number of lines or elements that could not be read, wholly or in part.
    pub skipped: usize,
    /// The first [`PROBLEMS_MAX`] of them.
    pub problems: Vec<Problem>,
}
