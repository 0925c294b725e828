//! Verdicts on calls of a swarm: the action, the evidence, and the message for a worker.

use core::fmt;

use unstuck_core::{Action, LoopId, Tool};

use crate::observation::CallResult;

/// The verdict on a call.
///
/// ```
/// use unstuck_swarm::{Action, Verdict};
///
/// let warning = Verdict { action: Action::Warn, rung: 2, finding: None };
/// assert_eq!(Verdict::PROCEED.or_stronger(warning), warning);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a verdict must be acted on or reported"]
pub struct Verdict {
    /// The action to take.
    pub action: Action,
    /// The rung of the rule's ladder that is reached, counted from 1; 0 below the first. Every worker is
    /// informed of every rung once. The host remembers which ones it has reported.
    pub rung: u8,
    /// The evidence, if there is a loop.
    pub finding: Option<Finding>,
}

impl Verdict {
    /// The verdict if there is no loop.
    pub const PROCEED: Self = Self { action: Action::Proceed, rung: 0, finding: None };

    /// Returns the verdict with the stronger action. If they are equal, returns the one on more calls.
    pub fn or_stronger(self, other: Self) -> Self {
        let rank = |verdict: &Self| (verdict.action, verdict.finding.map(|found| found.calls));
        if rank(&other) > rank(&self) { other } else { self }
    }
}

/// The evidence for a verdict.
///
/// ```
/// use unstuck_swarm::{Action, Counts, Finding, LoopId, Outcome, Tool};
///
/// let counts = Counts { calls: 10, workers: 5, missed: 0, beyond: 0 };
/// let finding = Finding::new(LoopId::from_bits(1), Tool::named("bash"), Outcome::Unknown, counts);
/// assert_eq!(finding.confidence, 75);
/// assert!(finding.nudge(Action::Nudge, "bash").to_string().starts_with("5 workers have made"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The id of the loop.
    pub loop_id: LoopId,
    /// The tool.
    pub tool: Tool,
    /// The number of calls within the window, with the free ones.
    pub calls: u32,
    /// The number of workers that made them: exact up to 15, and beyond as exact as the store counts.
    pub workers: u32,
    /// The maximum number of further calls, for which the store had no room.
    pub missed: u32,
    /// The outcome of all of them.
    pub outcome: Outcome,
    /// The confidence in percent: 100 if the results are known to be equal. Otherwise it is 75 at the number of
    /// calls that the rule asks for, and each further call halves the rest.
    pub confidence: u8,
}

/// The outcome of all calls of a loop.
///
/// ```
/// use unstuck_swarm::{Digest, Observation, Outcome, Tool, Worker};
///
/// let call = Observation::new(Worker::new(1), Tool::named("bash"), Digest::of(b"make all"));
/// assert_eq!(call.outcome(), Outcome::Unknown);
/// assert_eq!(call.failed(Digest::of(b"no rule")).outcome(), Outcome::Failed);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The results are unknown.
    Unknown,
    /// All returned the same result.
    Worked,
    /// All failed with the same error.
    Failed,
}

impl Outcome {
    /// Returns the outcome of a call with this result.
    pub(crate) const fn of(result: Option<CallResult>) -> Self {
        match result {
            None => Self::Unknown,
            Some(CallResult { failed: false, .. }) => Self::Worked,
            Some(CallResult { failed: true, .. }) => Self::Failed,
        }
    }
}

impl Finding {
    /// The name of the rule in all reports.
    pub const RULE: &'static str = "swarm";

    /// Creates the evidence for a loop with these counts.
    pub fn new(loop_id: LoopId, tool: Tool, outcome: Outcome, counts: Counts) -> Self {
        let Counts { calls, workers, missed, beyond } = counts;
        let doubt = if outcome == Outcome::Unknown { 25_u8 } else { 0 };
        let confidence = 100 - doubt.checked_shr(beyond).unwrap_or(0);
        Self { loop_id, tool, calls, workers, missed, outcome, confidence }
    }

    /// Returns the message for a worker, with the tool's name. It has no arguments and no results.
    pub const fn nudge<'n>(&self, action: Action, tool: &'n str) -> Nudge<'n> {
        Nudge { finding: *self, action, tool }
    }
}

/// The numbers of a [`Finding`].
///
/// ```
/// use unstuck_swarm::Counts;
///
/// // The rule asks for 10 calls, and 12 count.
/// let counts = Counts { calls: 12, workers: 3, missed: 0, beyond: 2 };
/// assert_eq!(counts.calls - counts.beyond, 10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The number of calls.
    pub calls: u32,
    /// The number of workers that made them.
    pub workers: u32,
    /// The maximum number of further calls that were not counted.
    pub missed: u32,
    /// The number of counted calls above the number that the rule asks for.
    pub beyond: u32,
}

/// A short English message for a worker of a swarm that is stuck. [`Display`](fmt::Display) renders it into any
/// writer. [`Finding::nudge`] creates it.
///
/// ```
/// use unstuck_swarm::{Action, Counts, Finding, LoopId, Outcome, Tool};
///
/// let counts = Counts { calls: 30, workers: 1, missed: 0, beyond: 20 };
/// let finding = Finding::new(LoopId::from_bits(1), Tool::named("bash"), Outcome::Failed, counts);
/// let text = finding.nudge(Action::Block, "bash").to_string();
/// assert!(text.starts_with("One worker has made the same `bash` call 30 times"));
/// ```
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
