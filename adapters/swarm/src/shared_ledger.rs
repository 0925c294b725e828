//! A ledger for several threads.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use unstuck_core::Digest;

use crate::ledger::{CAPACITY, Heat, Ledger};
use crate::observation::Observation;
use crate::rule::{Allowance, Rule, RuleError, Window};
use crate::store::SwarmStore;
use crate::verdict::Verdict;

/// The default number of parts of a shared ledger. With 8 threads, two of them need the same part at once
/// less than once in 16 calls.
pub const SHARDS: usize = 64;

/// A ledger for the workers of one process. It is divided into parts by the digests of calls. Each part has its
/// own lock.
///
/// As a [`SwarmStore`] it measures time in milliseconds by the clock of the process, and so does
/// [`SharedLedger::hottest`]. A host with its own clock uses only the methods that take a time.
///
/// ```
/// use std::thread;
/// use unstuck_swarm::{SwarmStore, Digest, Rule, SharedLedger, Observation, Tool, Worker};
///
/// let store = SharedLedger::new(Rule::default())?;
/// thread::scope(|scope| {
///     for number in 0..8 {
///         let store = &store;
///         scope.spawn(move || {
///             let worker = Worker::new(number);
///             for _ in 0..2 {
///                 let call = Observation::new(worker, Tool::named("bash"), Digest::of(b"make all"));
///                 let _ = store.record(&call);
///             }
///         });
///     }
/// });
/// let hottest = store.hottest(1)[0];
/// assert_eq!((hottest.calls, hottest.workers), (16, 8));
/// # Ok::<(), unstuck_swarm::RuleError>(())
/// ```
#[derive(Debug)]
pub struct SharedLedger {
    parts: Box<[Shard]>,
    rule: Rule,
    begun: Instant,
    /// The number of counted calls, if the window counts calls.
    ticks: AtomicU64,
}

/// A part on its own cache lines, so that threads with other parts do not slow it down.
#[derive(Debug)]
#[repr(align(128))]
struct Shard(Mutex<Ledger>);

impl SharedLedger {
    /// Creates a ledger of [`SHARDS`] parts with [`CAPACITY`] counters a generation in all.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Rule::check`].
    pub fn new(rule: Rule) -> Result<Self, RuleError> {
        Self::with_capacity(rule, SHARDS, CAPACITY)
    }

    /// Creates a ledger of `shards` parts, at least 1. The parts share `capacity` counters a generation.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Rule::check`].
    pub fn with_capacity(rule: Rule, shards: usize, capacity: usize) -> Result<Self, RuleError> {
        let shards = shards.max(1);
        let share = capacity.div_ceil(shards);
        let one = Ledger::with_capacity(rule, share)?;
        let rule = one.rule().clone();
        let parts: Vec<_> = (0..shards).map(|_| Shard(Mutex::new(one.clone()))).collect();
        let (parts, begun) = (parts.into_boxed_slice(), Instant::now());
        Ok(Self { parts, rule, begun, ticks: AtomicU64::new(0) })
    }

    /// Counts one call at the time `now`, as [`Ledger::record`] does.
    pub fn record_at(&self, observation: &Observation, now: u64) -> Verdict {
        let allowance = self.rule.allowance(observation);
        if allowance == Allowance::Any {
            return Verdict::PROCEED;
        }
        let time = match self.rule.window {
            Window::Time { .. } => now,
            Window::Calls { .. } => self.ticks.fetch_add(1, Ordering::Relaxed),
        };
        let generation = self.rule.window.generation(time);
        let mut ledger = self.part(observation.call);
        ledger.turn_to(generation);
        ledger.count(observation, allowance)
    }

    /// Returns the verdict on the call with the digest `call` at the time `now`, as [`Ledger::look`] does.
    pub fn look_at(&self, call: Digest, now: u64) -> Verdict {
        self.part(call).look_in(call, self.generation(now))
    }

    /// Returns the keys with the most calls, the hottest first: at most `limit` of them.
    pub fn hottest(&self, limit: usize) -> Vec<Heat> {
        self.hottest_at(limit, self.now())
    }

    /// Returns the keys with the most calls at the time `now`, for hosts with their own clock.
    pub fn hottest_at(&self, limit: usize, now: u64) -> Vec<Heat> {
        let generation = self.generation(now);
        let parts = self.parts().flat_map(|mut part| part.hottest_in(limit, generation));
        let mut all: Vec<_> = parts.collect();
        all.sort_by_key(|heat| (u32::MAX - heat.calls, heat.loop_id));
        all.truncate(limit);
        all
    }

    /// Forgets all calls.
    pub fn clear(&self) {
        self.parts().for_each(|mut part| part.clear());
    }

    /// Returns the bytes of the heap in use.
    pub fn memory(&self) -> usize {
        let parts: usize = self.parts().map(|part| part.memory()).sum();
        parts + self.parts.len() * size_of::<Shard>()
    }

    fn generation(&self, now: u64) -> u64 {
        self.rule.window.generation(match self.rule.window {
            Window::Time { .. } => now,
            Window::Calls { .. } => self.ticks.load(Ordering::Relaxed),
        })
    }

    /// Returns the milliseconds since the ledger was created.
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Locks the part of a call. All results of a call have the same part.
    fn part(&self, call: Digest) -> MutexGuard<'_, Ledger> {
        let parts = u64::try_from(self.parts.len()).unwrap_or(1);
        // The table of a part hashes keys by other bits.
        let place = (call.bits() >> 16) % parts.max(1);
        let place = usize::try_from(place).unwrap_or(0);
        lock(&self.parts[place])
    }

    fn parts(&self) -> impl Iterator<Item = MutexGuard<'_, Ledger>> {
        self.parts.iter().map(lock)
    }
}

/// Locks a part. A ledger is consistent after each step, so a thread that panicked did no harm.
fn lock(shard: &Shard) -> MutexGuard<'_, Ledger> {
    shard.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SwarmStore for SharedLedger {
    fn record(&self, observation: &Observation) -> Verdict {
        self.record_at(observation, self.now())
    }

    fn look(&self, call: Digest) -> Verdict {
        self.look_at(call, self.now())
    }
}
