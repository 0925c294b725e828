//! The findings of a replay, and the excerpts of a trace that prove them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, Finding};
use unstuck_text::{CauseKind, ClueKind, Envelope, LoopCause, PastCall, Unescaped, complaint};

use super::early_warning::Nearest;
use super::history::Explained;
use super::picture::Picture;
use crate::shown::beginning;

/// The most bytes of arguments or a text that are kept. A line of a terminal shows fewer.
const TEXT_SHOWN: usize = 512;

/// One finding: a loop reached a rung of its ladder for the first time.
#[derive(Clone, Debug)]
pub struct ReplayFinding {
    /// The name of the rule.
    pub rule: &'static str,
    /// The finding of the engine.
    pub finding: Finding,
    /// The action that the rule asks for.
    pub action: Action,
    /// The tool of the last call.
    pub tool: String,
    /// The worker that is stuck.
    pub worker: Arc<str>,
    /// The calls of the loop, or the messages for a finding about text.
    pub location: Location,
    /// The early warning of the loop, in its first finding only.
    pub warning: Option<Warning>,
    /// The message that the agent should have read.
    pub message: String,
    /// The cause, if the answer to the last of its calls and the calls before it tell one.
    pub cause: Option<Cause>,
    /// The calls or turns that prove it, as far back as they are kept.
    pub proof: Vec<Excerpt>,
    /// The loop that this finding belongs to.
    pub key: LoopKey,
    /// Whether it is the first finding of its loop.
    pub is_first: bool,
    /// The number of calls in the file before the finding, which orders findings.
    pub calls_before: usize,
}

/// A loop of one worker, numbered in the order of first findings. If the same loop occurs again
/// much later, it gets a new number.
pub type LoopKey = usize;

/// The place of a finding in its file, counted from 0 among all calls or all messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Calls.
    Calls {
        /// The first call of the loop.
        first: usize,
        /// The call at which it was found.
        at: usize,
        /// The last call of the loop.
        last: usize,
    },
    /// Messages.
    Messages {
        /// The first message of the loop.
        first: usize,
        /// The message at which it was found.
        at: usize,
    },
}

impl Location {
    /// Returns the noun for a step of the loop.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Calls { .. } => "call",
            Self::Messages { .. } => "message",
        }
    }

    /// Returns the first step of the loop, the one at which it was found, and the last one.
    pub const fn numbers(self) -> (usize, usize, usize) {
        match self {
            Self::Calls { first, at, last } => (first, at, last),
            Self::Messages { first, at } => (first, at, at),
        }
    }
}

/// The rule about calls that came nearest before a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub(crate) rule: &'static str,
    /// The calls that matched the rule, and the calls that it needs.
    pub(crate) held: u16,
    pub(crate) needed: u16,
    /// The number of calls of the worker from the warning to the finding.
    pub(crate) lead: u64,
}

/// An excerpt of a call or of a text-only turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Excerpt {
    /// The number of the call or the message in the file, counted from 0.
    pub index: usize,
    /// The tool, or `None` for a turn.
    pub tool: Option<String>,
    /// The beginning of the arguments or of the text.
    pub text: String,
    /// The result of the call. `None` for a turn, and for a call whose result is unknown.
    pub result: Option<ResultLine>,
}

/// The line of a result that says most about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultLine {
    /// The line that reports the failure, or else the first line that is more than a status. At most 160
    /// bytes.
    pub text: String,
    /// Whether the call failed: its file says so, or the result reads like a failure.
    pub failed: bool,
    /// Whether the call was refused and did not run.
    pub refused: bool,
}

/// The cause of a finding: what the last answer says, and what earlier calls add to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The kind of the cause.
    pub kind: CauseKind,
    /// The thing that the cause is about, in one word.
    pub subject: Option<String>,
    /// What an earlier call adds to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clue: Option<Clue>,
    /// The cause, the clue and a way out, in a sentence or two.
    pub text: String,
}

/// What an earlier call adds to a cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Clue {
    /// The kind of the clue.
    pub kind: ClueKind,
    /// The number of calls since the one that shows it: 1 is the latest call before the cause.
    pub calls_ago: u16,
    /// The path, program or search that it is about, in one word.
    pub subject: Option<String>,
}

impl Cause {
    /// Returns the cause of a loop whose latest call has this `answer`. `calls` are that call and those before it.
    pub(super) fn of<'t>(
        answer: &'t str,
        calls: impl Iterator<Item = PastCall<'t>> + Clone,
    ) -> Option<Self> {
        let mut memory = Unescaped::default();
        let found = LoopCause::of(answer, calls, &mut memory)?;
        let clue = found.clue.map(|clue| Clue {
            kind: clue.kind,
            calls_ago: clue.ago,
            subject: clue.subject.map(str::to_owned),
        });
        let subject = found.cause.subject.map(str::to_owned);
        Some(Self { kind: found.cause.kind, subject, clue, text: found.to_string() })
    }
}

/// The findings in one trace.
#[derive(Debug)]
pub struct Findings {
    /// All findings that were not [taken](super::Replay::take_findings), in the order of the calls and messages at which they were made.
    pub list: Vec<ReplayFinding>,
    /// The last call or message of each loop, except of those that were [left](super::Replay::leave).
    pub ends: BTreeMap<LoopKey, usize>,
    /// The number of workers whose runs were ended because there were too many. A loop across this end
    /// was not found.
    pub(crate) forgotten: usize,
    /// The steps of each worker in the loop to explain, in the order of their first calls.
    pub(crate) explained: Vec<Explained>,
    /// The calls as they are drawn, if [`Replay::drawing`](super::Replay) asked for it.
    pub(crate) picture: Option<Picture>,
    /// The rule that came nearest before anything was found, if
    /// [`Replay::measuring`](super::Replay) asked for it.
    pub nearest: Option<Nearest>,
}

impl Excerpt {
    pub(super) fn new(index: usize, tool: Option<&str>, text: &str) -> Self {
        let text = beginning(text, TEXT_SHOWN).to_owned();
        Self { index, tool: tool.map(str::to_owned), text, result: None }
    }
}

impl ResultLine {
    /// The most bytes of the line: about two lines of a terminal.
    const BYTES_MAX: usize = 160;

    /// The most lines that are looked at after the first one.
    const LINES_MAX: usize = 8;

    /// Returns the line of the result `text`.
    pub(super) fn of(text: &str, failed: bool, refused: bool) -> Self {
        let mut memory = Unescaped::default();
        let text = Envelope::open(text, &mut memory).body;
        let complaint = if failed { complaint(text) } else { None };
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let first = lines.next();
        let said =
            || first.into_iter().chain(lines.take(Self::LINES_MAX)).find(|line| !is_status(line));
        let line = complaint.or_else(said).or(first);
        let text = beginning(line.unwrap_or_default().trim(), Self::BYTES_MAX).to_owned();
        Self { text, failed, refused }
    }
}

/// The words of a line about the end of a command.
const STATUS: [&str; 8] =
    ["exit", "exited", "code", "status", "process", "command", "with", "output"];

/// Returns whether `line` is only a tag or the exit code of a command, which many tools print around what the
/// command said.
fn is_status(line: &str) -> bool {
    let (mut rest, mut is_marked) = (line.trim(), false);
    if rest.len() > ResultLine::BYTES_MAX {
        return false;
    }
    while let Some((_, inner)) = rest.strip_prefix('<').and_then(|tag| tag.split_once('>')) {
        (rest, is_marked) = (inner, true);
    }
    let rest = rest.split_once("</").map_or(rest, |(inner, _)| inner);
    let words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.into_iter().all(|word| {
        let is_known = STATUS.iter().any(|known| known.eq_ignore_ascii_case(word));
        is_marked |= is_known;
        is_known || word.bytes().all(|byte| byte.is_ascii_digit())
    }) && is_marked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::check;

    #[test]
    fn the_line_that_says_most_is_kept() {
        check("findings: a result, and the line that says most", |text| {
            ResultLine::of(text, false, false).text
        });
        let failed = "Exit code 1\ncat: a.txt: No such file or directory";
        assert_eq!(
            ResultLine::of(failed, true, false).text,
            "cat: a.txt: No such file or directory"
        );
        let long = ResultLine::of(&"é".repeat(1_000_000), true, false).text;
        assert_eq!(long.len(), ResultLine::BYTES_MAX);
    }
}
