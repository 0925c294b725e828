//! What a replay finds, and what is shown of it.

use unstuck_core::{Action, Finding};

use super::history::Explained;
use super::nearest::Nearest;

/// How much of arguments or a text is kept to be shown, in bytes; a line of a terminal shows less.
const TEXT_SHOWN: usize = 512;

/// One finding: a loop reached a rung of its ladder for the first time.
#[derive(Clone, Debug)]
pub(crate) struct ReplayFinding {
    pub(crate) rule: &'static str,
    pub(crate) finding: Finding,
    pub(crate) action: Action,
    pub(crate) tool: String,
    pub(crate) worker: String,
    /// Where it stands: calls, or messages for a finding about text.
    pub(crate) location: Location,
    /// The early warning of the loop that there was, the first time that it is told.
    pub(crate) warning: Option<Warning>,
    pub(crate) message: String,
    /// The calls or turns that prove it, as far back as they are still known.
    pub(crate) proof: Vec<Excerpt>,
    /// Which loop of which worker it is.
    pub(crate) key: LoopKey,
    /// How many calls of the file came before it, to put findings in order.
    pub(crate) calls_before: usize,
}

/// One loop of one worker, numbered in the order of the first findings; the same loop a long time
/// after is another.
pub(crate) type LoopKey = usize;

/// First, at, and last, counted from 0 among all calls or all messages of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Calls { first: usize, at: usize, last: usize },
    Messages { first: usize, at: usize },
}

/// The nearest that any rule about calls came before a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Warning {
    pub(crate) rule: &'static str,
    /// How many calls there were, of those that a finding takes.
    pub(crate) held: u16,
    pub(crate) needed: u16,
    /// How many calls of the worker later the loop was found.
    pub(crate) lead: u64,
}

/// What is shown of a call, or of a turn of text.
#[derive(Clone, Debug)]
pub(crate) struct Excerpt {
    pub(crate) index: usize,
    /// None for a turn.
    pub(crate) tool: Option<String>,
    /// The beginning of the arguments, or of the text.
    pub(crate) text: String,
}

/// What was found in one trace.
#[derive(Debug)]
pub(crate) struct Findings {
    /// In the order of the calls and messages at which they were found.
    pub(crate) list: Vec<ReplayFinding>,
    /// The last call or message at which each loop was found.
    pub(crate) ends: Vec<usize>,
    /// What each worker did in the loop that is asked for, in the order of where that begins.
    pub(crate) explained: Vec<Explained>,
    /// The rule that came nearest before anything was found, where it is asked for that.
    pub(crate) nearest: Option<Nearest>,
}

impl Excerpt {
    pub(super) fn new(index: usize, tool: Option<&str>, text: &str) -> Self {
        let text = beginning(text, TEXT_SHOWN).to_owned();
        Self { index, tool: tool.map(str::to_owned), text }
    }
}

/// As much of `text` as `bytes` hold, cut between characters.
fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    end.and_then(|end| text.get(..end)).unwrap_or("")
}
