//! Finds the patience that healthy runs require, by split conformal prediction.
//!
//! The score of a run is the smallest patience with which nothing is found in it. Of *n* runs the
//! policy gets the ⌈(n + 1)(1 − α)⌉-th smallest score. If another run comes from where these came
//! from, so that each of the *n* + 1 is as likely to have any of the ranks, its score is above that
//! with a probability of at most α: whatever the runs are like, and whatever the policy. (Vovk,
//! Gammerman and Shafer, *Algorithmic Learning in a Random World*, 2005; Lei, G'Sell, Rinaldo,
//! Tibshirani and Wasserman, *Distribution-Free Predictive Inference for Regression*, 2018.)

use crate::calibrate::fit::Rate;
use crate::calibrate::score::Interval;

/// Returns the smallest number of runs from which a share of `rate` can be guaranteed, or `None` if
/// no number suffices.
pub(super) fn runs_min(rate: Rate) -> Option<usize> {
    // ⌈(n + 1)(1 − α)⌉ ≤ n holds from n + 1 = 1/α on.
    rate.one_in().map(|runs| runs - 1)
}

/// Returns the score that another run exceeds at most as often as `rate` says, or `None` if there
/// are too few runs. O(n log n).
pub(super) fn quantile<S: Ord + Copy>(scores: &[S], rate: Rate) -> Option<S> {
    let mut scores = scores.to_vec();
    scores.sort_unstable();
    // ⌈(n + 1)(1 − α)⌉ = n + 1 − ⌊(n + 1)α⌋, in whole numbers.
    let above = rate.of(scores.len() + 1);
    scores.len().checked_sub(above).and_then(|rank| scores.get(rank)).copied()
}

/// The half-width of a 95 % interval in standard deviations of the normal distribution.
const DEVIATIONS: f64 = 1.959_963_984_540_054;

/// Returns the 95 % confidence interval for the share from which `part` of `whole` runs came
/// (Wilson, *Probable Inference, the Law of Succession, and Statistical Inference*, 1927), or
/// `None` if there are no runs.
#[expect(clippy::cast_precision_loss, reason = "counts of files, far below 2^52")]
pub(super) fn interval(part: usize, whole: usize) -> Option<Interval> {
    if whole == 0 {
        return None;
    }
    let (n, share) = (whole as f64, part as f64 / whole as f64);
    let square = DEVIATIONS * DEVIATIONS;
    let middle = share + square / (2.0 * n);
    let reach = DEVIATIONS * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    let end = |end: f64| (end / (1.0 + square / n)).clamp(0.0, 1.0);
    Some([end(middle - reach), end(middle + reach)])
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn rate() -> impl Strategy<Value = Rate> {
        (0..10_000_u32).prop_map(|parts| {
            format!("{}.{:02}", parts / 100, parts % 100).parse().expect("a percentage")
        })
    }

    #[test]
    fn the_quantile_is_the_rank_that_the_definition_says() {
        let scores: Vec<usize> = (1..=99).rev().collect();
        for (percent, rank) in
            [("1", Some(99)), ("2", Some(98)), ("5", Some(95)), ("50", Some(50)), ("99", Some(1))]
        {
            let rate = percent.parse().expect("a percentage");
            assert_eq!(quantile(&scores, rate), rank, "{percent}");
        }
        for (runs, expected) in [(98, None), (99, Some(99))] {
            let scores: Vec<usize> = (1..=runs).collect();
            assert_eq!(quantile(&scores, Rate::percent(1)), expected, "{runs}");
        }
        assert_eq!(quantile::<u8>(&[], Rate::percent(50)), None);
    }

    #[test]
    fn the_interval_matches_published_tables() {
        // 81 of 263 by Newcombe, "Two-sided confidence intervals for the single proportion", 1998,
        // table I, method 3; likewise 15 of 148, 0 of 20, 1 of 29.
        for (part, whole, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
            (29, 29, 0.8830, 1.0),
        ] {
            let [from, to] = interval(part, whole).expect("an interval");
            assert!((from - low).abs() < 1e-4 && (to - high).abs() < 1e-4, "{part}: {from} {to}");
        }
        assert_eq!(interval(0, 0), None);
    }

    proptest! {
        /// The theorem: if each of n + 1 scores in turn is the score of the other run, at most the
        /// share `rate` of them exceeds the quantile of the others.
        #[test]
        fn at_most_the_rate_of_scores_exceeds_the_quantile(
            scores in vec(0..6_u8, 1..120),
            rate in rate(),
        ) {
            let is_above = |left_out: usize| {
                let mut others = scores.clone();
                let score = others.swap_remove(left_out);
                quantile(&others, rate).is_some_and(|quantile| score > quantile)
            };
            let above = (0..scores.len()).filter(|left_out| is_above(*left_out)).count();
            prop_assert!(above <= rate.of(scores.len()), "{above}");
        }

        #[test]
        fn there_is_a_quantile_from_the_least_number_of_runs_on(runs in 0..300_usize, rate in rate()) {
            let enough = runs_min(rate).is_some_and(|least| runs >= least);
            prop_assert_eq!(quantile(&vec![0_u8; runs], rate).is_some(), enough);
        }

        /// The definition itself, for shares of whole percent.
        #[test]
        fn the_quantile_is_the_smallest_score_with_enough_at_or_below(
            scores in vec(0..50_u8, 1..200),
            percent in 1..100_u32,
        ) {
            let runs = u32::try_from(scores.len()).expect("few");
            let at_or_below = |score: u8| {
                u32::try_from(scores.iter().filter(|other| **other <= score).count()).expect("few")
            };
            let enough = |score: &u8| 100 * at_or_below(*score) >= (runs + 1) * (100 - percent);
            let expected = scores.iter().copied().filter(enough).min();
            prop_assert_eq!(quantile(&scores, Rate::percent(percent)), expected);
        }
    }
}
