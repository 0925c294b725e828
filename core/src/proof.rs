//! Proof that making calls again does not help.

use crate::Digest;
use crate::hit::Hit;
use crate::ladder::RUNAWAY_MIN;
use crate::record::{Record, Status, Tag};
use crate::rule::Rule;

/// The ending of a call, as evidence together with another ending of the same call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) args: Digest,
    pub(crate) result: u32,
    pub(crate) raw: u16,
    pub(crate) end: End,
}

/// The fate of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The outcome is unknown, or the call was a poll and something is under way.
    Open,
    /// The call was blocked.
    Vetoed,
    Failed,
    Worked {
        idempotent: bool,
    },
}

impl Ending {
    pub(crate) fn of(record: &Record) -> Self {
        let end = match record.status {
            _ if record.tag == Tag::Poll => End::Open,
            Status::Vetoed => End::Vetoed,
            Status::Reported if record.failed => End::Failed,
            Status::Reported => End::Worked { idempotent: record.idempotent },
            Status::Open | Status::Unreported | Status::Dropped | Status::Cancelled => End::Open,
        };
        Self { args: record.args, result: record.result, raw: record.raw, end }
    }

    /// Returns whether the call worked.
    pub(crate) fn worked(self) -> bool {
        matches!(self.end, End::Worked { .. })
    }

    /// Returns whether both are of the same call and have an outcome.
    pub(crate) fn is_comparable_to(self, other: Self) -> bool {
        self.args == other.args && self.end != End::Open && other.end != End::Open
    }

    /// Returns whether the call was blocked, or came back with the same bytes as `answer`.
    pub(crate) fn has_answer_of(self, answer: Self) -> bool {
        let failed_alike = (self.end == End::Failed) == (answer.end == End::Failed);
        let is_same = self.is_comparable_to(answer) && self.raw == answer.raw;
        self.end == End::Vetoed || is_same && failed_alike
    }

    /// Returns whether this ending, after the `older` one, proves that making the call again does
    /// not help. It does if both failed alike, or if the call is idempotent and the answers are
    /// the same. A blocked call matches any ending.
    pub(crate) fn proves_with(self, older: Self) -> bool {
        let proves = match (self.end, older.end) {
            (End::Vetoed, older) => older != End::Open,
            (newer, End::Vetoed) => newer != End::Open,
            (End::Failed, End::Failed) => self.result == older.result,
            (End::Worked { idempotent }, End::Worked { .. }) => idempotent && self.raw == older.raw,
            _ => false,
        };
        proves && self.args == older.args
    }
}

/// The limit up to which a ladder may go beyond a warning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    /// The count up to which force is proved.
    pub(crate) count: u16,
    /// True if the latest repetition is proved, so that more of the same goes on to force.
    pub(crate) is_latest: bool,
}

impl Proof {
    /// The proof of a rule that needs none.
    pub(crate) const GIVEN: Self = Self { count: u16::MAX, is_latest: true };

    /// Returns the proof from the `proven` latest repetitions of `hit` and a row of `unbroken`
    /// equal answers.
    pub(crate) fn new(rule: &Rule<'_>, hit: &Hit, proven: u16, unbroken: u16) -> Self {
        // A single call proves nothing.
        let is_proven = proven >= 2;
        let unproven = hit.repetitions.saturating_sub(proven);
        let left = hit.count_for(rule).saturating_sub(unproven);
        let counted = if is_proven { rule.ladder.proof_of(left, rule.pattern.least()) } else { 0 };
        let runaway = rule.ladder.runaway(unbroken);
        Self { count: counted.max(runaway), is_latest: is_proven || unbroken >= RUNAWAY_MIN }
    }

    /// Returns the number of proved repetitions of `hit` that is as good as all of them.
    pub(crate) fn enough(rule: &Rule<'_>, hit: &Hit) -> u16 {
        let count = hit.count_for(rule);
        let uncounted = hit.repetitions.saturating_sub(count);
        uncounted.saturating_add(rule.ladder.enough(count, rule.pattern.least())).max(2)
    }
}
