//! How near the rules came: the early warning before a finding, and the nearest rule of a run without one.

use std::mem::replace;

use serde::{Deserialize, Serialize};
use unstuck_core::{Nearness, Policy, Rule, RuleIndex};

/// The nearest rule about calls since the latest finding.
///
/// Calls count in the order in which they were issued, not in the order of their outcomes. So a run
/// has the same warning in every transcript format.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct EarlyWarning {
    /// The step of the latest call.
    step: Option<u64>,
    /// The number of calls that were announced, and how many of them are known to have settled.
    announced: u64,
    settled: u64,
    /// True if an event since the latest look may have changed how near the rules are.
    moved: bool,
    /// The nearest rule since the latest finding, and the number of calls that were judged when it
    /// first came as near.
    highest: Option<(Near, u64)>,
    /// The nearest rule at the latest look. A value that stays after a finding is no new warning.
    latest: Option<Near>,
}

/// A [`Nearness`] as a checkpoint stores it.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Near {
    is_text: bool,
    /// The index of the rule among those about text or about calls.
    place: u8,
    held: u16,
    needed: u16,
}

impl From<Nearness> for Near {
    fn from(Nearness { rule, held, needed }: Nearness) -> Self {
        let (is_text, place) = match rule {
            RuleIndex::Text(place) => (true, place),
            RuleIndex::Call(place) => (false, place),
        };
        Self { is_text, place, held, needed }
    }
}

impl From<Near> for Nearness {
    fn from(Near { is_text, place, held, needed }: Near) -> Self {
        let rule = if is_text { RuleIndex::Text(place) } else { RuleIndex::Call(place) };
        Self { rule, held, needed }
    }
}

/// The result of an event: a finding, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    Quiet,
    Loop,
}

impl EarlyWarning {
    /// Announces the call `seq`. If it begins a step, all earlier calls have settled.
    pub(super) fn call(&mut self, seq: u64, step: u64, policy: &Policy<'_>) {
        if self.step.replace(step) != Some(step) {
            self.moved |= self.settled < seq;
            self.settled = self.settled.max(seq);
        }
        self.announced = seq + 1;
        self.moved |= policy.rules().iter().any(Rule::is_judged_early);
    }

    /// Notes that the outcome of the call `seq` has arrived.
    pub(super) fn outcome(&mut self, seq: u64) {
        self.settled = self.settled.max(seq + 1);
        self.moved = true;
    }

    /// Notes a user message, which may clear the history.
    pub(super) fn user_message(&mut self) {
        self.moved = true;
    }

    /// Returns the nearest rule before the finding of a loop whose latest call is `last`, and the
    /// number of calls between the two.
    pub(super) fn warning(&self, last: u64) -> Option<(Nearness, u64)> {
        let (near, judged) = self.highest?;
        Some((near.into(), (last + 1).saturating_sub(judged)))
    }

    /// Looks at the nearest rule after an event, if it may have changed. A finding or a cleared
    /// history starts afresh.
    pub(super) fn update(
        &mut self,
        nearest: impl FnOnce() -> Option<Nearness>,
        judged: Judged,
        policy: &Policy<'_>,
    ) {
        if !replace(&mut self.moved, false) && judged == Judged::Quiet {
            return;
        }
        let nearest = nearest();
        let before = replace(&mut self.latest, nearest.map(Near::from));
        let Some(near) = nearest.filter(|_| judged == Judged::Quiet) else {
            self.highest = None;
            return;
        };
        let judged = self.judged(near.rule, policy);
        let Some(judged) = judged.filter(|_| self.latest != before) else { return };
        if self.highest.is_none_or(|(highest, _)| near.is_nearer_than(highest.into())) {
            self.highest = Some((near.into(), judged));
        }
    }

    /// Returns the number of calls that the rule has judged, or `None` for a rule about text.
    fn judged(&self, rule: RuleIndex, policy: &Policy<'_>) -> Option<u64> {
        let RuleIndex::Call(place) = rule else { return None };
        let rule = policy.rules().get(usize::from(place))?;
        Some(if rule.is_judged_early() { self.announced } else { self.settled })
    }
}

/// The nearest rule, and how near it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The name of the rule.
    pub rule: &'static str,
    /// The number of calls or turns that matched the pattern.
    pub held: u16,
    /// The number that the pattern needs. It is [`held`](Self::held) if the rule needs something else as well.
    pub needed: u16,
    /// The first call or message at which the rule was as near.
    pub at: usize,
}

impl Nearest {
    /// Returns the nearer one of `before` and the rules as they are at `at`.
    pub(super) fn of(
        before: Option<Self>,
        near: impl Iterator<Item = Nearness>,
        policy: &'static Policy<'static>,
        at: usize,
    ) -> Option<Self> {
        // A single call begins every pattern.
        near.filter(|near| near.held > 1).fold(before, |before, near| {
            let is_nearer = before.is_none_or(|before| before.is_behind(near));
            let Nearness { rule, held, needed, .. } = near;
            let now = Self { rule: policy.rule_name(rule), held, needed, at };
            if is_nearer { Some(now) } else { before }
        })
    }

    /// Returns whether `near` has a larger share of what its rule needs.
    fn is_behind(&self, near: Nearness) -> bool {
        let part = |held: u16, of: u16| u32::from(held) * u32::from(of);
        part(near.held, self.needed) > part(self.held, near.needed)
    }
}

#[cfg(test)]
mod tests {
    use unstuck_core::RuleIndex;
    use unstuck_core::presets::BALANCED;
    use unstuck_text::PRESETS;

    use super::Judged::{Loop, Quiet};
    use super::*;

    fn near(rule: u8, held: u16, needed: u16) -> Nearness {
        Nearness { rule: RuleIndex::Call(rule), held, needed }
    }

    /// Returns the warning at the call after `events`. Each event is a call that is answered at
    /// once, with the nearest rule after it.
    fn warned(events: &[(Option<Nearness>, Judged)]) -> Option<(Nearness, u64)> {
        let mut early = EarlyWarning::default();
        for (seq, &(nearest, judged)) in (0..).zip(events) {
            early.call(seq, seq, &BALANCED);
            early.outcome(seq);
            early.update(|| nearest, judged, &BALANCED);
        }
        early.warning(events.len() as u64)
    }

    #[test]
    fn a_warning_dates_from_the_first_time_as_near() {
        let events = [near(0, 1, 3), near(0, 2, 3), near(0, 1, 3), near(1, 4, 6), near(2, 3, 6)];
        let warning = warned(&events.map(|near| (Some(near), Quiet)));
        assert_eq!(warning, Some((near(0, 2, 3), 4)));
    }

    #[test]
    fn a_finding_or_a_cleared_history_resets_the_warning() {
        let (high, low) = (Some(near(0, 3, 3)), Some(near(0, 1, 3)));
        let expected = Some((near(0, 1, 3), 1));
        assert_eq!(warned(&[(high, Loop)]), None);
        assert_eq!(warned(&[(high, Quiet), (high, Loop), (low, Quiet)]), expected);
        assert_eq!(warned(&[(high, Quiet), (None, Quiet), (low, Quiet)]), expected);
        assert_eq!(warned(&[(high, Loop), (high, Quiet)]), None, "it stands since the finding");
    }

    #[test]
    fn rules_about_text_give_no_warning() {
        let talk = Some(Nearness { rule: RuleIndex::Text(0), held: 2, needed: 3 });
        assert_eq!(warned(&[(talk, Quiet)]), None);
    }

    #[test]
    fn calls_that_are_issued_together_count_as_their_outcomes_come() {
        let mut early = EarlyWarning::default();
        (0..4).for_each(|seq| early.call(seq, 7, &BALANCED));
        early.outcome(0);
        early.outcome(1);
        early.update(|| Some(near(1, 3, 4)), Quiet, &BALANCED);
        assert_eq!(early.warning(3), Some((near(1, 3, 4), 2)));
    }

    #[test]
    fn a_look_is_skipped_if_no_rule_can_have_changed() {
        let mut early = EarlyWarning::default();
        early.call(0, 0, &BALANCED);
        early.update(|| panic!("its outcome is not known"), Quiet, &BALANCED);
        early.outcome(0);
        early.update(|| Some(near(0, 2, 3)), Quiet, &BALANCED);
        early.call(1, 1, &BALANCED);
        early.update(|| panic!("the one before has settled long since"), Quiet, &BALANCED);
        assert_eq!(early.warning(1), Some((near(0, 2, 3), 1)));
    }

    #[test]
    fn the_largest_share_is_the_nearest_and_the_first_wins_a_tie() {
        let policy = PRESETS[0].policy;
        let near = |rule, held, needed| Nearness { rule: RuleIndex::Call(rule), held, needed };
        let mut nearest = None;
        for (at, rules) in [
            (0, [near(0, 1, 3), near(1, 0, 4)]),
            (1, [near(0, 1, 3), near(1, 2, 4)]),
            (2, [near(0, 2, 3), near(1, 2, 4)]),
            (3, [near(0, 2, 3), near(1, 2, 3)]),
        ] {
            nearest = Nearest::of(nearest, rules.into_iter(), policy, at);
            let expected = [
                None,
                Some(Nearest { rule: "cycle", held: 2, needed: 4, at: 1 }),
                Some(Nearest { rule: "same-effect", held: 2, needed: 3, at: 2 }),
                Some(Nearest { rule: "same-effect", held: 2, needed: 3, at: 2 }),
            ];
            assert_eq!(nearest, expected[at]);
        }
    }
}
