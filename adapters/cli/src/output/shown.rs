//! Makes text from a recording safe to show: one line, no control characters, no secrets.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use unicode_width::UnicodeWidthChar as _;

/// The columns of a terminal of the usual width.
pub(crate) const COLUMNS: usize = 80;

/// The replacement for a secret.
const MASK: &str = "•••";

/// Patterns of secrets. The text in a group stays, the rest is masked.
static SECRETS: LazyLock<Regex> = LazyLock::new(|| {
    let patterns = [
        // A member, variable or header whose name ends with a word for a secret.
        r#"((?i:\b[\w-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)\\?["']?\s*[:=]\s*\\?["']?))[^\s"'\\,;&}]{3,}"#,
        r#"((?i:\b(?:[a-z0-9]+[_-])*(?:pass|pwd|auth|sig|cookie|session_?id)\\?["']?\s*[:=]\s*\\?["']?))[^\s"'\\,;&}]{3,}"#,
        // A command-line option.
        r#"((?i:--(?:[a-z]+-)*(?:password|passwd|pass|passphrase|token|secret|api-key)[ =]\\?["']?))[^\s"'\\]+"#,
        r#"(\b(?:curl|wget|http)\b[^|;&]*?\s(?:-u|--user)[ =]?\\?["']?[^\s:"']+:)[^\s"'\\]+"#,
        r#"(\b(?:sshpass\s+-p|mysql\b[^|;&]*?\s-p|redis-cli\b[^|;&]*?\s-a|docker\s+login\b[^|;&]*?\s-p)\s*\\?["']?)[^\s"'\\-][^\s"'\\]*"#,
        // A header with a credential.
        r#"((?i:authorization\\?["']?\s*[:=]\s*\\?["']?(?:bearer|basic|token)\s+|bearer\s+))[A-Za-z0-9._~+/=-]{6,}"#,
        // A name and a password in a URL.
        r"([a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@",
        // Keys with the known prefixes of services, and web tokens.
        r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{12,}",
        r"\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}|\bxox[abprs]-[\w-]{10,}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{20,}",
        r"\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*",
    ];
    // The patterns are constants, and the tests below compile them.
    Regex::new(&patterns.join("|")).expect("constant patterns compile")
});

/// Returns `text` with everything masked that looks like a secret.
pub(crate) fn masked(text: &str) -> String {
    let mask = |found: &Captures<'_>| {
        // Each pattern has at most one group, for the text before the secret.
        let kept = found.iter().skip(1).flatten().next().map_or("", |kept| kept.as_str());
        format!("{kept}{MASK}")
    };
    SECRETS.replace_all(text, mask).into_owned()
}

/// Returns `text` on one line. Control characters, for example in an escape sequence, become
/// visible.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut indenting = false;
    for c in text.chars() {
        let broken = matches!(c, '\n' | '\r');
        // The indentation of a line goes with the line break.
        if indenting && (broken || c == ' ' || c == '\t') {
            continue;
        }
        indenting = broken;
        match c {
            '\n' | '\r' | '\t' => plain.push(' '),
            c if is_hidden(c) => plain.push('\u{FFFD}'),
            c => plain.push(c),
        }
    }
    plain
}

/// Returns whether `c` is a control character or invisible.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control() || is_invisible(c)
}

/// Returns whether `c` has no width or changes the writing direction, so that it could hide other
/// text.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}'
    )
}

/// Returns a number with its noun, for example "1 run" or "2 runs".
pub(crate) fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Describes the time from `then` to `now`, both in milliseconds since 1970.
pub(crate) fn ago(now: u64, then: u64) -> String {
    match now.saturating_sub(then) / 1000 {
        0..10 => "just now".to_owned(),
        s @ 10..60 => format!("{s} s ago"),
        s @ 60..3600 => format!("{} min ago", s / 60),
        s @ 3600..86_400 => format!("{} h ago", s / 3600),
        s => format!("{} ago", counted(usize::try_from(s / 86_400).unwrap_or(usize::MAX), "day")),
    }
}

/// Returns `text` cut to `columns`, with an ellipsis if something was cut off.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    let (mut used, mut end) = (0, None);
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used >= columns && end.is_none() {
            end = Some(at);
        }
        if used > columns {
            return format!("{}…", &text[..end.unwrap_or(at)]);
        }
    }
    text.to_owned()
}

/// A tool's name in at most `columns`.
pub(crate) fn tool_name(tool: &str, columns: usize) -> String {
    let tool = plain(tool);
    if tool.trim().is_empty() { "(no name)".to_owned() } else { shortened(&tool, columns) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr as _;

    use super::{ago, masked, plain, shortened};

    #[test]
    fn what_looks_like_a_secret_is_masked() {
        for (text, expected) in [
            (r#"{"api_key":"abc123","q":"x"}"#, r#"{"api_key":"•••","q":"x"}"#),
            (r#"{"password": "hunter2"}"#, r#"{"password": "•••"}"#),
            (
                r#"{"command":"export GITHUB_TOKEN=abcdef && ls"}"#,
                r#"{"command":"export GITHUB_TOKEN=••• && ls"}"#,
            ),
            ("curl -H 'Authorization: Bearer abc.def-123'", "curl -H 'Authorization: Bearer •••'"),
            ("mysql --password hunter2 db", "mysql --password ••• db"),
            ("git clone https://me:secret99@host/x", "git clone https://•••host/x"),
            ("curl -s -u admin:hunter2 https://x", "curl -s -u admin:••• https://x"),
            ("sshpass -p hunter2 ssh x", "sshpass -p ••• ssh x"),
            ("mysql -uroot -phunter2 db", "mysql -uroot -p••• db"),
            ("DB_PASS=hunter2 DB_PWD=hunter3 run", "DB_PASS=••• DB_PWD=••• run"),
            ("Cookie: sid=0123456789", "Cookie: •••"),
            ("tool --client-secret hunter2", "tool --client-secret •••"),
            ("https://x/y?sig=abcdef&z=1", "https://x/y?sig=•••&z=1"),
            ("sk-ant-api03-abcdefghijklmnop", "•••"),
            ("ghp_abcdefghijklmnopqrstuvwx", "•••"),
            ("AKIAIOSFODNN7EXAMPLE", "•••"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig", "•••"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn ordinary_text_is_not_masked() {
        for text in [
            r#"{"path":"src/token.rs","limit":20}"#,
            "grep -rn password src",
            r#"{"max_tokens":4096,"token_count":17,"tokenizer":"cl100k"}"#,
            "bypass: yes, compass=north, author: me",
            "mkdir -p build/out",
            "git show 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432",
            "https://example.org/a:b@c",
            "ask-me-anything",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn a_terminal_never_sees_a_control_character() {
        assert_eq!(plain("a\x1b[31mb\nc\u{202E}d"), "a\u{FFFD}[31mb c\u{FFFD}d");
        assert_eq!(plain("{\r\n    \"a\":  1\n}"), "{ \"a\":  1 }");
    }

    #[test]
    fn ages_have_the_largest_unit_that_fits() {
        const NOW: u64 = 1_000_000_000_000;
        for (seconds, expected) in [
            (0, "just now"),
            (9, "just now"),
            (10, "10 s ago"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (3599, "59 min ago"),
            (3600, "1 h ago"),
            (86_399, "23 h ago"),
            (86_400, "1 day ago"),
            (200_000, "2 days ago"),
        ] {
            assert_eq!(ago(NOW, NOW - seconds * 1000), expected);
        }
        // A clock that was set back gives the present.
        assert_eq!(ago(NOW, NOW + 1), "just now");
    }

    #[test]
    fn text_that_fits_is_not_cut() {
        for (text, columns, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本", 4, "日本"),
            ("日本語", 4, "日…"),
            ("", 0, ""),
        ] {
            assert_eq!(shortened(text, columns), expected);
        }
    }

    proptest! {
        #[test]
        fn shown_text_fits_on_one_line(text in ".{0,80}", columns in 1..40_usize) {
            let shown = shortened(&plain(&masked(&text)), columns);
            prop_assert!(shown.width() <= columns);
            prop_assert!(!shown.chars().any(char::is_control));
        }
    }
}
