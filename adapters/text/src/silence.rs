//! Results that say nothing.

/// Words that say only that a call came back, and what stands in the place of a result.
const SILENT: [&str; 16] = [
    "ok",
    "ok.",
    "done",
    "done.",
    "success",
    "success.",
    "null",
    "none",
    "[]",
    "{}",
    "no output",
    "(no output)",
    "[no output]",
    "(empty)",
    "[image]",
    "<image>",
];

/// What an exit code that stands alone is called; brackets around it are taken off before.
const EXIT_CODES: [&str; 6] = [
    "exit code",
    "exit code:",
    "exit status",
    "exit status:",
    "command exited with code",
    "command exited with exit code",
];

/// Whether `result` says nothing but that the call came back: empty, white space, "ok", "done",
/// `null`, a bare exit code, the placeholder of an image and the like. Between different calls,
/// equal silence is no evidence of a loop. O(n).
///
/// ```
/// use unstuck_text::is_silent;
///
/// assert!(is_silent(" OK\n") && is_silent("") && is_silent("Command exited with code 1"));
/// assert!(!is_silent("ok: 3 files changed"));
/// ```
pub fn is_silent(result: &str) -> bool {
    let result = result.trim();
    result.is_empty()
        || SILENT.iter().any(|word| word.eq_ignore_ascii_case(result))
        || is_exit_code(result.trim_matches(['(', ')', '[', ']']))
}

fn is_exit_code(result: &str) -> bool {
    let words = result.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    words.len() < result.len()
        && EXIT_CODES.iter().any(|name| name.eq_ignore_ascii_case(words.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::is_silent;

    #[test]
    fn an_exit_code_alone_says_nothing_and_with_words_something() {
        for (result, silent) in [
            ("exit code 1", true),
            ("(exit code: 127)", true),
            ("[exit status 2]\n", true),
            ("Command exited with code -9", true),
            ("exit code", false),
            ("exit code 1: no such file", false),
            ("code 1", false),
            ("1", false),
        ] {
            assert_eq!(is_silent(result), silent, "{result}");
        }
    }
}
