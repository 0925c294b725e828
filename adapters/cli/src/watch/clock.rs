//! The time of the receiver, which goes on at its pace when the clock of the machine is set.

use std::time::Instant;

use crate::time::now;

/// The time in milliseconds that a span may end after the clock of this machine. A later span does not move
/// [`Clock::Spans`].
const AHEAD_MAX: u64 = 5 * 60_000;

/// The shortest difference, in milliseconds, between the clock of the machine and the passed time that is a step.
/// Corrections of a few milliseconds are usual.
const STEP_MIN: u64 = 1000;

/// The source of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Clock {
    /// The clock of this machine
    Wall,
    /// The latest end of a span, to send recorded telemetry at any speed
    Spans,
}

/// A look at the clocks of this machine, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// The time since the start of the program. It never goes back, and nobody sets it.
    pub(super) passed: u64,
    /// The time since 1970. It may be set at any moment.
    pub(super) wall: u64,
}

impl Moment {
    /// Looks at the clocks.
    pub(super) fn since(start: Instant) -> Self {
        let passed = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        Self { passed, wall: now() }
    }
}

/// The time of the sessions in milliseconds. It begins as the time of its source and never goes back. Steps of the
/// source do not move it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    clock: Clock,
    now: u64,
    /// The latest look at the clocks. `passed` is missing until the first look.
    wall: u64,
    passed: Option<u64>,
    /// The latest end of a span that moved [`Clock::Spans`].
    end: u64,
}

impl Time {
    pub(super) const fn new(clock: Clock) -> Self {
        Self { clock, now: 0, wall: 0, passed: None, end: 0 }
    }

    /// Goes on from a snapshot.
    pub(super) const fn restored(self, [now, wall]: [u64; 2]) -> Self {
        Self { now, wall, end: now, ..self }
    }

    /// Returns the time as a snapshot stores it.
    pub(super) const fn stored(&self) -> [u64; 2] {
        [self.now, self.wall]
    }

    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    /// Returns the time since the start of the program at the latest look.
    pub(super) fn passed(&self) -> u64 {
        self.passed.unwrap_or_default()
    }

    /// Goes on to the time of an entry of the journal.
    pub(super) fn replay(&mut self, at: u64) {
        let passed = at.saturating_sub(self.now);
        self.pass(passed);
        (self.wall, self.end) = (self.wall.saturating_add(passed), self.now);
    }

    /// Takes in a look at the clocks. The first one tells for how long the program did not run, unless the clock of
    /// the machine was set back since. Returns the milliseconds by which that clock was set, if it was.
    pub(super) fn update(&mut self, moment: Moment) -> Option<i64> {
        let passed = match self.passed.replace(moment.passed) {
            Some(before) => moment.passed.saturating_sub(before),
            None => moment.wall.saturating_sub(self.wall),
        };
        if self.clock == Clock::Wall {
            self.pass(passed);
        }
        let expected = self.wall.saturating_add(passed);
        self.wall = moment.wall;
        let step = moment.wall.cast_signed().wrapping_sub(expected.cast_signed());
        (step.unsigned_abs() >= STEP_MIN).then_some(step)
    }

    /// Takes in the ends of spans, in milliseconds. Returns how many of them are too far in the future.
    pub(super) fn take_ends(&mut self, ends: impl Iterator<Item = u64> + Clone) -> usize {
        if self.clock == Clock::Wall {
            return 0;
        }
        let most = self.wall.saturating_add(AHEAD_MAX);
        if let Some(latest) = ends.clone().filter(|end| *end <= most).max() {
            // A latest end beyond the limit is from before the clock of the machine was set back.
            if self.end > most {
                self.end = latest;
            }
            self.pass(latest.saturating_sub(self.end));
            self.end = self.end.max(latest);
        }
        ends.filter(|end| *end > most).count()
    }

    fn pass(&mut self, milliseconds: u64) {
        self.now = self.now.saturating_add(milliseconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A year in milliseconds.
    const YEAR: u64 = 365 * 24 * 3_600_000;

    fn look(time: &mut Time, passed: u64, wall: u64) -> Option<i64> {
        time.update(Moment { passed, wall })
    }

    #[test]
    fn time_passes_at_its_pace_when_the_clock_is_set() {
        let mut time = Time::new(Clock::Wall);
        assert_eq!(look(&mut time, 0, YEAR), None);
        for (passed, wall, step) in [
            (1_000, YEAR + 1_000, None),
            // Corrections, back and forward.
            (2_000, YEAR + 1_001, None),
            (3_000, YEAR + 3_000, None),
            (4_000, YEAR + 4_000 - 120_000, Some(-120_000)),
            (5_000, YEAR + 5_000 - 120_000, None),
            (6_000, 2 * YEAR + 6_000 - 120_000, Some(YEAR.cast_signed())),
            (7_000, 0, Some(119_000 - 2 * YEAR.cast_signed() - 6_000)),
        ] {
            assert_eq!(look(&mut time, passed, wall), step, "{passed}");
            assert_eq!(time.now(), YEAR + passed);
        }
    }

    #[test]
    fn the_time_without_the_program_counts_by_the_clock_unless_it_was_set_back() {
        let mut before = Time::new(Clock::Wall);
        look(&mut before, 0, 10_000);
        // A step while the program runs is known, and does not count as time without it.
        look(&mut before, 500, YEAR);
        for (wall, now, step) in [
            (YEAR, 10_500, None),
            (YEAR + 60_000, 70_500, None),
            (YEAR - 1, 10_500, None),
            (0, 10_500, Some(-YEAR.cast_signed())),
        ] {
            let mut time = Time::new(Clock::Wall).restored(before.stored());
            assert_eq!(look(&mut time, 0, wall), step, "{wall}");
            assert_eq!(time.now(), now, "{wall}");
            look(&mut time, 250, wall + 250);
            assert_eq!(time.now(), now + 250, "{wall}");
            // With a journal of another minute.
            let mut time = Time::new(Clock::Wall).restored(before.stored());
            time.replay(70_500);
            look(&mut time, 0, wall.saturating_add(60_000));
            assert_eq!(time.now(), now + 60_000, "{wall}");
        }
    }

    #[test]
    fn the_clock_of_the_spans_goes_on_after_a_wrong_clock() {
        let mut time = Time::new(Clock::Spans);
        look(&mut time, 0, 2 * YEAR);
        time.take_ends([2 * YEAR].into_iter());
        look(&mut time, 1000, YEAR);
        for (end, passed) in [(YEAR - 5000, 0), (YEAR, 5000), (YEAR - 1, 5000), (YEAR + 9, 5009)] {
            assert_eq!(time.take_ends([end].into_iter()), 0);
            assert_eq!(time.now(), 2 * YEAR + passed, "{end}");
        }
        assert_eq!(time.take_ends([2 * YEAR, YEAR].into_iter()), 1);
        assert_eq!(time.now(), 2 * YEAR + 5009);
    }
}
