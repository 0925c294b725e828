//! The benchmark `swarm`: ledgers that count the calls of a swarm in one process.

use std::cell::RefCell;
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Instant;

use clap::ValueEnum;
use serde::Serialize;
use unstuck_core::{Digest, Tool};
use unstuck_swarm::{Ledger, Observation, Rule, SharedLedger, Verdict, Worker};

use crate::false_alarms::{self, FalseAlarms};
use crate::instructions::{NOT_COUNTED, can_be_counted, per_turn, word};
use crate::report::{Measurement, Report, rounded};
use crate::rounds::{Case, median, take_turns};

/// The number of rounds of one thread.
const ROUNDS: usize = 51;

/// The number of rounds of several threads, which take longer.
const SHARED_ROUNDS: usize = 7;

/// The number of turns in which instructions are counted.
const TURNS: u16 = 4;

/// The numbers of workers.
const WORKERS: [u64; 5] = [10, 100, 1_000, 10_000, 100_000];

/// The number of calls in a stream.
const CALLS: u16 = 50_000;

/// The number of calls in a millisecond, so that one window holds a whole stream.
const CALLS_PER_TICK: u64 = 1000;

/// The number of calls in a round of several threads.
const SHARED_CALLS: u32 = 1_600_000;

/// The calls that the workers of a swarm make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Calls {
    /// Every call is new.
    New,
    /// One call in twenty is one of a hundred dead ends, which many workers try.
    DeadEnds,
    /// There are ten thousand calls, the first more frequent than the last. No cache holds them all.
    Skewed,
    /// All workers make the same call.
    Equal,
}

impl Calls {
    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "all new",
            Self::DeadEnds => "5 % dead ends",
            Self::Skewed => "skewed",
            Self::Equal => "all equal",
        }
    }

    /// Returns a stream of failed calls by `workers` workers. It is the same every time.
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
            // Each number bounds the next, which gives a coarse power law.
            Self::Skewed => (0..4).fold(10_000, |bound, _| random.below(bound) + 1),
            Self::Equal => 0,
        }
    }
}

/// A random number generator (Steele, Lea and Flood, 2014). Its quality hardly matters here.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        Digest::new(self.0).mix(Digest::new(0)).bits() % bound.max(1)
    }
}

/// A ledger that counts the same calls again and again.
pub struct Counting(RefCell<Ledger>);

impl Default for Counting {
    fn default() -> Self {
        Self::new()
    }
}

impl Counting {
    /// Returns a ledger with the default rule.
    ///
    /// # Panics
    ///
    /// Never, because the default rule is valid.
    pub fn new() -> Self {
        Self(RefCell::new(Ledger::new(Rule::default()).expect("the default rule")))
    }

    /// Clears the ledger, and counts `calls`. Returns the number of calls in a loop, which is the same
    /// every time.
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

    /// Returns the bytes of memory for each counter in use.
    pub fn bytes_per_counter(&self) -> f64 {
        let ledger = self.0.borrow();
        let [memory, counters] = [ledger.memory(), ledger.counters()]
            .map(|number| f64::from(u32::try_from(number).unwrap_or(u32::MAX)));
        memory / counters
    }
}

/// Returns the millions of calls a second that `threads` threads count in one ledger. Each thread has
/// its own workers. The result is the median over `rounds`.
fn shared(calls: Calls, threads: u32, rounds: usize) -> f64 {
    let streams: Vec<_> =
        (0..threads).map(|_| calls.of(8, (SHARED_CALLS / threads).into())).collect();
    let round = |_| {
        let ledger = SharedLedger::new(Rule::default()).expect("the default rule");
        let begun = Instant::now();
        thread::scope(|scope| {
            for stream in &streams {
                let ledger = &ledger;
                scope.spawn(move || {
                    for (number, call) in (0..).zip(stream) {
                        let verdict = ledger.record_at(call, number / CALLS_PER_TICK);
                        black_box(verdict.rung);
                    }
                });
            }
        });
        f64::from(SHARED_CALLS) / begun.elapsed().as_secs_f64() / 1e6
    };
    median((0..rounds).map(round).collect())
}

/// One thread that counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SingleThread {
    /// The calls.
    pub calls: Calls,
    /// The number of workers.
    pub workers: u64,
    /// The median time for a call, in nanoseconds.
    pub ns: f64,
    /// The rate in millions of calls a second.
    pub millions_per_second: f64,
    /// The bytes of memory for each counter in use.
    pub bytes: f64,
    /// The instructions for a call, if they were counted.
    pub instructions: Option<f64>,
}

impl Measurement for SingleThread {
    const HEADINGS: &'static [&'static str] =
        &["calls", "workers", "ns", "million/s", "bytes", "instructions"];
    const WORDS: usize = 1;

    fn cells(&self) -> Vec<String> {
        vec![
            self.calls.name().to_owned(),
            self.workers.to_string(),
            format!("{:.1}", self.ns),
            format!("{:.1}", self.millions_per_second),
            format!("{:.0}", self.bytes),
            rounded(self.instructions, 0),
        ]
    }
}

/// Several threads that count in one ledger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Threads {
    /// The calls.
    pub calls: Calls,
    /// The number of threads.
    pub threads: u32,
    /// The rate of all threads together, in millions of calls a second.
    pub millions_per_second: f64,
    /// The ratio to the rate of one thread.
    pub ratio: f64,
}

impl Measurement for Threads {
    const HEADINGS: &'static [&'static str] = &["calls", "threads", "million/s", "of one thread"];
    const WORDS: usize = 1;

    fn cells(&self) -> Vec<String> {
        vec![
            self.calls.name().to_owned(),
            self.threads.to_string(),
            format!("{:.1}", self.millions_per_second),
            format!("{:.2}", self.ratio),
        ]
    }
}

/// Measures the ledgers. `traces` is a folder of labelled runs, which show false alarms.
///
/// # Errors
///
/// If valgrind fails, or a run cannot be read.
pub fn measure(traces: Option<&Path>) -> io::Result<Report> {
    let streams = Calls::value_variants().iter();
    let mut single: Vec<_> = streams.flat_map(|&calls| single(calls)).collect();
    let can_be_counted = can_be_counted();
    for row in single.iter_mut().filter(|_| can_be_counted) {
        let words = [word(&row.calls), row.workers.to_string()];
        row.instructions = Some(per_turn("swarm", &words, TURNS)? / f64::from(CALLS));
    }
    let several = [Calls::New, Calls::DeadEnds, Calls::Equal].into_iter().flat_map(several);
    let several: Vec<_> = several.collect();
    let alarms = traces.map(false_alarms::measure).transpose()?.unwrap_or_default();
    let mut report = report(&single, &several, &alarms)?;
    if !can_be_counted {
        report.leave_out(NOT_COUNTED);
    }
    if alarms.is_empty() {
        report.leave_out("recorded runs side by side: --traces names their folder");
    }
    Ok(report)
}

/// Counts the calls of a round `times` times, for valgrind to count. Returns the number of calls in a
/// loop.
pub fn count(calls: Calls, workers: u64, times: u16) -> u32 {
    let (counting, calls) = (Counting::new(), calls.of(workers, CALLS.into()));
    (0..times).map(|_| counting.run(&calls)).fold(0, u32::wrapping_add)
}

fn report(
    single: &[SingleThread],
    several: &[Threads],
    alarms: &[FalseAlarms],
) -> io::Result<Report> {
    let mut report = Report::default();
    report.table("single_thread", single)?;
    report.table("threads", several)?;
    report.table("false_alarms", alarms)?;
    report.remark(
        "A call is a worker's observation, up to the verdict. Bytes are those of the heap for each counter \
         in use.\nThreads share one ledger of 64 parts. Runs are drawn, their calls are interleaved at \
         random and judged as\none swarm, in a window without an end.",
    );
    Ok(report)
}

/// Times one thread, for all numbers of workers in turns.
fn single(calls: Calls) -> Vec<SingleThread> {
    let streams = WORKERS.map(|workers| (Counting::new(), calls.of(workers, CALLS.into())));
    let case = |(counting, calls)| -> Case<'_> {
        let (counting, calls): (&Counting, &Vec<_>) = (counting, calls);
        Case { calls: CALLS, run: Box::new(move || counting.run(calls)) }
    };
    let cases: Vec<_> = streams.iter().map(|(counting, calls)| case((counting, calls))).collect();
    let timings = take_turns(&cases, ROUNDS);
    let rows = WORKERS.into_iter().zip(timings).zip(&streams);
    rows.map(|((workers, timing), (counting, _))| SingleThread {
        calls,
        workers,
        ns: timing.ns_per_call,
        millions_per_second: 1e3 / timing.ns_per_call,
        bytes: counting.bytes_per_counter(),
        instructions: None,
    })
    .collect()
}

/// Times threads that share a ledger.
fn several(calls: Calls) -> Vec<Threads> {
    let one = shared(calls, 1, SHARED_ROUNDS);
    let row = |threads, millions_per_second| Threads {
        calls,
        threads,
        millions_per_second,
        ratio: millions_per_second / one,
    };
    let more = [2, 4, 8].map(|threads| row(threads, shared(calls, threads, SHARED_ROUNDS)));
    [row(1, one)].into_iter().chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::false_alarms::Draw;

    #[test]
    fn a_report_has_three_tables_and_a_line_for_all_else() {
        let single = |calls, workers, instructions| SingleThread {
            calls,
            workers,
            ns: 25.04,
            millions_per_second: 39.94,
            bytes: 56.4,
            instructions,
        };
        let several = |threads, ratio| Threads {
            calls: Calls::DeadEnds,
            threads,
            millions_per_second: 20.0,
            ratio,
        };
        let alarms = FalseAlarms {
            draw: Draw::OneSource,
            workers: 24,
            calls: 5,
            first_is_free: false,
            draws: 20_000,
            fired: 3420,
        };
        let single = [single(Calls::New, 10, Some(210.4)), single(Calls::New, 100_000, None)];
        let several = [several(1, 1.0), several(2, 1.9)];
        let mut report = report(&single, &several, &[alarms]).unwrap();
        report.leave_out(NOT_COUNTED);
        insta::assert_snapshot!(report);
    }

    #[test]
    fn loops_are_found_in_streams_that_contain_them() {
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
