//! Rounds in which all contenders take turns, and the medians over them.

use std::hint::black_box;
use std::time::Instant;

/// One of those that take turns.
pub struct Case<'a> {
    /// How many calls it judges in a round.
    pub calls: u16,
    /// Runs a round, and gives the answer that must be the same every time.
    pub run: Box<dyn Fn() -> u32 + 'a>,
}

/// What the rounds of one case came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The median time, in nanoseconds a call.
    pub ns_per_call: f64,
    /// The median of what a call took in a round, over what one of the first case took in it.
    pub ratio: f64,
    /// What each round answered.
    pub answer: u32,
}

/// Runs every case once untimed, then `rounds` times in turns; the ratios are to the first.
///
/// # Panics
///
/// If a case changes its answer: then it does not always do the same work.
pub fn take_turns(cases: &[Case<'_>], rounds: usize) -> Vec<Timing> {
    let answers: Vec<u32> = cases.iter().map(|case| (case.run)()).collect();
    let mut times = vec![Vec::with_capacity(rounds); cases.len()];
    for _ in 0..rounds {
        for ((case, answer), times) in cases.iter().zip(&answers).zip(&mut times) {
            let start = Instant::now();
            let flagged = black_box((case.run)());
            times.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(case.calls));
            assert_eq!(flagged, *answer, "a round answered otherwise than the one before");
        }
    }
    let first = times.first().cloned().unwrap_or_default();
    let timing = |(times, answer): (Vec<f64>, u32)| {
        let ratios = times.iter().zip(&first).map(|(time, first)| time / first).collect();
        Timing { ns_per_call: median(times), ratio: median(ratios), answer }
    };
    times.into_iter().zip(answers).map(timing).collect()
}

/// The value that half of `values` are below; the upper of the two in the middle, and 0 of none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        for (values, expected) in
            [(vec![], 0.0), (vec![3.0], 3.0), (vec![9.0, 1.0], 9.0), (vec![9.0, 1.0, 2.0], 2.0)]
        {
            assert!((median(values.clone()) - expected).abs() < f64::EPSILON, "{values:?}");
        }
    }

    #[test]
    fn cases_take_turns() {
        let latest = Cell::new(2);
        let turn = |number: u32| {
            assert_eq!((latest.replace(number) + 1) % 3, number);
            number
        };
        let case = |number| Case { calls: 1, run: Box::new(move || turn(number)) };
        let timings = take_turns(&[case(0), case(1), case(2)], 5);
        let answers: Vec<_> = timings.iter().map(|timing| timing.answer).collect();
        assert_eq!(answers, [0, 1, 2]);
        assert_eq!(latest.get(), 2);
    }
}
