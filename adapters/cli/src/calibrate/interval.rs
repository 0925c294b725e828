//! Confidence intervals: how much a figure would vary with other runs of the same kind.

use fastrand::Rng;
pub(super) use unstuck_report::effect::{Interval, wilson};

use super::labels::Outcome;
use super::score::Counts;

/// The number of resamplings. With so many, the ends vary by less than is printed.
pub(super) const RESAMPLINGS: usize = 2000;

/// The share of the resamplings that is cut off at each end, in thousandths.
const CUT: usize = 25;

/// The seed is fixed, so that the same labels give the same intervals. All policies get the same
/// draws.
const SEED: u64 = 20;

/// The intervals of a score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Intervals {
    pub(super) f1: Option<Interval>,
    pub(super) false_alarm_rate: Option<Interval>,
}

impl Intervals {
    /// Computes the intervals by the bootstrap, which draws from the `clusters` with replacement (Davison
    /// and Hinkley, 1997). A cluster is one run, or all runs of one source. O(runs), [`RESAMPLINGS`] times.
    pub(super) fn of<'o>(clusters: impl IntoIterator<Item = &'o [Outcome]>) -> Self {
        let clusters: Vec<&[Outcome]> = clusters.into_iter().collect();
        let mut rng = Rng::with_seed(SEED);
        let (mut f1s, mut rates) = (Vec::new(), Vec::new());
        for _ in 0..if clusters.is_empty() { 0 } else { RESAMPLINGS } {
            let drawn = clusters.iter().flat_map(|_| clusters[rng.usize(..clusters.len())]);
            let counts = Counts::of(drawn.copied());
            f1s.extend(counts.f1());
            rates.extend(counts.false_alarm_rate());
        }
        Self { f1: middle(f1s), false_alarm_rate: middle(rates) }
    }
}

/// Returns the ends of the middle 95 % of `values`, or `None` if there are none.
fn middle(mut values: Vec<f64>) -> Option<Interval> {
    values.sort_unstable_by(f64::total_cmp);
    let cut = values.len() * CUT / 1000;
    Some([*values.get(cut)?, *values.get(values.len().checked_sub(cut + 1)?)?])
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const HIT: Outcome = Outcome::Hit { lag: None, saved: 0 };

    #[test]
    fn the_middle_cuts_equal_parts_at_both_ends() {
        let values: Vec<f64> = (0..2000).rev().map(f64::from).collect();
        assert_eq!(middle(values), Some([50.0, 1949.0]));
        assert_eq!(middle(vec![0.5]), Some([0.5, 0.5]));
        assert_eq!(middle(Vec::new()), None);
    }

    #[test]
    fn an_interval_is_as_wide_as_the_binomial_distribution_says() {
        // 20 of 100 healthy runs are accused: 0.2 ± 1.96 · √(0.2 · 0.8 / 100).
        let outcomes = [vec![Outcome::FalseAlarm; 20], vec![Outcome::Quiet; 80]].concat();
        let Intervals { f1, false_alarm_rate } = Intervals::of(outcomes.chunks(1));
        let [low, high] = false_alarm_rate.expect("an interval");
        assert!((low - 0.12).abs() < 0.015 && (high - 0.28).abs() < 0.015, "{low} {high}");
        // Nearly every draw has false alarms, and none has a loop.
        assert_eq!(f1, Some([0.0, 0.0]));
    }

    #[test]
    fn runs_of_a_cluster_are_drawn_together() {
        // Ten runs of each of ten sources, two of which are accused throughout: 0.2 ± 1.96 · √(0.2 · 0.8 / 10).
        let sources = [vec![[Outcome::FalseAlarm; 10]; 2], vec![[Outcome::Quiet; 10]; 8]].concat();
        let together = Intervals::of(sources.iter().map(<[Outcome; 10]>::as_slice));
        assert_eq!(together.false_alarm_rate, Some([0.0, 0.5]));
        let alone = Intervals::of(sources.as_flattened().chunks(1));
        let [low, high] = alone.false_alarm_rate.expect("an interval");
        assert!((low - 0.12).abs() < 0.015 && (high - 0.28).abs() < 0.015, "{low} {high}");
    }

    #[test]
    fn equal_outcomes_have_an_interval_of_one_value() {
        let sure = Intervals::of([HIT; 9].chunks(1));
        assert_eq!(sure, Intervals { f1: Some([1.0, 1.0]), false_alarm_rate: None });
        assert_eq!(Intervals::of([]), Intervals::default());
    }

    proptest! {
        #[test]
        fn an_interval_is_the_same_each_time_and_in_order(
            outcomes in vec(
                select(vec![HIT, Outcome::Missed, Outcome::Early, Outcome::FalseAlarm, Outcome::Quiet]),
                0..20,
            ),
        ) {
            let intervals = Intervals::of(outcomes.chunks(1));
            prop_assert_eq!(intervals, Intervals::of(outcomes.chunks(1)));
            for [low, high] in [intervals.f1, intervals.false_alarm_rate].into_iter().flatten() {
                prop_assert!(0.0 <= low && low <= high && high <= 1.0, "{low} {high}");
            }
        }
    }
}
