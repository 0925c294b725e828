//! Reports read from results: files of texts as tools print them.
//!
//! The heading of a text is its report: `2 tests` and `2 errors` are counts of failures, and `nothing` is no word on how the
//! call went.

mod properties;
#[path = "../support/cases.rs"]
mod support;
#[path = "../support/texts.rs"]
mod texts;

use support::{Case, cases, spelled};
use unstuck_text::{Report, report};

const NOTHING: Report =
    Report { failed: None, timed_out: false, failing_tests: None, compile_errors: None };

const FAILED: Report = Report { failed: Some(true), ..NOTHING };

/// Returns the report that a heading stands for.
fn outcome(heading: &str) -> Report {
    let count = |count: &str| Some(count.parse().expect("a number"));
    match (heading, heading.split_once(' ')) {
        ("nothing", _) => NOTHING,
        ("worked", _) => Report { failed: Some(false), ..NOTHING },
        ("failed", _) => FAILED,
        ("timed out", _) => Report { timed_out: true, ..FAILED },
        ("0 tests", _) => Report { failed: Some(false), failing_tests: Some(0), ..NOTHING },
        ("0 tests, but failed", _) => Report { failing_tests: Some(0), ..FAILED },
        (_, Some((n, "test" | "tests"))) => Report { failing_tests: count(n), ..FAILED },
        (_, Some((n, "error" | "errors"))) => Report { compile_errors: count(n), ..FAILED },
        _ => panic!("{heading} is no report"),
    }
}

/// Reads each text of `file` with and without the end of its last line.
fn check(file: &str) {
    for Case { group, heading, text } in cases(file) {
        for text in [spelled(text), spelled(text) + "\n"] {
            assert_eq!(report(&text), outcome(heading), "{group}: {text:?}");
        }
    }
}

#[test]
fn test_runners_and_compilers_are_counted() {
    check(include_str!("suites.txt"));
}

#[test]
fn failures_are_told_in_words() {
    check(include_str!("failures.txt"));
}

#[test]
fn texts_that_only_hold_the_words_of_failures_are_none() {
    check(include_str!("innocent.txt"));
    assert_eq!(report("\n \n"), NOTHING);
}

#[test]
fn a_complaint_stands_first_or_last() {
    for complaint in include_str!("complaints.txt").lines().map(spelled) {
        for (before, after) in [("", ""), ("", "\na\nb\n"), ("a\nb\n", "\n")] {
            assert_eq!(report(&format!("{before}{complaint}{after}")), FAILED, "{complaint}");
        }
        assert_eq!(report(&format!("a\n{complaint}\nb\n")), NOTHING, "{complaint}");
    }
}

#[test]
fn a_complaint_in_free_words_opens_a_short_result() {
    for sentence in include_str!("sentences.txt").lines() {
        let read = |before: &str, after: &str| report(&format!("{before}{sentence}{after}"));
        assert_eq!(read("", ""), FAILED, "{sentence}");
        assert_eq!(read("", "\nSee the manual.\n"), FAILED, "{sentence}");
        assert_eq!(read("a\n", "\n"), NOTHING, "{sentence}");
        assert_eq!(read("", &("\n".to_owned() + &"a\n".repeat(40))), NOTHING, "{sentence}");
        assert_eq!(read("", "\nIt succeeded the second time.\n"), NOTHING, "{sentence}");
    }
}
