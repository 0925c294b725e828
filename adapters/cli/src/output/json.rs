//! JSON as the program prints it: one value on one line, with invisible characters escaped.

use std::fmt::Write as _;

use serde::Serialize;

use super::shown::is_hidden;

/// Returns `value` as JSON on one line, without a line break at the end.
pub(crate) fn json(value: &impl Serialize) -> String {
    // The values hold strings and numbers only, which always have a JSON form.
    escaped(&serde_json::to_string(value).unwrap_or_default())
}

/// Returns `value` as one line of JSON Lines.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    json(value) + "\n"
}

/// Returns the JSON text `json` with control characters and invisible characters as `\u` escapes.
///
/// JSON allows some control characters in strings, for example U+009B, which a terminal obeys. The
/// result means the same as `json`.
pub(crate) fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            // All of them have four digits, and writing to a string cannot fail.
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{escaped, json_line};

    #[test]
    fn invisible_characters_are_escaped_and_the_meaning_stays() {
        let json = "\"a\u{200B}\u{7F}\u{85}é\u{FEFF}漢\"";
        assert_eq!(escaped(json), "\"a\\u200b\\u007f\\u0085é\\ufeff漢\"");
        assert_eq!(
            serde_json::from_str::<String>(&escaped(json)).unwrap(),
            json[1..json.len() - 1]
        );
    }

    #[test]
    fn a_value_is_one_line() {
        assert_eq!(json_line(&"a\nb\u{9B}31m"), "\"a\\nb\\u009b31m\"\n");
    }
}
