//! Reads transcripts of real agents as a stream of events.
//!
//! [`read`] takes an input of any size. It delivers calls, their results and messages in the order of the file, with
//! the tokens and the times that the file has. It keeps one record at a time in memory, so a file of gigabytes needs
//! no more memory than its longest line.
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
mod fields;
mod format;
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
mod trace;

use std::io::{BufRead, BufReader};

pub use event::{Args, Begin, Call, Event, Message, Outcome, Role, Tokens, Usage};
pub use format::{Format, UnknownFormat};
pub use formats::opencode::opencode_tool;
pub use notes::error_without_notes;
pub use problem::{LINE_BYTES_MAX, Problem, ProblemKind};
pub use recorder::WORKERS_MAX;
pub use tool_result::{ToolResult, text_of};
pub use trace::{NOTES_MAX, PROBLEMS_MAX, Trace};

use detect::Detection;
use outline::outline;
use packed::Packing;
use prefix::Replay;
use recorder::Recorder;

/// The bytes of an [outline](outline::outline) in which a format is looked for.
const OUTLINE_BYTES_MAX: usize = 256 * 1024;

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
        let mut records = BufReader::new(log::Records::new(input));
        formats::read(format, &mut records, layout, &mut recorder);
    } else {
        formats::read(format, &mut input, layout, &mut recorder);
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
