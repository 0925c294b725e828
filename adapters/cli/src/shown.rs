//! What may be shown of a recording: one line, no control characters, no secrets.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use unicode_width::UnicodeWidthChar as _;

/// What stands in the place of a secret.
const MASK: &str = "•••";

/// Things that look like secrets. What is named `kept` stays, the rest is masked.
static SECRETS: LazyLock<Regex> = LazyLock::new(|| {
    let patterns = [
        // A member or variable whose name says so.
        r#"(?P<kept>(?i:[\w-]*(?:passw(?:or)?d|secret|token|api[_-]?key|access[_-]?key|credential)[\w-]*)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;&}]{3,}"#,
        // An option of a command line.
        r#"(?P<kept2>--(?:password|passwd|token|secret|api-key)[ =]\\?["']?)[^\s"'\\]+"#,
        // The header that carries a credential.
        r#"(?P<kept3>(?i:authorization\\?["']?\s*[:=]\s*\\?["']?(?:bearer|basic|token)\s+|bearer\s+))[A-Za-z0-9._~+/=-]{6,}"#,
        // Name and password in an address.
        r"(?P<kept4>[a-z][a-z0-9+.-]*://)[^\s/@:]+:[^\s/@]+@",
        // Keys by their makers' prefixes, and web tokens.
        r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{12,}",
        r"\bgh[pousr]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}|\bxox[abprs]-[\w-]{10,}",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{20,}",
        r"\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*",
    ];
    // The patterns are constants: that they compile is what the tests below show.
    Regex::new(&patterns.join("|")).expect("constant patterns compile")
});

/// `text` with what looks like a secret masked.
pub(crate) fn masked(text: &str) -> String {
    let mask = |found: &Captures<'_>| {
        let names = ["kept", "kept2", "kept3", "kept4"];
        let kept = names.iter().find_map(|name| found.name(name)).map_or("", |kept| kept.as_str());
        format!("{kept}{MASK}")
    };
    SECRETS.replace_all(text, mask).into_owned()
}

/// `text` on one line, with control characters (an escape sequence for the terminal, a line
/// break) made visible.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => plain.push(' '),
            // Marks that turn the direction of writing around could hide what stands there.
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => plain.push('\u{FFFD}'),
            c if c.is_control() => plain.push('\u{FFFD}'),
            c => plain.push(c),
        }
    }
    plain
}

/// `text` cut to `columns`, with an ellipsis where something was cut off.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr as _;

    use super::{masked, plain, shortened};

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
            ("sk-ant-api03-abcdefghijklmnop", "•••"),
            ("ghp_abcdefghijklmnopqrstuvwx", "•••"),
            ("AKIAIOSFODNN7EXAMPLE", "•••"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig", "•••"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn what_does_not_stays() {
        for text in [
            r#"{"path":"src/token.rs","limit":20}"#,
            "grep -rn password src",
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
    }

    #[test]
    fn what_fits_is_not_cut() {
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
        fn what_is_shown_fits_on_one_line(text in ".{0,80}", columns in 1..40_usize) {
            let shown = shortened(&plain(&masked(&text)), columns);
            prop_assert!(shown.width() <= columns);
            prop_assert!(!shown.chars().any(char::is_control));
        }
    }
}
