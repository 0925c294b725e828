//! The checkpoint of a replay: its idle workers, and the state of their loops.
//!
//! A replay that continues from its checkpoint has the same findings as one without a break.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, LoopId, Verdict};
use unstuck_text::Preset;

use super::findings::LoopKey;
use super::worker::IdleWorker;
use super::{Limits, Place, Replay};

/// The elements for which a node of a `BTreeMap` has room.
const NODE: usize = 11;

/// What a replay at rest consists of, beside its policy and its limits.
#[derive(Default, Serialize, Deserialize)]
pub struct ReplayCheckpoint {
    /// The idle workers, by the clock of their latest event.
    pub(super) idle: BTreeMap<u64, IdleWorker>,
    /// The number of workers so far, and of those that were finished because of a limit.
    pub(super) workers_ever: u64,
    pub(super) forgotten: usize,
    pub(super) open_loops: OpenLoops,
    pub(super) calls: usize,
    /// The number of events so far, which shows which worker was idle longest.
    pub(super) clock: u64,
}

impl Replay {
    /// Limits the workers to `workers`, of which one is active at a time, and idle ones to `idle_bytes`.
    #[must_use]
    pub fn limited(self, workers: usize, idle_bytes: usize) -> Self {
        Self { limits: Limits { active: 1, workers, idle_bytes }, ..self }
    }

    /// Names no consequence in the messages of findings, because nobody acts on them.
    #[must_use]
    pub fn observing(self) -> Self {
        Self { observes: true, ..self }
    }

    /// Makes all workers idle. Returns the bytes that they take.
    pub fn make_all_idle(&mut self) -> usize {
        self.idle_stalest(self.workers.len());
        self.workers = Vec::new();
        // The workers themselves are counted.
        let free = self.state.idle.len().next_multiple_of(NODE) - self.state.idle.len();
        self.idle_bytes + free * size_of::<(u64, IdleWorker)>()
    }

    /// Returns the policy.
    pub const fn preset(&self) -> &'static Preset {
        self.preset
    }

    /// Makes all workers idle and returns the state. Findings have to be taken before, and the steps of a loop to
    /// explain are left out.
    pub fn checkpoint(&mut self) -> &ReplayCheckpoint {
        self.make_all_idle();
        &self.state
    }

    /// Returns the replay as it was at its checkpoint, by the same policy. Returns `None` if the bytes of
    /// a worker cannot be read.
    pub fn resumed(preset: &'static Preset, state: ReplayCheckpoint) -> Option<Self> {
        let idle = || state.idle.iter();
        if !idle().all(|(_, worker)| worker.can_resume(preset)) {
            return None;
        }
        let places = idle().map(|(seen, worker)| (Arc::clone(&worker.name), Place::Idle(*seen)));
        let (places, idle_bytes) =
            (places.collect(), state.idle.values().map(IdleWorker::size).sum());
        Some(Self { state, idle_bytes, places, ..Self::new(preset) })
    }
}

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
    use std::fs::File;
    use std::io::BufReader;

    use unstuck_trace::read;

    use super::super::tests::each_run;
    use super::*;

    #[test]
    fn a_replay_goes_on_from_its_checkpoint_after_any_event() {
        let (mut found, mut checkpoints) = (0, 0);
        each_run(|path, preset| {
            let open = || BufReader::new(File::open(path).expect("a file"));
            let mut whole = Replay::new(preset);
            let (mut parts, mut list) = (Some(Replay::new(preset)), Vec::new());
            read(open(), None, &mut |event| whole.take(&event)).expect("a trace");
            read(open(), None, &mut |event| {
                let mut replay = parts.take().expect("a replay");
                replay.take(&event);
                list.extend(replay.take_findings());
                let bytes = postcard::to_stdvec(replay.checkpoint()).expect("memory");
                let rest = postcard::from_bytes(&bytes).expect("its own bytes");
                parts = Replay::resumed(preset, rest);
                checkpoints += 1;
            })
            .expect("a trace");
            let (whole, parts) = (whole.finish(), parts.expect("a replay").finish());
            list.extend(parts.list);
            list.sort_by_key(|found| found.calls_before);
            assert_eq!(format!("{:?}", whole.list), format!("{list:?}"), "{}", path.display());
            assert_eq!(whole.ends, parts.ends);
            found += list.len();
        });
        assert!(found > 40 && checkpoints > 1000, "{found} findings, {checkpoints} checkpoints");
    }

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
