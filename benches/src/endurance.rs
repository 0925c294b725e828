//! Ten million events: whether the last take longer than the first.

use std::hint::black_box;
use std::time::Instant;

use serde::Serialize;
use unstuck_core::presets::BALANCED;
use unstuck_core::{Call, Detector, Outcome};

use crate::contender::{detector, flagged_of};
use crate::rounds::median;
use crate::stream::Stream;

/// Of how many million events the first and the last are timed.
const MILLIONS: u32 = 10;

/// How often all of that is run.
const ROUNDS: usize = 15;

/// How many different calls go by before the first comes back: far more than a window holds.
const CALLS: usize = 10_000;

/// How often they all go by in a million events: a call with its outcome is two.
const LAPS: usize = 1_000_000 / (2 * CALLS);

/// Nanoseconds for an event, at the beginning of a long run and at its end.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Endurance {
    /// How many events the run has, in millions.
    pub millions: u32,
    /// The median for an event of the first million.
    pub first_ns_per_event: f64,
    /// The median for an event of the last million.
    pub last_ns_per_event: f64,
}

impl Endurance {
    /// Runs `BALANCED` over ten million events of a stream with 5 % repeats.
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

fn first_and_last(calls: &[(Call, Outcome)]) -> (f64, f64) {
    let mut detector = detector::<20>(&BALANCED);
    let millions: Vec<f64> = (0..MILLIONS).map(|_| million(&mut detector, calls)).collect();
    (millions.first().copied().unwrap_or(0.0), millions.last().copied().unwrap_or(0.0))
}

/// The nanoseconds that one event of the next million takes.
fn million(detector: &mut Detector<'_, 20>, calls: &[(Call, Outcome)]) -> f64 {
    let start = Instant::now();
    let flagged: u32 = (0..LAPS).map(|_| flagged_of(detector, calls)).sum();
    assert!(black_box(flagged) > 0, "a million events hold some loop");
    start.elapsed().as_secs_f64() * 1e9 / 1e6
}
