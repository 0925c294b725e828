//! Verdicts on calls of a swarm: what to do, the evidence, and the message for a worker.

use core::fmt;

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, LoopId, Tool};

use crate::observation::Answer;

/// What the swarm has to say of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a verdict that nobody looks at helps nobody"]
pub struct Verdict {
    /// What to do.
    pub action: Action,
    /// The rung of the rule's ladder that is reached, counted from 1; 0 below the first. Every worker
    /// is to hear of every rung once: who speaks to it remembers which it has heard of.
    pub rung: u8,
    /// The evidence, where there is a loop.
    pub finding: Option<Finding>,
}

impl Verdict {
    /// Nothing was found: go on.
    pub const PROCEED: Self = Self { action: Action::Proceed, rung: 0, finding: None };

    /// The verdict that asks for more; of two that ask for the same, the one on more calls.
    pub fn or_stronger(self, other: Self) -> Self {
        let rank = |verdict: &Self| (verdict.action, verdict.finding.map(|found| found.calls));
        if rank(&other) > rank(&self) { other } else { self }
    }
}

/// The evidence for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Which loop it is.
    pub loop_id: LoopId,
    /// The tool that is called.
    pub tool: Tool,
    /// How many calls were made within the window, those that are free included.
    pub calls: u32,
    /// How many workers made them: exact up to 15, and beyond as exact as the board counts.
    pub workers: u32,
    /// How many calls more there may have been, which the board had no room for.
    pub missed: u32,
    /// What came back from all of them.
    pub outcome: Outcome,
    /// How sure the board is, in percent: 100 where what came back is known to be the same, else 75
    /// at as many calls as the rule asks for. Each call more halves the doubt that is left.
    pub confidence: u8,
}

/// What came back from all calls of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nobody knows.
    Unknown,
    /// The same result.
    Worked,
    /// The same error.
    Failed,
}

impl Outcome {
    /// What is known of what came back, where this is the answer.
    pub(crate) const fn of(answer: Option<Answer>) -> Self {
        match answer {
            None => Self::Unknown,
            Some(Answer { failed: false, .. }) => Self::Worked,
            Some(Answer { failed: true, .. }) => Self::Failed,
        }
    }
}

impl Finding {
    /// The rule that found it, wherever it is named.
    pub const RULE: &'static str = "swarm";

    /// The evidence for a loop of so many calls, `beyond` of them more than the rule asks for.
    pub fn new(loop_id: LoopId, tool: Tool, outcome: Outcome, counts: Counts) -> Self {
        let Counts { calls, workers, missed, beyond } = counts;
        let doubt = if outcome == Outcome::Unknown { 25_u8 } else { 0 };
        let confidence = 100 - doubt.checked_shr(beyond).unwrap_or(0);
        Self { loop_id, tool, calls, workers, missed, outcome, confidence }
    }

    /// What to tell a worker about it, with the tool by its `tool` name. It echoes neither arguments
    /// nor results.
    pub const fn nudge<'n>(&self, action: Action, tool: &'n str) -> Nudge<'n> {
        Nudge { finding: *self, action, tool }
    }
}

/// The numbers of a [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// How many calls were made.
    pub calls: u32,
    /// How many workers made them.
    pub workers: u32,
    /// How many calls more there may have been.
    pub missed: u32,
    /// How many of those that count are more than the rule asks for.
    pub beyond: u32,
}

/// A short English message for a worker of a swarm that is stuck, rendered by
/// [`Display`](fmt::Display) into any writer.
#[derive(Clone, Copy, Debug)]
pub struct Nudge<'n> {
    finding: Finding,
    action: Action,
    tool: &'n str,
}

impl Nudge<'_> {
    const fn answers(&self) -> &'static str {
        match self.finding.outcome {
            Outcome::Unknown => ".",
            Outcome::Worked => ", and all of them get the same result.",
            Outcome::Failed => ", and it fails in the same way for all of them.",
        }
    }

    const fn advice(&self) -> &'static str {
        match (self.action, self.finding.outcome) {
            (Action::StartOver | Action::Stop, _) => "",
            (_, Outcome::Failed) => {
                " The error is not yours alone and will not go away by itself: leave this call, and \
                 change what causes it or take another way."
            }
            (_, Outcome::Worked) => {
                " Once more will not change that: use what it says, or take another way."
            }
            (_, Outcome::Unknown) => " Take another way, or say what blocks you.",
        }
    }

    const fn consequence(&self) -> &'static str {
        match self.action {
            Action::Proceed | Action::Nudge => "",
            Action::Warn => " If it goes on, it will be stopped.",
            Action::Block => " The call is blocked from here on: do not retry it.",
            Action::StartOver => {
                " The work goes back to where it began: take another approach this time."
            }
            Action::Stop => " The run ends here.",
        }
    }
}

impl fmt::Display for Nudge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { calls, workers, .. } = self.finding;
        let tool = self.tool;
        match workers {
            1 => write!(f, "One worker has made the same `{tool}` call {calls} times")?,
            _ => write!(f, "{workers} workers have made the same `{tool}` call {calls} times")?,
        }
        f.write_str(self.answers())?;
        f.write_str(self.advice())?;
        f.write_str(self.consequence())
    }
}
