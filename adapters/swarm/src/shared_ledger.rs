//! A ledger that threads share.

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

/// How many parts a shared ledger has, unless it is told otherwise: with 8 threads, two of them want the
/// same part at once less than once in 16 calls.
pub const SHARDS: usize = 64;

/// A ledger for the workers of one process: it is cut into parts by the digests of calls, each behind a
/// lock of its own.
///
/// As a [`SwarmStore`] it measures time by the process's own clock, in milliseconds, and so does
/// [`SharedLedger::hottest`]. A host that has a clock of its own uses the methods that take a time, and those alone.
///
/// ```
/// use std::thread;
/// use unstuck_swarm::{SwarmStore, Digest, Rule, SharedLedger, Observation, Tool, Worker};
///
/// let board = SharedLedger::new(Rule::default())?;
/// thread::scope(|scope| {
///     for number in 0..8 {
///         let board = &board;
///         scope.spawn(move || {
///             let worker = Worker::new(number);
///             for _ in 0..2 {
///                 let call = Observation::new(worker, Tool::named("bash"), Digest::of(b"make all"));
///                 let _ = board.record(&call);
///             }
///         });
///     }
/// });
/// let hottest = board.hottest(1)[0];
/// assert_eq!((hottest.calls, hottest.workers), (16, 8));
/// # Ok::<(), unstuck_swarm::RuleError>(())
/// ```
#[derive(Debug)]
pub struct SharedLedger {
    parts: Box<[Shard]>,
    rule: Rule,
    begun: Instant,
    /// How many calls were counted, where that is the clock.
    ticks: AtomicU64,
}

/// A part, on cache lines of its own: threads that use others do not disturb it.
#[derive(Debug)]
#[repr(align(128))]
struct Shard(Mutex<Ledger>);

impl SharedLedger {
    /// A ledger of [`SHARDS`] parts with [`CAPACITY`] counters a generation in all.
    ///
    /// # Errors
    ///
    /// Those of [`Rule::check`].
    pub fn new(rule: Rule) -> Result<Self, RuleError> {
        Self::with_capacity(rule, SHARDS, CAPACITY)
    }

    /// A ledger of so many parts, 1 at least, with so many counters a generation in all: each part has its
    /// share.
    ///
    /// # Errors
    ///
    /// Those of [`Rule::check`].
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

    /// What is known of the call with the digest `call` at the time `now`, as [`Ledger::look`] says it.
    pub fn look_at(&self, call: Digest, now: u64) -> Verdict {
        self.part(call).look_in(call, self.generation(now))
    }

    /// The keys that are called most, the hottest first: at most `limit` of them.
    pub fn hottest(&self, limit: usize) -> Vec<Heat> {
        self.hottest_at(limit, self.now())
    }

    /// The keys that are called most at the time `now`, for those who record at times of their own.
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

    /// The bytes of the heap that it has taken.
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

    /// Milliseconds since the ledger was made.
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The part that a call belongs to, whatever came back from it.
    fn part(&self, call: Digest) -> MutexGuard<'_, Ledger> {
        let parts = u64::try_from(self.parts.len()).unwrap_or(1);
        // The table of a part tells keys apart by other bits than these.
        let place = (call.bits() >> 16) % parts.max(1);
        let place = usize::try_from(place).unwrap_or(0);
        lock(&self.parts[place])
    }

    fn parts(&self) -> impl Iterator<Item = MutexGuard<'_, Ledger>> {
        self.parts.iter().map(lock)
    }
}

/// A ledger is right after each of its steps: a thread that died with it did no harm.
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
