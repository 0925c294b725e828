//! Transcripts of real agents, read as a stream of events.
//!
//! [`read`] takes an input of any size and delivers, in the order of the file, what the agent
//! called, what came back, and what was said. It keeps one record at a time in memory, so a file of
//! gigabytes costs no more than its longest line.
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
//!
//! # Formats
//!
//! | [`Format`] | is | told by |
//! |---|---|---|
//! | `native` | JSON Lines of `call` and `message` records | a `type` of `call`, or of `message` with `role` and `text` |
//! | `claude-code` | a session's JSON Lines, or `{"loglines":[…]}` | `type` `user` or `assistant` with a `message` object |
//! | `codex` | a rollout's JSON Lines | `type` and `payload` of its kinds of line |
//! | `openai` | an array of chat messages, or an object with `messages` | `role` and `content` of messages, nothing of Anthropic's in them |
//! | `anthropic` | a request's body, or its array of messages | `tool_use` and `tool_result` blocks; `system` beside `messages` |
//! | `gemini` | a chat's JSON Lines, or one object with `messages`; Qwen Code's lines | `projectHash`; `type` `gemini`; `message` with `parts` |
//! | `swe-agent` | an object with `trajectory` and `history` | either list, of steps or messages with an `action` |
//! | `mini-swe-agent` | an object with `info` and `messages`, or an array of messages | `trajectory_format`; `info` of a run; `extra.actions`; its fenced commands |
//! | `openhands` | events one a line, an array of them, or an object with `history` | `kind` ending with `Event`; `source` with `action` or `observation` |
//!
//! Formats that are known and not read are refused by name: those of Cursor, opencode, pi, ATIF,
//! Inspect, `OpenTelemetry`, `LangChain`, Pydantic AI, OpenAI Responses, Codex's printed events, and
//! the payloads of hooks. [`Trace::reason`] names the keys that told a format.
//!
//! # What stands in real files
//!
//! - Lines that are cut off, not UTF-8, or JSON and no object are skipped, counted and reported
//!   with their number; the lines around them are read. A JSON *document* that breaks off delivers
//!   what stands before the break.
//! - Byte order marks, CRLF and blank lines mean nothing. Half a surrogate pair becomes U+FFFD.
//! - Call ids are missing, or the same for several calls: results are paired in order, by id and
//!   worker, among the latest 1024 calls. A result that no open call fits counts nowhere.
//! - Claude Code spreads one answer over several lines, and other writers of its format repeat
//!   blocks: lines of one answer are one turn, and a repeated block is one call.
//! - Records are written twice: Gemini CLI adds calls and results to a record by writing it again,
//!   Codex and mini-swe-agent keep copies of the run beside it. A call counts once.
//! - Codex and Gemini CLI put a random id, a time or a process's number into results; these lines
//!   are left out of [`Outcome::text`], since no two results would be equal otherwise.
//! - Subagents in the file of their parent are workers of their own.
//! - Native traces are put together with `cat`: a header in mid-file begins another run.
//!
//! An assistant's message right before a call belongs to that call's turn; any other is
//! [`text_only`](Message::text_only). So it is held back until its worker's next event.
//!
//! # Limits
//!
//! A record has at most [`LINE_BYTES_MAX`] bytes, [`PROBLEMS_MAX`] problems are kept (all are
//! counted), the format must show in the first 64 KiB, and 1024 workers are followed at a time.

mod answer;
mod clue;
mod detect;
mod document;
mod event;
mod field;
mod foreign;
mod formats;
mod lines;
mod pairing;
mod partial;
mod prefix;
mod problem;
mod recorder;

use std::io::BufRead;

pub use answer::{Answer, text_of};
pub use event::{Args, Begin, Call, Event, Message, Outcome, Role};
pub use formats::{Format, UnknownFormat};
pub use problem::{Problem, ProblemKind};

use detect::Detection;
use prefix::Replay;
use recorder::Recorder;

/// The longest line, or element of a document, that is read.
///
/// A record holds a screenshot or two as base64, some MiB each, at the most; a longer line is a file
/// of another kind, and reading it would cost as much memory.
pub const LINE_BYTES_MAX: usize = 64 << 20;

/// How many problems a [`Trace`] keeps: enough to see what is wrong with a file.
pub const PROBLEMS_MAX: usize = 16;

/// What was read, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The format, as named by the caller or recognised.
    pub format: Format,
    /// The keys by which the format was told, or that the caller named it.
    pub reason: &'static str,
    /// The first run's name, if the file holds one.
    pub session: Option<String>,
    /// How many runs the file holds: one, and one more for each that [begins](Event::Begin) in it.
    pub runs: usize,
    /// How many calls were delivered.
    pub calls: usize,
    /// How many workers issued calls, those of each run by themselves.
    pub workers: usize,
    /// How many results were flagged as failed; none where the format has no flag (OpenAI,
    /// SWE-agent), or where the file tells the end of no call (Codex). A failure that a Codex
    /// rollout tells after the result is counted here and not in [`Outcome::failed`].
    pub errors: Option<usize>,
    /// How many lines or elements could not be read, wholly or in part.
    pub skipped: usize,
    /// The first [`PROBLEMS_MAX`] of them.
    pub problems: Vec<Problem>,
}

/// Reads one transcript and delivers its events to `sink`, in the order of the file.
///
/// Without `from` the format is recognised by the first 64 KiB. The time is linear in the input;
/// the memory is that of the longest record, see the [limits](crate#limits).
///
/// # Errors
///
/// If nothing can be read as a trace: the input is empty, of another format, or fails before it
/// gives a record. A trace that could be read in part is `Ok`, with its problems in it.
pub fn read(
    input: impl BufRead,
    from: Option<Format>,
    sink: &mut dyn FnMut(Event<'_>),
) -> Result<Trace, Problem> {
    let mut input = Replay::new(input);
    let Detection { format, layout, reason } = choose(&input, from)?;
    let mut recorder = Recorder::new(format, sink);
    format.read(&mut input, layout, &mut recorder);
    recorder.finish(reason)
}

fn choose<R: BufRead>(input: &Replay<R>, from: Option<Format>) -> Result<Detection, Problem> {
    let prefix = input.prefix();
    let chosen = match from {
        Some(_) if prefix.trim_ascii().is_empty() && input.is_complete() => Err(ProblemKind::Empty),
        Some(format) => Ok(detect::named(format, prefix)),
        None => detect::format(prefix, input.is_complete()),
    };
    chosen.map_err(|kind| match input.error() {
        Some(error) => ProblemKind::io(error).of_input(),
        None => kind.of_input(),
    })
}
