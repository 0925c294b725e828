//! Programs that crashed: a traceback of Python, a panic of Rust.

use super::line::{is_log_entry, plain};
use crate::find;
use crate::phrases::is_alphanumeric;

/// The most lines that are no part of it between the head of a crash and the end of the result: the
/// message, a note, and what a shell or a host adds. With more, the program went on.
const LINES_MAX: u8 = 4;

/// The most lines before a crash that ended a cell of a notebook: a host's heading, and a rule.
const PREAMBLE_MAX: u8 = 2;

/// Looks for a crash that a result begins or ends with.
#[derive(Default)]
pub(crate) struct Crash {
    state: State,
    /// The number of lines before this one.
    lines: u8,
    /// True if a crash belongs to a log.
    logged: bool,
}

/// The state of a crash report.
#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    None,
    /// The result begins with a crash.
    First,
    /// A crash began this many lines ago.
    Behind(u8),
}

impl Crash {
    /// Counts a line that cannot be the head of a crash, while there is no crash.
    pub(crate) fn pass(&mut self, line: &str) {
        // Only the first lines are counted.
        if self.lines <= PREAMBLE_MAX {
            self.lines = self.lines.saturating_add(u8::from(!line.trim_end().is_empty()));
        }
    }

    /// Reads the next line, which follows `before`.
    pub(crate) fn line(&mut self, line: &str, before: &str) {
        if is_notebook(line) {
            self.open(PREAMBLE_MAX, before);
        } else if is_head(line) {
            self.open(0, before);
        } else if self.happened() && is_log_entry(line) {
            self.logged = true;
            self.state = State::None;
        } else if !line.is_empty() && !is_inside(line) {
            self.step();
        }
        self.lines = self.lines.saturating_add(u8::from(!line.is_empty()));
    }

    /// Returns whether the program crashed.
    pub(crate) fn happened(&self) -> bool {
        !matches!(self.state, State::None)
    }

    /// Returns whether a log reports a crash. Its words are then no complaint of this call.
    pub(crate) fn is_logged(&self) -> bool {
        self.logged
    }

    /// Notes that a crash begins. The result begins with it if at most so many lines stand before it.
    /// One behind an entry of a log belongs to the log.
    fn open(&mut self, preamble_max: u8, before: &str) {
        let is_logged = is_log_entry(&plain(before));
        self.logged |= is_logged;
        self.state = match self.state {
            _ if is_logged => State::None,
            State::None if self.lines <= preamble_max => State::First,
            State::First => State::First,
            State::None | State::Behind(_) => State::Behind(0),
        };
    }

    fn step(&mut self) {
        self.state = match self.state {
            State::Behind(LINES_MAX..) => State::None,
            State::Behind(lines) => State::Behind(lines.saturating_add(1)),
            state => state,
        };
    }
}

const TRACEBACK: &str = "Traceback (most recent call last)";

/// Returns whether `line` is the head of a traceback, or of a panic.
pub(super) fn is_head(line: &str) -> bool {
    line.strip_suffix(':') == Some(TRACEBACK)
        || line.starts_with("thread '") && find::contains(line, " panicked at ")
}

/// Returns whether `line` is the head of a traceback as `IPython` writes it, behind the exception's
/// type. The traceback ends a cell, whatever the host adds behind it.
fn is_notebook(line: &str) -> bool {
    let exception = line.strip_suffix(TRACEBACK).and_then(|start| start.strip_suffix("  "));
    let is_name = |name: &str| {
        name.starts_with(|c: char| is_alphanumeric(c) && !c.is_ascii_digit()) && !name.contains(' ')
    };
    exception.is_some_and(|name| is_name(name.trim_end()))
}

/// Returns whether `line` gives the place of a crash: it is indented, or written as by `IPython`.
fn is_inside(line: &str) -> bool {
    line.starts_with([' ', '\t'])
        || ["--", "Cell In[", "File "].iter().any(|start| line.starts_with(start))
}
