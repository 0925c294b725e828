//! `unstuck`: finds loops of agents that call tools, in recorded runs and while an agent works.
//!
//! The package is a program, behind the feature `program`; `fleet` adds what several machines need. Adapters for other languages use the rest: policies
//! in TOML, the scan of a recorded run, and the functions that make text from a recording safe to show. It opens
//! no file and starts no thread, so that it also works in a browser.
//!
//! Exit codes: 0 nothing found, 1 a finding, 3 nothing found but an input could not be read, 4 a bad
//! configuration or an output that could not be written, 64 a usage error. Never 2, because coding agents read 2 as
//! "block". `unstuck hook`, which agents call, always exits with 0. `unstuck mcp` exits with the
//! code of the server. The help of `unstuck start-over` and `unstuck swarm` lists their codes.

#[cfg(feature = "program")]
mod agents;
#[cfg(feature = "program")]
mod args;
#[cfg(feature = "program")]
mod calibrate;
mod config;
#[cfg(feature = "program")]
mod exit;
#[cfg(feature = "program")]
mod json;
#[cfg(feature = "program")]
mod lacking;
#[cfg(feature = "program")]
mod manual;
#[cfg(feature = "program")]
mod mcp;
mod mistake;
mod output;
mod page;
#[cfg(feature = "program")]
mod program;
#[cfg(feature = "program")]
mod read;
mod replay;
mod scan;
#[cfg(feature = "program")]
mod setup;
#[cfg(feature = "program")]
mod start_over;
#[cfg(feature = "fleet")]
mod swarm;
#[cfg(feature = "program")]
mod view;
#[cfg(feature = "fleet")]
mod watch;
#[cfg(feature = "fleet")]
mod webhook;

use std::io::BufRead;

use unstuck_text::Preset;
use unstuck_trace::{Event, Format, Problem, Trace, read};

pub use crate::config::choice::{PolicyChoice, config_of_json};
pub use crate::output::recurring::what_recurs;
pub use crate::output::redact::masked;
pub use crate::output::shown::plain;
pub use crate::page::{Page, Part};
#[cfg(feature = "program")]
pub use crate::program::{is_transcript, run, transcripts};
use crate::replay::Replay;
pub use crate::replay::{Excerpt, Location, ReplayFinding, ResultLine};
pub use crate::scan::html::IncludeArgs;
pub use crate::scan::rows::{FindingRow, Rows, RunRow};

/// Returns the policy called `name`: a preset, or the rule set of another agent, which is parsed now and
/// stays in memory.
pub fn policy(name: &str) -> Option<&'static Preset> {
    config::named(name)
}

/// Returns the names of all policies, the default first.
pub fn policies() -> impl Iterator<Item = &'static str> {
    config::names()
}

/// Returns the policy called `name` as a TOML text that a user can edit, in the format of `--config`.
pub fn policy_text(name: &str) -> Option<String> {
    config::named(name).map(config::editable)
}

/// Returns the policy that the TOML text `config` describes, in the format of `--config`. It stays in
/// memory.
///
/// # Errors
///
/// A message with the line and the column of the mistake, and the line itself.
pub fn policy_of(config: &str) -> Result<&'static Preset, String> {
    check_policy(config).map_err(|wrong| {
        let WrongPolicy { line, column, what, quote } = wrong;
        format!("line {line}, column {column}: {what}\n{quote}")
    })
}

/// Like [`policy_of`], with the parts of the error apart.
///
/// # Errors
///
/// The first mistake in the text.
pub fn check_policy(config: &str) -> Result<&'static Preset, WrongPolicy> {
    config::preset(config).map_err(|mistake| {
        let (line, column) = mistake.place(config);
        let (what, quote) = (mistake.what().to_owned(), mistake.quote(config));
        WrongPolicy { line, column, what, quote }
    })
}

/// A mistake in the TOML text of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPolicy {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// One sentence that says what is wrong.
    pub what: String,
    /// The line with the mistake marked, like a compiler.
    pub quote: String,
}

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
    let incomplete = (forgotten > 0).then(|| scan::report::too_many_workers(forgotten));
    Ok(Scanned { trace, findings: list, incomplete })
}
