//! Judges recorded runs of agents that call tools, and reports the loops in them.
//!
//! A [`Replay`] judges the events of a run as a guard would have, and says which loops it found. A
//! [`Report`] adds what the run cost, and a [`FullReport`](parts::FullReport) what single outputs need. A
//! [`Writer`](writer::Writer) writes reports in one format, for people or for programs. All text of a recording is made
//! safe to show, and secrets in it are masked.
//!
//! The library opens no file and starts no thread, so that it also works in a browser.

pub mod baseline;
#[cfg(test)]
mod cases;
pub mod config;
pub mod cost;
pub mod draw;
pub mod effect;
pub mod failure;
pub mod groups;
pub mod html;
pub mod json;
pub mod line;
pub mod mistake;
mod page;
pub mod parts;
pub mod recurring;
pub mod redact;
pub mod replay;
pub mod report;
pub mod rows;
pub mod shown;
pub mod spool;
mod table;
pub mod words;
pub mod writer;

use std::io::BufRead;

use unstuck_text::Preset;
use unstuck_trace::{Event, Format, Problem, Trace, read};

pub use crate::config::Config;
pub use crate::config::choice::{
    PolicyChoice, WrongPolicy, check_config, check_policy, config_of_json,
};
pub use crate::html::IncludeArgs;
pub use crate::page::{Page, Part};
pub use crate::recurring::what_recurs;
pub use crate::redact::masked;
use crate::replay::Replay;
pub use crate::replay::{Excerpt, Location, ReplayFinding, ResultLine};
pub use crate::report::{Report, Settings, too_many_workers};
pub use crate::rows::{FindingRow, Rows, RunRow};
pub use crate::shown::plain;

/// A recorded run and its findings.
#[derive(Debug)]
pub struct Scanned {
    /// The summary of the input.
    pub trace: Trace,
    /// The findings in the order in which they were made.
    pub findings: Vec<ReplayFinding>,
    /// The reason why loops may be missing, if the run has too many workers.
    pub incomplete: Option<String>,
}

/// Reads a recorded run and judges it, as `unstuck scan` does.
///
/// # Errors
///
/// Returns an error if the input is empty, of another format, or fails before its first record.
pub fn scan(
    input: impl BufRead,
    from: Option<Format>,
    preset: &'static Preset,
) -> Result<Scanned, Problem> {
    let mut replay = Replay::new(preset);
    let trace = read(input, from, &mut |event: Event<'_>| replay.take(&event))?;
    let replay::Findings { list, forgotten, .. } = replay.finish();
    let forgotten = forgotten.max(trace.forgotten);
    let incomplete = (forgotten > 0).then(|| too_many_workers(forgotten));
    Ok(Scanned { trace, findings: list, incomplete })
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
