//! Ladders: which action at which count.

use core::fmt;

/// How often in a row a call must have come back with the same bytes to be stopped whatever it does.
/// Nobody presses a key so often without a look; a model that has run away does.
pub const RUNAWAY_MIN: u16 = 24;

/// The most rungs of a ladder: there are five actions above `Proceed`, and room for one rung
/// that repeats each.
pub const RUNGS_MAX: usize = 10;

/// The most reminders that a ladder has: those from a rung at 1 up to the highest count.
#[cfg(any(feature = "serde", test))]
pub(crate) const REMINDERS_MAX: u8 = 23;

/// What to do, from nothing to everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Action {
    /// Nothing: go on.
    #[default]
    Proceed,
    /// Tell the agent, in passing.
    Nudge,
    /// Tell the agent plainly.
    Warn,
    /// Do not run the call; tell the agent why.
    Block,
    /// Throw away what was done since the start and begin again.
    StartOver,
    /// End the run.
    Stop,
}

impl Action {
    /// Every action, the mildest first.
    pub const ALL: [Self; 6] =
        [Self::Proceed, Self::Nudge, Self::Warn, Self::Block, Self::StartOver, Self::Stop];

    /// The action's one spelling, wherever it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proceed => "proceed",
            Self::Nudge => "nudge",
            Self::Warn => "warn",
            Self::Block => "block",
            Self::StartOver => "start_over",
            Self::Stop => "stop",
        }
    }

    /// Whether the action ends what was going on, so that the history is cleared.
    pub(crate) const fn clears(self) -> bool {
        matches!(self, Self::StartOver | Self::Stop)
    }

    /// How strong the action is, so that constants can compare two.
    pub(crate) const fn strength(self) -> u8 {
        match self {
            Self::Proceed => 0,
            Self::Nudge => 1,
            Self::Warn => 2,
            Self::Block => 3,
            Self::StartOver => 4,
            Self::Stop => 5,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One rung of a ladder: from this count on, this action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rung {
    /// The count from which on the rung holds, 1 or more.
    pub count: u16,
    /// What to do there.
    pub action: Action,
}

impl Rung {
    /// The rung that asks for `action` from `count` on.
    pub const fn new(count: u16, action: Action) -> Self {
        Self { count, action }
    }
}

/// What a ladder counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Basis {
    /// Repetitions of the pattern: records of a streak or a recurrence, laps of a cycle.
    Repetitions,
    /// Findings of the same loop.
    LoopFindings,
    /// Findings of any kind since the history was last cleared.
    AllFindings,
}

/// Which action at which count. Below the first rung the action is [`Action::Proceed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ladder<'p> {
    /// What is counted.
    pub basis: Basis,
    /// The rungs, from the lowest: counts rise, actions do not fall.
    pub rungs: &'p [Rung],
}

impl<'p> Ladder<'p> {
    /// A ladder that counts repetitions of the pattern.
    pub const fn by_repetitions(rungs: &'p [Rung]) -> Self {
        Self { basis: Basis::Repetitions, rungs }
    }

    /// A ladder that counts findings of the same loop.
    pub const fn by_loop_findings(rungs: &'p [Rung]) -> Self {
        Self { basis: Basis::LoopFindings, rungs }
    }

    /// A ladder that counts findings of any kind.
    pub const fn by_all_findings(rungs: &'p [Rung]) -> Self {
        Self { basis: Basis::AllFindings, rungs }
    }

    /// Returns the digest of the ladder.
    #[cfg(feature = "serde")]
    pub(crate) fn digest(&self) -> crate::Digest {
        let basis = match self.basis {
            Basis::Repetitions => 0,
            Basis::LoopFindings => 1,
            Basis::AllFindings => 2,
        };
        let rung = |rung: &Rung| {
            let [low, high] = rung.count.to_le_bytes();
            crate::Digest::of(&[low, high, rung.action.strength()])
        };
        let rungs = self.rungs.iter().map(rung);
        rungs.fold(crate::Digest::of(&[basis]), crate::Digest::mix)
    }

    /// The action of the last rung that does not ask for more than `most`.
    pub(crate) fn last(&self, most: Action) -> Action {
        let within = self.rungs.iter().rev().find(|rung| rung.action <= most);
        within.map_or(Action::Proceed, |rung| rung.action)
    }

    /// `action`, held at a warning where it asks for more than the rungs up to the count `proved` do.
    pub(crate) fn held(&self, action: Action, proved: u16, most: Action) -> Action {
        if action < Action::Block {
            return action;
        }
        let (_, proved) = self.at(proved, most);
        if proved < Action::Block { Action::Warn } else { proved }
    }

    /// The number of reminders up to `count`: rungs above the last one, which only say a warning again.
    /// Each is at a count five eighths above the one before, so that an agent that goes on is warned ever
    /// more seldom: after a last rung at 8, at 13, 21, 34 and 55. At most 23.
    pub(crate) fn reminders(&self, count: u16) -> u8 {
        let Some(last) = self.rungs.last() else { return 0 };
        let (mut next, mut reminders) = (reminder_after(last.count.into()), 0_u8);
        while next <= u32::from(count) {
            (next, reminders) = (reminder_after(next), reminders.saturating_add(1));
        }
        reminders
    }

    /// Whether the ladder asks for more than a warning at `count`.
    pub(crate) fn forces_at(&self, count: u16) -> bool {
        self.force_from().is_some_and(|from| from <= count)
    }

    /// The count up to which this ladder may ask for more than a warning, if so many `repetitions` are
    /// proved where `least` make a finding.
    pub(crate) fn proof_of(&self, repetitions: u16, least: u16) -> u16 {
        match self.basis {
            Basis::Repetitions => repetitions,
            // Findings are counted, each of which is as good as its repetitions.
            Basis::LoopFindings | Basis::AllFindings if repetitions >= least => u16::MAX,
            Basis::LoopFindings | Basis::AllFindings => 0,
        }
    }

    /// How many of `count` repetitions are as good a proof as all of them, where `least` make a
    /// finding: those of the rung that they reach, if that asks for more than a warning, or else 2,
    /// which show that there is some proof.
    pub(crate) fn enough(&self, count: u16, least: u16) -> u16 {
        if self.basis != Basis::Repetitions {
            return least;
        }
        let reached = self.rungs.iter().take_while(|rung| rung.count <= count).last();
        let forceful = reached.filter(|rung| rung.action >= Action::Block);
        forceful.map_or(2, |rung| rung.count)
    }

    /// The count from which on the ladder asks for more than a warning, if it ever does.
    pub(crate) fn force_from(&self) -> Option<u16> {
        let forceful = self.rungs.iter().find(|rung| rung.action >= Action::Block);
        forceful.map(|rung| rung.count)
    }

    /// The same for a call that came back with the same bytes `unbroken` times in a row, whatever it
    /// does: from [`RUNAWAY_MIN`] on the first forceful rung is reached, and the others after it.
    pub(crate) fn runaway(&self, unbroken: u16) -> u16 {
        let Some(beyond) = unbroken.checked_sub(RUNAWAY_MIN) else { return 0 };
        self.force_from().map_or(0, |count| count.saturating_add(beyond))
    }

    /// The rung that `count` has reached, counted from 1 (0 is the ground), and its action; rungs
    /// that ask for more than `most` are out of reach.
    pub(crate) fn at(&self, count: u16, most: Action) -> (u8, Action) {
        let within = |rung: &&Rung| rung.count <= count && rung.action <= most;
        let reached = self.rungs.iter().take_while(within);
        reached.fold((0, Action::Proceed), |(n, _), rung| (n.saturating_add(1), rung.action))
    }
}

/// The count of the reminder after a rung, or a reminder, at `count`. Wider than any count, so that
/// the last one is beyond all of them.
fn reminder_after(count: u32) -> u32 {
    count.saturating_add((count.saturating_mul(5) >> 3).max(1))
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::{Action, Ladder, REMINDERS_MAX, Rung};

    #[test]
    fn the_rung_is_the_last_one_reached() {
        let rungs = [Rung::new(3, Action::Nudge), Rung::new(4, Action::Warn)];
        let ladder = Ladder::by_repetitions(&rungs);
        for (count, most, expected) in [
            (0, Action::Stop, (0, Action::Proceed)),
            (2, Action::Stop, (0, Action::Proceed)),
            (3, Action::Stop, (1, Action::Nudge)),
            (4, Action::Stop, (2, Action::Warn)),
            (u16::MAX, Action::Stop, (2, Action::Warn)),
            (u16::MAX, Action::Warn, (2, Action::Warn)),
            (u16::MAX, Action::Nudge, (1, Action::Nudge)),
            (u16::MAX, Action::Proceed, (0, Action::Proceed)),
        ] {
            assert_eq!(ladder.at(count, most), expected, "{count} {most}");
        }
    }

    #[test]
    fn reminders_come_ever_more_seldom() {
        for (last, expected) in [
            (1, vec![2, 3, 4, 6, 9, 14, 22, 35, 56, 91]),
            (8, vec![13, 21, 34, 55, 89]),
            (5, vec![8, 13, 21, 34, 55, 89]),
            (99, vec![]),
        ] {
            let rungs = [Rung::new(1, Action::Warn), Rung::new(last, Action::Block)];
            let ladder = Ladder::by_repetitions(&rungs);
            let counts = 1..=100;
            let more = counts.filter(|at| ladder.reminders(*at) > ladder.reminders(at - 1));
            assert_eq!(more.collect::<Vec<u16>>(), expected, "{last}");
        }
    }

    #[test]
    fn no_count_has_more_than_the_most_reminders() {
        for (last, expected) in [(1, REMINDERS_MAX), (40_329, 1), (40_330, 0), (u16::MAX, 0)] {
            let rungs = [Rung::new(last, Action::Block)];
            assert_eq!(Ladder::by_repetitions(&rungs).reminders(u16::MAX), expected, "{last}");
        }
    }

    #[test]
    fn actions_are_in_order_of_strength() {
        for pair in Action::ALL.windows(2) {
            assert!(pair[0] < pair[1]);
            assert!(pair[0].strength() < pair[1].strength());
        }
    }
}
