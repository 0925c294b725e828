//! Sentences in which a tool says that it could not do what it was asked, in any words.
//!
//! Anybody may write such a sentence, so it counts only where it is the first line of a short result.

use super::object::is_http_error;
use crate::find;
use crate::phrases::{
    after, before, ends_with_any, first_word, is_alphanumeric, is_any, starts_with_any, words,
};
use crate::words::complaint::{
    ADJECTIVES, CODE, ENDINGS, HTTP_LABELS, HTTP_REASONS, INSIDE, OPENINGS, QUESTIONS, SAME,
    TRIGGERS, UNKNOWN,
};

/// The longest sentence, in bytes.
const SENTENCE_MAX: usize = 512;

/// Returns whether `line` is a sentence of a tool that could not do what it was asked.
pub(super) fn is_sentence(line: &str) -> bool {
    let line = unmarked(line.trim_end());
    let has_trigger = line.len() <= SENTENCE_MAX && TRIGGERS.may_be_in(line.as_bytes());
    let says = |text: &str| is_complaint(text, has_trigger) && is_speech(text);
    says(line) || of_tool(line).is_some_and(says) && !is_hit(line)
}

/// Returns whether `line` could also be the heading of a list, so that it counts only if it stands
/// alone.
pub(super) fn is_heading(line: &str) -> bool {
    let line = unmarked(line.trim_end());
    let is_explained = find::contains(line, ": ") || line.contains(['\'', '"', '`']);
    line.ends_with(':') || ADJECTIVES.open(line) && !is_explained
}

/// Returns whether `line` holds an HTTP status from 400 to 599, in a place where a client puts it. `has_trigger` is false
/// if no phrase stands inside of the line.
fn is_http_failure(line: &str, has_trigger: bool) -> bool {
    let code = |text: &str| text.get(..3).is_some_and(is_http_error);
    let status_line = line.strip_prefix("HTTP/").and_then(|rest| find::split_once(rest, " "));
    let is_named = ["HTTP ", "HTTP error ", "Error code: ", "Status code: ", "Status: "]
        .iter()
        .any(|name| after(line, name).is_some_and(code));
    let is_sentence = || {
        let mut codes = HTTP_LABELS.splits(line);
        codes.any(|(_, rest)| code(rest))
    };
    let reason = line.get(3..).unwrap_or_default();
    status_line.is_some_and(|(_, rest)| code(rest))
        || is_named
        || has_trigger && is_sentence()
        || code(line) && HTTP_REASONS.open(reason)
}

/// Returns whether `line` opens, ends or goes on as a complaint does. `has_trigger` is false if no phrase stands inside of
/// it.
fn is_complaint(line: &str, has_trigger: bool) -> bool {
    let sentence = find::split_once(line, ". ").map_or(line, |(first, _)| first);
    let said = sentence.trim_end_matches(['.', '!']);
    OPENINGS.open(line) && after(line, "unable to find image ").is_none()
        || ADJECTIVES.open(line)
        || is_unknown(line)
        || is_doing(line)
        || !is_negated(said) && ENDINGS.end(said)
        || is_http_failure(line, has_trigger)
        || has_trigger && (SAME.are_in(line) || !is_negated(said) && INSIDE.are_in(line))
}

/// Returns whether `line` is `Unknown command: foo`.
fn is_unknown(line: &str) -> bool {
    let Some(rest) = after(line, "unknown ") else { return false };
    words(rest).take(2).any(|word| {
        let one = before(word, "s").unwrap_or(word);
        UNKNOWN.contains_in_any_case(one) || UNKNOWN.contains_in_any_case(word)
    })
}

/// Returns whether `line` is `Error reading file a.txt` or `ERROR 1054 (42S22): Unknown column`.
fn is_doing(line: &str) -> bool {
    let Some(rest) = after(line, "error ") else { return false };
    let word = first_word(rest);
    let is_code =
        || word.len() > 2 && word.trim_end_matches(':').bytes().all(|b| b.is_ascii_digit());
    let is_in = is_any(word, &["in", "while", "during", "from", "at", "occurred", "code"]);
    let is_doing = ends_with_any(word, &["ing"]) && !is_any(word, &["handling", "logging"]);
    rest.len() > word.len() && (is_doing || is_in || is_code())
}

/// Returns whether `text` says that nothing was missed: `No missing file was not found`.
fn is_negated(text: &str) -> bool {
    starts_with_any(text, &["no ", "none ", "if ", "when ", "whether ", "0 "])
}

/// Returns whether `line` is a sentence that a program says, and neither code, nor markup, nor a
/// search hit, nor a count.
fn is_speech(line: &str) -> bool {
    let opens = line.chars().next().is_some_and(|c| is_alphanumeric(c) || matches!(c, '`' | '\''));
    let end = before(line, " command,").unwrap_or(line);
    let is_code = end.ends_with([';', ',', '{', '(', '=', '\\', '|']) || CODE.are_in(line);
    let is_question = line.ends_with('?') && !QUESTIONS.are_in(line);
    opens
        && line.len() <= SENTENCE_MAX
        && !is_code
        && !is_question
        && !is_hit(line)
        && !is_count(line)
}

/// Returns whether `line` is a search hit: `a.rs:3: …`, `3: …` or `3-…`.
fn is_hit(line: &str) -> bool {
    let word = first_word(line);
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let behind = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = behind.len() < word.len() && behind.starts_with([':', '-', '\t', '|', '→']);
    is_numbered || is_commit(word) || word.split([':', '-']).skip(1).any(number)
}

/// Returns whether `word` is the short name of a commit, or the kind of its change.
fn is_commit(word: &str) -> bool {
    const KINDS: [&str; 8] =
        ["build:", "chore:", "ci:", "docs:", "feat:", "fix:", "refactor:", "test:"];
    let is_hash = word.len() >= 7
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit());
    is_hash || KINDS.contains(&word)
}

/// Returns whether `line` counts something: `Failed to parse: 0`.
fn is_count(line: &str) -> bool {
    let Some((label, value)) = find::split_once(line, ": ") else { return false };
    words(label).count() <= 3 && value.trim().bytes().all(|byte| byte.is_ascii_digit())
}

/// Texts that a tool prints behind its name: `docker: invalid reference format`.
fn of_tool(line: &str) -> Option<&str> {
    let (tool, message) = find::split_once(line, ": ")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-' | '+');
    let message = match find::split_once(message, ": ") {
        Some((place, message)) if is_place(place) => message,
        _ => message,
    };
    (!tool.is_empty() && !tool.contains(|c| !is_name(c))).then_some(message)
}

/// Returns whether `text` is a number of a line: `1` or `line 1`.
fn is_place(text: &str) -> bool {
    let number = text.strip_prefix("line ").unwrap_or(text);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// `line` without a cross or a warning sign in front of it.
fn unmarked(line: &str) -> &str {
    line.trim_start_matches(|c: char| !c.is_ascii() && !is_alphanumeric(c)).trim_start()
}

#[cfg(test)]
mod tests {
    use super::is_heading;
    use crate::tables::check;

    #[test]
    fn an_adjective_may_head_a_list() {
        check("a heading", |line| format!("{}", is_heading(line)));
    }
}
