//! Rounds in which all contenders take turns, and the medians over these rounds.

use std::hint::black_box;
use std::time::Instant;

/// A contender in the rounds.
pub struct Case<'a> {
    /// The number of calls that it judges in a round.
    pub calls: u16,
    /// Runs a round, and returns an answer, which must be the same every time.
    pub run: Box<dyn Fn() -> u32 + 'a>,
}

/// The result of the rounds of one case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The median time for a call, in nanoseconds.
    pub ns_per_call: f64,
    /// The median ratio to the first case's time in the same round.
    pub ratio: f64,
    /// The answer of every round.
    pub answer: u32,
}

/// Runs every case once without timing, then `rounds` times in turns. Ratios are to the first case.
///
/// # Panics
///
/// If a case changes its answer, because then it does not always do the same work.
pub fn take_turns(cases: &[Case<'_>], rounds: usize) -> Vec<Timing> {
    let answers: Vec<u32> = cases.iter().map(|case| (case.run)()).collect();
    let mut times = vec![Vec::with_capacity(rounds); cases.len()];
    for _ in 0..rounds {
        for ((case, answer), times) in cases.iter().zip(&answers).zip(&mut times) {
            let start = Instant::now();
            let flagged = black_box((case.run)());
            times.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(case.calls));
            assert_eq!(flagged, *answer, "the answer of a round differs from the one before");
        }
    }
    let first = times.first().cloned().unwrap_or_default();
    let timing = |(times, answer): (Vec<f64>, u32)| {
        let ratios = times.iter().zip(&first).map(|(time, first)| time / first).collect();
        Timing { ns_per_call: median(times), ratio: median(ratios), answer }
    };
    times.into_iter().zip(answers).map(timing).collect()
}

/// Returns the median, the upper one if there are two in the middle, or 0 if there are no values.
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
