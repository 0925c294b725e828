//! Rates: a share of runs, exact to a hundredth of a percent.

use std::fmt;
use std::str::FromStr;

/// The number of parts of a percent. Whole parts are exact, which floating-point numbers are not.
const PARTS: u32 = 100;

/// The number of parts of 100 %.
const WHOLE: u32 = 100 * PARTS;

/// A share of runs, in hundredths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rate(u32);

impl Rate {
    /// The share of healthy runs that the default policy may accuse. It was tuned to this goal.
    pub(crate) const DEFAULT: Self = Self::percent(3);

    /// Creates a rate from a whole number of percent.
    pub(crate) const fn percent(percent: u32) -> Self {
        Self(percent * PARTS)
    }

    /// Returns the largest number of `runs` that stays within this share.
    pub(crate) fn of(self, runs: usize) -> usize {
        runs * self.0 as usize / WHOLE as usize
    }

    /// Returns the smallest number of runs for which one false alarm stays within the share, or
    /// `None` if no number does.
    pub(crate) fn one_in(self) -> Option<usize> {
        (self.0 > 0).then(|| WHOLE.div_ceil(self.0) as usize)
    }

    /// Returns the smallest share that allows one of `runs + 1` runs.
    pub(crate) fn least_for(runs: usize) -> Self {
        let runs = u32::try_from(runs).unwrap_or(u32::MAX).saturating_add(1);
        Self(WHOLE.div_ceil(runs))
    }

    /// Returns the share in percent, as it is written on the command line.
    pub(crate) fn percentage(self) -> String {
        let text = format!("{}.{:02}", self.0 / PARTS, self.0 % PARTS);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.percentage())
    }
}

/// The error for a text that is not a [`Rate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParseRateError;

impl fmt::Display for ParseRateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "expected a percentage below 100 with at most two decimals, for example 3 or \
                     0.5",
        )
    }
}

impl std::error::Error for ParseRateError {}

impl FromStr for Rate {
    type Err = ParseRateError;

    fn from_str(text: &str) -> Result<Self, ParseRateError> {
        let (whole, parts) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |digits: &str, most: usize| {
            (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !is_number(whole, 2) || !is_number(parts, 2) {
            return Err(ParseRateError);
        }
        let number = |digits: &str| digits.parse::<u32>().map_err(|_| ParseRateError);
        let tenfold = if parts.len() == 1 { 10 } else { 1 };
        Ok(Self(number(whole)? * PARTS + number(parts)? * tenfold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_read_exactly() {
        for (text, parts, shown) in [
            ("0", 0, "0 %"),
            ("3", 300, "3 %"),
            ("0.5", 50, "0.5 %"),
            ("0.05", 5, "0.05 %"),
            ("2.50", 250, "2.5 %"),
            ("99.99", 9999, "99.99 %"),
        ] {
            assert_eq!(text.parse(), Ok(Rate(parts)), "{text}");
            assert_eq!(Rate(parts).to_string(), shown);
            assert_eq!(Rate(parts).percentage().parse(), Ok(Rate(parts)), "{text}");
        }
        for text in ["", "100", "-1", "+1", "1.", ".5", "0.001", "1e1", "one", "1 %", "1,5", "é"] {
            assert_eq!(text.parse::<Rate>(), Err(ParseRateError), "{text}");
        }
    }

    #[test]
    fn a_share_is_never_more_than_was_asked_for() {
        for (parts, runs, share) in
            [(300, 70, 2), (300, 33, 0), (300, 34, 1), (100, 100, 1), (1, 9_999, 0), (1, 10_000, 1)]
        {
            assert_eq!(Rate(parts).of(runs), share, "{parts} {runs}");
        }
        for parts in 1..WHOLE {
            let rate = Rate(parts);
            let runs = rate.one_in().expect("runs");
            assert_eq!((rate.of(runs), rate.of(runs - 1)), (1, 0), "{parts}");
        }
        assert_eq!(Rate(0).one_in(), None);
        for runs in 1..300 {
            let Rate(parts) = Rate::least_for(runs);
            assert_eq!((Rate(parts).of(runs + 1), Rate(parts - 1).of(runs + 1)), (1, 0), "{runs}");
        }
    }
}
