//! Proof: how it is known that making calls again does not help.

use crate::Digest;
use crate::hit::Hit;
use crate::ladder::RUNAWAY_MIN;
use crate::record::{Record, Status, Tag};
use crate::rule::Rule;

/// How a call ended, as far as that proves something beside another ending of the same call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) args: Digest,
    pub(crate) result: u32,
    pub(crate) raw: u16,
    pub(crate) end: End,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nobody knows, or it was a poll: something is on its way.
    Open,
    /// It was not run, since somebody blocked it.
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

    /// Whether the two are of the same call, and both say something.
    pub(crate) fn is_comparable_to(self, other: Self) -> bool {
        self.args == other.args && self.end != End::Open && other.end != End::Open
    }

    /// Whether the call was blocked, or came back with the same bytes as `answer`.
    pub(crate) fn has_answer_of(self, answer: Self) -> bool {
        let failed_alike = (self.end == End::Failed) == (answer.end == End::Failed);
        let is_same = self.is_comparable_to(answer) && self.raw == answer.raw;
        self.end == End::Vetoed || is_same && failed_alike
    }

    /// Whether this ending, after the `older` one, proves that making the call again does not help: it
    /// failed alike, or it is idempotent and the answers are the same. A blocked call stands for any.
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

/// How far a ladder may go beyond a warning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    /// Up to which count.
    pub(crate) count: u16,
    /// Whether the latest repetition is proved, so that more of the same lead on.
    pub(crate) is_latest: bool,
}

impl Proof {
    /// That of a rule which asks for none.
    pub(crate) const GIVEN: Self = Self { count: u16::MAX, is_latest: true };

    /// That of the `proven` latest repetitions of `hit`, and of a row of `unbroken` equal answers.
    pub(crate) fn new(rule: &Rule<'_>, hit: &Hit, proven: u16, unbroken: u16) -> Self {
        // One call alone proves nothing.
        let is_proven = proven >= 2;
        let unproven = hit.repetitions.saturating_sub(proven);
        let left = hit.count_for(rule).saturating_sub(unproven);
        let counted = if is_proven { rule.ladder.proof_of(left, rule.pattern.least()) } else { 0 };
        let runaway = rule.ladder.runaway(unbroken);
        Self { count: counted.max(runaway), is_latest: is_proven || unbroken >= RUNAWAY_MIN }
    }

    /// How many repetitions of `hit` are as good a proof as all of them.
    pub(crate) fn enough(rule: &Rule<'_>, hit: &Hit) -> u16 {
        let count = hit.count_for(rule);
        let uncounted = hit.repetitions.saturating_sub(count);
        uncounted.saturating_add(rule.ladder.enough(count, rule.pattern.least())).max(2)
    }
}
