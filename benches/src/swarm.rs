//! The benchmark `swarm`: ledgers that count the calls of a swarm in one process.

use std::cell::RefCell;
use std::hint::black_box;
use std::io::{self, Error};
use std::path::Path;
use std::thread;

use fastrand::Rng;
use unstuck_core::{Digest, Tool};
use unstuck_swarm::{Ledger, Observation, Rule, SharedLedger, Verdict, Worker};

use crate::false_alarms;
use crate::harness::{Contest, Function, Peer, number};
use crate::report::{left_out, table};

/// The numbers of workers.
const WORKERS: [u64; 5] = [10, 100, 1_000, 10_000, 100_000];

/// The number of calls in a stream.
const CALLS: usize = 50_000;

/// The number of calls in a millisecond, so that one window holds a whole stream.
const CALLS_PER_TICK: u64 = 1000;

/// The numbers of threads, and the number of calls in their rounds.
const THREADS: [usize; 4] = [1, 2, 4, 8];
const SHARED_CALLS: usize = 1_600_000;

/// The calls that the workers of a swarm make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    /// Every call is new.
    New,
    /// There are ten thousand calls, the first more frequent than the last. No cache holds them all.
    Skewed,
    /// All workers make the same call.
    Equal,
}

impl Calls {
    /// Returns a stream of failed calls by `workers` workers. It is the same every time.
    fn of(self, workers: u64, calls: usize) -> Vec<Observation> {
        let mut random = Rng::with_seed(0x5EED);
        (1_000_000..)
            .take(calls)
            .map(|new: u64| {
                let worker = Worker::new(random.u64(..workers));
                let call = match self {
                    Self::New => new,
                    // Each number bounds the next, which gives a coarse power law.
                    Self::Skewed => (0..4).fold(10_000, |bound, _| random.u64(1..=bound)),
                    Self::Equal => 0,
                };
                let call = Observation::new(worker, Tool::new(1), Digest::of(&call.to_le_bytes()));
                call.failed(Digest::new(0))
            })
            .collect()
    }
}

/// Measures the ledgers. `traces` is a folder of labelled runs, which show false alarms.
pub(crate) fn measure(traces: Option<&Path>) -> io::Result<()> {
    let mut rows = Vec::new();
    for calls in [Calls::New, Calls::Skewed] {
        let peers = WORKERS.map(|workers| Counting::new(workers, calls)).into_iter();
        let contest = contest(calls, CALLS, 51, peers.collect::<io::Result<_>>()?);
        for (peer, timing) in contest.peers.iter().zip(contest.take_turns()?) {
            let (ns, bytes) = (format!("{:.1}", timing.ns), peer.bytes_per_counter());
            rows.push(vec![format!("{calls:?}"), peer.name(), ns, format!("{bytes:.0}")]);
        }
    }
    table(&["calls", "by", "ns", "bytes"], 2, rows);
    let mut rows = Vec::new();
    for calls in [Calls::New, Calls::Equal] {
        let peers = THREADS.map(|threads| sharing(threads, calls));
        let contest = contest(calls, SHARED_CALLS, 7, peers.into());
        for (peer, timing) in contest.peers.iter().zip(contest.take_turns()?) {
            let rate = format!("{:.1}", 1e3 / timing.ns);
            rows.push(vec![format!("{calls:?}"), peer.name(), rate]);
        }
    }
    table(&["calls", "by", "million/s"], 2, rows);
    match traces {
        Some(folder) => false_alarms::measure(folder)?,
        None => left_out("recorded runs side by side", "--traces names their folder"),
    }
    println!(
        "A call is a worker's observation, up to the verdict. Bytes are those of the heap for each counter in \
         use.\nThreads share one ledger of 64 parts. Runs are drawn, their calls are interleaved at random and \
         judged as\none swarm, in a window without an end."
    );
    Ok(())
}

fn contest<P>(calls: Calls, items: usize, rounds: usize, peers: Vec<P>) -> Contest<P> {
    Contest { input: format!("{calls:?}"), items, bytes: 0, rounds, counted: 0, peers }
}

/// A ledger that counts the same calls again and again.
struct Counting {
    workers: u64,
    calls: Vec<Observation>,
    ledger: RefCell<Ledger>,
}

impl Counting {
    fn new(workers: u64, calls: Calls) -> io::Result<Self> {
        let ledger = Ledger::new(Rule::default()).map_err(Error::other)?;
        Ok(Self { workers, calls: calls.of(workers, CALLS), ledger: ledger.into() })
    }

    /// Returns the bytes of memory for each counter in use.
    fn bytes_per_counter(&self) -> f64 {
        let ledger = self.ledger.borrow();
        number(ledger.memory()) / number(ledger.counters())
    }
}

impl Peer for Counting {
    fn name(&self) -> String {
        format!("{} workers", self.workers)
    }

    /// Clears the ledger, and counts the calls. Returns the number of calls in a loop.
    fn run(&self) -> io::Result<u32> {
        let mut ledger = self.ledger.borrow_mut();
        ledger.clear();
        let mut found = 0;
        for (number, call) in (0..).zip(&self.calls) {
            let verdict = ledger.record(black_box(call), number / CALLS_PER_TICK);
            found += u32::from(verdict != Verdict::PROCEED);
        }
        Ok(found)
    }
}

/// Returns threads that count in one ledger. Each has its own workers.
fn sharing(threads: usize, calls: Calls) -> Function {
    let streams: Vec<_> = (0..threads).map(|_| calls.of(8, SHARED_CALLS / threads)).collect();
    Function::failing(format!("{threads} threads"), move || {
        let ledger = &SharedLedger::new(Rule::default()).map_err(Error::other)?;
        thread::scope(|scope| {
            for stream in &streams {
                scope.spawn(move || {
                    for (number, call) in (0..).zip(stream) {
                        black_box(ledger.record_at(call, number / CALLS_PER_TICK).rung);
                    }
                });
            }
        });
        Ok(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_found_in_streams_that_contain_them() {
        let found = |calls| Counting::new(8, calls).unwrap().run().unwrap();
        assert_eq!(found(Calls::New), 0);
        assert_eq!(found(Calls::Equal), 50_000 - 9);
        assert!(found(Calls::Skewed) > 1000);
    }
}
