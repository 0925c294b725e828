//! Reports in the XML of `JUnit`, which most runners can write.

use super::line::number;
use super::tally::Tally;
use crate::find;

/// Returns the counts of `result` if all of it is such a report. O(n).
pub(crate) fn junit(result: &str) -> Tally {
    let mut tally = Tally::default();
    let text = result.trim_start();
    if !text.starts_with("<?xml") && !text.starts_with("<testsuite") {
        return tally;
    }
    // Suites hold suites, whose tests they count.
    let mut depth: usize = 0;
    for element in find::split(text, "<") {
        if element.starts_with("/testsuite>") {
            depth = depth.saturating_sub(1);
        } else if element.starts_with("testsuites ") && attribute(element, " failures=\"").is_some()
        {
            add(&mut tally, element);
            break;
        } else if element.starts_with("testsuite ") {
            if depth == 0 {
                add(&mut tally, element);
            }
            if !element.trim_end().ends_with("/>") {
                depth = depth.saturating_add(1);
            }
        }
    }
    tally
}

/// Adds the suite, or all suites, that `element` opens.
fn add(tally: &mut Tally, element: &str) {
    let count = |name| attribute(element, name).unwrap_or(0);
    let (failures, errors) = (count(" failures=\""), count(" errors=\""));
    let aside = count(" skipped=\"").saturating_add(count(" disabled=\""));
    let failing = failures.saturating_add(errors);
    let passed = count(" tests=\"").saturating_sub(failing).saturating_sub(aside);
    // Errors alone stand for what could not be loaded.
    if passed == 0 && failures == 0 && errors > 0 {
        tally.broke();
    } else {
        tally.ran(passed, failing);
    }
}

/// The number that stands behind `name`, which ends with the quote before it.
fn attribute(element: &str, name: &str) -> Option<u32> {
    let (_, value) = find::split_once(element, name)?;
    number(value).map(|(count, _)| count)
}
