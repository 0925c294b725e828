//! Results without information, and placeholders for results that are gone.

use crate::body::Body;
use crate::envelope::{Envelope, Unescaped};
use crate::find;
use crate::phrases::is_any;
use crate::tokens::values;
use crate::words::silence::{EXIT_CODES, GONE, HEADINGS, HISTORY, PHRASE, SILENT};

/// The longest result that is inspected, in bytes. A longer one carries information.
const LOOK_MAX: usize = 256;

/// Returns whether `result` carries no information except that the call returned. For example, an empty
/// text, white space, "ok", "done", `null`, a bare exit code, a sentence that the command ran without
/// output, an object of such values, or the placeholder of an image. If different calls return such
/// results, that is hardly evidence of a loop. O(n).
///
/// ```
/// use unstuck_text::is_silent;
///
/// assert!(is_silent(" OK\n") && is_silent("") && is_silent("Command exited with code 1"));
/// assert!(is_silent("Your command ran successfully and did not produce any output."));
/// assert!(is_silent(r#"{"exit_code": 0, "stdout": "", "stderr": ""}"#));
/// assert!(!is_silent("ok: 3 files changed"));
/// ```
pub fn is_silent(result: &str) -> bool {
    let mut memory = Unescaped::default();
    let opened = Envelope::open(result, &mut memory);
    !opened.has_failed() && says_nothing(&Body::of(opened.body))
}

/// Returns whether the body of an answer carries no information.
pub(crate) fn says_nothing(body: &Body<'_>) -> bool {
    match body.text.as_bytes().first() {
        _ if body.text.len() > LOOK_MAX => false,
        Some(b'{') => is_silent_object(body.text),
        _ => body.lines().all(is_silent_line),
    }
}

fn is_silent_line(line: &str) -> bool {
    let line = find::trim(line);
    let bare = line.trim_matches(['(', ')', '[', ']']);
    is_any(line, SILENT) || is_exit_code(bare) || is_any(line, HEADINGS) || is_phrase(bare)
}

fn is_exit_code(text: &str) -> bool {
    let words = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    words.len() < text.len() && is_any(words.trim_end(), EXIT_CODES)
}

/// Returns whether `text` only says that a command ran. "With errors" says more.
fn is_phrase(text: &str) -> bool {
    let words = || text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let has = |known: &[&str]| words().any(|word| is_any(word, known));
    // Most texts end here at their first word.
    words().all(|word| PHRASE.contains_in_any_case(word))
        && words().nth(1).is_some()
        && text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_digit())
        && has(&["success", "successful", "successfully", "output", "completed", "finished"])
        && (!has(&["error", "errors", "output"]) || has(&["no", "not", "without", "successfully"]))
}

/// Returns whether no value of the object carries information. A zero does, unless it is an exit code.
fn is_silent_object(json: &str) -> bool {
    let coded = ["code\"", "status\"", "rc\""].iter().any(|name| find::contains(json, name));
    values(json).all(|value| match value {
        "0" => coded,
        "false" => false,
        value => is_any(value, SILENT),
    })
}

/// Returns whether `result` is a placeholder which the compaction of a history left behind. It is one
/// line that ends in brackets, such as `[Old tool result content cleared]` or `(12 lines omitted)`. The
/// original result is then unknown. O(n).
///
/// ```
/// use unstuck_text::is_placeholder;
///
/// assert!(is_placeholder("[Old tool result content cleared]"));
/// assert!(is_placeholder("Old environment output: (12 lines omitted)"));
/// assert!(!is_placeholder("src/a.rs\n[12 lines omitted]"), "the beginning is there");
/// ```
pub fn is_placeholder(result: &str) -> bool {
    let result = find::trim(result).trim_end_matches('.');
    if result.len() > LOOK_MAX || result.contains('\n') {
        return false;
    }
    let brackets = [("[", "]"), ("(", ")"), ("<", ">")].into_iter().find_map(|(open, close)| {
        find::rsplit_once(result.strip_suffix(close)?, open).map(|(_, inner)| inner)
    });
    let Some(inner) = brackets else { return false };
    let mut words = inner.split(|c: char| !c.is_ascii_alphabetic());
    words.clone().any(|word| GONE.contains_in_any_case(word))
        && words.any(|word| HISTORY.contains_in_any_case(word))
}
