//! The effect of a note: what the agent did next.
//!
//! A note is a finding of which the agent was told: with a result, or by the refusal of a call. All numbers are those
//! of one worker's calls, counted from 1.
//!
//! - The **call of the note** is the number of calls that the worker had made when it was told. In a recorded run it is
//!   the call at which the loop was found.
//! - A call **goes on** with the loop if the guard finds the loop at this call again. It finds a loop at each call that
//!   continues it, so that the measure needs no words of the agent.
//! - The loop is **left** at its latest such call if [`FOLLOWED_BY`] calls or more come after it.
//!
//! | effect | meaning |
//! | --- | --- |
//! | [`Left`](Effect::Left) | The loop is left, and only the next [`SOON`] calls went on with it, or none. |
//! | [`Later`](Effect::Later) | The loop is left, after more calls than that. |
//! | [`Never`](Effect::Never) | Another finding about these calls followed, in this loop or in one that holds the call of the note. Or the run ended in the loop, after more than [`SOON`] calls that went on with it. |
//! | [`Ended`](Effect::Ended) | The run ended right after the note, or has not gone on yet: nobody can tell. |
//!
//! The two calls are a tolerance. Calls that were issued together with the call of the note are on their way before the
//! agent reads it. An agent that comes back later has never left, even if many calls lie between. So the share of loops
//! that are left is rather too small than too large. A finding of which the agent was not told, because the hook only
//! observes, has an effect in the same sense: it shows what agents do by themselves.

mod course;

use serde::Serialize;

pub(crate) use course::Course;
pub use course::NoteEffect;

use crate::interval::{Interval, ratio, wilson};

/// The number of calls that must follow the latest call of a loop before it counts as left. The next note on a loop
/// comes after fewer.
pub const FOLLOWED_BY: u64 = 5;

/// The largest number of calls after a note that may go on with a loop that the agent leaves at once.
pub const SOON: u64 = 2;

/// What an agent did after a note. The [module](self) has the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The agent left the loop within two calls.
    Left,
    /// The agent left the loop later.
    Later,
    /// The agent did not leave the loop for good.
    Never,
    /// The run ended right after the note.
    Ended,
}

impl Effect {
    /// All effects, the best first.
    pub const ALL: [Self; 4] = [Self::Left, Self::Later, Self::Never, Self::Ended];

    /// Returns what came of the note, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Left => "the loop was left within two calls",
            Self::Later => "the loop was left later",
            Self::Never => "the agent went on with the loop",
            Self::Ended => "the run ended",
        }
    }

    /// Returns the effect of a note at the call `note` that no other note followed. The call `last` was the latest that
    /// went on with the loop, or is `note`. The worker has made `calls` calls.
    ///
    /// ```
    /// use unstuck_report::effect::Effect;
    ///
    /// assert_eq!(Effect::of(10, 12, 17), Effect::Left);
    /// assert_eq!(Effect::of(10, 13, 18), Effect::Later);
    /// assert_eq!(Effect::of(10, 13, 17), Effect::Never);
    /// assert_eq!(Effect::of(10, 10, 14), Effect::Ended);
    /// ```
    pub const fn of(note: u64, last: u64, calls: u64) -> Self {
        let is_soon = last <= note.saturating_add(SOON);
        match (is_left(last, calls), is_soon) {
            (true, true) => Self::Left,
            (true, false) => Self::Later,
            (false, false) => Self::Never,
            (false, true) => Self::Ended,
        }
    }
}

/// Returns whether a loop is left that was last found at the call `last`, now that the worker has made `calls` calls.
pub const fn is_left(last: u64, calls: u64) -> bool {
    calls >= last.saturating_add(FOLLOWED_BY)
}

/// The number of notes with each effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of notes, also of those whose effect is unknown.
    pub notes: usize,
    /// The number of notes with each of [`Effect::ALL`].
    effects: [usize; 4],
}

impl Counts {
    /// Counts a note.
    pub fn add(&mut self, effect: Option<Effect>) {
        self.notes += 1;
        for (count, one) in self.effects.iter_mut().zip(Effect::ALL) {
            *count += usize::from(effect == Some(one));
        }
    }

    /// Returns the number of notes with each of [`Effect::ALL`].
    pub const fn effects(&self) -> [usize; 4] {
        self.effects
    }

    /// Returns the number of notes after which the agent left the loop within two calls, and of all whose run went on.
    fn left(&self) -> (usize, usize) {
        let [left, later, never, _] = self.effects;
        (left, left + later + never)
    }

    /// Returns the share of the notes after which the agent left the loop within two calls, among those whose run went
    /// on.
    pub fn share(&self) -> Option<f64> {
        let (left, known) = self.left();
        ratio(left, known)
    }

    /// Returns the 95 % interval of the share.
    pub fn interval(&self) -> Option<Interval> {
        let (left, known) = self.left();
        wilson(left, known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_effect_begins_and_ends_where_the_definition_says() {
        let table = [
            // The note, the latest call of the loop, all calls.
            (3, 3, 3, Effect::Ended),
            (3, 3, 7, Effect::Ended),
            (3, 3, 8, Effect::Left),
            (3, 5, 9, Effect::Ended),
            (3, 5, 10, Effect::Left),
            (3, 6, 10, Effect::Never),
            (3, 6, 11, Effect::Later),
            (3, 30, 34, Effect::Never),
            (3, 30, 35, Effect::Later),
        ];
        for (note, last, calls, expected) in table {
            assert_eq!(Effect::of(note, last, calls), expected, "{note} {last} {calls}");
        }
    }
}
