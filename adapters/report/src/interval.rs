//! Confidence intervals of shares.

/// The ends of an interval that holds the true value with a probability of 95 %.
pub type Interval = [f64; 2];

/// Returns the share that `part` is of `whole`, or `None` if there are none.
#[expect(clippy::cast_precision_loss, reason = "counts of runs and notes, far below 2^52")]
pub fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The half-width of a 95 % interval in standard deviations of the normal distribution.
const DEVIATIONS: f64 = 1.959_963_984_540_054;

/// Returns the 95 % confidence interval for the share from which `part` of `whole` came
/// (Wilson, *Probable Inference, the Law of Succession, and Statistical Inference*, 1927), or
/// `None` if there are none.
#[expect(clippy::cast_precision_loss, reason = "counts of runs and notes, far below 2^52")]
pub fn wilson(part: usize, whole: usize) -> Option<Interval> {
    let (n, share) = (whole as f64, ratio(part, whole)?);
    let square = DEVIATIONS * DEVIATIONS;
    let middle = share + square / (2.0 * n);
    let reach = DEVIATIONS * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    let end = |end: f64| (end / (1.0 + square / n)).clamp(0.0, 1.0);
    Some([end(middle - reach), end(middle + reach)])
}

#[cfg(test)]
mod tests {
    use super::wilson;

    #[test]
    fn the_interval_of_a_share_matches_published_tables() {
        // 81 of 263 by Newcombe, "Two-sided confidence intervals for the single proportion", 1998,
        // table I, method 3; likewise 15 of 148, 0 of 20, 1 of 29.
        for (part, whole, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
            (29, 29, 0.8830, 1.0),
        ] {
            let [from, to] = wilson(part, whole).expect("an interval");
            assert!((from - low).abs() < 1e-4 && (to - high).abs() < 1e-4, "{part}: {from} {to}");
        }
        assert_eq!(wilson(0, 0), None);
    }
}
