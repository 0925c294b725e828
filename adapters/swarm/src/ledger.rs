//! The calls of a swarm, counted in memory.

use alloc::vec::Vec;
use core::mem;

use unstuck_core::{Action, Digest, LoopId, Tool};

use crate::generation::{Entry, Generation, Slot};
use crate::observation::{Key, Observation};
use crate::rule::{Allowance, Rule, RuleError, Window};
use crate::verdict::{Counts, Finding, Outcome, Verdict};
use crate::workers::Mark;

/// How many keys a ledger has counters for in each generation, unless it is told otherwise: more than a
/// hundred agents make different calls in five minutes. The memory is taken as they come.
pub const CAPACITY: usize = 1 << 14;

/// The most that it may have: the number of a counter has 32 bits.
pub const CAPACITY_MAX: usize = 1 << 28;

/// How many loops are known by their calls, for [`Ledger::look`]; the oldest are forgotten.
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
///     // Five workers, each of which makes the call twice.
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
/// Calls are equal that have the same digest and, where it is known what came back, the same answer. What
/// counts is the [`Window`] of the rule: the generation that goes on and the one before.
///
/// # What is forgotten
///
/// Each generation has as many counters as the capacity says. Where more keys come, one that was called
/// least gives up its counter (Space-Saving): keys that are called often stay. What a verdict counts was
/// surely called; how many calls may be missing is [`Finding::missed`], and never more than the calls of
/// the generations divided by the capacity.
///
/// # Cost
///
/// O(1) a call, whatever was called before and by however many workers; the memory is some 50 bytes for each key and
/// generation, and 64 more where several workers made the call.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub(crate) rule: Rule,
    pub(crate) generation: u64,
    /// How many calls were counted, where that is the clock.
    pub(crate) ticks: u64,
    pub(crate) now: Generation,
    pub(crate) before: Generation,
    /// Calls that are known to be in a loop, with what they are counted under; the oldest first.
    pub(crate) loops: Vec<(Digest, Key)>,
}

/// What is counted under one key, in both generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heat {
    /// Which loop it is, or would be.
    pub loop_id: LoopId,
    /// The tool that is called.
    pub tool: Tool,
    /// How many calls were surely made.
    pub calls: u32,
    /// How many workers made them.
    pub workers: u32,
    /// How many calls more there may have been.
    pub missed: u32,
    /// What came back from all of them.
    pub outcome: Outcome,
    /// What is to be done about it.
    pub action: Action,
}

/// Where the counters of one key are.
#[derive(Clone, Copy)]
struct Place {
    now: Option<Slot>,
    before: Option<Slot>,
}

impl Ledger {
    /// A ledger with [`CAPACITY`] counters a generation that has seen nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Rule::check`].
    pub fn new(rule: Rule) -> Result<Self, RuleError> {
        Self::with_capacity(rule, CAPACITY)
    }

    /// A ledger with so many counters a generation: 1 at least, and no more than [`CAPACITY_MAX`].
    ///
    /// # Errors
    ///
    /// Those of [`Rule::check`].
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

    /// The rule that it judges by.
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Counts one call at the time `now` and judges it. O(1), counted over all calls.
    ///
    /// `now` is read by the clock that the rule's window is measured by; it is not looked at where that
    /// counts calls. A clock that is set back by less than half the span stands still, as far as the
    /// ledger is concerned; one that is set back by more begins anew, and all calls are forgotten.
    pub fn record(&mut self, observation: &Observation, now: u64) -> Verdict {
        let allowance = self.rule.allowance(observation);
        if allowance == Allowance::Any {
            return Verdict::PROCEED;
        }
        let time = self.tick(now);
        self.turn_to(self.rule.window.generation(time));
        self.count(observation, allowance)
    }

    /// The time of the next call.
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

    /// The time when nothing is called.
    pub(crate) const fn time(&self, now: u64) -> u64 {
        match self.rule.window {
            Window::Time { .. } => now,
            Window::Calls { .. } => self.ticks,
        }
    }

    /// Goes on to a generation.
    pub(crate) fn turn_to(&mut self, generation: u64) {
        // Workers read the clock one after the other, and may tell of their calls in another order.
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

    /// Goes on to a generation for who only reads: back by nobody's clock, so that reading forgets nothing
    /// that is not over.
    fn turn_on_to(&mut self, generation: u64) {
        self.turn_to(generation.max(self.generation));
    }

    /// Counts a call in the generation that goes on.
    pub(crate) fn count(&mut self, observation: &Observation, allowance: Allowance) -> Verdict {
        let (key, mark) = (observation.key(), Mark::of(observation.worker));
        let slot = match self.now.find(key) {
            Some(slot) => {
                self.now.count(slot, mark);
                slot
            }
            None => self.now.add(observation, mark, self.before.find(key)),
        };
        let place = Place { now: Some(slot), before: self.now.entry(slot).before() };
        // Nearly all calls end here.
        if self.calls(place) < self.rule.calls {
            return Verdict::PROCEED;
        }
        let verdict = self.judge(place, allowance);
        if verdict.action > Action::Proceed {
            self.remember(observation.call, key);
        }
        verdict
    }

    /// Remembers that the call `call` is in a loop.
    fn remember(&mut self, call: Digest, key: Key) {
        if self.loops.contains(&(call, key)) {
            return;
        }
        if self.loops.len() >= LOOPS_MAX {
            self.loops.remove(0);
        }
        self.loops.push((call, key));
    }

    /// What is known of the call with the digest `call`: the verdict on the loop that it is in, if it is
    /// in one, or of several the one that asks for most. It counts nothing. O([`LOOPS_MAX`]).
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
            .filter_map(|(_, key)| self.judge_known(self.place(*key)?))
            .fold(Verdict::PROCEED, Verdict::or_stronger)
    }

    /// The keys that are called most, the hottest first: at most `limit` of them. O(capacity).
    pub fn hottest(&mut self, limit: usize, now: u64) -> Vec<Heat> {
        self.hottest_in(limit, self.rule.window.generation(self.time(now)))
    }

    pub(crate) fn hottest_in(&mut self, limit: usize, generation: u64) -> Vec<Heat> {
        self.turn_on_to(generation);
        let new = self.now.slots().map(|slot| self.now.entry(slot).key);
        let old = self.before.slots().map(|slot| self.before.entry(slot).key);
        let old = old.filter(|key| self.now.find(*key).is_none());
        let places = new.chain(old).filter_map(|key| self.place(key));
        let mut all: Vec<_> = places.map(|place| (self.calls(place), place)).collect();
        all.sort_by_key(|(calls, place)| (u32::MAX - calls, self.entry(*place).map(|one| one.key)));
        all.truncate(limit);
        all.into_iter().filter_map(|(_, place)| self.heat(place)).collect()
    }

    /// How many counters are in use, those of the generation before included.
    pub fn counters(&self) -> usize {
        self.now.slots().len() + self.before.slots().len()
    }

    /// The bytes of the heap that it has taken.
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

    fn place(&self, key: Key) -> Option<Place> {
        let place = Place { now: self.now.find(key), before: self.before.find(key) };
        (place.now.is_some() || place.before.is_some()).then_some(place)
    }

    /// What is known of the key whose counters are at `place`, whatever it counts.
    fn entry(&self, place: Place) -> Option<&Entry> {
        let now = place.now.map(|slot| self.now.entry(slot));
        now.or_else(|| place.before.map(|slot| self.before.entry(slot)))
    }

    /// How many calls were surely made.
    fn calls(&self, place: Place) -> u32 {
        let now = place.now.map_or(0, |slot| self.now.calls(slot));
        now.saturating_add(place.before.map_or(0, |slot| self.before.calls(slot)))
    }

    /// How many of the calls were not their worker's first.
    fn repeats(&self, place: Place) -> u32 {
        let of = |generation: &Generation, slot: Option<Slot>| {
            slot.map_or(0, |slot| generation.entry(slot).repeats)
        };
        let both = match (place.now, place.before) {
            // A worker of both generations began in the one before.
            (Some(now), Some(before)) => {
                let workers = self.now.workers(now);
                workers.iter().filter(|mark| self.before.has(before, *mark)).count()
            }
            _ => 0,
        };
        let both = u32::try_from(both).unwrap_or(u32::MAX);
        of(&self.now, place.now).saturating_add(of(&self.before, place.before)).saturating_add(both)
    }

    fn workers(&self, place: Place) -> u32 {
        match (place.now, place.before) {
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

    fn missed(&self, place: Place) -> u32 {
        self.now.missed(place.now).saturating_add(self.before.missed(place.before))
    }

    fn judge(&self, place: Place, allowance: Allowance) -> Verdict {
        let (Some(entry), workers) = (self.entry(place), self.workers(place)) else {
            return Verdict::PROCEED;
        };
        let calls = self.calls(place);
        let counted = match allowance {
            Allowance::Any => 0,
            Allowance::Once => self.repeats(place),
            Allowance::None => calls,
        };
        let (rung, action) = self.rule.rung(counted, workers);
        if rung == 0 {
            return Verdict::PROCEED;
        }
        let beyond = counted - self.rule.calls;
        let counts = Counts { calls, workers, missed: self.missed(place), beyond };
        let finding = Finding::new(entry.key.loop_id(), entry.tool, entry.outcome, counts);
        Verdict { action, rung, finding: Some(finding) }
    }

    /// The verdict on the key whose counters are at `place`.
    fn judge_known(&self, place: Place) -> Option<Verdict> {
        let entry = self.entry(place)?;
        Some(self.judge(place, self.rule.allowance_of(entry.tool, entry.outcome)))
    }

    fn heat(&self, place: Place) -> Option<Heat> {
        let entry = self.entry(place)?;
        Some(Heat {
            loop_id: entry.key.loop_id(),
            tool: entry.tool,
            calls: self.calls(place),
            workers: self.workers(place),
            missed: self.missed(place),
            outcome: entry.outcome,
            action: self.judge_known(place)?.action,
        })
    }
}
