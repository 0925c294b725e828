//! Finds the patience or the limit that healthy runs require, by split conformal prediction.
//!
//! The score of a run is the smallest patience from which on the policy finds nothing in it, or what the run spent. Of
//! *n* runs the policy or the limit gets the ⌈(n + 1)(1 − α)⌉-th smallest score.
//!
//! **Guarantee.** Another run is accused, or spends more than the limit, with a probability of at
//! most α. The probability is over the other run and the *n* runs together, not over other runs for
//! these *n*.
//!
//! **Assumptions.** The *n* runs and the other run are exchangeable: each order of their scores is as
//! likely as any other, for example because they were drawn independently from the same work. The
//! policy and α were chosen without a look at these runs. Nothing is assumed about the runs or the
//! policy beyond that.
//!
//! **Reason.** Each of the *n* + 1 scores is as likely to have any of the ranks. The other run's
//! score is above the quantile only if its rank is among the ⌊(n + 1)α⌋ highest.
//!
//! **Source.** Vovk, Gammerman and Shafer, *Algorithmic Learning in a Random World*, 2005; Lei,
//! G'Sell, Rinaldo, Tibshirani and Wasserman, *Distribution-Free Predictive Inference for
//! Regression*, 2018.

use std::fmt;

/// The number of parts of a percent. Whole parts are exact, which floating-point numbers are not.
const PARTS: u32 = 100;

/// The number of parts of 100 %.
const WHOLE: u32 = 100 * PARTS;

/// A share of runs above 0, in hundredths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate(u32);

impl Rate {
    /// Reads a percentage. The error says what is expected.
    pub(crate) fn of_text(text: &str) -> Result<Self, &'static str> {
        Self::parsed(text).ok_or(
            "expected a percentage above 0 and below 100 with at most two decimals, for example 3 \
             or 0.5",
        )
    }

    fn parsed(text: &str) -> Option<Self> {
        let (whole, parts) = text.split_once('.').unwrap_or((text, "0"));
        let number = |digits: &str| {
            let is_number =
                (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<u32>().ok().filter(|_| is_number)
        };
        let tenfold = if parts.len() == 1 { 10 } else { 1 };
        let rate = number(whole)? * PARTS + number(parts)? * tenfold;
        (rate > 0).then_some(Self(rate))
    }

    /// Returns the largest number of `runs` that stays within this share.
    fn of(self, runs: usize) -> usize {
        runs * self.0 as usize / WHOLE as usize
    }

    /// Returns the smallest number of runs from which the share can be guaranteed.
    pub(super) fn runs_min(self) -> usize {
        // ⌈(n + 1)(1 − α)⌉ ≤ n holds from n + 1 = 1/α on.
        WHOLE.div_ceil(self.0) as usize - 1
    }

    /// Returns the smallest share that `runs` can guarantee.
    pub(super) fn least_for(runs: usize) -> Self {
        let runs = u32::try_from(runs).unwrap_or(u32::MAX).saturating_add(1);
        Self(WHOLE.div_ceil(runs))
    }
}

impl fmt::Display for Rate {
    /// Writes the share in percent, as it is written on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:02}", self.0 / PARTS, self.0 % PARTS);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_percentage_is_read_exactly() {
        for (text, parts, shown) in [
            ("3", 300, "3"),
            ("0.5", 50, "0.5"),
            ("0.05", 5, "0.05"),
            ("2.50", 250, "2.5"),
            ("99.99", 9999, "99.99"),
        ] {
            assert_eq!(Rate::of_text(text), Ok(Rate(parts)), "{text}");
            assert_eq!(Rate(parts).to_string(), shown);
        }
        for text in
            ["", "0", "100", "-1", "+1", "1.", ".5", "0.001", "1e1", "one", "1 %", "1,5", "é"]
        {
            assert!(Rate::of_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_quantile_is_the_rank_that_the_definition_says() {
        let scores: Vec<usize> = (1..=99).rev().collect();
        for (percent, rank) in
            [(1, Some(99)), (2, Some(98)), (5, Some(95)), (50, Some(50)), (99, Some(1))]
        {
            assert_eq!(quantile(&scores, Rate(percent * PARTS)), rank, "{percent}");
        }
        for (runs, expected) in [(98, None), (99, Some(99))] {
            let scores: Vec<usize> = (1..=runs).collect();
            assert_eq!(quantile(&scores, Rate(PARTS)), expected, "{runs}");
        }
        assert_eq!(quantile::<u8>(&[], Rate(50 * PARTS)), None);
    }

    #[test]
    fn the_least_share_is_the_first_that_so_many_runs_can_guarantee() {
        for runs in 1..300 {
            let Rate(parts) = Rate::least_for(runs);
            let is_enough = |parts| quantile(&vec![0_u8; runs], Rate(parts)).is_some();
            assert!(is_enough(parts) && !is_enough(parts - 1), "{runs}");
        }
    }

    proptest! {
        /// The theorem: if each of n + 1 scores in turn is the score of the other run, at most the
        /// share `rate` of them exceeds the quantile of the others.
        #[test]
        fn at_most_the_rate_of_scores_exceeds_the_quantile(
            scores in vec(0..6_u8, 1..120),
            rate in (1..WHOLE).prop_map(Rate),
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
        fn there_is_a_quantile_from_the_least_number_of_runs_on(
            runs in 0..300_usize,
            rate in (1..WHOLE).prop_map(Rate),
        ) {
            let is_enough = runs >= rate.runs_min();
            prop_assert_eq!(quantile(&vec![0_u8; runs], rate).is_some(), is_enough);
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
            prop_assert_eq!(quantile(&scores, Rate(percent * PARTS)), expected);
        }
    }
}
