//! The numbers of all inputs of a scan.

use crate::baseline::Difference;
use crate::shown::counted;

/// The number of inputs by result, for the end of a report.
#[derive(Debug, Default)]
pub struct Tally {
    /// The runs with a finding.
    pub stuck: usize,
    /// The runs without a finding.
    pub clean: usize,
    /// The runs without calls.
    pub empty: usize,
    /// The inputs that could not be read.
    pub unread: usize,
    /// The inputs that were read only in part.
    pub partly: usize,
    /// The files of folders that are no recordings.
    pub left_out: usize,
    /// The files of folders that are older than those wanted.
    pub older: usize,
    /// The difference to the baseline, if there is one.
    pub difference: Option<Difference>,
}

impl Tally {
    /// Returns the number of runs in words, for example `1 run`. Those without calls do not count.
    pub(crate) fn runs(&self) -> String {
        counted(self.stuck + self.clean, "run")
    }

    /// Returns the numbers in one line, for example `2 stuck, 3 clean, 1 input could not be read`.
    pub(crate) fn results(&self) -> String {
        let mut parts = vec![format!("{} stuck", self.stuck), format!("{} clean", self.clean)];
        if self.empty > 0 {
            parts.push(format!("{} empty", self.empty));
        }
        if self.unread > 0 {
            parts.push(format!("{} could not be read", counted(self.unread, "input")));
        }
        if self.partly > 0 {
            parts.push(format!("{} only in part", self.partly));
        }
        parts.join(", ")
    }

    /// Returns the numbers and the difference to the baseline in one line.
    pub(crate) fn counts(&self) -> String {
        let loops =
            self.difference.iter().map(|difference| format!(", loops: {}", difference.counts()));
        loops.fold(self.results(), |text, loops| text + &loops)
    }
}
