//! The loops that a server told of, for as long as a call counts at least.

use core::time::Duration;
use std::collections::HashMap;
use std::time::Instant;

use unstuck_core::{Digest, LoopId};

use crate::verdict::Verdict;

/// How many loops are known at a time: more than any worker runs into.
const KNOWN_MAX: usize = 1024;

/// The loops that a server told of, by the digests of their calls.
#[derive(Debug)]
pub(super) struct Known {
    /// Half the span of the window: so long a call counts at least.
    lasts: Duration,
    loops: HashMap<Digest, (Verdict, LoopId, Instant)>,
}

impl Known {
    pub(super) fn new(lasts: Duration) -> Self {
        Self { lasts, loops: HashMap::new() }
    }

    /// What was told of calls with the digest `call`, whatever came back from them.
    pub(super) fn of(&self, call: Digest, now: Instant) -> Verdict {
        let known = self.loops.get(&call).filter(|(_, _, until)| now < *until);
        known.map_or(Verdict::PROCEED, |(verdict, ..)| *verdict)
    }

    /// What was told of the loop `id` of such calls.
    pub(super) fn of_loop(&self, call: Digest, id: LoopId, now: Instant) -> Verdict {
        let known = self.loops.get(&call).filter(|(_, known, until)| *known == id && now < *until);
        known.map_or(Verdict::PROCEED, |(verdict, ..)| *verdict)
    }

    /// The server told `verdict` of the loop `id`. Of several loops of equal calls, answered
    /// differently, the one on the highest rung is kept.
    pub(super) fn learn(&mut self, call: Digest, id: LoopId, verdict: Verdict, now: Instant) {
        let known = self.loops.get(&call).filter(|(_, _, until)| now < *until);
        if known.is_some_and(|(known, of, _)| *of != id && known.rung > verdict.rung) {
            return;
        }
        if verdict.rung == 0 {
            self.loops.remove(&call);
            return;
        }
        if self.loops.len() >= KNOWN_MAX && !self.loops.contains_key(&call) {
            self.forget_one(now);
        }
        self.loops.insert(call, (verdict, id, now + self.lasts));
    }

    /// Forgets what no longer holds, or else what will first no longer hold.
    fn forget_one(&mut self, now: Instant) {
        self.loops.retain(|_, (_, _, until)| now < *until);
        if self.loops.len() < KNOWN_MAX {
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
        let (mut known, now) = (Known::new(SECOND), Instant::now());
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
        let (mut known, now, call) = (Known::new(SECOND), Instant::now(), Digest::new(1));
        for (of, told, kept) in [(1, 2, 2), (2, 1, 2), (2, 0, 2), (2, 3, 3), (2, 1, 1), (2, 0, 0)] {
            known.learn(call, id(of), verdict(told), now);
            assert_eq!(known.of(call, now).rung, kept, "loop {of}, rung {told}");
        }
    }

    #[test]
    fn of_too_many_the_oldest_is_forgotten() {
        let (mut known, start) = (Known::new(SECOND), Instant::now());
        let calls = 0..=u32::try_from(KNOWN_MAX).expect("it is small");
        for number in calls.clone() {
            let now = start + number * Duration::from_nanos(1);
            known.learn(Digest::new(number.into()), id(number.into()), verdict(1), now);
        }
        let rungs = calls.map(|number| known.of(Digest::new(number.into()), start).rung);
        assert!(rungs.enumerate().all(|(number, rung)| rung == u8::from(number > 0)));
        assert_eq!(known.loops.len(), KNOWN_MAX);
    }
}
