//! Refusals: calls that a user, a policy or the tool itself did not let run.

use super::line::plain;
use crate::body::Body;
use crate::phrases::first_word;
use crate::words::refusal::{BY_USER, OPENINGS, PHRASES, SUBJECTS, TRIGGERS, UNPERMITTED};

/// The longest line that is read as a refusal, in bytes.
const LINE_MAX: usize = 512;

/// Returns whether `result` says that the call did not run, because a user, a policy or the tool
/// refused it. Reads the first line. O(length of that line).
///
/// A refusal is a failure: [`report`](super::report) reads it as one.
///
/// ```
/// use unstuck_text::is_refusal;
///
/// assert!(is_refusal("The user doesn't want to proceed with this tool use."));
/// assert!(is_refusal("Permission to use Edit has been denied."));
/// assert!(!is_refusal("The refund requires approval by a manager."));
/// ```
pub fn is_refusal(result: &str) -> bool {
    refuses(&Body::of(result))
}

/// Returns whether the first line of `body` says that the call did not run.
pub(crate) fn refuses(body: &Body<'_>) -> bool {
    says_refused(untagged(body.first))
}

/// Returns whether the user refused the call, and says behind the first line of `body` what to do instead.
pub(crate) fn asks_for_another(body: &Body<'_>) -> bool {
    !body.is_single() && BY_USER.open(untagged(body.first))
}

/// `line` without the tag of an error around it: `<tool_use_error>…</tool_use_error>`.
pub(super) fn untagged(line: &str) -> &str {
    const TAGS: [(&str, &str); 3] = [
        ("<tool_use_error>", "</tool_use_error>"),
        ("<error>", "</error>"),
        ("<stderr>", "</stderr>"),
    ];
    let inner = TAGS.iter().find_map(|(open, close)| {
        let inner = line.strip_prefix(open)?;
        Some(inner.strip_suffix(close).unwrap_or(inner))
    });
    inner.unwrap_or(line)
}

/// Returns whether `line` says that a call was refused.
pub(super) fn says_refused(line: &str) -> bool {
    let line = &*plain(line);
    let line = line.strip_prefix("Error: ").unwrap_or(line);
    line.len() <= LINE_MAX
        && (OPENINGS.open(line)
            || BY_USER.open(line)
            || TRIGGERS.may_be_in(line.as_bytes())
                && (UNPERMITTED.are_in(line)
                    || opens_as_speech(line) && PHRASES.are_in(line) && SUBJECTS.are_in(line)))
}

/// Returns whether `line` starts like a sentence, and not like code, a search hit or a list.
fn opens_as_speech(line: &str) -> bool {
    let word = first_word(line);
    word.starts_with(|c: char| c.is_ascii_uppercase() || c == '`')
        && !word.contains([':', '(', '='])
}
