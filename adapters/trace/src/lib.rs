//! Reads transcripts of real agents as a stream of events.
//!
//! [`read`] takes an input of any size. It delivers calls, their results and messages in the order
//! of the file, with the tokens and the times that the file has. It keeps one record at a time in memory, so a file of gigabytes needs no more memory
//! than its longest line.
//!
//! ```
//! use unstuck_trace::{Event, read};
//!
//! let file = br#"{"session":"run-7"}
//! {"type":"message","role":"assistant","text":"I look first."}
//! {"type":"call","tool":"bash","args":{"command":"ls"},"result":"a.rs"}
//! "#;
//! let mut tools = Vec::new();
//! let trace = read(&file[..], None, &mut |event| {
//!     if let Event::Call(call) = event {
//!         tools.push(call.tool.to_owned());
//!     }
//! })?;
//! assert_eq!(tools, ["bash"]);
//! assert_eq!((trace.calls, trace.session.as_deref()), (1, Some("run-7")));
//! # Ok::<(), unstuck_trace::Problem>(())
//! ```
#![doc = include_str!("formats/README.md")]

mod clue;
mod costs;
mod detect;
mod document;
mod event;
mod field;
mod formats;
mod lines;
mod log;
mod notes;
mod object;
pub mod otlp;
mod outline;
mod packed;
mod pairing;
mod partial;
mod prefix;
mod problem;
mod pull;
mod recorder;
mod spans;
mod stream;
#[cfg(test)]
mod tables;
mod time;
mod tool_result;

use std::io::{BufRead, BufReader};

pub use event::{Args, Begin, Call, Event, Message, Outcome, Role, Tokens, Usage};
pub use formats::opencode::opencode_tool;
pub use formats::{Format, UnknownFormat};
pub use notes::error_without_notes;
pub use problem::{Problem, ProblemKind};
pub use tool_result::{ToolResult, text_of};

use detect::Detection;
use outline::outline;
use packed::Packing;
use prefix::Replay;
use recorder::Recorder;

/// The longest line, or element of a document, that is read.
///
/// A record holds at most a screenshot or two as base64, some MiB each. A longer line belongs to
/// another kind of file, and reading it would need as much memory.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// The most workers of an input that are followed at a time. A swarm in one file has fewer.
///
/// If there are more, the one that was idle for longest is forgotten, and counts as another worker if
/// it returns. [`Trace::forgotten`] counts them.
pub const WORKERS_MAX: usize = 100_000;

/// The number of problems that a [`Trace`] keeps: enough to see what is wrong with a file.
pub const PROBLEMS_MAX: usize = 16;

/// The number of calls with a message of this project that a [`Trace`] keeps.
pub const NOTES_MAX: usize = 1024;

/// The bytes of an [outline](outline::outline) in which a format is looked for.
const OUTLINE_BYTES_MAX: usize = 256 * 1024;

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
    /// The number of runs: one, and one more for each [`Event::Begin`].
    pub runs: usize,
    /// The number of calls that were delivered.
    pub calls: usize,
    /// The number of calls whose arguments the recording left out ([`Args::Absent`]), or that hold a
    /// value which a program has hidden, such as `<redacted>`. They are judged by their tools and
    /// failures alone.
    pub without_args: usize,
    /// The number of workers that issued calls, added up over all runs.
    pub workers: usize,
    /// The number of workers that were forgotten, because there were more than [`WORKERS_MAX`].
    pub forgotten: usize,
    /// The number of calls that failed. `None` if the format has no flag for failures, for example
    /// OpenAI's, or if the file could have flagged failures and never did, as Codex's can. A failure
    /// that a file reports after the result is counted here, but is not in [`Outcome::failed`].
    pub errors: Option<usize>,
    /// The tokens of all answers, added up. `None` if the file has none.
    pub tokens: Option<Tokens>,
    /// The earliest time of a record, in milliseconds since 1970-01-01 00:00 UTC. `None` if the file has no
    /// times.
    pub begin: Option<u64>,
    /// The latest time of a record, like `begin`.
    pub end: Option<u64>,
    /// The calls at which the file has a message of this project, by [`Call::index`] in rising order: the call that was
    /// refused, or about the latest one before a note. The first [`NOTES_MAX`] of them.
    pub notes: Vec<usize>,
    /// The number of lines or elements that could not be read, wholly or in part.
    pub skipped: usize,
    /// The first [`PROBLEMS_MAX`] of them.
    pub problems: Vec<Problem>,
}

/// Reads one transcript and delivers its events to `sink`, in the order of the file.
///
/// Without `from` the format is recognised by the beginning. The time is linear in the input, and
/// the memory is that of the longest record (see the [limits](crate#limits)).
///
/// # Errors
///
/// Returns an error if the input is empty, of another format, or fails before its first record. A
/// trace that was read in part is `Ok` and lists its problems.
pub fn read(
    input: impl BufRead,
    from: Option<Format>,
    sink: &mut dyn FnMut(Event<'_>),
) -> Result<Trace, Problem> {
    let mut input = Replay::new(input);
    match Packing::of(input.prefix()) {
        Some(packing) => read_text(Replay::new(packing.unpack(&mut input)), from, sink),
        None => read_text(input, from, sink),
    }
}

fn read_text(
    mut input: Replay<impl BufRead>,
    from: Option<Format>,
    sink: &mut dyn FnMut(Event<'_>),
) -> Result<Trace, Problem> {
    let Detection { format, layout, reason, is_log, .. } = choose(&mut input, from)?;
    let mut recorder = Recorder::new(format, sink);
    if is_log {
        format.read(&mut BufReader::new(log::Records::new(input)), layout, &mut recorder);
    } else {
        format.read(&mut input, layout, &mut recorder);
    }
    recorder.finish(reason)
}

/// Decides on the format. If long texts hide it, more of the input is read ahead.
fn choose<R: BufRead>(input: &mut Replay<R>, from: Option<Format>) -> Result<Detection, Problem> {
    let look = |text: &[u8], is_complete: bool| match from {
        Some(_) if text.trim_ascii().is_empty() && is_complete => Err(ProblemKind::Empty),
        Some(format) => Ok(detect::named(format, text)),
        None => detect::format(text, is_complete),
    };
    let mut chosen = look(input.prefix(), input.is_complete());
    if !input.is_complete() && may_be_hidden(&chosen, input.prefix()) {
        while input.read_on() {
            let outline = outline(input.prefix());
            let better = look(&outline, input.is_complete());
            let is_sure = better.as_ref().is_ok_and(|detection| detection.is_sure);
            chosen = better.or(chosen);
            if is_sure || outline.len() > OUTLINE_BYTES_MAX {
                break;
            }
        }
    }
    chosen.map_err(|kind| match input.error() {
        Some(error) => ProblemKind::io(error).of_input(),
        None => kind.of_input(),
    })
}

/// Returns whether better evidence may stand behind the beginning of an input: if there is none in it, or if long
/// texts fill most of it.
fn may_be_hidden(chosen: &Result<Detection, ProblemKind>, prefix: &[u8]) -> bool {
    match chosen {
        Err(kind) => *kind == ProblemKind::Unrecognized,
        Ok(detection) if detection.is_sure => false,
        Ok(_) => outline(prefix).len() < prefix.len() / 4,
    }
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
