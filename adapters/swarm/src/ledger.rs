//! A ledger that counts the calls of a swarm in memory.

use alloc::vec::Vec;
use core::mem;

use unstuck_core::{Action, Digest, LoopId, Tool};

use crate::generation::{Entry, Generation, Slot};
use crate::observation::{Key, Observation};
use crate::rule::{Allowance, Rule, RuleError, Window};
use crate::verdict::{Counts, Finding, Outcome, Verdict};
use crate::workers::Mark;

/// The default number of counters of a ledger in each generation: more than the different calls of a hundred
/// agents in five minutes. The memory is allocated when it is needed.
pub const CAPACITY: usize = 1 << 14;

/// The maximum capacity: the number of a counter has 32 bits.
pub const CAPACITY_MAX: usize = 1 << 28;

/// The number of loops that [`Ledger::look`] knows by their calls. The oldest are forgotten.
pub const LOOPS_MAX: usize = 64;

/// Counts the calls of a swarm and finds the loops that its workers are in together.
///
/// ```
/// use unstuck_swarm::{Action, Digest, Ledger, Rule, Observation, Tool, Worker};
///
/// let mut ledger = Ledger::new(Rule::default())?;
/// let (tool, call) = (Tool::named("bash"), Digest::of(b"make all"));
/// let error = Digest::of(b"no rule to make target");
/// let mut said = Vec::new();
/// for second in 0..10 {
///     // Five workers make the call, each of them twice.
///     let worker = Worker::new(second % 5);
///     let observation = Observation::new(worker, tool, call).failed(error);
///     let verdict = ledger.record(&observation, second * 1000);
///     said.push(verdict.action);
///     if let Some(finding) = verdict.finding {
///         assert_eq!((finding.calls, finding.workers), (10, 5));
///         let text = finding.nudge(verdict.action, "bash").to_string();
///         assert!(text.starts_with("5 workers have made the same `bash` call 10 times, and it fails"));
///     }
/// }
/// assert_eq!(said[..9], [Action::Proceed; 9]);
/// assert_eq!(said[9], Action::Nudge);
/// # Ok::<(), unstuck_swarm::RuleError>(())
/// ```
///
/// # What is counted
///
/// Calls are equal if they have the same digest and, if it is known, the same result. Calls count within the
/// [`Window`] of the rule: the current generation and the previous one.
///
/// # What is forgotten
///
/// The capacity is the number of counters of a generation. A further key takes over the counter of a key with
/// the fewest calls (Space-Saving), so frequent keys stay. The calls of a verdict were surely made.
/// [`Finding::missed`] is the number of calls that may be missing. It is at most the calls of the generations
/// divided by the capacity.
///
/// # Cost
///
/// O(1) a call, for any number of workers and earlier calls. The memory is about 50 bytes for each key and
/// generation, and 64 more if several workers made the call.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub(crate) rule: Rule,
    pub(crate) generation: u64,
    /// The number of counted calls, if the window counts calls.
    pub(crate) ticks: u64,
    pub(crate) now: Generation,
    pub(crate) before: Generation,
    /// The calls that are known to be in a loop, with their keys. The oldest come first.
    pub(crate) loops: Vec<(Digest, Key)>,
}

/// The counts of one key in both generations.
///
/// ```
/// use unstuck_swarm::{Digest, Ledger, Observation, Rule, Tool, Worker};
///
/// let mut ledger = Ledger::new(Rule::default())?;
/// for worker in 0..3 {
///     let call = Observation::new(Worker::new(worker), Tool::named("bash"), Digest::of(b"make all"));
///     let _ = ledger.record(&call, 1000);
/// }
/// let hottest = ledger.hottest(10, 1000);
/// assert_eq!((hottest[0].calls, hottest[0].workers), (3, 3));
/// # Ok::<(), unstuck_swarm::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heat {
    /// The id of the loop that these calls are, or would be.
    pub loop_id: LoopId,
    /// The tool.
    pub tool: Tool,
    /// The number of calls that were surely made.
    pub calls: u32,
    /// The number of workers that made them.
    pub workers: u32,
    /// The maximum number of further calls that were not counted.
    pub missed: u32,
    /// The outcome of all of them.
    pub outcome: Outcome,
    /// The action that the rule asks for.
    pub action: Action,
}

/// The slots of one key in both generations.
#[derive(Clone, Copy)]
struct Slots {
    now: Option<Slot>,
    before: Option<Slot>,
}

impl Ledger {
    /// Creates an empty ledger with [`CAPACITY`] counters a generation.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Rule::check`].
    pub fn new(rule: Rule) -> Result<Self, RuleError> {
        Self::with_capacity(rule, CAPACITY)
    }

    /// Creates an empty ledger with `capacity` counters a generation: from 1 to [`CAPACITY_MAX`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Rule::check`].
    pub fn with_capacity(rule: Rule, capacity: usize) -> Result<Self, RuleError> {
        let capacity = capacity.clamp(1, CAPACITY_MAX);
        Ok(Self {
            rule: rule.check()?,
            generation: 0,
            ticks: 0,
            now: Generation::new(capacity),
            before: Generation::new(capacity),
            loops: Vec::new(),
        })
    }

    /// Returns the rule of the ledger.
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Counts one call at the time `now` and judges it. Amortised O(1).
    ///
    /// `now` has the unit of the rule's window. It is ignored if the window counts calls. If the clock is set
    /// back by less than half the span, the ledger treats it as standing still. If it is set back by more, the
    /// ledger forgets all calls.
    pub fn record(&mut self, observation: &Observation, now: u64) -> Verdict {
        let allowance = self.rule.allowance(observation);
        if allowance == Allowance::Any {
            return Verdict::PROCEED;
        }
        let time = self.tick(now);
        self.turn_to(self.rule.window.generation(time));
        self.count(observation, allowance)
    }

    /// Returns the time of the next call.
    fn tick(&mut self, now: u64) -> u64 {
        match self.rule.window {
            Window::Time { .. } => now,
            Window::Calls { .. } => {
                let time = self.ticks;
                self.ticks = time.saturating_add(1);
                time
            }
        }
    }

    /// Returns the time without counting a call.
    pub(crate) const fn time(&self, now: u64) -> u64 {
        match self.rule.window {
            Window::Time { .. } => now,
            Window::Calls { .. } => self.ticks,
        }
    }

    /// Turns to a generation.
    pub(crate) fn turn_to(&mut self, generation: u64) {
        // Workers read the clock one after the other, and may report their calls in another order.
        if generation == self.generation || generation.checked_add(1) == Some(self.generation) {
            return;
        }
        if self.generation.checked_add(1) == Some(generation) {
            mem::swap(&mut self.now, &mut self.before);
        } else {
            self.before.clear();
        }
        self.now.clear();
        self.generation = generation;
    }

    /// Turns to a later generation for a reader. A reader's clock never turns back, so that reading forgets
    /// only generations that are over.
    fn turn_on_to(&mut self, generation: u64) {
        self.turn_to(generation.max(self.generation));
    }

    /// Counts a call in the current generation.
    pub(crate) fn count(&mut self, observation: &Observation, allowance: Allowance) -> Verdict {
        let (key, mark) = (observation.key(), Mark::of(observation.worker));
        let slot = match self.now.find(key) {
            Some(slot) => {
                self.now.count(slot, mark);
                slot
            }
            None => self.now.add(observation, mark, self.before.find(key)),
        };
        let slots = Slots { now: Some(slot), before: self.now.entry(slot).before() };
        // Nearly all calls return here.
        if self.calls(slots) < self.rule.calls {
            return Verdict::PROCEED;
        }
        let verdict = self.judge(slots, allowance);
        if verdict.action > Action::Proceed {
            self.remember(observation.call, key);
        }
        verdict
    }

    /// Adds a call to the known loops.
    fn remember(&mut self, call: Digest, key: Key) {
        if self.loops.contains(&(call, key)) {
            return;
        }
        if self.loops.len() >= LOOPS_MAX {
            self.loops.remove(0);
        }
        self.loops.push((call, key));
    }

    /// Returns the verdict on the loop of the call with the digest `call`, without counting it. If there are
    /// several loops, returns the strongest verdict. O([`LOOPS_MAX`]).
    pub fn look(&mut self, call: Digest, now: u64) -> Verdict {
        self.look_in(call, self.rule.window.generation(self.time(now)))
    }

    pub(crate) fn look_in(&mut self, call: Digest, generation: u64) -> Verdict {
        if self.loops.is_empty() {
            return Verdict::PROCEED;
        }
        self.turn_on_to(generation);
        let known = self.loops.iter().filter(|(known, _)| *known == call);
        known
            .filter_map(|(_, key)| self.judge_known(self.slots(*key)?))
            .fold(Verdict::PROCEED, Verdict::or_stronger)
    }

    /// Returns the keys with the most calls, the hottest first: at most `limit` of them. O(capacity).
    pub fn hottest(&mut self, limit: usize, now: u64) -> Vec<Heat> {
        self.hottest_in(limit, self.rule.window.generation(self.time(now)))
    }

    pub(crate) fn hottest_in(&mut self, limit: usize, generation: u64) -> Vec<Heat> {
        self.turn_on_to(generation);
        let new = self.now.slots().map(|slot| self.now.entry(slot).key);
        let old = self.before.slots().map(|slot| self.before.entry(slot).key);
        let old = old.filter(|key| self.now.find(*key).is_none());
        let all_slots = new.chain(old).filter_map(|key| self.slots(key));
        let mut all: Vec<_> = all_slots.map(|slots| (self.calls(slots), slots)).collect();
        all.sort_by_key(|(calls, slots)| (u32::MAX - calls, self.entry(*slots).map(|one| one.key)));
        all.truncate(limit);
        all.into_iter().filter_map(|(_, slots)| self.heat(slots)).collect()
    }

    /// Returns the number of counters in use, in both generations.
    pub fn counters(&self) -> usize {
        self.now.slots().len() + self.before.slots().len()
    }

    /// Returns the bytes of the heap in use.
    pub fn memory(&self) -> usize {
        let loops = self.loops.capacity() * size_of::<(Digest, Key)>();
        self.now.memory() + self.before.memory() + loops
    }

    /// Forgets all calls.
    pub fn clear(&mut self) {
        self.now.clear();
        self.before.clear();
        self.loops.clear();
    }

    fn slots(&self, key: Key) -> Option<Slots> {
        let slots = Slots { now: self.now.find(key), before: self.before.find(key) };
        (slots.now.is_some() || slots.before.is_some()).then_some(slots)
    }

    /// Returns the entry of a key, from the current generation if it has one there.
    fn entry(&self, slots: Slots) -> Option<&Entry> {
        let now = slots.now.map(|slot| self.now.entry(slot));
        now.or_else(|| slots.before.map(|slot| self.before.entry(slot)))
    }

    /// Returns the number of calls that were surely made.
    fn calls(&self, slots: Slots) -> u32 {
        let now = slots.now.map_or(0, |slot| self.now.calls(slot));
        now.saturating_add(slots.before.map_or(0, |slot| self.before.calls(slot)))
    }

    /// Returns the number of calls that were not the first of their worker.
    fn repeats(&self, slots: Slots) -> u32 {
        let of = |generation: &Generation, slot: Option<Slot>| {
            slot.map_or(0, |slot| generation.entry(slot).repeats)
        };
        let both = match (slots.now, slots.before) {
            // A worker of both generations made its first call in the previous one.
            (Some(now), Some(before)) => {
                let workers = self.now.workers(now);
                workers.iter().filter(|mark| self.before.has(before, *mark)).count()
            }
            _ => 0,
        };
        let both = u32::try_from(both).unwrap_or(u32::MAX);
        of(&self.now, slots.now).saturating_add(of(&self.before, slots.before)).saturating_add(both)
    }

    fn workers(&self, slots: Slots) -> u32 {
        match (slots.now, slots.before) {
            (Some(now), Some(before)) => {
                let mut workers = self.now.workers(now);
                self.before.workers(before).iter().for_each(|mark| workers.add(mark));
                workers.count()
            }
            (Some(slot), None) => self.now.count_workers(slot),
            (None, Some(slot)) => self.before.count_workers(slot),
            (None, None) => 0,
        }
    }

    fn missed(&self, slots: Slots) -> u32 {
        self.now.missed(slots.now).saturating_add(self.before.missed(slots.before))
    }

    fn judge(&self, slots: Slots, allowance: Allowance) -> Verdict {
        let (Some(entry), workers) = (self.entry(slots), self.workers(slots)) else {
            return Verdict::PROCEED;
        };
        let calls = self.calls(slots);
        let counted = match allowance {
            Allowance::Any => 0,
            Allowance::Once => self.repeats(slots),
            Allowance::None => calls,
        };
        let (rung, action) = self.rule.rung(counted, workers);
        if rung == 0 {
            return Verdict::PROCEED;
        }
        let beyond = counted - self.rule.calls;
        let counts = Counts { calls, workers, missed: self.missed(slots), beyond };
        let finding = Finding::new(entry.key.loop_id(), entry.tool, entry.outcome, counts);
        Verdict { action, rung, finding: Some(finding) }
    }

    /// Returns the verdict on a key.
    fn judge_known(&self, slots: Slots) -> Option<Verdict> {
        let entry = self.entry(slots)?;
        Some(self.judge(slots, self.rule.allowance_of(entry.tool, entry.outcome)))
    }

    fn heat(&self, slots: Slots) -> Option<Heat> {
        let entry = self.entry(slots)?;
        Some(Heat {
            loop_id: entry.key.loop_id(),
            tool: entry.tool,
            calls: self.calls(slots),
            workers: self.workers(slots),
            missed: self.missed(slots),
            outcome: entry.outcome,
            action: self.judge_known(slots)?.action,
        })
    }
}
