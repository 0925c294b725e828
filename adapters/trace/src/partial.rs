//! Parses as much of a JSON value as a text has, which may break off anywhere.
//!
//! `serde_json` does the work, since the text is neither checked, as for a [`Pull`](crate::pull::Pull), nor long, as
//! for a [`Stream`](crate::stream::Stream), and all of its values are wanted.

use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Parses the value with which `json` begins, and returns where it ended.
///
/// The parts behind a break or a mistake are missing. The field in which it happened is null.
pub(crate) fn parse(json: &[u8]) -> (Value, Break) {
    let mut value = Value::Null;
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let end = Fill(&mut value).deserialize(&mut deserializer);
    let reason = match end {
        Ok(()) => Break::None,
        Err(error) if error.is_eof() => Break::End,
        Err(_) => Break::Mistake,
    };
    (value, reason)
}

/// The place at which the parsing of a value ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Break {
    /// Behind the whole value.
    None,
    /// At the end of the text, within the value.
    End,
    /// Before text that is not JSON.
    Mistake,
}

/// Fills a value while it is read, so that the fields before an error are kept.
struct Fill<'v>(&'v mut Value);

impl<'de> DeserializeSeed<'de> for Fill<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Fill<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<(), E> {
        *self.0 = flag.into();
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        *self.0 = number.into();
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        *self.0 = number.into();
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        *self.0 = number.into();
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        *self.0 = text.into();
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        *self.0 = Value::Array(Vec::new());
        let Value::Array(elements) = self.0 else {
            return Ok(());
        };
        loop {
            let mut element = Value::Null;
            let read = list.next_element_seed(Fill(&mut element));
            match read {
                Ok(None) => return Ok(()),
                Ok(Some(())) => elements.push(element),
                Err(error) => {
                    elements.push(element);
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        *self.0 = Value::Object(Map::new());
        let Value::Object(fields) = self.0 else {
            return Ok(());
        };
        while let Some(name) = object.next_key::<String>()? {
            object.next_value_seed(Fill(fields.entry(name).or_insert(Value::Null)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_fields_before_a_break_are_kept() {
        let table = [
            (r#"{"a":[1,{"b":"x"}]}"#, json!({"a":[1,{"b":"x"}]}), Break::None),
            (r#"{"a":[1,{"b":"x","c":"cut"#, json!({"a":[1,{"b":"x","c":null}]}), Break::End),
            (r#"{"a":true,"b"#, json!({"a":true}), Break::End),
            (r#"{"a":-1.5,"b":2 3"#, json!({"a":-1.5,"b":2}), Break::Mistake),
            ("# text", json!(null), Break::Mistake),
        ];
        for (text, value, end) in table {
            assert_eq!(parse(text.as_bytes()), (value, end), "{text}");
        }
    }
}
