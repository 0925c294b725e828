//! Scores: how well one policy did on some runs.

use serde::Serialize;

pub(super) use unstuck_report::effect::ratio;

use super::interval::{Interval, Intervals};
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

#[cfg(test)]
mod tests {
    use super::{Outcome, Score};

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
}
