//! Splits objects and lists in memory into their values, without looking into these.
//!
//! `serde_json` does the same, and takes several times as long to find the end of a string.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Error;
use serde_json::value::RawValue;

use crate::grammar::{Broken, Scanner, Whole, bytes_before};
use crate::problem::without_place;

/// Reads a record from a JSON object. If the text is no JSON, `serde_json` has to say where it breaks; the error
/// here says what is wrong with a member, and its column.
/// `is_valid` says that the text is JSON for sure.
pub(crate) fn object<'a, T: Deserialize<'a>>(json: &'a str, is_valid: bool) -> Result<T, String> {
    // Only this is compiled for each record. What does not depend on `T` is in the functions of `Members`.
    let mut object = Members::new(json, is_valid);
    match T::deserialize(&mut object) {
        Ok(record) => object.ended().map(|()| record),
        Err(error) => Err(object.refusal(&error)),
    }
}

/// Returns the elements of a JSON array. The text has to be JSON.
pub(crate) fn elements(json: &str) -> Result<Vec<&RawValue>, Broken> {
    each_element(json).collect()
}

/// Returns the elements of a JSON array one by one, like [`elements`]. An error is the last of them.
pub(crate) fn each_element(json: &str) -> impl Iterator<Item = Result<&RawValue, Broken>> {
    let mut list = Members::new(json, true);
    let mut is_over = false;
    core::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let element = list.element();
        is_over = !matches!(element, Ok(Some(_)));
        element.transpose()
    })
}

/// Returns whether a text is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    let mut json = Members::new(text, false);
    json.value().and_then(|_| json.end()).is_ok()
}

/// The members of an object, or the elements of a list.
struct Members<'a> {
    json: &'a str,
    scanner: Scanner<Whole<'a>>,
    begun: bool,
    /// The byte behind the key or the value that was read last.
    read: usize,
}

impl<'a> Members<'a> {
    const fn new(json: &'a str, is_valid: bool) -> Self {
        Self { json, scanner: Scanner::new(Whole(json), is_valid), begun: false, read: 0 }
    }

    /// Goes to the next member or element, and returns `false` behind the last one.
    fn goes_on(&mut self, open: u8, close: u8) -> Result<bool, Broken> {
        let is_first = !core::mem::replace(&mut self.begun, true);
        if is_first {
            if self.scanner.peek()? != Some(open) {
                return Err(Broken);
            }
            self.scanner.pass();
        }
        self.scanner.more(close, is_first)
    }

    /// Passes an element of a list and returns it. Behind the last one, it returns `None`.
    fn element(&mut self) -> Result<Option<&'a RawValue>, Broken> {
        if !self.goes_on(b'[', b']')? {
            self.end()?;
            return Ok(None);
        }
        <&RawValue>::deserialize(Value(self.value()?)).map(Some).map_err(|_| Broken)
    }

    /// Passes a value and returns it.
    fn value(&mut self) -> Result<&'a str, Broken> {
        self.scanner.peek()?;
        let from = self.scanner.at;
        self.scanner.skip()?;
        self.read = self.scanner.at;
        Ok(&self.json[from..self.read])
    }

    /// Passes a key and its colon, and returns the key.
    fn key(&mut self) -> Result<Key<'a>, Error> {
        let from = self.scanner.at;
        self.scanner.quoted_key().map_err(refused)?;
        self.read = self.scanner.at;
        let quoted = &self.json[from..self.read];
        self.scanner.colon().map_err(refused)?;
        let key = &quoted[1..quoted.len() - 1];
        if bytes_before(key.as_bytes(), b'\\') < key.len() {
            serde_json::from_str(quoted).map(Key::Escaped)
        } else {
            Ok(Key::Plain(key))
        }
    }

    /// Passes the comma and the next key with its colon. Returns `None` behind the last member.
    fn following_key(&mut self) -> Result<Option<Key<'a>>, Error> {
        if self.goes_on(b'{', b'}').map_err(refused)? { self.key().map(Some) } else { Ok(None) }
    }

    /// Checks that nothing follows, and says so otherwise.
    fn ended(&mut self) -> Result<(), String> {
        self.end().map_err(|broken| self.refusal(&refused(broken)))
    }

    /// Returns what is wrong with the member that was read last, and where.
    fn refusal(&self, error: &Error) -> String {
        format!("{} at column {}", without_place(error), self.read)
    }

    /// Checks that nothing follows.
    fn end(&mut self) -> Result<(), Broken> {
        if self.scanner.peek()?.is_none() { Ok(()) } else { Err(Broken) }
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
        match self.following_key()? {
            Some(key) => seed.deserialize(key).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        match self.value() {
            Ok(value) => seed.deserialize(Value(value)),
            Err(broken) => Err(refused(broken)),
        }
    }
}

fn refused(Broken: Broken) -> Error {
    Error::custom("not JSON")
}

/// The key of a member.
enum Key<'a> {
    Plain(&'a str),
    Escaped(String),
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Plain(key) => visitor.visit_borrowed_str(key),
            Self::Escaped(key) => visitor.visit_string(key),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
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
    use serde::de::IgnoredAny;

    use super::*;
    use crate::field::Raw;
    use crate::grammar::samples::damaged_json;

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
            let is_json = serde_json::from_str::<IgnoredAny>(&json).is_ok();
            prop_assert_eq!(super::is_json(&json), is_json);
            if is_json {
                let list = serde_json::from_str::<Vec<&RawValue>>(&json).ok();
                let texts = |list: Vec<&RawValue>| list.into_iter().map(ToString::to_string).collect::<Vec<_>>();
                prop_assert_eq!(elements(&json).ok().map(texts), list.map(texts));
            }
            let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(&json);
            // `serde` would read a record from a list as well.
            let record = serde_json::from_str::<Record<'_>>(&json).ok().filter(|_| members.is_ok());
            for is_valid in [false, is_json] {
                let found = object::<Record<'_>>(&json, is_valid);
                match (&found, &record) {
                    (Ok(found), Some(record)) => prop_assert_eq!(found.texts(), record.texts()),
                    (Ok(_), None) => prop_assert!(false, "{json}"),
                    (Err(why), Some(_)) => prop_assert!(false, "{why}: {json}"),
                    (Err(_), None) => {}
                }
            }
        }
    }
}
