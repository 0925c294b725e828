//! The output of `cargo test` and `cargo nextest`.

use super::line::{counted, number};
use super::tally::{Runner, Tally};
use crate::find;

/// `cargo test`: one suite for each binary, and one for the examples of the documentation.
#[derive(Default)]
pub(crate) struct CargoTest {
    tally: Tally,
    /// True if a suite has started and its result is still missing.
    running: bool,
}

impl Runner for CargoTest {
    fn line(&mut self, line: &str) {
        if is_start(line) {
            // The result of a suite that had begun is missing.
            *self = Self { tally: self.tally(), running: true };
        } else if let Some((passed, failing)) = result(line) {
            self.running = false;
            self.tally.ran(passed, failing);
        } else if is_crash(line) || line.starts_with("error: could not compile `") {
            self.running = false;
            self.tally.broke();
        }
    }

    fn tally(&self) -> Tally {
        let mut tally = self.tally;
        if self.running {
            tally.missed();
        }
        tally
    }
}

/// Returns whether `line` is `running 3 tests`.
fn is_start(line: &str) -> bool {
    let rest = line.strip_prefix("running ").and_then(counted);
    rest.is_some_and(|(_, what)| matches!(what, "test" | "tests"))
}

/// Returns the numbers of passed and failed tests in `test result: FAILED. 1 passed; 2 failed; 0 ignored; …`.
fn result(line: &str) -> Option<(u32, u32)> {
    let rest = line.strip_prefix("test result: ")?;
    let counts = rest.strip_prefix("ok. ").or(rest.strip_prefix("FAILED. "))?;
    let mut parts = find::split(counts, "; ").filter_map(counted);
    let passed = parts.next().filter(|(_, what)| *what == "passed")?;
    let failed = parts.next().filter(|(_, what)| *what == "failed")?;
    Some((passed.0, failed.0))
}

/// Returns whether `line` says that a signal ended the binary of a suite, together with its other
/// tests.
fn is_crash(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("process didn't exit successfully: ") && find::contains(line, " (signal: ")
}

/// `cargo nextest`.
#[derive(Default)]
pub(crate) struct Nextest {
    tally: Tally,
}

impl Runner for Nextest {
    fn line(&mut self, line: &str) {
        if line == "error: no tests to run" {
            self.tally.broke();
        } else if let Some(summary) = summary(line) {
            self.tally.ran(summary.passed, summary.failing);
            // By default the first failure cancels the rest, which might fail as well.
            if summary.ran < summary.planned {
                self.tally.broke();
            }
        }
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

/// The counts of a summary of nextest.
struct Summary {
    ran: u32,
    planned: u32,
    passed: u32,
    failing: u32,
}

/// Reads `Summary [   0.005s] 3 tests run: 2 passed (1 slow), 1 failed, 0 skipped`. A cancelled run
/// has `3/8 tests run`.
fn summary(line: &str) -> Option<Summary> {
    let (_, rest) = find::split_once(line.trim_start().strip_prefix("Summary [")?, "] ")?;
    let (tests, counts) = find::split_once(rest, " run: ")?;
    let (ran, rest) = number(tests)?;
    let (planned, rest) = match rest.strip_prefix('/') {
        Some(planned) => number(planned)?,
        None => (ran, rest),
    };
    if !matches!(rest, " test" | " tests") {
        return None;
    }
    let mut summary = Summary { ran, planned, passed: 0, failing: 0 };
    for (count, what) in find::split(counts, ", ").filter_map(counted) {
        let is =
            |word| what == word || what.strip_prefix(word).is_some_and(|s| s.starts_with(" ("));
        if is("passed") {
            summary.passed = count;
        } else if is("failed") || is("timed out") || is("exec failed") {
            summary.failing = summary.failing.saturating_add(count);
        }
    }
    Some(summary)
}
