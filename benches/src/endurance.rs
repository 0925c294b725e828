//! A long run, which shows whether later events take longer than earlier ones.

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use serde::Serialize;
use unstuck_core::presets::BALANCED;
use unstuck_core::{Call, Detector, Outcome};

use crate::contender::{detector, flagged_of};
use crate::rounds::median;
use crate::stream::Stream;

/// The millions of events in a run. The first million and the last are reported.
const MILLIONS: u32 = 10;

/// The number of runs.
const ROUNDS: usize = 15;

/// The number of different calls before the first returns, far more than a window holds.
const CALLS: usize = 10_000;

/// The number of laps over these calls in a million events. A call with its outcome is two events.
const LAPS: usize = 1_000_000 / (2 * CALLS);

/// The time for an event at the beginning of a long run and at its end.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Endurance {
    /// The number of events in the run, in millions.
    pub millions: u32,
    /// The median for an event of the first million, in nanoseconds.
    pub first_ns_per_event: f64,
    /// The median for an event of the last million, in nanoseconds.
    pub last_ns_per_event: f64,
}

impl Endurance {
    /// Runs `BALANCED` over ten million events of a stream in which 5 % of the calls repeat another.
    pub fn measure() -> Self {
        let calls = Stream::Repeats.digests(CALLS);
        let rounds = (0..ROUNDS).map(|_| first_and_last(&calls));
        let (first, last) = rounds.unzip();
        Self {
            millions: MILLIONS,
            first_ns_per_event: median(first),
            last_ns_per_event: median(last),
        }
    }
}

impl fmt::Display for Endurance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { millions, first_ns_per_event: first, last_ns_per_event: last } = self;
        write!(
            f,
            "{millions} million events: {first:.1} ns/event in the first million, {last:.1} in the last"
        )
    }
}

fn first_and_last(calls: &[(Call, Outcome)]) -> (f64, f64) {
    let mut detector = detector::<20>(&BALANCED);
    let millions: Vec<f64> = (0..MILLIONS).map(|_| million(&mut detector, calls)).collect();
    (millions.first().copied().unwrap_or(0.0), millions.last().copied().unwrap_or(0.0))
}

/// Returns the nanoseconds for an event of the next million.
fn million(detector: &mut Detector<'_, 20>, calls: &[(Call, Outcome)]) -> f64 {
    let start = Instant::now();
    let flagged: u32 = (0..LAPS).map(|_| flagged_of(detector, calls)).sum();
    assert!(black_box(flagged) > 0, "a million events contain loops");
    start.elapsed().as_secs_f64() * 1e9 / 1e6
}
