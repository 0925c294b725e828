//! The benchmark `engine`: events of the engine as digests, in streams of calls and in a long run.

use std::hint::black_box;
use std::io;

use unstuck_core::presets::BALANCED;
use unstuck_core::{Action, Call, Detector, Outcome};

use crate::calls::Stream;
use crate::harness::{self, Contest, Function};

/// The number of calls in a round. A round is short, so that a disturbance affects few rounds.
const CALLS: usize = 4000;

/// The number of different calls of the long run before the first returns, far more than a window holds.
const LONG_CALLS: usize = 10_000;

/// The number of laps over these calls in a million events. A call with its outcome is two events.
const LAPS: usize = 1_000_000 / (2 * LONG_CALLS);

/// Measures the engine.
pub(crate) fn measure() -> io::Result<()> {
    harness::measure("engine", contest)?;
    println!("An event is an announced call or its outcome. All others are new calls and results.");
    Ok(())
}

/// Returns a stream of calls, or the long run behind them.
pub(crate) fn contest(number: usize) -> Option<Contest> {
    if number == Stream::ALL.len() {
        return Some(long_run());
    }
    let stream = *Stream::ALL.get(number)?;
    let calls = stream.digests(CALLS);
    let work = move || {
        let flagged = flagged(&mut detector(), &calls);
        assert_eq!(flagged == 0, stream == Stream::AllNew, "{stream:?}");
        flagged
    };
    Some(Contest {
        input: format!("{stream:?}"),
        items: 2 * CALLS,
        bytes: 0,
        rounds: 51,
        counted: 1,
        peers: vec![Function::new("engine, window 20", work)],
    })
}

/// Returns the first and the tenth million of events, which show whether later events take longer.
fn long_run() -> Contest {
    let calls = Stream::Repeats.digests(LONG_CALLS);
    let million = |detector: &mut Detector<'_, 20>, calls: &[_]| {
        let flagged: u32 = (0..LAPS).map(|_| flagged(detector, calls)).sum();
        assert!(flagged > 0, "a million events contain loops");
        flagged
    };
    let mut late = detector();
    (0..9).for_each(|_| _ = million(&mut late, &calls));
    let peers = [("the first million", detector()), ("the tenth million", late)];
    let peers = peers.map(|(name, detector)| {
        let calls = calls.clone();
        Function::new(name, move || million(&mut detector.clone(), &calls))
    });
    Contest {
        input: "5 % repeats, ten million events".to_owned(),
        items: 1_000_000,
        bytes: 0,
        rounds: 15,
        counted: 0,
        peers: peers.into(),
    }
}

fn detector() -> Detector<'static, 20> {
    match Detector::new(&BALANCED) {
        Ok(detector) => detector,
        Err(error) => panic!("{error}"),
    }
}

/// Returns how many of `calls` the detector flags, before or after they ran. It may contain earlier calls.
#[inline(never)]
fn flagged(detector: &mut Detector<'_, 20>, calls: &[(Call, Outcome)]) -> u32 {
    let flags = |(call, outcome): &(Call, Outcome)| {
        let announced = detector.announce(*call);
        let after = detector.outcome(announced.id, *outcome);
        u32::from(announced.verdict.action > Action::Proceed || after.action > Action::Proceed)
    };
    black_box(calls).iter().map(flags).sum()
}
