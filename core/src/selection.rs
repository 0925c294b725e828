//! Which rules see a record: sets that are worked out when a policy is made.

use crate::record::{Record, Status, Tag};
use crate::rule::{Args, Outcomes, Results, Rule, Select};

/// A set of rules, by their places in the policy.
pub(crate) type RuleSet = u16;

/// Of each kind of record, the rules that look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Those that see the records of each tag.
    by_tag: [RuleSet; Tag::ALL.len()],
    /// Those that see only unreported ones.
    unreported: RuleSet,
    /// Those that a success breaks.
    failed: RuleSet,
    /// Those that are judged when a call is announced.
    early: RuleSet,
    /// Those that match calls of other arguments, if these are alike.
    similar: RuleSet,
    /// Those that match any calls of a tool, or any calls, whatever they were answered.
    loose: RuleSet,
    /// Those that match any calls of a tool, or any calls, if the answers are equal or near.
    answers: RuleSet,
}

/// The rules that a record concerns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Those that see it.
    pub(crate) selected: RuleSet,
    /// Of those, the ones that it breaks.
    pub(crate) broken: RuleSet,
}

impl Selection {
    pub(crate) const NONE: Self = Self {
        by_tag: [0; Tag::ALL.len()],
        unreported: 0,
        failed: 0,
        early: 0,
        similar: 0,
        loose: 0,
        answers: 0,
    };

    /// These rules, and `rule` at `place`.
    pub(crate) const fn with(mut self, place: u32, rule: &Rule<'_>) -> Self {
        let one: RuleSet = 1_u16.rotate_left(place);
        let (mut tags, mut code): (&mut [RuleSet], u8) = (&mut self.by_tag, 0);
        while let [seen, others @ ..] = tags {
            let is_seen = match rule.select {
                Select::Every | Select::Unreported => true,
                Select::Tag(tag) => tag.code() == code,
                Select::Except(tag) => tag.code() != code,
            };
            if is_seen {
                *seen |= one;
            }
            (tags, code) = (others, code.saturating_add(1));
        }
        self.unreported |= one_if(matches!(rule.select, Select::Unreported), one);
        self.failed |= one_if(matches!(rule.outcomes, Outcomes::Failed), one);
        self.early |= one_if(rule.is_judged_early(), one);
        self.similar |= one_if(matches!(rule.args, Args::Similar), one);
        let is_loose = matches!(rule.args, Args::SameTool | Args::Any);
        let is_blind = matches!(rule.results, Results::Ignored);
        self.loose |= one_if(is_loose && is_blind, one);
        self.answers |= one_if(is_loose && !is_blind, one);
        self
    }

    /// The rules that `record` concerns, once it has settled. O(1).
    #[inline]
    pub(crate) fn of(&self, record: &Record) -> Seen {
        let of_tag = self.by_tag.get(usize::from(record.tag.code())).copied().unwrap_or(0);
        let selected = match record.status {
            Status::Cancelled => 0,
            Status::Unreported => of_tag,
            Status::Open | Status::Reported | Status::Dropped | Status::Vetoed => {
                of_tag & !self.unreported
            }
        };
        let breaks = Outcomes::Failed.is_broken_by(record);
        Seen { selected, broken: if breaks { selected & self.failed } else { 0 } }
    }

    /// The rules that are judged when a record settles, where some are judged before.
    pub(crate) const fn settled(&self) -> RuleSet {
        !self.early
    }

    /// Whether some rule could match a record with a call of other arguments, by what of it is `seen`.
    /// Whether any call is `alike`, or was `answered` alike, is only asked where that matters.
    #[inline]
    pub(crate) fn looks_beyond_args(
        &self,
        seen: Seen,
        alike: impl FnOnce() -> bool,
        answered: impl FnOnce() -> bool,
    ) -> bool {
        let taken = seen.selected & !seen.broken;
        taken & self.loose != 0
            || taken & self.similar != 0 && alike()
            || taken & self.answers != 0 && answered()
    }
}

const fn one_if(holds: bool, one: RuleSet) -> RuleSet {
    if holds { one } else { 0 }
}
