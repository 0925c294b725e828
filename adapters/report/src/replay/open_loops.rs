//! The loops that may still continue: the rungs that each reached, and where it was last found.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, LoopId, Verdict};

use super::findings::LoopKey;

/// The number of open loops from which on loops that are over are dropped.
const OPEN_MIN: usize = 1024;

/// The loops of one trace.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct OpenLoops {
    /// The loops that may continue, by the number of their worker.
    open: HashMap<(u64, LoopId), OpenLoop>,
    /// The number of open loops at which the next search for loops that are over starts.
    open_max: usize,
    /// The last call or message at which each loop was found, except of those that were left.
    pub(super) ends: BTreeMap<LoopKey, usize>,
    /// The number of loops so far, which is the key of the next one.
    pub(super) count: usize,
}

/// A loop that may continue.
#[derive(Clone, Serialize, Deserialize)]
struct OpenLoop {
    key: LoopKey,
    /// The number of calls when it was last found.
    last: usize,
    /// The rungs that were reached, one bit each, apart from those reached by a block. A loop is found again after a
    /// history is cleared.
    reached: u64,
}

/// The position in the trace.
#[derive(Clone, Copy)]
pub(super) struct Elapsed {
    /// The number of calls so far.
    pub(super) calls: usize,
    /// The number of calls after which a loop that was not found again is over.
    pub(super) longest: usize,
}

impl OpenLoops {
    /// Notes that the loop `id` was found at `at`. Returns its key and, if it reached this rung for the
    /// first time, whether this is its first rung.
    pub(super) fn follow(
        &mut self,
        id: (u64, LoopId),
        verdict: &Verdict,
        at: usize,
        elapsed: Elapsed,
    ) -> (LoopKey, Option<bool>) {
        self.forget(elapsed);
        let fresh = || OpenLoop { key: self.count, last: elapsed.calls, reached: 0 };
        let open = self.open.entry(id).or_insert_with(fresh);
        if verdict.fresh && open.is_over(elapsed) {
            *open = fresh();
        }
        open.last = elapsed.calls;
        // Proof may come late, after reminders of the rung that asks for it.
        let blocks = if verdict.action >= Action::Block { 32 } else { 0 };
        let rung = 1_u64 << (verdict.rung.min(31) + blocks);
        let first = verdict.fresh && open.reached & rung == 0;
        let is_first_rung = open.reached == 0;
        if first {
            open.reached |= rung;
        }
        let key = open.key;
        if key == self.count {
            self.count += 1;
            self.ends.insert(key, at);
        } else if let Some(end) = self.ends.get_mut(&key) {
            *end = at;
        }
        (key, first.then_some(is_first_rung))
    }

    /// Ends the run and all loops in it.
    pub(super) fn end_run(&mut self) {
        self.open.clear();
    }

    /// Drops the loops that are over, if there are many.
    fn forget(&mut self, elapsed: Elapsed) {
        if self.open.len() >= self.open_max.max(OPEN_MIN) {
            self.open.retain(|_, open| !open.is_over(elapsed));
            self.open_max = 2 * self.open.len();
        }
    }
}

impl OpenLoop {
    fn is_over(&self, elapsed: Elapsed) -> bool {
        elapsed.calls.saturating_sub(self.last) > elapsed.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_that_are_over_are_dropped() {
        let mut loops = OpenLoops::default();
        let mut verdict = Verdict::PROCEED;
        verdict.fresh = true;
        for n in 0..3 * OPEN_MIN {
            let elapsed = Elapsed { calls: n, longest: 20 };
            let id = (0, LoopId::from_bits(n as u64));
            assert_eq!(loops.follow(id, &verdict, n, elapsed), (n, Some(true)));
            assert_eq!(loops.follow(id, &verdict, n, elapsed), (n, None));
            assert!(loops.open.len() <= OPEN_MIN);
        }
        assert!((0..3 * OPEN_MIN).all(|n| loops.ends.get(&n) == Some(&n)));
    }
}
