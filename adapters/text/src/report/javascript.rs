//! The output of Jest and Vitest.

use super::line::{counted, number};
use super::tally::{Runner, Tally};
use crate::find;

/// Jest.
#[derive(Default)]
pub(crate) struct Jest {
    tally: Tally,
    /// The number of failed files in the run whose tests follow.
    failed_files: u32,
}

impl Runner for Jest {
    fn line(&mut self, line: &str) {
        if is_left_out(line) {
            self.tally.broke();
        } else if let Some(files) = counts_behind(line, "Test Suites:") {
            self.failed_files = files.failed;
            if files.partly {
                self.tally.broke();
            }
        } else if let Some(tests) = counts_behind(line, "Tests:") {
            add(&mut self.tally, self.failed_files, tests);
            self.failed_files = 0;
        }
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

/// Adds a run. A file that failed without a test that did could not be loaded, and its tests are
/// missing from the count.
fn add(tally: &mut Tally, failed_files: u32, tests: Counts) {
    tally.ran(tests.passed, tests.failed);
    if failed_files > 0 && tests.failed == 0 {
        tally.broke();
    }
}

/// Returns whether `line` says that a file could not be loaded, or that there was no file.
fn is_left_out(line: &str) -> bool {
    line.trim_start() == "● Test suite failed to run"
        || line.starts_with("No tests found, exiting with code 1")
        || line.starts_with("No test files found, exiting with code 1")
}

/// The counts of a summary.
#[derive(Clone, Copy, Default)]
struct Counts {
    passed: u32,
    failed: u32,
    /// Returns whether some tests were left out: `1 of 3 total`.
    partly: bool,
}

impl Counts {
    /// Takes in `3 failed` and the like; what is neither passed nor failed does not count.
    fn take(&mut self, part: &str) -> Option<()> {
        match counted(part)? {
            (count, "passed") => self.passed = count,
            (count, "failed") => self.failed = count,
            (_, "skipped" | "todo" | "pending" | "expected fail" | "obsolete") => {}
            _ => return None,
        }
        Some(())
    }
}

/// The counts of a line of Jest: `Tests:       1 failed, 2 passed, 3 total`.
fn counts_behind(line: &str, name: &str) -> Option<Counts> {
    let parts = line.strip_prefix(name)?.trim().strip_suffix(" total")?;
    let (parts, total) = find::rsplit_once(parts, ", ").unwrap_or(("", parts));
    let (run, all) = find::split_once(total, " of ").unwrap_or((total, total));
    let mut counts = Counts { partly: run != all, ..Counts::default() };
    for total in [run, all] {
        number(total).filter(|(_, rest)| rest.is_empty())?;
    }
    find::split_terminator(parts, ", ").try_for_each(|part| counts.take(part))?;
    Some(counts)
}

/// Vitest.
#[derive(Default)]
pub(crate) struct Vitest {
    tally: Tally,
    /// The number of failed files in the run whose tests follow.
    failed_files: Option<u32>,
}

impl Runner for Vitest {
    fn line(&mut self, line: &str) {
        let line = line.trim_start();
        if let Some(files) = row(line, "Test Files ") {
            self.failed_files = Some(files.failed);
        } else if let Some((files, tests)) = self.failed_files.zip(row(line, "Tests ")) {
            add(&mut self.tally, files, tests);
        } else if self.failed_files.is_some() && has_errors(line) {
            // Errors outside of the tests, which may have kept some from failing.
            self.tally.broke();
        }
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

/// The counts of a row of Vitest: `Tests  1 failed | 2 passed (3)`, or `Tests  no tests`.
fn row(line: &str, name: &str) -> Option<Counts> {
    let cells = line.strip_prefix(name)?.trim_start();
    let mut counts = Counts::default();
    if cells != "no tests" {
        let (parts, total) = find::rsplit_once(cells.strip_suffix(')')?, " (")?;
        number(total).filter(|(_, rest)| rest.is_empty())?;
        find::split(parts, " | ").try_for_each(|part| counts.take(part))?;
    }
    Some(counts)
}

/// Returns whether `line` is the row `Errors  1 error`.
fn has_errors(line: &str) -> bool {
    let cell = line.strip_prefix("Errors ").and_then(counted);
    cell.is_some_and(|(_, what)| matches!(what, "error" | "errors"))
}
