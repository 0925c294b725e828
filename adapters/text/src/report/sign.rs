//! The sentence of a failed result that says what went wrong.

use super::compiler;
use super::complaint::{is_complaint, is_error_type};
use super::crash::is_head;
use super::exit::is_status;
use super::line::is_log_entry;
use super::object;
use super::refusal::{says_refused, untagged};
use super::sentence;
use super::timeout::says_timed_out;
use crate::body::Body;
use crate::find;
use crate::phrases::{after, words};
use crate::said::uncoloured;
use crate::words::complaint::{GENERIC, SUMMARIES, SUMS};

/// The most lines that are read from either end of a result.
const LINES_MAX: usize = 128;

/// The longest line that is read, in bytes.
const LINE_MAX: usize = 1024;

/// Returns the sentence of a failed `result` that says what went wrong, as it stands in the text, or
/// `None` if it only says that something failed. O(n) of at most 128 lines from either end.
///
/// For a traceback this is the exception, for a compiler its first error, for a shell the line with
/// the command that it does not know. A line that names a cause wins over one that only sums up, like
/// `Command failed with exit code 1`.
///
/// The function expects a result that is known to have failed: it also finds a sentence in a file
/// that talks about errors.
///
/// ```
/// use unstuck_text::complaint;
///
/// assert_eq!(
///     complaint("Exit code 1\ncat: a.txt: No such file or directory\n"),
///     Some("cat: a.txt: No such file or directory"),
/// );
/// assert_eq!(complaint("error: Command failed with exit code 1."), None);
/// ```
pub fn complaint(result: &str) -> Option<&str> {
    complaint_of(&Body::of(result))
}

/// Returns the sentence of a failed answer that says what went wrong.
pub(crate) fn complaint_of<'t>(body: &Body<'t>) -> Option<&'t str> {
    let status = object::read(body.text);
    if status.failed == Some(true) {
        return status.message.and_then(|message| specific(message).or(Some(message.trim())));
    }
    in_tag(body)
        .or_else(|| in_crash(body))
        .or_else(|| lines(body).enumerate().find_map(|(at, line)| stated(line, at == 0)))
        .or_else(|| lines(body).find_map(free))
}

/// The first line inside of the tag of an error.
fn in_tag<'t>(body: &Body<'t>) -> Option<&'t str> {
    let inner = untagged(body.first);
    if inner.len() < body.first.len() { specific(inner) } else { None }
}

/// The lines at either end of `body` that show anything, without the tag of an error around them,
/// colours at their ends, and entries of a log.
fn lines<'t>(body: &Body<'t>) -> impl Iterator<Item = &'t str> + Clone {
    let &Body { text, clocks, .. } = body;
    let start = find::lines(text).take(LINES_MAX);
    // The last lines come in their order, too: from the one that is so many lines from the end.
    let is_long = find::lines(text).nth(LINES_MAX).is_some();
    let rest = if is_long { tail(text) } else { "" };
    start
        .chain(find::lines(rest))
        .map(move |line| shown(clocks.off(line)))
        .filter(|line| !line.is_empty() && line.len() <= LINE_MAX && !is_log_entry(line))
}

/// The last lines of `text`, behind the first ones.
fn tail(text: &str) -> &str {
    let length = |lines: usize, of: &str| {
        find::lines(of).take(lines).fold(0_usize, |sum, line| sum.saturating_add(line.len() + 1))
    };
    let rest = text.get(length(LINES_MAX, text)..).unwrap_or_default();
    let kept = find::lines_back(rest).take(LINES_MAX);
    let size = kept.fold(0_usize, |sum, line| sum.saturating_add(line.len() + 1));
    let from = rest.len().saturating_sub(size);
    rest.get(from..).or_else(|| rest.get(from + 1..)).unwrap_or(rest)
}

/// Returns the part of `line` that a terminal shows. Colours inside of it stay.
fn shown(line: &str) -> &str {
    let line = find::rsplit_once(line.trim_end(), "\r").map_or(line, |(_, shown)| shown);
    untagged(find::trim(uncoloured(find::trim(line))))
}

/// `line`, unless it only says that something failed.
fn specific(line: &str) -> Option<&str> {
    let line = find::trim(line);
    let is_generic = line.is_empty()
        || words(line).all(|word| {
            GENERIC.contains_in_any_case(word) || word.bytes().all(|b| b.is_ascii_digit())
        })
        || is_status(line)
        || SUMS.may_be_in(line.as_bytes()) && SUMMARIES.are_in(line)
        || line.starts_with("make") && find::contains(line, "*** [");
    (!is_generic).then_some(line)
}

/// The exception of the last traceback, or the message of the last panic.
fn in_crash<'t>(body: &Body<'t>) -> Option<&'t str> {
    // Most results contain the head of neither.
    if !["Traceback (", "panicked at "].iter().any(|head| find::contains(body.text, head)) {
        return None;
    }
    let mut found = None;
    let (mut in_traceback, mut in_panic) = (false, false);
    for line in lines(body) {
        if is_head(line) {
            let old = find::split_once(line, " panicked at '").map(|(_, message)| message);
            in_panic = line.starts_with("thread '") && old.is_none();
            in_traceback = !line.starts_with("thread '");
            found =
                old.and_then(|message| find::split_once(message, "', ")).map(|(m, _)| m).or(found);
        } else if in_panic || in_traceback && ends_traceback(line) {
            found = Some(line);
            (in_panic, in_traceback) = (false, false);
        }
    }
    found.and_then(specific)
}

/// Returns whether `line` is the exception at the end of a traceback.
fn ends_traceback(line: &str) -> bool {
    is_error_type(line) || is_bare_exception(line) || line.starts_with("Exception: ")
}

/// Returns whether `line` is an exception without a message: `KeyboardInterrupt`.
fn is_bare_exception(line: &str) -> bool {
    const OTHERS: [&str; 4] = ["KeyboardInterrupt", "SystemExit", "StopIteration", "GeneratorExit"];
    let class = find::rsplit_once(line, ".").map_or(line, |(_, class)| class);
    let is_name = class.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name
        && (class.ends_with("Error") || class.ends_with("Exception"))
        && class.starts_with(|c: char| c.is_ascii_uppercase())
        || OTHERS.iter().any(|other| line.starts_with(other))
}

/// `line`, if a tool states in it what went wrong. The first line may do so in free words.
fn stated(line: &str, is_first: bool) -> Option<&str> {
    let cause = line.strip_prefix("E   ").map(str::trim_start);
    if let Some(cause) = cause.filter(|cause| is_error_type(cause) || cause.starts_with("assert "))
    {
        return specific(cause);
    }
    let is_stated = compiler::is_error(line) || is_complaint(line) || is_first && is_free(line);
    // The cause stands behind a line that ends with a colon.
    if is_stated && !line.trim_end().ends_with(':') { specific(line) } else { None }
}

/// `line`, if it is a complaint in free words, or of a kind that others explain better.
fn free(line: &str) -> Option<&str> {
    specific(line).filter(|line| {
        is_free(line)
            || is_complaint(line)
            || after(line, "usage: ").is_some()
            || compiler::at_column(line).is_some()
            || line.starts_with("--- FAIL: ")
    })
}

/// Returns whether `line` is a complaint in free words, a refusal or a time-out.
fn is_free(line: &str) -> bool {
    sentence::is_sentence(line) || says_refused(line) || says_timed_out(line)
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, complaint};

    #[test]
    fn both_ends_of_a_long_result_are_read() {
        let body = "all is well\n".repeat(3 * LINES_MAX);
        let sentence = "cat: a: No such file or directory";
        for (result, expected) in [
            (format!("{sentence}\n{body}"), Some(sentence)),
            (format!("{body}{sentence}\nexit code 1"), Some(sentence)),
            (format!("{body}{sentence}\n{body}"), None),
        ] {
            assert_eq!(complaint(&result), expected);
        }
    }
}
