//! A cache of the loops that a server reported.

use core::time::Duration;
use std::collections::HashMap;
use std::time::Instant;

use unstuck_core::{Digest, LoopId};

use crate::verdict::Verdict;

/// The maximum number of loops: more than any worker meets.
const LOOPS_MAX: usize = 1024;

/// The loops that a server reported, by the digests of their calls.
#[derive(Debug)]
pub(super) struct LoopCache {
    /// Half the span of the window, for which a call counts at least.
    lasts: Duration,
    loops: HashMap<Digest, (Verdict, LoopId, Instant)>,
}

impl LoopCache {
    pub(super) fn new(lasts: Duration) -> Self {
        Self { lasts, loops: HashMap::new() }
    }

    /// Returns the verdict on calls with the digest `call`, whatever their results.
    pub(super) fn of(&self, call: Digest, now: Instant) -> Verdict {
        let known = self.loops.get(&call).filter(|(_, _, until)| now < *until);
        known.map_or(Verdict::PROCEED, |(verdict, ..)| *verdict)
    }

    /// Returns the verdict on the loop `id` of such calls.
    pub(super) fn of_loop(&self, call: Digest, id: LoopId, now: Instant) -> Verdict {
        let known = self.loops.get(&call).filter(|(_, known, until)| *known == id && now < *until);
        known.map_or(Verdict::PROCEED, |(verdict, ..)| *verdict)
    }

    /// Adds the server's verdict on the loop `id`. If equal calls with different results are in several loops, the
    /// one on the highest rung is kept.
    pub(super) fn learn(&mut self, call: Digest, id: LoopId, verdict: Verdict, now: Instant) {
        let known = self.loops.get(&call).filter(|(_, _, until)| now < *until);
        if known.is_some_and(|(known, of, _)| *of != id && known.rung > verdict.rung) {
            return;
        }
        if verdict.rung == 0 {
            self.loops.remove(&call);
            return;
        }
        if self.loops.len() >= LOOPS_MAX && !self.loops.contains_key(&call) {
            self.forget_one(now);
        }
        self.loops.insert(call, (verdict, id, now + self.lasts));
    }

    /// Forgets the expired loops, or else the one that expires first.
    fn forget_one(&mut self, now: Instant) {
        self.loops.retain(|_, (_, _, until)| now < *until);
        if self.loops.len() < LOOPS_MAX {
            return;
        }
        let first = self.loops.iter().min_by_key(|(_, (_, _, until))| *until);
        if let Some(first) = first.map(|(call, _)| *call) {
            self.loops.remove(&first);
        }
    }
}

#[cfg(test)]
mod tests {
    use unstuck_core::Action;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn verdict(rung: u8) -> Verdict {
        Verdict { rung, action: Action::Nudge, finding: None }
    }

    fn id(bits: u64) -> LoopId {
        LoopId::from_bits(bits)
    }

    #[test]
    fn a_loop_is_known_for_half_the_span() {
        let (mut known, now) = (LoopCache::new(SECOND), Instant::now());
        let call = Digest::new(1);
        known.learn(call, id(1), verdict(1), now);
        for (at, rung) in [(now, 1), (now + SECOND / 2, 1), (now + SECOND, 0)] {
            assert_eq!(known.of(call, at).rung, rung);
            assert_eq!(known.of_loop(call, id(1), at).rung, rung);
            assert_eq!(known.of_loop(call, id(2), at).rung, 0);
        }
        assert_eq!(known.of(Digest::new(2), now), Verdict::PROCEED);
    }

    #[test]
    fn the_strongest_loop_of_a_call_is_kept_until_it_is_over() {
        let (mut known, now, call) = (LoopCache::new(SECOND), Instant::now(), Digest::new(1));
        for (of, rung, kept) in [(1, 2, 2), (2, 1, 2), (2, 0, 2), (2, 3, 3), (2, 1, 1), (2, 0, 0)] {
            known.learn(call, id(of), verdict(rung), now);
            assert_eq!(known.of(call, now).rung, kept, "loop {of}, rung {rung}");
        }
    }

    #[test]
    fn the_oldest_of_too_many_loops_is_forgotten() {
        let (mut known, start) = (LoopCache::new(SECOND), Instant::now());
        let calls = 0..=u32::try_from(LOOPS_MAX).expect("it is small");
        for number in calls.clone() {
            let now = start + number * Duration::from_nanos(1);
            known.learn(Digest::new(number.into()), id(number.into()), verdict(1), now);
        }
        let rungs = calls.map(|number| known.of(Digest::new(number.into()), start).rung);
        assert!(rungs.enumerate().all(|(number, rung)| rung == u8::from(number > 0)));
        assert_eq!(known.loops.len(), LOOPS_MAX);
    }
}
