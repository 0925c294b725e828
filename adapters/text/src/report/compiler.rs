//! Errors of compilers and checkers, and their number.

use super::line::{counted, number};
use crate::find;

/// The errors that compilers reported.
#[derive(Default)]
pub(crate) struct Compiler {
    /// The errors of the cargo target with the most. A library is compiled once more for its tests,
    /// and cargo may or may not report both.
    target: u32,
    /// The sum of the summaries of other compilers.
    summed: u32,
    /// True if a line named an error. Such lines are not counted, because `head` or `grep` may hide
    /// some of them.
    named: bool,
}

impl Compiler {
    /// Reads the next line.
    pub(crate) fn line(&mut self, line: &str) {
        if let Some(errors) = cargo(line) {
            self.target = self.target.max(errors);
        } else if let Some(errors) = rustc(line).or_else(|| clang(line)).or_else(|| checker(line)) {
            self.summed = self.summed.saturating_add(errors);
        } else if is_error(line) {
            self.named = true;
        }
    }

    /// Returns how many errors stopped a target of cargo from compiling, or `None` if it compiled.
    pub(crate) fn of_target(&self) -> Option<u32> {
        Some(self.target).filter(|errors| *errors > 0)
    }

    /// Returns the number of errors, or `None` if there are no errors or no count.
    pub(crate) fn errors(&self) -> Option<u32> {
        [self.target, self.summed].into_iter().find(|errors| *errors > 0)
    }

    /// Returns whether there were errors.
    pub(crate) fn failed(&self) -> bool {
        self.named || self.errors().is_some()
    }
}

/// The errors of `` error: could not compile `a` (lib) due to 3 previous errors; 1 warning emitted ``.
fn cargo(line: &str) -> Option<u32> {
    let (_, errors) =
        find::split_once(line.strip_prefix("error: could not compile `")?, " due to ")?;
    previous(errors)
}

/// The errors of `error: aborting due to 2 previous errors`.
fn rustc(line: &str) -> Option<u32> {
    previous(line.strip_prefix("error: aborting due to ")?)
}

/// The count of `previous error`, `1 previous error`, `2 previous errors`.
fn previous(errors: &str) -> Option<u32> {
    let (count, what) = counted(errors).unwrap_or((1, errors));
    what.starts_with("previous error").then_some(count)
}

/// The errors of `1 warning and 2 errors generated.`
fn clang(line: &str) -> Option<u32> {
    let counts = line.strip_suffix(" generated.")?;
    let (warnings, errors) =
        find::split_once(counts, " and ").map_or((None, counts), |(w, e)| (Some(w), e));
    let is_counted =
        |warnings| counted(warnings).is_some_and(|(_, what)| what.starts_with("warning"));
    let (count, what) = counted(errors)?;
    (matches!(what, "error" | "errors") && warnings.is_none_or(is_counted)).then_some(count)
}

/// The errors of `Found 3 errors in 2 files.`, as tsc, mypy and ruff end.
fn checker(line: &str) -> Option<u32> {
    let (count, rest) = counted(line.strip_prefix("Found ")?)?;
    let rest = rest.strip_prefix("errors").or(rest.strip_prefix("error"))?;
    let is_whole = rest.is_empty() || rest.starts_with('.') || rest.starts_with(" (");
    let is_of_files = rest.strip_prefix(" in ").is_some_and(|place| {
        let files = counted(place).is_some_and(|(_, what)| what.starts_with("file"));
        let line = find::rsplit_once(place, ":").and_then(|(_, line)| number(line));
        files || line.is_some_and(|(_, rest)| rest.is_empty())
    });
    (is_whole || is_of_files).then_some(count)
}

/// Returns whether `line` is an error with its place: `a.c:3:5: error: …`, `a.ts(3,5): error
/// TS2322: …`.
pub(super) fn is_error(line: &str) -> bool {
    at_column(line)
        .is_some_and(|what| what.starts_with("error: ") || what.starts_with("fatal error: "))
        || behind_place(line, "(", ",", "): ").is_some_and(|what| what.starts_with("error TS"))
}

/// Returns the text behind `path:line:column: `.
pub(super) fn at_column(line: &str) -> Option<&str> {
    behind_place(line, ":", ":", ": ")
}

/// Returns the text behind a path, its line and its column, with these signs before and behind the two numbers.
#[inline]
fn behind_place<'t>(text: &'t str, open: &str, between: &str, close: &str) -> Option<&'t str> {
    let (path, rest) = find::split_once(text, open)?;
    let (_, rest) = number(rest)?;
    let (_, rest) = number(rest.strip_prefix(between)?)?;
    is_path(path).then_some(rest.strip_prefix(close)?)
}

/// Returns whether `text` may be a path: one word, without quotes.
fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`'))
}
