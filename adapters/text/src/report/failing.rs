//! The names of tests that fail.

use crate::cause::is_plain_word;
use crate::find;
use crate::phrases::first_word;

/// Returns the names of the tests of which `text` says that they fail, as far as a name is one plain word. The line breaks
/// of a text inside of an object may be escaped. O(n).
pub(crate) fn failing_tests(text: &str) -> impl Iterator<Item = &str> + Clone {
    let lines = find::lines(text).flat_map(|line| find::split(line, "\\n"));
    let tests = lines.filter_map(failing_test).map(|name| name.trim_end_matches([':', ',']));
    tests.filter(|name| is_plain_word(name))
}

/// Returns the name of the test of which `line` says that it fails.
fn failing_test(line: &str) -> Option<&str> {
    let line = line.trim();
    // pytest, with the file; unittest, with the class behind the name; jest and vitest, with the file alone.
    for sign in ["FAILED ", "FAIL: ", "ERROR: ", "FAIL "] {
        if let Some(rest) = line.strip_prefix(sign) {
            return Some(first_word(rest)).filter(|name| is_test(name));
        }
    }
    // go test; rspec.
    if let Some(rest) = line.strip_prefix("--- FAIL: ").or_else(|| line.strip_prefix("rspec ")) {
        return Some(first_word(rest));
    }
    // cargo test.
    let rest = line.strip_prefix("test ")?;
    rest.strip_suffix(" ... FAILED")
}

/// Returns whether `name` is that of a test or of a file of tests. Anything may follow `ERROR:`.
fn is_test(name: &str) -> bool {
    let has = |part| find::contains(name, part);
    has("::") || has("test") || has("Test") || has("spec")
}

#[cfg(test)]
mod tests {
    use super::failing_tests;
    use crate::tables::check;

    #[test]
    fn each_runner_names_the_tests_that_fail() {
        check("failing tests", |text| format!("{:?}", failing_tests(text).collect::<Vec<_>>()));
    }
}
