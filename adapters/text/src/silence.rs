//! Results that say nothing.

/// Words that say only that a call came back.
const SILENT: [&str; 10] =
    ["ok", "ok.", "done", "done.", "success", "success.", "null", "none", "[]", "{}"];

/// Whether `result` says nothing but that the call came back: empty, white space, "ok", "done",
/// `null` and the like. Between different calls, equal silence is no evidence of a loop. O(n).
///
/// ```
/// use unstuck_text::is_silent;
///
/// assert!(is_silent(" OK\n") && is_silent(""));
/// assert!(!is_silent("ok: 3 files changed"));
/// ```
pub fn is_silent(result: &str) -> bool {
    let result = result.trim();
    result.is_empty() || SILENT.iter().any(|word| word.eq_ignore_ascii_case(result))
}
