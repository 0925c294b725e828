//! The counts of test suites.

/// Reads what one kind of test runner prints, line by line.
pub(crate) trait Runner {
    /// Reads the next line.
    fn line(&mut self, line: &str);

    /// Returns the counts of all lines so far.
    fn tally(&self) -> Tally;
}

/// The counts of all suites in a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// True if there was a suite.
    seen: bool,
    /// The number of tests that passed. Only zero or not matters, so some runners count
    /// packages.
    passed: u32,
    /// The number of tests that failed.
    failing: u32,
    /// A suite did not run, or stopped early. Its counts do not include the tests that were left
    /// out.
    broken: bool,
    /// A part of the output of a suite is missing. It need not have failed.
    partial: bool,
}

impl Tally {
    /// Adds a suite that ran to its end.
    pub(crate) fn ran(&mut self, passed: u32, failing: u32) {
        self.seen = true;
        self.passed = self.passed.saturating_add(passed);
        self.failing = self.failing.saturating_add(failing);
    }

    /// Adds a suite that did not run, or not to its end.
    pub(crate) fn broke(&mut self) {
        self.seen = true;
        self.broken = true;
    }

    /// Adds a suite of which some output is missing.
    pub(crate) fn missed(&mut self) {
        self.partial = true;
    }

    /// Adds all of `other`.
    pub(crate) fn add(&mut self, other: Self) {
        self.seen |= other.seen;
        self.passed = self.passed.saturating_add(other.passed);
        self.failing = self.failing.saturating_add(other.failing);
        self.broken |= other.broken;
        self.partial |= other.partial;
    }

    /// Returns whether there was a suite.
    pub(crate) fn seen(self) -> bool {
        self.seen
    }

    /// Returns whether a suite failed. Returns `None` without a suite, or if tests are missing that
    /// may have failed.
    pub(crate) fn failed(self) -> Option<bool> {
        if self.broken || self.failing > 0 {
            return Some(true);
        }
        (self.seen && !self.partial).then_some(false)
    }

    /// Returns the number of failing tests if all are counted and any test ran.
    pub(crate) fn failing(self) -> Option<u32> {
        let ran = self.passed > 0 || self.failing > 0;
        (ran && !self.broken && !self.partial).then_some(self.failing)
    }
}
