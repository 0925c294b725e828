//! Calls of a swarm, and the ledgers that count them.

use std::cell::RefCell;
use std::hint::black_box;
use std::thread;
use std::time::Instant;

use clap::ValueEnum;
use serde::Serialize;
use unstuck_core::{Digest, Tool};
use unstuck_swarm::{Ledger, Observation, Rule, SharedLedger, Verdict, Worker};

use crate::rounds::median;

/// How many calls a stream has.
pub const CALLS: u16 = 50_000;

/// How many calls there are in a millisecond: all of a stream fall into one window.
const CALLS_PER_TICK: u64 = 1000;

/// How many calls each round of several threads makes.
const SHARED_CALLS: u32 = 1_600_000;

/// What the workers of a swarm call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Calls {
    /// Every call is another.
    New,
    /// Of 20 calls, one is among a hundred dead ends, each of which many workers run into.
    DeadEnds,
    /// Calls are among ten thousand, the first more often than the last: no cache holds them all.
    Skewed,
    /// All make one call.
    Equal,
}

impl Calls {
    /// What the tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "all new",
            Self::DeadEnds => "5 % dead ends",
            Self::Skewed => "skewed",
            Self::Equal => "all equal",
        }
    }

    /// So many calls, each made by one of `workers` workers and failed: always the same.
    pub fn of(self, workers: u64, calls: u64) -> Vec<Observation> {
        let mut random = Random(0x5EED);
        (0..calls)
            .map(|number| {
                let worker = Worker::new(random.below(workers));
                let call = self.call(number, &mut random);
                let call = Observation::new(worker, Tool::new(1), Digest::of(&call.to_le_bytes()));
                call.failed(Digest::new(0))
            })
            .collect()
    }

    fn call(self, number: u64, random: &mut Random) -> u64 {
        let new = number + 1_000_000;
        match self {
            Self::DeadEnds if random.below(20) == 0 => random.below(100),
            Self::New | Self::DeadEnds => new,
            // The lesser of two, over and over: a coarse power law.
            Self::Skewed => (0..4).fold(10_000, |bound, _| random.below(bound) + 1),
            Self::Equal => 0,
        }
    }
}

/// A generator of numbers whose quality hardly matters (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        Digest::new(self.0).mix(Digest::new(0)).bits() % bound.max(1)
    }
}

/// Who counts.
pub struct Counting(RefCell<Ledger>);

impl Default for Counting {
    fn default() -> Self {
        Self::new()
    }
}

impl Counting {
    /// A ledger by the default rule.
    ///
    /// # Panics
    ///
    /// Never: the default rule works.
    pub fn new() -> Self {
        Self(RefCell::new(Ledger::new(Rule::default()).expect("the default rule")))
    }

    /// Counts `calls` from nothing on; how many of them are in a loop: the same every time.
    pub fn run(&self, calls: &[Observation]) -> u32 {
        let mut ledger = self.0.borrow_mut();
        ledger.clear();
        let mut found = 0;
        for (number, call) in (0..).zip(calls) {
            let verdict = ledger.record(black_box(call), number / CALLS_PER_TICK);
            found += u32::from(verdict != Verdict::PROCEED);
        }
        found
    }

    /// The bytes that it has taken for each counter in use.
    pub fn bytes_per_counter(&self) -> f64 {
        let ledger = self.0.borrow();
        let [memory, counters] = [ledger.memory(), ledger.counters()]
            .map(|number| f64::from(u32::try_from(number).unwrap_or(u32::MAX)));
        memory / counters
    }
}

/// How many million calls a second that many threads count together, each those of workers of its own:
/// the median over `rounds`.
///
/// # Panics
///
/// Never: the default rule works.
pub fn shared(calls: Calls, threads: u32, rounds: usize) -> f64 {
    let streams: Vec<_> =
        (0..threads).map(|_| calls.of(8, (SHARED_CALLS / threads).into())).collect();
    let round = |_| {
        let board = SharedLedger::new(Rule::default()).expect("the default rule");
        let begun = Instant::now();
        thread::scope(|scope| {
            for stream in &streams {
                let board = &board;
                scope.spawn(move || {
                    for (number, call) in (0..).zip(stream) {
                        let verdict = board.record_at(call, number / CALLS_PER_TICK);
                        black_box(verdict.rung);
                    }
                });
            }
        });
        f64::from(SHARED_CALLS) / begun.elapsed().as_secs_f64() / 1e6
    };
    median((0..rounds).map(round).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_found_where_there_are_some() {
        let counting = Counting::new();
        let found = |calls: Calls| counting.run(&calls.of(8, 20_000));
        assert_eq!(found(Calls::New), 0);
        assert_eq!(found(Calls::Equal), 20_000 - 9);
        // A thousand calls of a hundred dead ends: most of them after the tenth.
        assert!((50..950).contains(&found(Calls::DeadEnds)));
        assert!(found(Calls::Skewed) > 1000);
        assert!(counting.bytes_per_counter() > 32.0);
    }

    #[test]
    fn the_calls_are_always_the_same() {
        for &calls in Calls::value_variants() {
            assert_eq!(calls.of(100, 1000), calls.of(100, 1000));
        }
    }
}
