//! Splits objects and lists of checked JSON into their values, without looking into these.
//!
//! `serde_json` does the same, and takes several times as long to find the end of a string.

use core::iter;
use std::borrow::Cow;

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Error;
use serde_json::value::RawValue;

use crate::field::{Raw, required, string, text_of_json};
use crate::problem::{ProblemKind, without_place};
use crate::pull::Pull;

/// The most members of an object that are read. Records of agents have tens of them.
const MEMBERS_MAX: usize = 256;

/// The most characters of a name that an error repeats.
const NAME_MAX: usize = 64;

/// The members of an object, which are looked up by their names.
#[derive(Default)]
pub(crate) struct Object<'a> {
    /// The names with the JSON of their values, in the order of the object.
    members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Object<'a> {
    /// Reads an object.
    ///
    /// # Errors
    ///
    /// Returns which key is broken or occurs twice, and where. The message for any other value is empty.
    pub(crate) fn read(json: &'a str) -> Result<Self, String> {
        let mut json = Pull::new(json);
        if !json.enter(b'{') {
            return Err(String::new());
        }
        let mut members: Vec<(Cow<'_, str>, &str)> = Vec::new();
        while members.len() < MEMBERS_MAX
            && let Some(quoted) = json.quoted_key()
        {
            let end = json.at();
            json.colon();
            let name = name_of(quoted).map_err(|what| format!("{what} at column {end}"))?;
            if members.iter().any(|(known, _)| *known == name) {
                let name: String = name.chars().take(NAME_MAX).collect();
                return Err(format!("duplicate field `{name}` at column {end}"));
            }
            members.push((name, json.value()));
        }
        Ok(Self { members })
    }

    /// Returns the value of a member. `null` counts as absent.
    pub(crate) fn get(&self, name: &str) -> Raw<'a> {
        let member = self.members.iter().find(|(of, _)| *of == name);
        member.and_then(|(_, value)| raw(value))
    }

    /// Returns the value of the first of these members that the object has.
    pub(crate) fn first<const N: usize>(&self, names: [&str; N]) -> Raw<'a> {
        names.into_iter().find_map(|name| self.get(name))
    }

    /// Returns whether the object has a member that is not `null`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(of, value)| *of == name && *value != "null")
    }

    /// Returns the text of a member that holds a string.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        string(self.get(name))
    }

    /// Returns the text of a member that a record must have.
    pub(crate) fn required(
        &self,
        name: &'static str,
        record: &'static str,
    ) -> Result<Cow<'a, str>, ProblemKind> {
        required(self.get(name), record, name)
    }
}

/// Returns the text of a key. Only there half a surrogate pair is a mistake.
fn name_of(quoted: &str) -> Result<Cow<'_, str>, String> {
    if quoted.contains('\\') {
        return serde_json::from_str(quoted).map_err(|error| without_place(&error));
    }
    Ok(text_of_json(quoted).unwrap_or_default())
}

/// Returns the elements of a JSON array. Any other value has none.
pub(crate) fn elements(json: &str) -> impl Iterator<Item = &RawValue> {
    let mut list = Pull::new(json);
    let is_list = list.enter(b'[');
    let values = iter::from_fn(move || (is_list && list.goes_on()).then(|| list.value()));
    values.filter_map(|json| <&RawValue>::deserialize(Value(json)).ok())
}

/// Returns the JSON of one value, or `None` if it is `null`.
pub(crate) fn raw(json: &str) -> Raw<'_> {
    if json == "null" { None } else { <&RawValue>::deserialize(Value(json)).ok() }
}

/// The JSON of one value. It becomes a [`RawValue`] as it is.
struct Value<'a>(&'a str);

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    /// Delivers the JSON under the name of the type, in which a [`RawValue`] expects it.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let member = (name, BorrowedStrDeserializer::new(self.0));
        visitor.visit_map(MapDeserializer::new(iter::once(member)))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::field::object;
    use crate::pull::is_json;
    use crate::stream::samples::damaged_json;

    /// The number of members of an object, those with equal names among them.
    struct Pairs(usize);

    impl<'de> Deserialize<'de> for Pairs {
        fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
            json.deserialize_map(Pairs(0))
        }
    }

    impl<'de> Visitor<'de> for Pairs {
        type Value = Self;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
            while map.next_entry::<String, serde::de::IgnoredAny>()?.is_some() {
                self.0 += 1;
            }
            Ok(self)
        }
    }

    #[test]
    fn an_error_repeats_the_beginning_of_a_name() {
        let name = "é".repeat(1000);
        let why = Object::read(&format!("{{\"{name}\":1,\"{name}\":2}}")).err().expect("an error");
        assert!(why.starts_with("duplicate field `éé") && why.len() < 200, "{why}");
    }

    #[test]
    fn only_so_many_members_are_read() {
        let members: Vec<String> = (0..300).map(|name| format!("\"{name}\":1")).collect();
        let json = format!("{{{}}}", members.join(","));
        let object = object(&json).expect("an object");
        assert!(object.has("0") && object.has("255") && !object.has("256"));
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
            let members = serde_json::from_str::<BTreeMap<String, Raw<'_>>>(&json);
            match (object(&json), members) {
                (Ok(found), Ok(members)) => {
                    prop_assert_eq!(found.members.len(), members.len());
                    for (name, value) in members {
                        prop_assert_eq!(found.get(&name).map(RawValue::get), value.map(RawValue::get));
                    }
                }
                (Err(why), Ok(members)) => {
                    prop_assert!(why.to_string().contains("duplicate field"), "{json}");
                    let all: Pairs = serde_json::from_str(&json).expect("an object");
                    prop_assert!(all.0 > members.len(), "{json}");
                }
                (Ok(_), Err(why)) => prop_assert!(false, "{why}: {json}"),
                (Err(_), Err(_)) => {}
            }
        }
    }
}
