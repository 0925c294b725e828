//! Results which say that a job is still running.

use crate::body::Body;
use crate::find;
use crate::members::{members, unquoted};
use crate::phrases::{ends_with_any, is_alphanumeric, is_any, words};
use crate::words::waiting::{
    COLUMNS, DENIALS, DOUBTS, ENDS, ETA, FAILURES, FILLERS, GOALS, NAMES, OF, OVER, PHRASES,
    PROGRESS, STATES, TO_COME, TRIGGERS, TRIGGERS_OF_STATES, WAITS,
};

/// The longest result that is inspected, in bytes. A longer one is never pending.
const LOOK_MAX: usize = 512;

/// Returns whether `result` says that a job is still running, so that asking again later may give another
/// answer. For example, a short text like `running`, `Status: queued`, `0/3 ready` or `ETA 9m 30s`, or an
/// object or element with such a state. O(n) of at most 512 bytes; a longer result is never pending.
///
/// A failure is not pending, even if its text contains such words. Call [`report`](crate::report())
/// first.
///
/// ```
/// use unstuck_text::is_pending;
///
/// assert!(is_pending("in progress") && is_pending(r#"{"id": 1, "status": "queued"}"#));
/// assert!(is_pending("<retrieval_status>timeout</retrieval_status><status>running</status>"));
/// assert!(!is_pending("running 3 tests") && !is_pending("Running migrations... done"));
/// ```
pub fn is_pending(result: &str) -> bool {
    result.len() <= LOOK_MAX && waits(&Body::of(result))
}

/// Returns whether `body` says that a job is still running.
pub(crate) fn waits(body: &Body<'_>) -> bool {
    let text = body.text;
    match text.as_bytes().first() {
        None => false,
        _ if text.len() > LOOK_MAX => false,
        Some(b'{' | b'[') if members(text).next().is_some() => has_pending_member(text),
        Some(b'<') => has_pending_element(text),
        Some(b'"') => is_progress(unquoted(text)),
        _ => is_pending_text(body),
    }
}

/// Returns whether a member of the object, or of a nested one, holds a pending state.
fn has_pending_member(json: &str) -> bool {
    members(json).any(|member| {
        let value = unquoted(member.value);
        names_state(member.name) && is_progress(value)
            || ENDS.contains_in_any_case(member.name) && value.eq_ignore_ascii_case("false")
            || STATES.contains_in_any_case(member.name) && value.eq_ignore_ascii_case("true")
    })
}

/// Returns whether `value` is the state of a running job, such as `queued` or `CREATE_IN_PROGRESS`.
fn is_progress(value: &str) -> bool {
    is_state(value) || ends_with_any(value, &["in_progress"])
}

/// Returns whether `name` is the name of a state, such as `status`, `readyState` or `StackStatus`.
fn names_state(name: &str) -> bool {
    NAMES.contains_in_any_case(name) || ends_with_any(name, &["status", "state", "phase"])
}

/// Returns whether an element holds a pending state.
fn has_pending_element(markup: &str) -> bool {
    let mut pieces = find::split(markup, "<").filter_map(|piece| find::split_once(piece, ">"));
    pieces.any(|(name, value)| names_state(name) && is_state(value.trim()))
}

/// Returns whether the last line of a text, or a column of a table, holds a pending state.
fn is_pending_text(body: &Body<'_>) -> bool {
    let text = body.text;
    let last = body.lines_back().next().map(find::trim);
    let goes_on = || last.is_some_and(|line| is_pending_line(line, body.is_single()));
    let in_rows = || {
        TRIGGERS_OF_STATES.may_be_in(text.as_bytes())
            && body.lines().any(|line| is_pending_row(line) || is_pending_entry(line))
            || is_table_of_jobs(body)
    };
    let has_failed = || words(text).any(|word| FAILURES.contains_in_any_case(word));
    (goes_on() || in_rows()) && !has_failed()
}

/// Returns whether `line` is an entry with a pending state, such as `phase: Running`.
fn is_pending_entry(line: &str) -> bool {
    let entry = find::split_once(line, ":");
    entry.is_some_and(|(name, value)| {
        let name = name.trim_ascii();
        names_state(name) && words(name).nth(1).is_none() && is_state(value.trim())
    })
}

/// Returns whether a row of a table has a pending state in a column.
fn is_pending_row(line: &str) -> bool {
    let line = line.trim_ascii();
    let mut columns =
        find::split(line, "\t").flat_map(|part| find::split(part, "  ")).map(str::trim_ascii);
    (find::contains(line, "  ") || find::contains(line, "\t"))
        && columns.any(|column| COLUMNS.contains_in_any_case(column))
}

/// Returns whether a row of `body` is a job that has not ended, as `squeue`, `jobs` or `docker ps` list it.
fn is_table_of_jobs(body: &Body<'_>) -> bool {
    let has = |word| find::contains(body.text, word);
    let is_running = |row: &str| row.starts_with('[') && words(row).nth(1) == Some("Running");
    match body.first {
        first if first.starts_with("JOBID") => {
            words(body.text).any(|word| matches!(word, "PD" | "CF"))
        }
        first if first.starts_with("CONTAINER") => has("(health: starting)"),
        _ => has("Running") && body.lines().any(is_running),
    }
}

/// Returns whether `line` says that a job is running. Free sentences count only if the line `is_alone`.
fn is_pending_line(line: &str, is_alone: bool) -> bool {
    let rest = unlabelled(line);
    is_progress(line)
        || rest.len() < line.len() && is_state(rest)
        || is_short_of(rest)
        || has_time_left(line)
        || is_alone && is_sentence(rest)
}

/// Removes a list marker and a label from the start of `line`, as in `- generic: Loading...`.
fn unlabelled(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| {
        matches!(c, '-' | '*' | '•' | '>' | '[' | '(') || c.is_whitespace()
    });
    match find::split_once(line, ": ") {
        Some((label, value)) if words(label).nth(3).is_none() => value.trim(),
        _ => line,
    }
}

/// Returns whether `text` consists only of words for a running job, fillers and numbers.
fn is_state(text: &str) -> bool {
    /// The largest number of words in a state.
    const WORDS_MAX: usize = 12;
    let is_number = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
    let (mut goes_on, mut is_over, mut is_denied) = (false, false, false);
    // Most texts end here at their first word.
    for (place, word) in words(text).enumerate() {
        match word {
            "0" => return false,
            _ if place >= WORDS_MAX => return false,
            _ if is_number(word) || FILLERS.contains_in_any_case(word) => {}
            _ if STATES.contains_in_any_case(word) => goes_on = true,
            _ if GOALS.contains_in_any_case(word) => is_over = true,
            _ if DENIALS.contains_in_any_case(word) => is_denied = true,
            _ if is_any(word, &["progress", "later", "back"]) => {}
            _ => return false,
        }
    }
    if is_over {
        return is_denied;
    }
    !is_denied && (goes_on || PROGRESS.are_in(text))
}

/// Returns whether `text` counts less than all, such as `0/3 ready` or `45% complete`.
fn is_short_of(text: &str) -> bool {
    let is_goal =
        |word: &str| GOALS.contains_in_any_case(word) || is_any(word, &["running", "progress"]);
    let has_number = text.bytes().any(|byte| byte.is_ascii_digit());
    if !has_number || words(text).nth(6).is_some() || !words(text).any(is_goal) {
        return false;
    }
    let part = OF.split(text);
    let is_part = part.is_some_and(|(some, all)| {
        let some = words(some).last().and_then(|word| word.parse::<u32>().ok());
        let all = words(all).next().and_then(|word| word.parse::<u32>().ok());
        some.zip(all).is_some_and(|(some, all)| some < all)
    });
    let percent =
        find::split_once(text, "%").and_then(|(some, _)| words(some).last()?.parse::<u32>().ok());
    is_part || percent.is_some_and(|percent| percent < 100)
}

/// Returns whether `text` gives a remaining time, such as `ETA 9m 30s` or `3 minutes remaining`.
fn has_time_left(text: &str) -> bool {
    let is_estimated = ETA.split(text).is_some_and(|(before, rest)| {
        let rest = rest.trim_start_matches([':', '=', ' ', '~', '(']);
        !before.ends_with(is_alphanumeric) && rest.starts_with(|c: char| c.is_ascii_digit())
    });
    let end = text.trim_end_matches(|c: char| !is_alphanumeric(c));
    let is_left = || words(end).last().is_some_and(|last| is_any(last, &["remaining", "left"]));
    is_estimated
        || ends_with_any(end, &["remaining", "left"]) && is_left() && words(text).any(is_span)
}

/// Returns whether `word` is a duration, such as `30s`, or a unit of time.
fn is_span(word: &str) -> bool {
    const UNITS: [&str; 9] =
        ["s", "sec", "secs", "seconds", "m", "min", "minute", "minutes", "hours"];
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    is_any(unit, &UNITS)
}

/// Returns whether `text` is a sentence about a running job.
fn is_sentence(text: &str) -> bool {
    let is_to_come = || TO_COME.are_in(text) && !DOUBTS.are_in(text);
    TRIGGERS.may_be_in(text.as_bytes())
        && ((WAITS.open(text) || PHRASES.are_in(text)) && !OVER.are_in(text) || is_to_come())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LOOK_MAX, is_pending};

    proptest! {
        #[test]
        fn a_long_result_is_never_pending(
            before in "(running|still running|\\{\"status\": \"queued\"\\}|\n| ){1,9}",
            pad in "[ \n.]{512}",
        ) {
            let text = before + &pad;
            prop_assert!(text.len() > LOOK_MAX && !is_pending(&text), "{:?}", text);
        }

        #[test]
        fn any_text_is_read(text in any::<String>(), pieces in "(running|ETA|%|/|3|<status>|\\{|\"|: |ü|\n| of |\t){0,20}") {
            for text in [text, pieces] {
                let _ = is_pending(&text);
                // White space around a text does not matter.
                prop_assert_eq!(is_pending(&text), is_pending(text.trim()) && text.len() <= LOOK_MAX);
            }
        }

        /// The oracle is the definition of a text that consists of a state and a subject.
        #[test]
        fn a_subject_does_not_change_a_state(
            subject in "(The )?(build|job|task|pipeline)( #?[1-9][0-9]{0,2})?",
            verb in "( is| is still|:)",
            state in "(running|queued|pending|in progress|completed|done|ready|ok)",
        ) {
            let goes_on = ["running", "queued", "pending", "in progress"].contains(&&*state);
            prop_assert_eq!(is_pending(&format!("{subject}{verb} {state}")), goes_on);
        }
    }
}
