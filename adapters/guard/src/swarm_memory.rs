//! The part of a guard's state that concerns its swarm.
//!
//! It is part of every checkpoint, so that a guard may join a swarm or leave it at a restore.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, Digest, LoopId, Outcome, Tool};
use unstuck_swarm::{Counts, Finding, Outcome as LoopOutcome, Verdict};

use crate::calls::SharedCall;

/// The largest number of loops of the swarm in memory. The loop that was reported longest ago is
/// forgotten first.
const LOOPS_MAX: usize = 8;

/// The largest number of different calls whose novel writes are counted.
const MADE_MAX: usize = 32;

/// The time for which a call stays blocked without a new answer of the store, in milliseconds. The call
/// may then run once more; the store hears of it, and answers whether the loop still goes on.
const BLOCKED_FOR: u64 = 60_000;

/// The time for which a loop's rung is remembered after the store's latest answer, in milliseconds.
const RUNG_FOR: u64 = 600_000;

/// The memory of a guard whose worker is one of a swarm.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SwarmMemory {
    /// The calls that ended last, each with the number of novel writes before it: the oldest first.
    made: VecDeque<(Digest, u32)>,
    /// The number of novel writes before the call that was forgotten last.
    floor: u32,
    /// The number of novel writes.
    writes: u32,
    /// The loops that the store has reported, the oldest first.
    loops: VecDeque<SwarmLoop>,
    /// The loops that the host has silenced, the oldest first.
    silenced: VecDeque<LoopId>,
}

/// A loop of the swarm.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct SwarmLoop {
    pub(crate) loop_id: LoopId,
    call: Digest,
    pub(crate) tool: Tool,
    status: Status,
    pub(crate) calls: u32,
    pub(crate) workers: u32,
    missed: u32,
    /// Whether all calls failed, if it is known how they ended.
    pub(crate) failed: Option<bool>,
    pub(crate) confidence: u8,
}

/// The status of a loop for this worker.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Status {
    /// The time of the store's latest answer: milliseconds since 1970.
    at: u64,
    /// The highest rung that was announced to the worker.
    rung: u8,
    block: Block,
}

/// Whether the call of a loop may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Block {
    /// The call may run.
    Off,
    /// The call is blocked.
    On,
    /// The user has spoken since, or the call ended in another way. It may run until the store answers it
    /// with this loop.
    Lifted,
}

impl SwarmMemory {
    /// Forgets the run, because a new one begins. Loops that the host silenced stay silenced.
    pub(crate) fn clear(&mut self) {
        let silenced = std::mem::take(&mut self.silenced);
        *self = Self { silenced, ..Self::default() };
    }

    /// Lifts every block and forgets every rung, because the user has spoken.
    pub(crate) fn lift(&mut self) {
        for one in &mut self.loops {
            (one.status.block, one.status.rung) = (Block::Lifted, 0);
        }
    }

    /// Silences a loop, because the host calls it a false positive.
    pub(crate) fn silence(&mut self, id: LoopId) {
        self.forget(id);
        push(&mut self.silenced, id, LOOPS_MAX);
    }

    fn forget(&mut self, id: LoopId) -> Option<SwarmLoop> {
        let place = self.loops.iter().position(|one| one.loop_id == id)?;
        self.loops.remove(place)
    }

    /// Returns whether a guard could have written this memory.
    pub(crate) fn fits(&self) -> bool {
        self.made.len() <= MADE_MAX
            && self.loops.len() <= LOOPS_MAX
            && self.silenced.len() <= LOOPS_MAX
    }

    /// Takes in that a call has ended. Returns whether there was a novel write since the call ended last:
    /// a worker that looks again after a change is not stuck.
    pub(crate) fn end_call(&mut self, shared: SharedCall, outcome: Option<Outcome>) -> bool {
        let SharedCall { digest: call, writes } = shared;
        let has_changed = self.has_changed(call);
        let place = self.made.iter().position(|(made, _)| *made == call);
        let is_novel = place.and_then(|place| self.made.remove(place)).is_none();
        if writes && is_novel && outcome.is_some_and(|outcome| !outcome.has_failed()) {
            self.writes = self.writes.saturating_add(1);
        }
        if let Some((_, floor)) = push(&mut self.made, (call, self.writes), MADE_MAX) {
            self.floor = floor;
        }
        has_changed
    }

    /// Returns whether there was a novel write since the call ended last.
    fn has_changed(&self, call: Digest) -> bool {
        let made = self.made.iter().find(|(made, _)| *made == call);
        self.writes > made.map_or(self.floor, |(_, writes)| *writes)
    }

    /// Returns the loop for which the call is blocked before it runs, with its rung. `looked` is the
    /// store's verdict on the call; earlier answers count, too. A change since may have ended the loop, so
    /// that the call is not blocked.
    pub(crate) fn blocked(
        &mut self,
        call: Digest,
        looked: Verdict,
        now: u64,
    ) -> Option<(SwarmLoop, u8)> {
        if self.has_changed(call) {
            return None;
        }
        if looked.action >= Action::Block && self.concerns(call, looked) {
            return self.take_in(call, looked, now).map(|one| (one, looked.rung));
        }
        let holds = |one: &&SwarmLoop| {
            let is_recent = now.abs_diff(one.status.at) < BLOCKED_FOR;
            one.call == call && one.status.block == Block::On && is_recent
        };
        self.loops.iter().rev().find(holds).map(|one| (*one, one.status.rung))
    }

    /// Returns whether the store's verdict on a call concerns this worker: it has never made the call, or
    /// was warned of that loop. Otherwise its call may end in another way than the calls of the others.
    fn concerns(&self, call: Digest, looked: Verdict) -> bool {
        let id = looked.finding.map(|finding| finding.loop_id);
        match self.loops.iter().find(|one| Some(one.loop_id) == id) {
            Some(one) => one.status.block != Block::Lifted,
            None => !self.made.iter().any(|(made, _)| *made == call),
        }
    }

    /// Takes in the store's answer to a call. Returns the loop with the new numbers and the rung that was
    /// announced before.
    pub(crate) fn take_in(
        &mut self,
        call: Digest,
        verdict: Verdict,
        now: u64,
    ) -> Option<SwarmLoop> {
        let Some(finding) = verdict.finding else {
            // The call ended in another way than the calls of the others, or no store answers.
            let of_call = |one: &&mut SwarmLoop| one.call == call;
            let lift = |one: &mut SwarmLoop| one.status.block = Block::Lifted;
            self.loops.iter_mut().filter(of_call).for_each(lift);
            return None;
        };
        if self.silenced.contains(&finding.loop_id) {
            return None;
        }
        let before = self.forget(finding.loop_id);
        let before = before.filter(|one| now.abs_diff(one.status.at) < RUNG_FOR);
        let rung = before.map_or(0, |one| one.status.rung);
        let block = if verdict.action >= Action::Block { Block::On } else { Block::Off };
        let one = SwarmLoop::new(call, &finding, Status { at: now, rung, block });
        push(&mut self.loops, one, LOOPS_MAX);
        Some(one)
    }

    /// Records that this rung of a loop was announced to the worker.
    pub(crate) fn announced(&mut self, id: LoopId, rung: u8) {
        if let Some(one) = self.loops.iter_mut().find(|one| one.loop_id == id) {
            one.status.rung = rung;
        }
    }
}

impl SwarmLoop {
    fn new(call: Digest, finding: &Finding, status: Status) -> Self {
        let failed = match finding.outcome {
            LoopOutcome::Unknown => None,
            LoopOutcome::Worked => Some(false),
            LoopOutcome::Failed => Some(true),
        };
        let &Finding { loop_id, tool, calls, workers, missed, confidence, .. } = finding;
        Self { loop_id, call, tool, status, calls, workers, missed, failed, confidence }
    }

    /// Returns the highest rung that was announced to the worker.
    pub(crate) const fn rung(&self) -> u8 {
        self.status.rung
    }

    /// Returns the finding as the store reported it.
    pub(crate) fn finding(&self) -> Finding {
        let outcome = match self.failed {
            None => LoopOutcome::Unknown,
            Some(false) => LoopOutcome::Worked,
            Some(true) => LoopOutcome::Failed,
        };
        let Self { calls, workers, missed, .. } = *self;
        let counts = Counts { calls, workers, missed, beyond: 0 };
        let mut finding = Finding::new(self.loop_id, self.tool, outcome, counts);
        finding.confidence = self.confidence;
        finding
    }
}

/// Appends `one`. Returns the oldest entry if it had to make room, because there are at most `max`.
fn push<T>(all: &mut VecDeque<T>, one: T, max: usize) -> Option<T> {
    let oldest = if all.len() >= max { all.pop_front() } else { None };
    all.push_back(one);
    oldest
}

#[cfg(test)]
mod tests {
    use unstuck_core::Call;

    use super::*;
    const HOUR: u64 = 3_600_000;

    fn call(n: u64) -> Digest {
        Call::new(Tool::named("bash"), Digest::new(n)).digest()
    }

    /// The verdict of a store that the loop `id` is at that rung.
    fn verdict(id: u64, rung: u8, action: Action) -> Verdict {
        let counts = Counts { calls: 12, workers: 3, missed: 1, beyond: 2 };
        let (id, tool) = (LoopId::from_bits(id), Tool::named("bash"));
        Verdict {
            action,
            rung,
            finding: Some(Finding::new(id, tool, LoopOutcome::Unknown, counts)),
        }
    }

    fn shared(n: u64, writes: bool) -> SharedCall {
        SharedCall { digest: call(n), writes }
    }

    fn blocks(memory: &mut SwarmMemory, n: u64, now: u64) -> bool {
        memory.blocked(call(n), Verdict::PROCEED, now).is_some()
    }

    #[test]
    fn a_block_ends_by_itself() {
        let mut memory = SwarmMemory::default();
        let block = verdict(7, 3, Action::Block);
        assert!(memory.take_in(call(1), block, HOUR).is_some());
        let last = HOUR + BLOCKED_FOR - 1;
        assert!(blocks(&mut memory, 1, last) && !blocks(&mut memory, 2, last));
        // A clock that was set back ends a block, too.
        for later in [last + 1, 9 * HOUR, HOUR - BLOCKED_FOR] {
            assert!(!blocks(&mut memory, 1, later), "{later}");
        }
        assert!(memory.take_in(call(1), verdict(7, 1, Action::Nudge), HOUR).is_some());
        assert!(!blocks(&mut memory, 1, HOUR), "the store has lifted the block");
    }

    #[test]
    fn a_rung_is_forgotten_some_time_after_the_last_answer() {
        let mut memory = SwarmMemory::default();
        let nudge = verdict(7, 1, Action::Nudge);
        let rung = |memory: &mut SwarmMemory, now| {
            memory.take_in(call(1), nudge, now).map(|one| one.rung())
        };
        assert_eq!(rung(&mut memory, 0), Some(0));
        memory.announced(LoopId::from_bits(7), 1);
        for now in [1, RUNG_FOR, 2 * RUNG_FOR - 1] {
            assert_eq!(rung(&mut memory, now), Some(1), "each answer renews it");
        }
        assert_eq!(rung(&mut memory, 9 * HOUR), Some(0));
    }

    #[test]
    fn a_look_up_blocks_the_workers_that_it_concerns() {
        let block = verdict(7, 3, Action::Block);
        let is_blocked = |memory: &mut SwarmMemory| memory.blocked(call(1), block, HOUR).is_some();
        let again = shared(1, false);
        let ok = Some(Outcome::ok(Digest::new(0)));
        assert!(is_blocked(&mut SwarmMemory::default()), "it never made the call");
        let mut other_way = SwarmMemory::default();
        let _ = (other_way.end_call(again, ok), other_way.take_in(call(1), Verdict::PROCEED, 0));
        assert!(!is_blocked(&mut other_way), "its call ended in another way");
        let _ = other_way.take_in(call(1), verdict(7, 1, Action::Nudge), 0);
        assert!(is_blocked(&mut other_way), "it was nudged");
        other_way.lift();
        assert!(!is_blocked(&mut other_way), "the user has spoken");
        let _ = other_way.take_in(call(1), verdict(7, 1, Action::Nudge), 0);
        let write = shared(2, true);
        let _ = other_way.end_call(write, ok);
        assert!(!is_blocked(&mut other_way), "it has changed something");
        let _ = other_way.end_call(again, ok);
        assert!(is_blocked(&mut other_way), "the change did not help");
    }

    #[test]
    fn it_is_bounded_and_forgets_the_oldest_first() {
        let mut memory = SwarmMemory::default();
        for n in 0..100 {
            let made = shared(n, n % 2 == 0);

            let _ = memory.end_call(made, Some(Outcome::ok(Digest::new(n))));
            let _ = memory.take_in(call(n), verdict(n, 3, Action::Block), 0);
            memory.silence(LoopId::from_bits(1000 + n));
        }
        assert!(memory.fits());
        assert!(blocks(&mut memory, 99, 0) && !blocks(&mut memory, 50, 0));
        assert!(memory.take_in(call(1), verdict(1099, 1, Action::Nudge), 0).is_none());
        assert!(memory.take_in(call(1), verdict(1001, 1, Action::Nudge), 0).is_some());
        // A worker that repeats many calls has not written since, although each call is forgotten.
        let rounds = |memory: &mut SwarmMemory| {
            (200..240).filter(|n| memory.end_call(shared(*n, false), None)).count()
        };
        assert!(rounds(&mut memory) > 0);
        assert_eq!(rounds(&mut memory), 0);
    }

    #[test]
    fn a_finding_is_stored_unchanged() {
        let verdict = verdict(7, 1, Action::Nudge);
        for outcome in [LoopOutcome::Unknown, LoopOutcome::Worked, LoopOutcome::Failed] {
            let mut finding = verdict.finding.expect("one");
            finding.outcome = outcome;
            let one =
                SwarmLoop::new(call(1), &finding, Status { at: 0, rung: 0, block: Block::Off });
            assert_eq!(one.finding(), finding);
        }
    }
}
