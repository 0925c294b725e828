//! The fields of an object near the beginning of an input, as the tests of formats look at them.

use serde_json::{Map, Value};

/// The fields of an object near the beginning of an input. If the input was cut off inside a field,
/// the field is null.
pub(crate) type Fields = Map<String, Value>;

/// Returns the string in a field, or an empty one.
pub(crate) fn text<'a>(fields: &'a Fields, key: &str) -> &'a str {
    fields.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns whether a field holds a string.
pub(crate) fn is_text(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_some_and(Value::is_string)
}

/// Returns the objects of the array in a field.
pub(crate) fn objects<'a>(fields: &'a Fields, key: &str) -> impl Iterator<Item = &'a Fields> {
    list(fields, key).iter().filter_map(Value::as_object)
}

/// Returns the array in a field. Any other field has no elements.
pub(crate) fn list<'a>(fields: &'a Fields, key: &str) -> &'a [Value] {
    fields.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
