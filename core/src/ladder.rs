//! Ladders: the action to take at each count.

use core::fmt;

/// The number of equal answers in a row after which a call is stopped, whatever the call does. A
/// person or a working agent does not press a key so often without a look. A model that has run
/// away does.
pub const RUNAWAY_MIN: u16 = 24;

/// The maximum number of rungs of a ladder. There are five actions above `Proceed`, and each may
/// appear twice.
pub const RUNGS_MAX: usize = 10;

/// The maximum number of reminders of a ladder: from a rung at 1 up to the highest count.
#[cfg(any(feature = "serde", test))]
pub(crate) const REMINDERS_MAX: u8 = 23;

/// An action, from the mildest to the strongest.
///
/// ```
/// use unstuck_core::Action;
///
/// assert!(Action::Nudge < Action::Block);
/// assert_eq!(Action::StartOver.to_string(), "start_over");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Action {
    /// Go on.
    #[default]
    Proceed,
    /// Tell the agent in passing.
    Nudge,
    /// Tell the agent plainly.
    Warn,
    /// Do not run the call, and tell the agent why.
    Block,
    /// Throw away everything since the start and begin again.
    StartOver,
    /// End the run.
    Stop,
}

impl Action {
    /// All actions, the mildest first.
    pub const ALL: [Self; 6] =
        [Self::Proceed, Self::Nudge, Self::Warn, Self::Block, Self::StartOver, Self::Stop];

    /// Returns the name that reports and configurations use.
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

    /// Returns whether the action ends the current work, which clears the history.
    pub(crate) const fn clears(self) -> bool {
        matches!(self, Self::StartOver | Self::Stop)
    }

    /// Returns the strength as a number, because constants cannot compare actions.
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

/// One rung of a ladder: an action that holds from a count on.
///
/// ```
/// use unstuck_core::{Action, Rung};
///
/// let rung = Rung::new(5, Action::Block);
/// assert_eq!((rung.count, rung.action), (5, Action::Block));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rung {
    /// The count from which the rung holds, 1 or more.
    pub count: u16,
    /// The action at this rung.
    pub action: Action,
}

impl Rung {
    /// Creates the rung that asks for `action` from `count` on.
    pub const fn new(count: u16, action: Action) -> Self {
        Self { count, action }
    }
}

/// The quantity that a ladder counts.
///
/// ```
/// use unstuck_core::{Action, Basis, Ladder, Rung};
///
/// let rungs = [Rung::new(1, Action::Nudge), Rung::new(2, Action::Stop)];
/// assert_eq!(Ladder::by_loop_findings(&rungs).basis, Basis::LoopFindings);
/// ```
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

impl Basis {
    /// All quantities.
    pub const ALL: [Self; 3] = [Self::Repetitions, Self::LoopFindings, Self::AllFindings];

    /// Returns the name that configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repetitions => "repetitions",
            Self::LoopFindings => "loop_findings",
            Self::AllFindings => "all_findings",
        }
    }
}

/// The actions at rising counts. Below the first rung the action is [`Action::Proceed`].
///
/// The counts and actions are checked when a [`Policy`](crate::Policy) is made from the ladder.
///
/// ```
/// use unstuck_core::{Action, Ladder, Rung};
///
/// // A nudge at the third repetition, a block from the fifth on.
/// const LADDER: Ladder<'_> =
///     Ladder::by_repetitions(&[Rung::new(3, Action::Nudge), Rung::new(5, Action::Block)]);
/// assert_eq!(LADDER.rungs.len(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ladder<'p> {
    /// The quantity that is counted.
    pub basis: Basis,
    /// The rungs, the lowest first. Counts rise, and actions do not fall.
    pub rungs: &'p [Rung],
}

impl<'p> Ladder<'p> {
    /// Creates a ladder that counts repetitions of the pattern.
    pub const fn by_repetitions(rungs: &'p [Rung]) -> Self {
        Self { basis: Basis::Repetitions, rungs }
    }

    /// Creates a ladder that counts findings of the same loop.
    pub const fn by_loop_findings(rungs: &'p [Rung]) -> Self {
        Self { basis: Basis::LoopFindings, rungs }
    }

    /// Creates a ladder that counts findings of any kind.
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

    /// Returns the action of the highest rung that asks for at most `most`.
    pub(crate) fn last(&self, most: Action) -> Action {
        let within = self.rungs.iter().rev().find(|rung| rung.action <= most);
        within.map_or(Action::Proceed, |rung| rung.action)
    }

    /// Returns `action`, lowered to a warning if it asks for more than the rungs up to the count
    /// `proved`.
    pub(crate) fn held(&self, action: Action, proved: u16, most: Action) -> Action {
        if action < Action::Block {
            return action;
        }
        let (_, proved) = self.at(proved, most);
        if proved < Action::Block { Action::Warn } else { proved }
    }

    /// Returns the number of reminders up to `count`. Reminders are rungs above the last one, and
    /// each repeats the warning. Each is at a count five eighths above the one before, so an agent
    /// that goes on is warned less and less often. For example, after a last rung at 8 they are at
    /// 13, 21, 34 and 55. There are at most 23.
    pub(crate) fn reminders(&self, count: u16) -> u8 {
        let Some(last) = self.rungs.last() else { return 0 };
        let (mut next, mut reminders) = (reminder_after(last.count.into()), 0_u8);
        while next <= u32::from(count) {
            (next, reminders) = (reminder_after(next), reminders.saturating_add(1));
        }
        reminders
    }

    /// Returns whether the ladder asks for more than a warning at `count`.
    pub(crate) fn forces_at(&self, count: u16) -> bool {
        self.force_from().is_some_and(|from| from <= count)
    }

    /// Returns the count up to which this ladder may ask for more than a warning, if `repetitions`
    /// are proved and `least` make a finding.
    pub(crate) fn proof_of(&self, repetitions: u16, least: u16) -> u16 {
        match self.basis {
            Basis::Repetitions => repetitions,
            // The ladder counts findings, and each finding is as good as its repetitions.
            Basis::LoopFindings | Basis::AllFindings if repetitions >= least => u16::MAX,
            Basis::LoopFindings | Basis::AllFindings => 0,
        }
    }

    /// Returns the first count at which the ladder asks for more than a warning, if there is one.
    pub(crate) fn force_from(&self) -> Option<u16> {
        let forceful = self.rungs.iter().find(|rung| rung.action >= Action::Block);
        forceful.map(|rung| rung.count)
    }

    /// Returns the proved count for a call that came back with the same bytes `unbroken` times in
    /// a row, whatever it does. From [`RUNAWAY_MIN`] on, the first forceful rung is reached, and
    /// then the others.
    pub(crate) fn runaway(&self, unbroken: u16) -> u16 {
        let Some(beyond) = unbroken.checked_sub(RUNAWAY_MIN) else { return 0 };
        self.force_from().map_or(0, |count| count.saturating_add(beyond))
    }

    /// Returns the rung that `count` has reached, counted from 1, and its action. Rung 0 is below
    /// the first. Rungs that ask for more than `most` are out of reach.
    pub(crate) fn at(&self, count: u16, most: Action) -> (u8, Action) {
        let within = |rung: &&Rung| rung.count <= count && rung.action <= most;
        let reached = self.rungs.iter().take_while(within);
        reached.fold((0, Action::Proceed), |(n, _), rung| (n.saturating_add(1), rung.action))
    }
}

/// Returns the count of the reminder that follows a rung or a reminder at `count`. The result is
/// wider than any count, so that the last one is beyond all counts.
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
