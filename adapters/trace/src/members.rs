//! Splits objects and lists in memory into their values, without looking into these.
//!
//! `serde_json` does the same, and takes several times as long to find the end of a string.

use std::borrow::Cow;

use serde::de::value::{BorrowedStrDeserializer, CowStrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Error;
use serde_json::value::RawValue;

use crate::field::text_of_json;
use crate::problem::without_place;
use crate::pull::Pull;

/// Reads a record from a JSON object, which was checked to be JSON. The error says what is wrong with a member, and
/// its column.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    // Only this is compiled for each record. What does not depend on `T` is in the functions of `Members`.
    let mut object = Members::new(json)?;
    T::deserialize(&mut object).map_err(|error| object.refusal(&error))
}

/// Returns the elements of a JSON array, which was checked to be JSON. Any other value has none.
pub(crate) fn elements(json: &str) -> impl Iterator<Item = &RawValue> {
    let mut list = Pull::new(json);
    let is_list = list.enter(b'[');
    core::iter::from_fn(move || (is_list && list.goes_on()).then(|| list.value()))
        .filter_map(|json| <&RawValue>::deserialize(Value(json)).ok())
}

/// Returns the checked JSON of one value, or `None` if it is `null`.
pub(crate) fn raw(json: &str) -> Option<&RawValue> {
    Option::deserialize(Value(json)).ok().flatten()
}

/// The members of an object.
struct Members<'a> {
    json: Pull<'a>,
    /// The byte behind the key or the value that was read last.
    read: usize,
}

impl<'a> Members<'a> {
    fn new(json: &'a str) -> Result<Self, String> {
        let mut json = Pull::new(json);
        if json.enter(b'{') { Ok(Self { json, read: 0 }) } else { Err(String::new()) }
    }

    /// Passes the next key. Returns `None` behind the last member.
    fn key(&mut self) -> Result<Option<Cow<'a, str>>, Error> {
        let Some(quoted) = self.json.quoted_key() else { return Ok(None) };
        self.read = self.json.at();
        self.json.colon();
        // Only a key may not have half a surrogate pair.
        if quoted.contains('\\') {
            return serde_json::from_str(quoted).map(Some);
        }
        Ok(text_of_json(quoted))
    }

    fn value(&mut self) -> &'a str {
        let value = self.json.value();
        self.read = self.json.at();
        value
    }

    /// Returns what is wrong with the member that was read last, and where.
    fn refusal(&self, error: &Error) -> String {
        format!("{} at column {}", without_place(error), self.read)
    }
}

impl<'de> Deserializer<'de> for &mut Members<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for &mut Members<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let key = self.key()?;
        key.map(|key| seed.deserialize(CowStrDeserializer::new(key))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(Value(self.value()))
    }
}

/// The JSON of one value. It becomes a [`RawValue`] as it is.
struct Value<'a>(&'a str);

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        serde_json::Deserializer::from_str(self.0).deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0 == "null" { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    /// Delivers the JSON under the name of the type, in which a [`RawValue`] expects it.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(Named { name: Some(name), json: self.0 })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct enum identifier
    }
}

/// A JSON text under a name.
struct Named<'a> {
    name: Option<&'static str>,
    json: &'a str,
}

impl<'de> MapAccess<'de> for Named<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let name = self.name.take().map(BorrowedStrDeserializer::new);
        name.map(|name| seed.deserialize(name)).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(BorrowedStrDeserializer::new(self.json))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::field::{self, Raw};
    use crate::pull::is_json;
    use crate::stream::samples::damaged_json;

    #[derive(Debug, Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Record<'a> {
        messages: Raw<'a>,
        #[serde(rename = "sessionId")]
        session: Raw<'a>,
        x: Raw<'a>,
    }

    impl Record<'_> {
        fn texts(&self) -> [Option<&str>; 3] {
            [self.messages, self.session, self.x].map(|raw| raw.map(RawValue::get))
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

        #[test]
        fn values_are_those_of_serde_json(bytes in damaged_json()) {
            let json = String::from_utf8_lossy(&bytes);
            if is_json(&json) {
                let list = serde_json::from_str::<Vec<&RawValue>>(&json).unwrap_or_default();
                let found = elements(&json).map(RawValue::get).collect::<Vec<_>>();
                prop_assert_eq!(found, list.into_iter().map(RawValue::get).collect::<Vec<_>>());
            }
            let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(&json);
            // `serde` would read a record from a list as well.
            let record = serde_json::from_str::<Record<'_>>(&json).ok().filter(|_| members.is_ok());
            match (field::object::<Record<'_>>(&json), &record) {
                (Ok(found), Some(record)) => prop_assert_eq!(found.texts(), record.texts()),
                (Ok(_), None) => prop_assert!(false, "{json}"),
                (Err(why), Some(_)) => prop_assert!(false, "{why}: {json}"),
                (Err(_), None) => {}
            }
        }
    }
}
