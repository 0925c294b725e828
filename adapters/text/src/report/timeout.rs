//! Time-outs: calls that were given up because they took too long.

use super::line::is_log_entry;
use super::sentence;
use crate::find;
use crate::phrases::{after, first_word, is_any, starts_with_any, words};
use crate::words::timeout::{FOLLOWERS, GOES_ON, OVER, SUBJECTS, TIMEOUT, TRIGGERS};
use crate::words::transient;

/// The longest line that is read, in bytes.
const LINE_MAX: usize = 256;

/// Returns whether `line` says that the call timed out.
pub(super) fn says_timed_out(line: &str) -> bool {
    let line = find::trim(line);
    let line = after(line, "rpc error: code = deadlineexceeded desc = ").unwrap_or(line);
    // The command may be anything (SWE-agent).
    let behind = after(line, "the last command <command>");
    let behind = behind.and_then(|quoted| find::split_once(quoted, "</command> "));
    let line = behind.map_or(line, |(_, said)| said);
    if line.len() > LINE_MAX
        || !TRIGGERS.may_be_in(line.as_bytes())
        || is_log_entry(line)
        || GOES_ON.are_in(line)
    {
        return false;
    }
    let is_over = OVER.split(line);
    match (is_over, TIMEOUT.split(line)) {
        (Some((before, rest)), _) => is_own(before) && !rest.starts_with(['_', '(', '=']),
        (None, Some((before, rest))) => {
            is_own(before)
                && (is_error_line(line)
                    || words(before).all(|word| SUBJECTS.contains_in_any_case(word)))
                && happened(rest)
        }
        (None, None) => false,
    }
}

/// Returns whether the complaint `line` names a failure that may pass by itself, so that trying once more is no mistake.
pub(crate) fn may_pass(line: &str) -> bool {
    transient::TRIGGERS.may_be_in(line.as_bytes()) && transient::PHRASES.are_in(line)
}

/// Returns whether `line` opens as an error.
fn is_error_line(line: &str) -> bool {
    starts_with_any(line, &["error: ", "fatal: ", "failed ", "could not "])
        || sentence::is_sentence(line)
}

/// Returns whether the text before the phrase is the start of a sentence: a few words, and not
/// code, a search hit, markup or a count.
fn is_own(before: &str) -> bool {
    const WORDS_MAX: usize = 12;
    let opens = before.chars().next();
    let is_first = opens.is_none_or(|c| c.is_ascii_alphanumeric() || matches!(c, '[' | '(' | '`'));
    let is_hit = || {
        let word = first_word(before);
        let (_, number) = find::split_once(word, ":").unwrap_or_default();
        number.starts_with(|c: char| c.is_ascii_digit())
    };
    let is_negated = || words(before).any(|word| is_any(word, &["if", "no", "not", "when", "0"]));
    is_first
        && !before.contains(['=', '{', '<', '"', '/', '_'])
        && words(before).nth(WORDS_MAX).is_none()
        && !is_hit()
        && !is_negated()
}

/// Returns whether `behind` continues as the report of a time-out does, and not as a setting such
/// as `timeout: 30`.
fn happened(behind: &str) -> bool {
    let mut said = words(behind);
    match said.next() {
        None => !behind.contains('='),
        Some(_) if behind.starts_with(['_', '=', '(', '.']) => false,
        Some(word) if FOLLOWERS.contains_in_any_case(word) => true,
        Some(word) if word.starts_with(|c: char| c.is_ascii_digit()) => {
            said.any(|word| FOLLOWERS.contains_in_any_case(word))
        }
        Some(_) => behind.starts_with(':') && said.next().is_some(),
    }
}
