//! Loops in their course: how far each has climbed, and where it was last found.

use std::collections::HashMap;

use unstuck_core::{LoopId, Verdict};

use super::findings::LoopKey;

/// How many loops may be open before those are looked for that are over.
const COURSES_MIN: usize = 1024;

/// The loops of one trace.
#[derive(Default)]
pub(super) struct Courses {
    /// Those that may go on, by worker.
    open: HashMap<(u64, LoopId), Course>,
    /// At how many of them those are looked for that are over.
    open_max: usize,
    /// The last call or message at which each loop was found.
    pub(super) ends: Vec<usize>,
}

/// How far a loop has got.
struct Course {
    key: LoopKey,
    /// How many calls there were when it was last found.
    last: usize,
    /// The rungs that were reached, a bit each: once a history is cleared, loops are found again.
    reached: u32,
}

/// How far the trace has been read.
#[derive(Clone, Copy)]
pub(super) struct Now {
    /// How many calls there were.
    pub(super) calls: usize,
    /// After how many calls a loop that was not found again is over.
    pub(super) longest: usize,
}

impl Courses {
    /// Keeps the course of the loop that was found at `at`. Its key, if it has reached a rung for
    /// the first time.
    pub(super) fn follow(
        &mut self,
        course: (u64, LoopId),
        verdict: &Verdict,
        at: usize,
        now: Now,
    ) -> Option<LoopKey> {
        self.forget(now);
        let fresh = || Course { key: self.ends.len(), last: now.calls, reached: 0 };
        let course = self.open.entry(course).or_insert_with(fresh);
        if verdict.fresh && course.is_over(now) {
            *course = fresh();
        }
        course.last = now.calls;
        let rung = 1_u32 << verdict.rung.min(31);
        let first = verdict.fresh && course.reached & rung == 0;
        if first {
            course.reached |= rung;
        }
        let key = course.key;
        match self.ends.get_mut(key) {
            Some(end) => *end = at,
            None => self.ends.push(at),
        }
        first.then_some(key)
    }

    /// The run is over, and its loops with it.
    pub(super) fn end_run(&mut self) {
        self.open.clear();
    }

    /// Forgets the loops that are over, where there are many.
    fn forget(&mut self, now: Now) {
        if self.open.len() >= self.open_max.max(COURSES_MIN) {
            self.open.retain(|_, course| !course.is_over(now));
            self.open_max = 2 * self.open.len();
        }
    }
}

impl Course {
    fn is_over(&self, now: Now) -> bool {
        now.calls.saturating_sub(self.last) > now.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_that_are_over_are_forgotten() {
        let mut courses = Courses::default();
        let mut verdict = Verdict::PROCEED;
        verdict.fresh = true;
        for n in 0..3 * COURSES_MIN {
            let now = Now { calls: n, longest: 20 };
            let course = (0, LoopId::from_bits(n as u64));
            assert_eq!(courses.follow(course, &verdict, n, now), Some(n));
            assert!(courses.open.len() <= COURSES_MIN);
        }
        assert!(courses.ends.into_iter().eq(0..3 * COURSES_MIN));
    }
}
