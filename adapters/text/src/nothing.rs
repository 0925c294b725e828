//! Results of searches and look-ups that found nothing.

use crate::body::Body;
use crate::find;
use crate::members::{is_void, members, unquoted};
use crate::phrases::{after, is_any, words};
use crate::silence;
use crate::words::nothing::{CONFIRMATIONS, COUNTS, FLAWS, LISTS, PHRASES, SENTENCES, THINGS};

/// The longest result that is inspected, in bytes. A longer one has found something.
const LOOK_MAX: usize = 512;

/// The largest number of lines in a result that found nothing.
const LINES_MAX: usize = 3;

/// The largest number of words between `no` and the noun.
const BETWEEN: usize = 3;

/// Returns whether `result` says that a search or a look-up found nothing. For example, `No matches
/// found`, `0 results`, `[]` or `{"results": []}`. O(n) of at most 512 bytes.
///
/// Returns `false` for an empty result, which is [silent](crate::is_silent), and for a name that does not
/// exist, which is a [failure](crate::report()).
///
/// ```
/// use unstuck_text::finds_nothing;
///
/// assert!(finds_nothing("No matches found in src") && finds_nothing(r#"{"results": []}"#));
/// assert!(!finds_nothing("10 results") && !finds_nothing("No errors found"));
/// ```
pub fn finds_nothing(result: &str) -> bool {
    result.len() <= LOOK_MAX && found_none(&Body::of(result))
}

/// Returns whether `body` says that nothing was found.
pub(crate) fn found_none(body: &Body<'_>) -> bool {
    match body.text.as_bytes().first() {
        None => false,
        _ if body.text.len() > LOOK_MAX => false,
        Some(b'{' | b'[') => holds_nothing(body.text),
        _ => {
            is_any(body.text, &["null", "none"])
                || says_nothing(body.first) && body.lines().nth(LINES_MAX).is_none()
        }
    }
}

/// Returns whether the `body` of the answer to a search, with this exit status, shows that no line was found: it is empty
/// or says that there is no output, and the status is none, 0 or 1.
pub(crate) fn finds_no_line(body: &Body<'_>, exit: Option<i32>) -> bool {
    let code = body.text.trim_end_matches([')', ']', '.']);
    let digits = code.get(code.trim_end_matches(|c: char| c.is_ascii_digit()).len()..);
    matches!(exit, None | Some(0 | 1))
        && silence::says_nothing(body)
        && !is_any(body.text, CONFIRMATIONS)
        && matches!(digits, Some("" | "0" | "1"))
}

/// Returns whether `json` is an empty array, or an object whose list or count of hits is empty.
fn holds_nothing(json: &str) -> bool {
    if is_void(json) {
        return true;
    }
    if says_nothing(json.trim_matches(['[', ']'])) {
        return true;
    }
    let (mut empty, mut full) = (false, false);
    for member in members(json).filter(|member| member.depth <= 2) {
        let value = member.value;
        let is_list = LISTS.contains_in_any_case(member.name) && value.starts_with(['[', '{']);
        let is_count =
            COUNTS.contains_in_any_case(member.name) && unquoted(value).parse::<u32>().is_ok();
        let is_object_of_lists = value.starts_with('{') && !is_void(value);
        if is_list && !is_object_of_lists || is_count {
            empty |= is_void(value);
            full |= !is_void(value);
        }
    }
    empty && !full
}

/// Returns whether `line` says that nothing was found.
fn says_nothing(line: &str) -> bool {
    let line = find::trim(line);
    let line = after(line, "error: ").unwrap_or(line);
    let mut said = words(line);
    match said.next() {
        Some(word) if is_any(word, &["no", "0", "zero"]) && opens_with(line, word) => {
            is_thing(said)
        }
        Some(word) if word.eq_ignore_ascii_case("found") => {
            said.next().is_some_and(|count| is_any(count, &["0", "no", "nothing", "zero"]))
        }
        Some(_) => {
            SENTENCES.open(line)
                || PHRASES.are_in(line) && !find::contains(line, "found: ")
                || line.eq_ignore_ascii_case("total 0")
                || there_is(line).is_some_and(|rest| is_thing(words(rest)))
        }
        None => false,
    }
}

/// Returns whether `line` starts with the whole `word`, perhaps in brackets.
fn opens_with(line: &str, word: &str) -> bool {
    let rest = line.trim_start_matches(['(', '[']).strip_prefix(word);
    rest.is_some_and(|rest| rest.starts_with(' '))
}

/// Returns the rest of `line` behind `There are no`.
fn there_is(line: &str) -> Option<&str> {
    ["there are no ", "there is no ", "there were no "].iter().find_map(|start| after(line, start))
}

/// Returns whether one of the next words is such a noun or `found`, and no word is a flaw.
fn is_thing<'t>(said: impl Iterator<Item = &'t str> + Clone) -> bool {
    let near = said.clone().take(BETWEEN + 1);
    let mut all = said.clone();
    (near.clone().any(|word| THINGS.contains_in_any_case(word))
        || all.any(|word| is_any(word, &["found"])))
        && !said.take(2 * BETWEEN).any(|word| FLAWS.contains_in_any_case(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LOOK_MAX, finds_nothing};

    proptest! {
        #[test]
        fn a_long_result_found_something(text in "(No results|\\[\\]| |\n){0,9}", pad in "[ \n]{512}") {
            let text = text + "x" + &pad;
            prop_assert!(text.len() > LOOK_MAX && !finds_nothing(&text), "{:?}", text);
        }

        /// The oracle is a count.
        #[test]
        fn a_count_of_things_is_nothing_only_at_zero(
            count in 0..30_u32,
            thing in "(results|matches|files|rows|hits)",
        ) {
            prop_assert_eq!(finds_nothing(&format!("{count} {thing}")), count == 0);
            prop_assert_eq!(finds_nothing(&format!("Found {count} {thing} in a")), count == 0);
            prop_assert_eq!(finds_nothing(&format!("{{\"total\": {count}}}")), count == 0);
        }
    }
}
