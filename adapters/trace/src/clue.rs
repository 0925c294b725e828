//! Evidence that an object of JSON belongs to a format, and the helpers to look for it.

use serde_json::{Map, Value};

/// The fields of an object near the beginning of an input. If the input was cut off inside a field,
/// the field is null.
pub(crate) type Fields = Map<String, Value>;

/// The position of an object in its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// One line of JSON Lines.
    Line,
    /// The outermost object of a JSON document. A zip archive is an object with the name of its first
    /// `member`, and a text in Markdown is one with its first `heading`.
    Document,
    /// An element of a document that is an array, or of its `messages`.
    Element,
}

/// Evidence for a format, with the keys it was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clue {
    pub(crate) strength: Strength,
    pub(crate) reason: &'static str,
    /// `true` if a later line may overrule it.
    pub(crate) is_tentative: bool,
    /// `true` if a program prints such lines, so that others may stand around them in a log.
    pub(crate) is_printed: bool,
}

/// The weight of a [`Clue`]: of two formats that claim an object, the stronger one gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Keys that several formats share. They decide if no object has any other clue.
    Fallback,
    /// Keys that fit the format and are unlikely elsewhere.
    Hint,
    /// A key that no other format uses, whatever stands beside it.
    Mark,
    /// A complete record of the format.
    Record,
}

impl Clue {
    pub(crate) const fn fallback(reason: &'static str) -> Self {
        Self::new(Strength::Fallback, reason)
    }

    pub(crate) const fn hint(reason: &'static str) -> Self {
        Self::new(Strength::Hint, reason)
    }

    pub(crate) const fn mark(reason: &'static str) -> Self {
        Self::new(Strength::Mark, reason)
    }

    pub(crate) const fn record(reason: &'static str) -> Self {
        Self::new(Strength::Record, reason)
    }

    /// Returns the same clue as a tentative one: it holds only if no later line has a firm one.
    pub(crate) const fn tentative(self) -> Self {
        Self { is_tentative: true, ..self }
    }

    /// Returns the same clue, for a line that a program prints.
    pub(crate) const fn printed(self) -> Self {
        Self { is_printed: true, ..self }
    }

    const fn new(strength: Strength, reason: &'static str) -> Self {
        Self { strength, reason, is_tentative: false, is_printed: false }
    }
}

/// Returns the string in a field, or an empty one.
pub(crate) fn text<'a>(fields: &'a Fields, key: &str) -> &'a str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether a field holds a string.
pub(crate) fn is_text(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_some_and(Value::is_string)
}

/// Returns whether a field holds an array.
pub(crate) fn is_list(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_some_and(Value::is_array)
}

/// Returns the objects of the array in a field.
pub(crate) fn objects<'a>(fields: &'a Fields, key: &str) -> impl Iterator<Item = &'a Fields> {
    let elements = fields.get(key).and_then(Value::as_array);
    elements.into_iter().flatten().filter_map(Value::as_object)
}

/// Returns the objects of the array in a field, and of arrays in it.
pub(crate) fn flat_objects<'a>(fields: &'a Fields, key: &str) -> impl Iterator<Item = &'a Fields> {
    let elements = fields.get(key).and_then(Value::as_array);
    let parts = elements.into_iter().flatten().flat_map(|element| match element {
        Value::Array(inner) => inner.as_slice(),
        element => core::slice::from_ref(element),
    });
    parts.filter_map(Value::as_object)
}

/// Returns the `type` of each block in a message's `content`.
pub(crate) fn blocks(fields: &Fields) -> impl Iterator<Item = &str> {
    objects(fields, "content").filter_map(|block| block.get("type").and_then(Value::as_str))
}

/// Returns whether an object could be a chat message of any provider.
pub(crate) fn is_chat_message(fields: &Fields) -> bool {
    fields.contains_key("role") || fields.contains_key("content")
}
