//! Fields of a record, taken from raw JSON without copying, with as much patience as each needs.

use core::fmt;
use std::borrow::Cow;

use memchr::{memchr, memchr_iter};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, Visitor};
use serde_json::value::RawValue;

use crate::event::Args;
use crate::problem::ProblemKind;

/// A field that may be anything, or absent; `null` counts as absent.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// One record: `T` from a JSON object, and from nothing else.
///
/// `serde` would read a struct from an array too.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, ProblemKind> {
    if !json.trim_start().starts_with('{') {
        serde_json::from_str::<IgnoredAny>(json).map_err(|error| ProblemKind::not_json(&error))?;
        return Err(ProblemKind::NotAnObject { found: kind_of(json) });
    }
    serde_json::from_str(json).map_err(|error| ProblemKind::not_json(&error))
}

/// The text of a field that holds a string.
///
/// Half of a surrogate pair, which writers leave where they cut a text, becomes U+FFFD: a record is
/// not lost for one bad character.
pub(crate) fn string(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    let json = raw?.get();
    if !json.starts_with('"') {
        return None;
    }
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    unescaped(inner).or_else(|| serde_json::from_str::<Lossy<'_>>(json).ok().map(|text| text.0))
}

/// What stands between the quotes of a JSON string, if the escapes in it are short ones: in long
/// results they are ends of lines and quotes. A single pass, where `serde_json` takes three.
fn unescaped(inner: &str) -> Option<Cow<'_, str>> {
    let bytes = inner.as_bytes();
    let Some(first) = memchr(b'\\', bytes) else { return Some(Cow::Borrowed(inner)) };
    let mut text = String::with_capacity(inner.len());
    let mut from = 0;
    for at in memchr_iter(b'\\', &bytes[first..]).map(|at| first + at) {
        if at < from {
            // The second of two, which stand for one.
            continue;
        }
        text.push_str(&inner[from..at]);
        text.push(match bytes.get(at + 1)? {
            b'n' => '\n',
            b'"' => '"',
            b'\\' => '\\',
            b't' => '\t',
            b'r' => '\r',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            _ => return None,
        });
        from = at + 2;
    }
    text.push_str(&inner[from..]);
    Some(Cow::Owned(text))
}

/// The text of a field that must be a string where it is present.
pub(crate) fn strict_string<'a>(
    raw: Raw<'a>,
    field: &'static str,
) -> Result<Option<Cow<'a, str>>, ProblemKind> {
    match (raw, string(raw)) {
        (Some(_), None) => Err(ProblemKind::WrongType { field, expected: "a string" }),
        (_, text) => Ok(text),
    }
}

/// Whether a field holds `true`; anything else is no flag.
pub(crate) fn is_true(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// A call's arguments where the wire may keep them in a JSON string.
pub(crate) struct Arguments<'a> {
    raw: Raw<'a>,
    /// What the string holds, if it is one.
    text: Option<Cow<'a, str>>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(raw: Raw<'a>) -> Self {
        Self { raw, text: string(raw) }
    }

    /// The JSON of the field, or in its string; a string that holds none is text.
    pub(crate) fn as_args(&self) -> Args<'_> {
        match (&self.text, self.raw) {
            (Some(text), _) if is_json(text) => Args::Json(text),
            (Some(text), _) => Args::Text(text),
            (None, Some(json)) => Args::Json(json.get()),
            (None, None) => Args::Json("null"),
        }
    }
}

/// The arguments of a call that is nothing but a command line: `{"command": …}`.
pub(crate) fn command_args(command: &str) -> String {
    serde_json::json!({ "command": command }).to_string()
}

/// The number in a field that holds a whole one.
pub(crate) fn integer(raw: Raw<'_>) -> Option<i64> {
    raw.and_then(|raw| raw.get().parse().ok())
}

/// Whether a field holds an object.
pub(crate) fn is_object(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('{'))
}

/// The elements of a field that holds an array; none of anything else.
pub(crate) fn elements(raw: Raw<'_>) -> Vec<&RawValue> {
    raw.filter(|raw| raw.get().starts_with('['))
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

/// A record nested in a field; none if the field is no object, or one that does not fit.
pub(crate) fn nested<'a, T: Deserialize<'a>>(raw: Raw<'a>) -> Option<T> {
    raw.and_then(|raw| object(raw.get()).ok())
}

/// A result or a content as text: a string as it is, a list of blocks as their texts one a line, a
/// block without text and anything else as its JSON.
///
/// An image keeps its JSON so that two different ones stay two.
pub(crate) fn flat_text(raw: Raw<'_>) -> Cow<'_, str> {
    let Some(json) = raw.map(RawValue::get) else {
        return Cow::Borrowed("");
    };
    if !json.starts_with('[') {
        return string(raw).unwrap_or(Cow::Borrowed(json));
    }
    let mut texts = elements(raw).into_iter().map(block_text);
    let Some(first) = texts.next() else {
        return Cow::Borrowed("");
    };
    texts.fold(first, |mut all, text| {
        let joined = all.to_mut();
        joined.push('\n');
        joined.push_str(&text);
        all
    })
}

/// A block of a content as text: a string, the `text` of an object, or its JSON.
pub(crate) fn block_text(block: &RawValue) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow)]
        text: Raw<'a>,
    }
    string(Some(block))
        .or_else(|| nested::<Block<'_>>(Some(block)).and_then(|block| string(block.text)))
        .unwrap_or(Cow::Borrowed(block.get()))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn kind_of(json: &str) -> &'static str {
    match json.trim_start().as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// A JSON string read as bytes, the one way in which `serde_json` lets a lone surrogate pass.
struct Lossy<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Lossy<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Lossy<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Lossy<'de>, E> {
                // Telling that all is well is many times as fast as looking for what is not.
                Ok(Lossy(
                    str::from_utf8(bytes)
                        .map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed),
                ))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy<'de>, E> {
                let text = str::from_utf8(bytes).map(str::to_owned);
                let text = text.unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned());
                Ok(Lossy(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Raw<'_> {
        serde_json::from_str(json).ok()
    }

    #[test]
    fn a_plain_string_is_borrowed_and_a_cut_character_replaced() {
        assert!(matches!(string(raw(r#""plain""#)), Some(Cow::Borrowed("plain"))));
        assert_eq!(string(raw(r#""a\n\u00fc""#)).as_deref(), Some("a\nü"));
        let cut = string(raw(r#""smile \ud83d""#));
        assert!(cut.is_some_and(|text| text.starts_with("smile \u{fffd}")));
        assert_eq!(string(raw("5")), None);
    }

    #[test]
    fn every_escape_stands_for_its_character() {
        for text in ["", "\\", "a\\\"\n\r\t\u{8}\u{c}/", "\u{1}", "ü\n\u{1f600}", "\n\n\\n"] {
            let json = serde_json::to_string(text).expect("a string");
            assert_eq!(string(raw(&json)).as_deref(), Some(text));
        }
        for (json, text) in
            [(r#""\/""#, "/"), (r#""\n\u00fc""#, "\nü"), (r#""\ud83d\ude00""#, "😀")]
        {
            assert_eq!(string(raw(json)).as_deref(), Some(text));
        }
    }

    #[test]
    fn every_shape_of_content_has_a_text() {
        let table = [
            (r#""as it is""#, "as it is"),
            ("[]", ""),
            (r#"[{"type":"text","text":"a"},"b",{"type":"text","text":"c"}]"#, "a\nb\nc"),
            (r#"[{"type":"image","source":1}]"#, r#"{"type":"image","source":1}"#),
            (r#"{"output":1}"#, r#"{"output":1}"#),
            ("12", "12"),
        ];
        for (json, text) in table {
            assert_eq!(flat_text(raw(json)), text);
        }
        assert_eq!(flat_text(None), "");
    }

    #[test]
    fn only_an_object_is_a_record() {
        let table = [
            ("[1]", "expected a JSON object, found an array"),
            ("\"x\"", "expected a JSON object, found a string"),
            ("42", "expected a JSON object, found a number"),
            ("nux", "not a JSON object: expected ident at column 3"),
            ("{", "not a JSON object: EOF while parsing an object at column 1"),
        ];
        for (json, told) in table {
            let found = object::<IgnoredAny>(json).err().map(|kind| kind.to_string());
            assert_eq!(found.as_deref(), Some(told));
        }
    }
}
