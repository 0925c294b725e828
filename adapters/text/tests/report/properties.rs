//! Properties that hold for every text.

use proptest::prelude::*;

use unstuck_text::{complaint, finds_nothing, is_pending, report};

use crate::support::{cases, spelled};
use crate::texts::texts;

/// Lines that readers look for, and pieces of them.
const PIECES: &[&str] = &texts![
    "{\"error\": \"" "\"}" "Error: " "could not " " not found" "timed out" "<tool_use_error>"
    "HTTP/1.1 500" "usage: " "was rejected by the user" "=" "!!!" " in " "0.12s" "1 failed"
    "2 passed" ", " "\n" "\r" "\x1b[31m" "\x1b" "ü" "Ran 3 tests in 0.1s\n" "OK\n" "FAILED ("
    "test result: ok. " "running 2 tests\n" "; " "     Summary [ 0.1s] " " tests run: " "Tests: "
    " total" "--- FAIL: " "1.." "not ok 1 " "<testsuite " " failures=\"1" "exit code: "
    "99999999999" "Traceback (most recent call last):\n" " " "a" "No " "0 " "results" "Found" "[" "ETA"
];

/// The green runs among the suites.
fn green() -> impl Strategy<Value = String> {
    let suites = cases(include_str!("suites.txt")).into_iter();
    let green = suites.filter(|case| case.heading == "0 tests").map(|case| spelled(case.text));
    prop::sample::select(green.collect::<Vec<_>>())
}

/// Text put together from the pieces.
fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>(), pieces in pieces()) {
        for text in [text, pieces] {
            let report = report(&text);
            // A count that is not 0 is a failure.
            let is_counted = report.failing_tests.or(report.compile_errors).is_some_and(|n| n > 0);
            prop_assert!(!is_counted || report.failed == Some(true), "{text:?}");
            // Tests that all pass, or fail, are a verdict.
            prop_assert!(report.failing_tests.is_none() || report.failed.is_some(), "{text:?}");
            // A time-out and a refusal are failures.
            prop_assert!(!report.timed_out || report.failed == Some(true), "{text:?}");
            // A sentence that says what went wrong is part of the text.
            let is_part =
                |line: &str| text.contains(line) && !line.is_empty() && line.trim() == line;
            prop_assert!(complaint(&text).is_none_or(is_part), "{text:?}");
            // An answer that goes on, or found nothing, is short.
            prop_assert!(!(is_pending(&text) || finds_nothing(&text)) || text.len() <= 512);
        }
    }

    #[test]
    fn prose_behind_a_green_run_leaves_it_green(
        run in green(),
        prose in prop::collection::vec("[A-Z][a-z]{1,8}( [a-z]{1,9}){1,8}[.:!]?", 0..8),
    ) {
        let report = report(&format!("{run}\n{}\n", prose.join("\n")));
        prop_assert_eq!((report.failed, report.failing_tests), (Some(false), Some(0)));
    }
}

/// A reader that went back over what it has read would not come to an end here: what stands before
/// the summary has a million bytes.
#[test]
fn a_long_text_is_read_once() {
    const BYTES: usize = 1_000_000;
    for piece in texts![
        " " "(" "=" "\r" "\x1b[1m" "\x1b" "ü" "x\n" "a: " "1 failed, " "[exit code " "1:1: "
        " in 0.1s" "Traceback (most recent call last):\n" "<testsuite " "```\n```\n"
        "Ran 1 test in " "{" "{\"error\": [" "could not " "timeout "
    ] {
        let text = piece.repeat(BYTES / piece.len()) + "\n=== 1 failed in 0.10s ===";
        assert_eq!(report(&text).failing_tests, Some(1), "{piece:?}");
    }
}
