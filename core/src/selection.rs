//! The sets of rules that see a record, computed when a policy is made.

use crate::record::{Record, Status, Tag, Tool};
use crate::rule::{Args, Outcomes, RULES_MAX, Results, Rule, Select};

/// A set of rules, by their indices in the policy.
pub(crate) type RuleSet = u16;

const _: () = assert!(RULES_MAX <= 16, "a rule without a bit of its own");

/// The sets of rules for each kind of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The rules that see the records of each tag.
    by_tag: [RuleSet; Tag::ALL.len()],
    /// The rules that see only unreported records.
    unreported: RuleSet,
    /// The rules whose pattern a success breaks.
    failed: RuleSet,
    /// The rules that are judged when a call is announced.
    early: RuleSet,
    /// The rules that match calls with similar arguments.
    similar: RuleSet,
    /// The rules that match any call of a tool, or any call, whatever the answer was.
    loose: RuleSet,
    /// The rules that match any call of a tool, or any call, if the answers are equal.
    equal: RuleSet,
    /// The rules that match any call of a tool, or any call, if the answers are near.
    near: RuleSet,
    /// The rules that match only failures.
    failures: RuleSet,
    /// The rules that see only the calls of one tool. They stand in [`Self::by_tag`] for every tag.
    one_tool: RuleSet,
}

/// The rules that one record affects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordRules {
    /// The rules that see it.
    pub(crate) selected: RuleSet,
    /// The rules among them whose pattern it breaks.
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
        equal: 0,
        near: 0,
        failures: 0,
        one_tool: 0,
    };

    /// Returns the sets with `rule` at `place` added.
    pub(crate) const fn with(mut self, place: u32, rule: &Rule<'_>) -> Self {
        let one: RuleSet = 1_u16.rotate_left(place);
        let (mut tags, mut code): (&mut [RuleSet], u8) = (&mut self.by_tag, 0);
        while let [seen, others @ ..] = tags {
            let is_seen = match rule.select {
                Select::Every | Select::Unreported | Select::Tool(_) => true,
                Select::Tag(tag) => tag.code() == code,
                Select::Except(tag) => tag.code() != code,
            };
            if is_seen {
                *seen |= one;
            }
            (tags, code) = (others, code.saturating_add(1));
        }
        self.one_tool |= one_if(matches!(rule.select, Select::Tool(_)), one);
        self.unreported |= one_if(matches!(rule.select, Select::Unreported), one);
        self.failed |= one_if(matches!(rule.outcomes, Outcomes::Failed), one);
        self.early |= one_if(rule.is_judged_early(), one);
        self.similar |= one_if(matches!(rule.args, Args::Similar), one);
        let is_loose = matches!(rule.args, Args::SameTool | Args::Any);
        self.loose |= one_if(is_loose && matches!(rule.results, Results::Ignored), one);
        self.equal |= one_if(is_loose && matches!(rule.results, Results::Same), one);
        self.near |= one_if(is_loose && matches!(rule.results, Results::Near), one);
        self.failures |= one_if(matches!(rule.outcomes, Outcomes::Failures), one);
        self
    }

    /// Returns which of `rules`, the rules of the policy, `record` affects once it has settled. O(1), or O(rules) if
    /// some rule is for one tool.
    #[inline]
    pub(crate) fn of(&self, record: &Record, rules: &[Rule<'_>]) -> RecordRules {
        let of_tag = self.by_tag.get(usize::from(record.tag.code())).copied().unwrap_or(0);
        let of_tag = match self.one_tool {
            0 => of_tag,
            _ => of_tag & !of_other_tools(rules, record.tool),
        };
        let selected = match record.status {
            Status::Cancelled => 0,
            Status::Unreported => of_tag,
            Status::Open | Status::Reported | Status::Dropped | Status::Vetoed => {
                of_tag & !self.unreported
            }
        };
        let breaks = Outcomes::Failed.is_broken_by(record);
        RecordRules { selected, broken: if breaks { selected & self.failed } else { 0 } }
    }

    /// Returns whether a rule matches only failures.
    pub(crate) const fn matches_failures(&self) -> bool {
        self.failures != 0
    }

    /// Returns whether a rule is judged when a call is announced.
    pub(crate) const fn judges_early(&self) -> bool {
        self.early != 0
    }

    /// Returns the rules that are judged when a call is announced.
    pub(crate) const fn early(&self) -> RuleSet {
        self.early
    }

    /// Returns the rules that are judged when a record settles.
    pub(crate) const fn settled(&self) -> RuleSet {
        !self.early
    }

    /// Returns whether a rule in `concerned` could match `record` with a call of other arguments.
    /// It asks whether a call of the window `holds` the same digest only if that decides.
    #[inline]
    pub(crate) fn looks_beyond_args(
        &self,
        concerned: RecordRules,
        record: &Record,
        holds: impl Fn(Column) -> bool,
    ) -> bool {
        let taken = concerned.selected & !concerned.broken;
        let taken = if record.has_failed() { taken } else { taken & !self.failures };
        taken & self.loose != 0
            || taken & self.similar != 0 && holds(Column::Similar)
            || taken & self.near != 0 && holds(Column::Near)
            || taken & self.equal != 0 && holds(Column::Result)
    }
}

/// A digest by which calls with other arguments may match.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    Similar,
    Near,
    Result,
}

/// Returns the rules that are for one tool, and not for this one.
#[cfg_attr(target_pointer_width = "32", inline(never))]
fn of_other_tools(rules: &[Rule<'_>], tool: Tool) -> RuleSet {
    let is_of_other = |rule: &Rule<'_>| matches!(rule.select, Select::Tool(own) if own != tool);
    rules.iter().rev().fold(0, |set, rule| set << 1 | RuleSet::from(is_of_other(rule)))
}

const fn one_if(holds: bool, one: RuleSet) -> RuleSet {
    if holds { one } else { 0 }
}
