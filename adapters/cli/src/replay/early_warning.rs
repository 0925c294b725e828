//! Watches how near a worker's rules come to a finding: the early warning that there was of it.

use std::mem::replace;

use unstuck_core::{Nearness, Policy, Rule, RuleIndex};

/// What is kept of how near the rules about calls came, from one finding to the next.
///
/// Calls count in the order in which they were issued, whenever their outcomes came: the warning
/// is the same for a run in every format.
pub(super) struct EarlyWarning {
    policy: &'static Policy<'static>,
    /// The step of the latest call.
    step: Option<u64>,
    /// How many calls were announced, and how many of them have settled as far as is known.
    announced: u64,
    settled: u64,
    /// Whether something happened since the latest look that may have moved the rules about calls.
    moved: bool,
    /// The nearest since the latest finding, and how many calls were judged when it was first so
    /// near.
    highest: Option<(Nearness, u64)>,
    /// The nearest at the latest look: one that has stood since a finding warns of nothing new.
    latest: Option<Nearness>,
}

/// Whether an event judged of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    Quiet,
    Loop,
}

impl EarlyWarning {
    pub(super) fn new(policy: &'static Policy<'static>) -> Self {
        let (step, highest, latest) = (None, None, None);
        Self { policy, step, announced: 0, settled: 0, moved: false, highest, latest }
    }

    /// The call `seq` is announced. If it begins a step, those before it have settled.
    pub(super) fn call(&mut self, seq: u64, step: u64) {
        if self.step.replace(step) != Some(step) {
            self.moved |= self.settled < seq;
            self.settled = self.settled.max(seq);
        }
        self.announced = seq + 1;
        self.moved |= self.policy.rules().iter().any(Rule::is_judged_early);
    }

    /// The outcome of the call `seq` has come.
    pub(super) fn outcome(&mut self, seq: u64) {
        self.settled = self.settled.max(seq + 1);
        self.moved = true;
    }

    /// The user has spoken, which may clear the history.
    pub(super) fn user_message(&mut self) {
        self.moved = true;
    }

    /// How near the nearest rule was before the finding of a loop whose latest call is `last`, and
    /// how many calls later that is.
    pub(super) fn warning(&self, last: u64) -> Option<(Nearness, u64)> {
        let (near, judged) = self.highest?;
        Some((near, (last + 1).saturating_sub(judged)))
    }

    /// Looks at the nearest rule after an event, where that may be another now; there is none once
    /// the history was cleared.
    pub(super) fn look(&mut self, nearest: impl FnOnce() -> Option<Nearness>, judged: Judged) {
        if !replace(&mut self.moved, false) && judged == Judged::Quiet {
            return;
        }
        let nearest = nearest();
        let before = replace(&mut self.latest, nearest);
        let Some(near) = nearest.filter(|_| judged == Judged::Quiet) else {
            self.highest = None;
            return;
        };
        let Some(judged) = self.judged(near.rule).filter(|_| nearest != before) else { return };
        if self.highest.is_none_or(|(highest, _)| near.is_nearer_than(highest)) {
            self.highest = Some((near, judged));
        }
    }

    /// How many calls the rule has judged; none for a rule about text.
    fn judged(&self, rule: RuleIndex) -> Option<u64> {
        let RuleIndex::Call(place) = rule else { return None };
        let rule = self.policy.rules().get(usize::from(place))?;
        Some(if rule.is_judged_early() { self.announced } else { self.settled })
    }
}

#[cfg(test)]
mod tests {
    use unstuck_core::presets;

    use super::Judged::{Loop, Quiet};
    use super::*;

    fn near(rule: u8, held: u16, needed: u16) -> Nearness {
        Nearness { rule: RuleIndex::Call(rule), held, needed }
    }

    /// Shows a new early calls that are answered at once, each with what is nearest then, and asks
    /// for its warning at the next.
    fn warned(events: &[(Option<Nearness>, Judged)]) -> Option<(Nearness, u64)> {
        let mut early = EarlyWarning::new(&presets::BALANCED);
        for (seq, &(nearest, judged)) in (0..).zip(events) {
            early.call(seq, seq);
            early.outcome(seq);
            early.look(|| nearest, judged);
        }
        early.warning(events.len() as u64)
    }

    #[test]
    fn the_highest_counts_from_where_it_was_first_so_high() {
        let events = [near(0, 1, 3), near(0, 2, 3), near(0, 1, 3), near(1, 4, 6), near(2, 3, 6)];
        let warning = warned(&events.map(|near| (Some(near), Quiet)));
        assert_eq!(warning, Some((near(0, 2, 3), 4)));
    }

    #[test]
    fn a_finding_begins_anew_and_so_does_a_cleared_history() {
        let (high, low) = (Some(near(0, 3, 3)), Some(near(0, 1, 3)));
        let expected = Some((near(0, 1, 3), 1));
        assert_eq!(warned(&[(high, Loop)]), None);
        assert_eq!(warned(&[(high, Quiet), (high, Loop), (low, Quiet)]), expected);
        assert_eq!(warned(&[(high, Quiet), (None, Quiet), (low, Quiet)]), expected);
        assert_eq!(warned(&[(high, Loop), (high, Quiet)]), None, "it stands since the finding");
    }

    #[test]
    fn talk_warns_of_no_call() {
        let talk = Some(Nearness { rule: RuleIndex::Text(0), held: 2, needed: 3 });
        assert_eq!(warned(&[(talk, Quiet)]), None);
    }

    #[test]
    fn calls_that_are_issued_together_count_as_their_outcomes_come() {
        let mut early = EarlyWarning::new(&presets::BALANCED);
        (0..4).for_each(|seq| early.call(seq, 7));
        early.outcome(0);
        early.outcome(1);
        early.look(|| Some(near(1, 3, 4)), Quiet);
        assert_eq!(early.warning(3), Some((near(1, 3, 4), 2)));
    }

    #[test]
    fn nothing_is_looked_at_where_nothing_can_have_moved() {
        let mut early = EarlyWarning::new(&presets::BALANCED);
        early.call(0, 0);
        early.look(|| panic!("its outcome is not known"), Quiet);
        early.outcome(0);
        early.look(|| Some(near(0, 2, 3)), Quiet);
        early.call(1, 1);
        early.look(|| panic!("the one before has settled long since"), Quiet);
        assert_eq!(early.warning(1), Some((near(0, 2, 3), 1)));
    }
}
