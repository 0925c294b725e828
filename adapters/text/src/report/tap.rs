//! The Test Anything Protocol, which many runners speak.

use super::line::number;
use super::tally::{Runner, Tally};
use crate::find;

/// A report by the protocol. Subtests are indented, and counted by the test they belong to.
#[derive(Default)]
pub(crate) struct Tap {
    /// The number of announced tests: `1..5`.
    plan: Option<u32>,
    passed: u32,
    failing: u32,
    /// The number of tests that are skipped or still to be written.
    aside: u32,
    bailed_out: bool,
}

impl Runner for Tap {
    fn line(&mut self, line: &str) {
        if let Some(last) = line.strip_prefix("1..").and_then(number) {
            self.plan = Some(last.0);
        } else if let Some(test) = line.strip_prefix("ok ") {
            self.test(test, |it| &mut it.passed);
        } else if let Some(test) = line.strip_prefix("not ok ") {
            self.test(test, |it| &mut it.failing);
        } else if line.starts_with("Bail out!") {
            self.bailed_out = true;
        }
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        let seen = self.passed.saturating_add(self.failing).saturating_add(self.aside);
        // Without a plan, a list of tests may be incomplete.
        if let Some(plan) = self.plan.filter(|_| seen > 0) {
            tally.ran(self.passed, self.failing);
            if self.bailed_out {
                tally.broke();
            } else if seen < plan {
                tally.missed();
            }
        }
        tally
    }
}

impl Tap {
    /// Adds a test: its number, its name, and perhaps a directive.
    fn test(&mut self, test: &str, count: impl Fn(&mut Self) -> &mut u32) {
        if number(test).is_none() {
            return;
        }
        let is_aside = find::rsplit_once(test, " # ").is_some_and(|(_, directive)| {
            let word = directive.get(..4).unwrap_or_default();
            word.eq_ignore_ascii_case("todo") || word.eq_ignore_ascii_case("skip")
        });
        let field = if is_aside { &mut self.aside } else { count(self) };
        *field = field.saturating_add(1);
    }
}
