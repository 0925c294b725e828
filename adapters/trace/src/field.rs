//! Reads fields of a record from raw JSON without copying it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::event::Args;
use crate::notes;
use crate::object::{self, Object};
use crate::problem::ProblemKind;
use crate::pull::{Pull, bytes_before, is_json};

/// A field of any type. `null` counts as absent.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// Reads a record from a JSON object.
pub(crate) fn object(json: &str) -> Result<Object<'_>, ProblemKind> {
    check(json)?;
    checked_object(json)
}

/// Checks that a text is JSON.
pub(crate) fn check(json: &str) -> Result<(), ProblemKind> {
    if is_json(json) { Ok(()) } else { Err(refused(json, String::new())) }
}

/// Reads a record like [`object`], from a part of a text that was checked to be JSON.
pub(crate) fn checked_object(json: &str) -> Result<Object<'_>, ProblemKind> {
    Object::read(json).map_err(|message| refused(json, message))
}

/// Returns the problem with a record, where `message` says what is wrong with its members.
fn refused(json: &str, message: String) -> ProblemKind {
    let is_object = json.trim_start().starts_with('{');
    let parsed = if is_object {
        serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(json).map(drop)
    } else {
        serde_json::from_str::<IgnoredAny>(json).map(drop)
    };
    match parsed {
        Err(error) => ProblemKind::not_json(&error),
        Ok(()) if is_object => ProblemKind::NotJson { message },
        Ok(()) => ProblemKind::NotAnObject { found: kind_of(json) },
    }
}

/// Returns the text of a field that holds a string.
///
/// Half of a surrogate pair becomes U+FFFD. Writers leave it when they cut a text, and one bad
/// character must not cost the record.
pub(crate) fn string(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    text_of_json(raw?.get())
}

/// Returns the text of a JSON string, like [`string`].
pub(crate) fn text_of_json(json: &str) -> Option<Cow<'_, str>> {
    json.strip_prefix('"')?.strip_suffix('"').map(unescaped)
}

/// Half of a surrogate pair, as a text: each of the bytes that it would have in UTF-8 is replaced.
const HALF: &str = "\u{fffd}\u{fffd}\u{fffd}";

/// Unescapes the inner part of a JSON string. It takes a single pass, and `serde_json` takes three.
fn unescaped(inner: &str) -> Cow<'_, str> {
    let mut plain = bytes_before(inner.as_bytes(), b'\\');
    if plain == inner.len() {
        return Cow::Borrowed(inner);
    }
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((before, escape)) = rest.split_at_checked(plain) {
        text.push_str(before);
        let length = match escape.as_bytes() {
            [b'\\', b'u', ..] => {
                let (symbol, length) = unicode(escape.as_bytes());
                match symbol {
                    Some(symbol) => text.push(symbol),
                    None => text.push_str(HALF),
                }
                length
            }
            // It stands for itself, and is copied with the text behind it.
            [b'\\', b'"' | b'\\' | b'/', behind @ ..] => {
                rest = escape.get(1..).unwrap_or_default();
                plain = 1 + bytes_before(behind, b'\\');
                continue;
            }
            [b'\\', letter, ..] => {
                text.extend(symbol(*letter));
                2
            }
            _ => break,
        };
        rest = escape.get(length..).unwrap_or_default();
        plain = bytes_before(rest.as_bytes(), b'\\');
    }
    Cow::Owned(text)
}

/// Returns the character that a letter behind a backslash stands for.
const fn symbol(letter: u8) -> Option<char> {
    Some(match letter {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

/// Returns the character of a `\u` escape, or of two that make a pair, and the number of their bytes. Half of a
/// pair is no character.
fn unicode(escape: &[u8]) -> (Option<char>, usize) {
    let unit = |at: usize| hexadecimal(escape.get(at..at + 4)?);
    let Some(first @ 0xD800..0xDC00) = unit(2) else {
        return (unit(2).and_then(char::from_u32), 6);
    };
    let second = unit(8).filter(|_| escape.get(6..8) == Some(b"\\u"));
    match second {
        Some(second @ 0xDC00..0xE000) => {
            let pair = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            (char::from_u32(pair), 12)
        }
        _ => (None, 6),
    }
}

/// Returns the number of hexadecimal digits.
fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |number, digit| {
        char::from(*digit).to_digit(16).map(|digit| (number << 4) | digit)
    })
}

/// Returns the text of a field that a record must have.
pub(crate) fn required<'a>(
    raw: Raw<'a>,
    record: &'static str,
    field: &'static str,
) -> Result<Cow<'a, str>, ProblemKind> {
    string(raw).ok_or(ProblemKind::Missing { record, field })
}

/// Returns whether a field holds `true`.
pub(crate) fn is_true(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get() == "true")
}

/// A call's arguments, which may be kept in a JSON string.
pub(crate) struct Arguments<'a> {
    raw: Raw<'a>,
    /// The content of the string, if the field is one.
    text: Option<Cow<'a, str>>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(raw: Raw<'a>) -> Self {
        Self { raw, text: string(raw) }
    }

    /// Returns the JSON of the field or of its string. A string without JSON is text.
    pub(crate) fn as_args(&self) -> Args<'_> {
        match (&self.text, self.raw) {
            (Some(text), _) if is_json(text) => Args::Json(text),
            (Some(text), _) => Args::Text(text),
            (None, Some(json)) => Args::Json(json.get()),
            (None, None) => Args::Json("null"),
        }
    }
}

/// Returns the arguments in a field that holds their JSON.
pub(crate) fn json_args(raw: Raw<'_>) -> Args<'_> {
    Args::Json(raw.map_or("null", RawValue::get))
}

/// Returns the arguments of a command line: `{"command": …}`.
pub(crate) fn command_args(command: &str) -> String {
    serde_json::json!({ "command": command }).to_string()
}

/// Returns the value of a field that holds `true` or `false`.
pub(crate) fn flag(raw: Raw<'_>) -> Option<bool> {
    match raw?.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Returns the number in a field that holds an integer.
pub(crate) fn integer(raw: Raw<'_>) -> Option<i64> {
    raw.and_then(|raw| raw.get().parse().ok())
}

/// Returns whether a field holds an object.
pub(crate) fn is_object(raw: Raw<'_>) -> bool {
    raw.is_some_and(|raw| raw.get().starts_with('{'))
}

/// Returns the elements of a field that holds an array. Any other field has no elements.
pub(crate) fn elements(raw: Raw<'_>) -> Vec<&RawValue> {
    raw.into_iter().flat_map(|raw| object::elements(raw.get())).collect()
}

/// Returns the members of a field that holds an object, in the order of their keys.
pub(crate) fn entries(raw: Raw<'_>) -> BTreeMap<Cow<'_, str>, &RawValue> {
    let members = raw.map(|raw| serde_json::from_str(raw.get()));
    members.and_then(Result::ok).unwrap_or_default()
}

/// Reads an object in a field. Returns `None` for any other field, and if a member occurs twice.
pub(crate) fn nested(raw: Raw<'_>) -> Option<Object<'_>> {
    Object::read(raw?.get()).ok()
}

/// Reads the objects of a list in a field, without what is no object.
pub(crate) fn records(raw: Raw<'_>) -> impl Iterator<Item = Object<'_>> {
    raw.into_iter()
        .flat_map(|raw| object::elements(raw.get()))
        .filter_map(|record| nested(Some(record)))
}

/// Returns some members of a field that holds an object. Returns `None` for any other field, and if one of the members
/// occurs twice.
pub(crate) fn members<'a, const N: usize>(raw: Raw<'a>, names: [&str; N]) -> Option<[Raw<'a>; N]> {
    let mut json = Pull::new(raw?.get());
    if !json.enter(b'{') {
        return None;
    }
    let mut found = [None::<Raw<'a>>; N];
    while let Some(key) = json.key() {
        let value = json.value();
        let member = names.iter().zip(&mut found).find(|(name, _)| **name == key);
        if let Some((_, member)) = member
            && member.replace(object::raw(value)).is_some()
        {
            return None;
        }
    }
    Some(found.map(Option::flatten))
}

/// Returns a member of a field that holds an object. Any other field has none.
pub(crate) fn member<'a>(raw: Raw<'a>, name: &str) -> Raw<'a> {
    members(raw, [name]).and_then(|[member]| member)
}

/// Returns a result or a content as text. A string is taken as it is, and a list of blocks becomes
/// their texts, one a line. A block without text, and any other value, becomes its JSON. A block that is
/// a note of this project is left out, unless it is the first.
///
/// An image keeps its JSON, so that different images stay different.
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
    texts.filter(|text| !notes::is_added(text)).fold(first, |mut all, text| {
        let joined = all.to_mut();
        joined.push('\n');
        joined.push_str(&text);
        all
    })
}

/// Returns the words of a content: a text, or the texts of its blocks, one a line. Blocks without text are
/// calls, thoughts or pictures, and are left out.
pub(crate) fn texts(content: Raw<'_>) -> Cow<'_, str> {
    if let Some(text) = string(content) {
        return text;
    }
    let texts = elements(content).into_iter().filter_map(text_of_block);
    Cow::Owned(texts.collect::<Vec<_>>().join("\n"))
}

/// Returns a block of a content as text: a string, the `text` of an object, or its JSON.
pub(crate) fn block_text(block: &RawValue) -> Cow<'_, str> {
    text_of_block(block).unwrap_or(Cow::Borrowed(block.get()))
}

fn text_of_block(block: &RawValue) -> Option<Cow<'_, str>> {
    string(Some(block)).or_else(|| string(member(Some(block), "text")))
}

/// Returns the type of a value that is no object, with its article.
pub(crate) fn kind_of(json: &str) -> &'static str {
    match json.trim_start().as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use core::fmt;

    use proptest::prelude::*;
    use serde::Deserialize;
    use serde::de::{Deserializer, Visitor};

    use super::*;
    use crate::tables::{raw, rows};

    /// A case a line: a content, and its text.
    const CONTENTS: &str = include_str!("../tests/tables/contents.txt");

    #[test]
    fn every_shape_of_content_has_a_text() {
        for [json, text] in rows(CONTENTS) {
            assert_eq!(flat_text(raw(&json)), text, "{json}");
        }
        assert_eq!(flat_text(None), "");
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

    struct Lossy(String);

    impl<'de> Deserialize<'de> for Lossy {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Bytes;
            impl Visitor<'_> for Bytes {
                type Value = Lossy;

                fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                    out.write_str("a string")
                }

                fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
                    Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
                }
            }
            deserializer.deserialize_bytes(Bytes)
        }
    }

    proptest! {
        #[test]
        fn a_text_is_that_of_serde_json(text in r#"([ -!#-\[\]-~üß漢😀]|\\["\\/bfnrtux]|\\u[0-9a-fA-F]{4}|\\u[dD]8[0-9]{2}\\uD[cD][0-9]{2}){0,12}"#) {
            let json = format!("\"{text}\"");
            // Read as bytes, half of a pair is no mistake for `serde_json`.
            let mut bytes = serde_json::Deserializer::from_str(&json);
            if let Ok(Lossy(expected)) = Lossy::deserialize(&mut bytes) {
                prop_assert_eq!(unescaped(&text), expected, "{}", json);
            }
        }
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
        for (json, message) in table {
            let found = object(json).err().map(|kind| kind.to_string());
            assert_eq!(found.as_deref(), Some(message));
        }
    }
}
