//! The output of `go test`.

use super::python::decimal;
use super::tally::{Runner, Tally};

/// A reader of `go test`, which prints no counts: it names each failing test, and then their
/// package.
#[derive(Default)]
pub(crate) struct GoTest {
    tally: Tally,
    /// The number of failed tests in the package whose verdict has not come yet.
    failing: u32,
    /// True if that package panicked.
    panicked: bool,
}

impl Runner for GoTest {
    fn line(&mut self, line: &str) {
        if line.starts_with("--- FAIL: ") && line.ends_with("s)") {
            self.failing = self.failing.saturating_add(1);
        } else if line.starts_with("panic: ") {
            self.panicked = true;
        } else if let Some(verdict) = verdict(line) {
            self.close(verdict);
        }
    }

    fn tally(&self) -> Tally {
        let mut tally = self.tally;
        if self.failing > 0 {
            tally.ran(0, self.failing);
            tally.missed();
        }
        tally
    }
}

impl GoTest {
    /// Adds a package.
    fn close(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Passed => self.tally.ran(1, 0),
            Verdict::Empty => self.tally.ran(0, 0),
            // No test failed, or the others did not come to their turn.
            Verdict::Failed if self.failing == 0 || self.panicked => self.tally.broke(),
            Verdict::Failed => self.tally.ran(0, self.failing),
            Verdict::Unbuilt => self.tally.broke(),
        }
        self.failing = 0;
        self.panicked = false;
    }
}

/// The result of a package.
#[derive(Clone, Copy)]
enum Verdict {
    Passed,
    /// It has no tests, or no tests that match the filter.
    Empty,
    Failed,
    Unbuilt,
}

/// The verdict of `ok  <TAB>package<TAB>0.012s` and `FAIL<TAB>package<TAB>[build failed]`; the tabs
/// may have become spaces.
fn verdict(line: &str) -> Option<Verdict> {
    if !(line.starts_with("ok") || line.starts_with("FAIL")) {
        return None;
    }
    let mut words = line.split_whitespace();
    let passed = match words.next()? {
        "ok" => true,
        "FAIL" => false,
        _ => return None,
    };
    let _package = words.next()?;
    let third = words.next()?;
    let is_time = third == "(cached)" || decimal(third) == Some("s");
    match passed {
        true if is_time && line.ends_with("[no tests to run]") => Some(Verdict::Empty),
        true if is_time => Some(Verdict::Passed),
        false if is_time => Some(Verdict::Failed),
        false if matches!(third, "[build" | "[setup") => Some(Verdict::Unbuilt),
        _ => None,
    }
}
