//! JSON as the program prints it: one value on one line, without secrets, with invisible characters escaped.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::Write as _;

use serde::Serialize;

use super::redact::masked;
use super::shown::is_hidden;

/// Returns `value` as JSON on one line, without a line break at the end. Secrets in its strings are masked.
pub fn json(value: &impl Serialize) -> String {
    safe(&text(value))
}

/// Returns the JSON text of a value. It holds strings and numbers only, which always have one.
fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns the JSON text `json` without secrets, and with invisible characters escaped.
fn safe(json: &str) -> String {
    escaped(&without_secrets(json))
}

/// A JSON object that is written member by member, in their order.
#[derive(Default)]
pub struct Object(String);

impl Object {
    /// Adds a member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        let comma = if self.0.is_empty() { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{comma}\"{name}\":{}", text(&value));
        self
    }

    /// Adds a member if its value is known.
    #[must_use]
    pub fn with_known(self, name: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Returns the object as [`json`] returns a value.
    pub fn json(&self) -> String {
        safe(&format!("{{{}}}", self.0))
    }

    /// Returns the object as one line of JSON Lines.
    pub fn line(&self) -> String {
        self.json() + "\n"
    }
}

/// Returns the JSON text `json` with the secrets in its strings masked. A path stays as it is, because programs
/// find the file by it.
fn without_secrets(json: &str) -> Cow<'_, str> {
    let mut safe = String::new();
    let (mut end, mut at) = (0, 0);
    while let Some(open) = json[at..].find('"').map(|open| at + open) {
        at = open + string(&json[open..]);
        if json[open..].starts_with("\"path\":\"") {
            let path = at + 1;
            at = path + string(&json[path..]);
            continue;
        }
        if is_known(&json[open..at]) {
            continue;
        }
        let Ok(text) = serde_json::from_str::<Cow<'_, str>>(&json[open..at]) else { break };
        if let Cow::Owned(masked) = masked(&text) {
            safe.push_str(&json[end..open]);
            // A string always has a JSON form.
            safe.push_str(&serde_json::to_string(&masked).unwrap_or_default());
            end = at;
        } else {
            know(&json[open..at]);
        }
    }
    if end == 0 {
        return Cow::Borrowed(json);
    }
    safe.push_str(&json[end..]);
    Cow::Owned(safe)
}

/// Returns `value` as one line of JSON Lines.
pub fn json_line(value: &impl Serialize) -> String {
    json(value) + "\n"
}

/// Returns the JSON text `json` with control characters and invisible characters as `\u` escapes.
///
/// JSON allows some control characters in strings, for example U+009B, which a terminal obeys. The
/// result means the same as `json`.
pub fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

thread_local! {
    /// Strings without secrets that were printed lately. A program prints the same messages many times.
    static KNOWN: RefCell<HashSet<Box<str>>> = RefCell::default();
}

/// The most known strings, and the longest one.
const KNOWN_MAX: usize = 1024;

/// The length of a loop's id in JSON.
const ID: usize = 18;

/// Returns whether `string` is known to hold no secret, or is an id.
fn is_known(string: &str) -> bool {
    let is_id =
        string.len() == ID && string[1..ID - 1].bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id || KNOWN.with_borrow(|known| known.contains(string))
}

fn know(string: &str) {
    if string.len() <= KNOWN_MAX {
        KNOWN.with_borrow_mut(|known| {
            if known.len() == KNOWN_MAX {
                known.clear();
            }
            known.insert(string.into());
        });
    }
}

/// Returns the length of the JSON string at the begin of `json`.
fn string(json: &str) -> usize {
    let bytes = json.as_bytes();
    let mut end = 1;
    while bytes.get(end).is_some_and(|byte| *byte != b'"') {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    json.len().min(end + 1)
}

#[cfg(test)]
mod tests {
    use super::{escaped, json, json_line};

    #[test]
    fn invisible_characters_are_escaped_and_the_meaning_stays() {
        let json = "\"a\u{200B}\u{7F}\u{85}é\u{FEFF}漢\u{E0041}\"";
        assert_eq!(escaped(json), "\"a\\u200b\\u007f\\u0085é\\ufeff漢\\udb40\\udc41\"");
        assert_eq!(
            serde_json::from_str::<String>(&escaped(json)).unwrap(),
            json[1..json.len() - 1]
        );
    }

    #[test]
    fn secrets_in_strings_are_masked_and_the_rest_stays() {
        let value = serde_json::json!({
            "a": "password=\"my hunter2\"", "b": ["C:\\", 1, "\\\"token: hunter2"], "c": "é\n",
        });
        let expected = serde_json::json!({
            "a": "password=\"•••\"", "b": ["C:\\", 1, "\\\"token: •••"], "c": "é\n",
        });
        let shown: serde_json::Value = serde_json::from_str(&json(&value)).unwrap();
        assert_eq!(shown, expected);
        let path = serde_json::json!({"path": "a/\\\"token=hunter2", "x": "token=hunter2"});
        assert_eq!(json(&path), r#"{"path":"a/\\\"token=hunter2","x":"token=•••"}"#);
        assert_eq!(json(&"plain"), "\"plain\"");
    }

    #[test]
    fn a_value_is_one_line() {
        assert_eq!(json_line(&"a\nb\u{9B}31m"), "\"a\\nb\\u009b31m\"\n");
    }
}
