//! Reports read from results: tables of texts as tools print them.

mod failures;
mod innocent;
mod properties;
mod suites;

use unstuck_text::{Report, report};

/// A text, and what it must be read as.
type Case = (&'static str, Report);

/// No word on how the call went.
const NOTHING: Report =
    Report { failed: None, timed_out: false, failing_tests: None, compile_errors: None };

/// The call worked.
const WORKED: Report = Report { failed: Some(false), ..NOTHING };

/// The call failed.
const FAILED: Report = Report { failed: Some(true), ..NOTHING };

/// All tests ran, and so many failed.
const fn tests(failing: u32) -> Report {
    Report { failed: Some(failing > 0), failing_tests: Some(failing), ..NOTHING }
}

/// A compiler found so many errors.
const fn errors(count: u32) -> Report {
    Report { compile_errors: Some(count), ..FAILED }
}

/// Reads each text of `cases`, and compares.
fn check(cases: &[Case]) {
    for (text, expected) in cases {
        check_joined(&[text], *expected);
    }
}

/// Reads the text of which `parts` are the parts, and compares.
fn check_joined(parts: &[&str], expected: Report) {
    let text = parts.concat();
    assert_eq!(report(&text), expected, "{text}");
}
