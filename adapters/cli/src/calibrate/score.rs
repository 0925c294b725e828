//! Scores: how well one policy did on some runs, and how much that would vary with other runs of the same kind.

use fastrand::Rng;
use serde::Serialize;
pub(super) use unstuck_report::effect::{Interval, ratio, wilson};

use super::labels::Outcome;

/// The number of runs with each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    hits: usize,
    missed: usize,
    pub(super) early: usize,
    false_alarms: usize,
    #[serde(skip)]
    quiet: usize,
}

impl Counts {
    pub(super) fn of(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            *match outcome {
                Outcome::Hit { .. } => &mut counts.hits,
                Outcome::Missed => &mut counts.missed,
                Outcome::Early => &mut counts.early,
                Outcome::FalseAlarm => &mut counts.false_alarms,
                Outcome::Quiet => &mut counts.quiet,
            } += 1;
        }
        counts
    }

    fn recall(&self) -> Option<f64> {
        ratio(self.hits, self.hits + self.missed + self.early)
    }

    fn precision(&self) -> Option<f64> {
        ratio(self.hits, self.hits + self.early + self.false_alarms)
    }

    pub(super) fn f1(&self) -> Option<f64> {
        let wrong = self.missed + 2 * self.early + self.false_alarms;
        ratio(2 * self.hits, 2 * self.hits + wrong)
    }

    /// Returns the share of runs without a loop in which something was found.
    pub(super) fn false_alarm_rate(&self) -> Option<f64> {
        ratio(self.false_alarms, self.false_alarms + self.quiet)
    }
}

/// The score of one policy.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Score {
    pub(super) preset: &'static str,
    /// The source of the runs, or `None` for runs of all sources.
    pub(super) source: Option<String>,
    pub(super) runs: usize,
    #[serde(flatten)]
    pub(super) counts: Counts,
    /// Ratios are `None` if the divisor is 0.
    pub(super) recall: Option<f64>,
    pub(super) precision: Option<f64>,
    pub(super) f1: Option<f64>,
    pub(super) f1_interval: Option<Interval>,
    pub(super) false_alarm_rate: Option<f64>,
    pub(super) false_alarm_rate_interval: Option<Interval>,
    pub(super) median_lag: Option<i64>,
    /// The number of calls for which the loops continued after they were found.
    pub(super) saved: usize,
}

impl Score {
    /// Scores the policy `preset` on runs with these outcomes. The intervals resample runs.
    pub(super) fn of(preset: &'static str, outcomes: &[Outcome]) -> Self {
        Self::with(preset, outcomes, Intervals::of(outcomes.chunks(1)))
    }

    /// Scores the policy `preset` on the runs of several sources together. The intervals resample whole
    /// sources.
    pub(super) fn of_sources(preset: &'static str, sources: &[Vec<Outcome>]) -> Self {
        Self::with(preset, &sources.concat(), Intervals::of(sources.iter().map(Vec::as_slice)))
    }

    fn with(preset: &'static str, outcomes: &[Outcome], intervals: Intervals) -> Self {
        let counts = Counts::of(outcomes.iter().copied());
        let Intervals { f1: f1_interval, false_alarm_rate: false_alarm_rate_interval } = intervals;
        Self {
            preset,
            source: None,
            runs: outcomes.len(),
            counts,
            recall: counts.recall(),
            precision: counts.precision(),
            f1: counts.f1(),
            f1_interval,
            false_alarm_rate: counts.false_alarm_rate(),
            false_alarm_rate_interval,
            median_lag: median_lag(outcomes),
            saved: saved(outcomes),
        }
    }

    /// Returns the score with the source `source`.
    pub(super) fn from(self, source: &str) -> Self {
        Self { source: Some(source.to_owned()), ..self }
    }
}

/// Returns the median lag. For an even number of lags it is the lower one of the middle two.
fn median_lag(outcomes: &[Outcome]) -> Option<i64> {
    let lags = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Hit { lag, .. } => *lag,
        _ => None,
    });
    let mut lags: Vec<i64> = lags.collect();
    lags.sort_unstable();
    lags.get(lags.len().checked_sub(1)? / 2).copied()
}

fn saved(outcomes: &[Outcome]) -> usize {
    let saved = outcomes.iter().map(|outcome| match outcome {
        Outcome::Hit { saved, .. } => *saved,
        _ => 0,
    });
    saved.sum()
}

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

    #[test]
    fn the_score_follows_its_definitions() {
        let hit = |lag, saved| Outcome::Hit { lag: Some(lag), saved };
        let outcomes = [
            hit(0, 4),
            hit(2, 0),
            hit(9, 3),
            Outcome::Missed,
            Outcome::Early,
            Outcome::FalseAlarm,
            Outcome::Quiet,
            Outcome::Quiet,
            Outcome::Quiet,
        ];
        let score = Score::of("x", &outcomes);
        assert_eq!((score.recall, score.precision), (Some(0.6), Some(0.6)));
        assert_eq!((score.f1, score.false_alarm_rate), (Some(0.6), Some(0.25)));
        assert_eq!((score.median_lag, score.saved), (Some(2), 7));
        let ([low, high], rate) = (score.f1_interval.expect("an interval"), 0.6);
        assert!(low < rate && rate < high, "{low} {high}");
    }

    #[test]
    fn without_runs_every_ratio_is_none() {
        let score = Score::of("x", &[]);
        assert_eq!((score.recall, score.precision, score.f1), (None, None, None));
        assert_eq!((score.f1_interval, score.false_alarm_rate_interval), (None, None));
        assert_eq!((score.median_lag, score.saved), (None, 0));
    }

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
