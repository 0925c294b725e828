//! The output of pytest and unittest.

use super::line::{counted, number};
use super::tally::{Runner, Tally};
use crate::find;

/// pytest, with any plugin that keeps its last line.
#[derive(Default)]
pub(crate) struct Pytest {
    tally: Tally,
}

impl Runner for Pytest {
    fn line(&mut self, line: &str) {
        if is_cut_short(line) {
            self.tally.broke();
        }
        match last_line(line) {
            // Errors alone come from the collection, or from a fixture that every test needs.
            Some(Counts { passed: 0, failed: 0, skipped: 0, .. }) => self.tally.broke(),
            Some(counts) => {
                self.tally.ran(counts.passed, counts.failed.saturating_add(counts.errors));
            }
            None => {}
        }
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

/// Returns whether `line` says that not all tests ran.
fn is_cut_short(line: &str) -> bool {
    is_interrupted(line)
        || line.starts_with('_') && line.trim_matches('_').starts_with(" ERROR collecting ")
        || line.starts_with("ImportError while loading conftest ")
        || line.starts_with("INTERNALERROR> ")
}

/// Returns whether `line` gives the reason of an early stop between exclamation marks: `!!!
/// Interrupted: 1 error during collection !!!`.
fn is_interrupted(line: &str) -> bool {
    const REASONS: [&str; 4] =
        ["Interrupted: ", "stopping after ", "KeyboardInterrupt", "_pytest.outcomes.Exit"];
    let banner = line.strip_prefix("!!!").and_then(|rest| rest.strip_suffix("!!!"));
    banner.is_some_and(|reason| REASONS.iter().any(|known| find::contains(reason, known)))
}

/// The counts of a last line.
#[derive(Default)]
struct Counts {
    passed: u32,
    failed: u32,
    errors: u32,
    skipped: u32,
}

/// The counts of `=== 1 failed, 2 passed in 0.12s ===`, with or without the banner.
fn last_line(line: &str) -> Option<Counts> {
    // Most lines end otherwise.
    if !line.ends_with(['s', ')', '=']) {
        return None;
    }
    let line = line.trim_matches('=').trim();
    let (counts, duration) = find::rsplit_once(line, " in ")?;
    if !is_duration(duration) {
        return None;
    }
    let mut sum = Counts::default();
    for part in find::split(counts, ", ") {
        if matches!(part, "no tests ran" | "no tests collected") {
            continue;
        }
        let (count, what) = counted(part)?;
        let field = match what {
            "passed" | "xfailed" | "xpassed" => &mut sum.passed,
            "failed" | "subtests failed" | "subtest failed" => &mut sum.failed,
            "error" | "errors" => &mut sum.errors,
            "skipped" => &mut sum.skipped,
            "warning" | "warnings" | "deselected" | "rerun" | "subtests passed"
            | "subtest passed" => continue,
            _ => return None,
        };
        *field = field.saturating_add(count);
    }
    Some(sum)
}

/// Returns whether `text` is `0.12s`, `0.12 seconds` as up to version 4, or `62.00s (0:01:02)`.
fn is_duration(text: &str) -> bool {
    decimal(text).is_some_and(|unit| {
        matches!(unit, "s" | " seconds") || unit.starts_with("s (") && unit.ends_with(')')
    })
}

/// Returns what stands behind the number with a fraction that `text` begins with.
pub(super) fn decimal(text: &str) -> Option<&str> {
    let (_, fraction) = number(text)?;
    number(fraction.strip_prefix('.')?).map(|(_, behind)| behind)
}

/// unittest, and what runs its suites, as Django does.
#[derive(Default)]
pub(crate) struct Unittest {
    tally: Tally,
    /// The number of tests that the suite has run; its verdict has not come yet.
    ran: Option<u32>,
}

impl Runner for Unittest {
    fn line(&mut self, line: &str) {
        if is_left_out(line) {
            self.tally.broke();
        } else if let Some(ran) = tests_run(line) {
            self.ran = Some(ran);
        } else if let Some((ran, failing)) = self.ran.zip(failing(line)) {
            self.ran = None;
            if ran == 0 && failing > 0 {
                self.tally.broke();
            } else {
                self.tally.ran(ran.saturating_sub(failing), failing);
            }
        }
    }

    fn tally(&self) -> Tally {
        self.tally
    }
}

/// Returns whether `line` says that there were no tests, or names an error that stopped tests from
/// running: a module that cannot be imported, or the set-up of a class or a module.
fn is_left_out(line: &str) -> bool {
    let test = line.strip_prefix("ERROR: ");
    line.starts_with("NO TESTS RAN")
        || test.is_some_and(|test| {
            find::contains(test, "unittest.loader._FailedTest")
                || test.starts_with("setUpClass (")
                || test.starts_with("setUpModule (")
        })
}

/// The number of `Ran 3 tests in 0.001s`.
fn tests_run(line: &str) -> Option<u32> {
    let (ran, rest) = counted(line.strip_prefix("Ran ")?)?;
    let duration = rest.strip_prefix("tests in ").or(rest.strip_prefix("test in "))?;
    is_duration(duration).then_some(ran)
}

/// Returns the number of failing tests in the verdict of a suite: `OK (skipped=1)`, `FAILED (failures=1, errors=2)`.
fn failing(line: &str) -> Option<u32> {
    if line == "OK" || line.starts_with("OK (") {
        return Some(0);
    }
    let counts = line.strip_prefix("FAILED (")?.strip_suffix(')')?;
    let bad = find::split(counts, ", ").filter_map(|part| {
        let (what, count) = find::split_once(part, "=")?;
        let is_bad = matches!(what, "failures" | "errors" | "unexpected successes");
        is_bad.then(|| number(count))?.map(|(count, _)| count)
    });
    Some(bad.fold(0, u32::saturating_add))
}
