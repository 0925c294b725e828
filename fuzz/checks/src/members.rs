//! The members of objects: their number, and fingerprints of a part of them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use unstuck_core::Digest;
use unstuck_json::{Exact, Fingerprinter, JsonError, Numbers, Rfc8785};

/// The maximum number of primary names. Every second member is primary.
const NAMES_MAX: usize = 8;

/// Returns the number of members of all objects of a document. A repeated name counts twice: `serde_json`
/// keeps one of the members, and a fingerprint has both.
pub(crate) fn count(json: &[u8]) -> usize {
    let (mut in_string, mut escaped, mut colons) = (false, false, 0);
    for &byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b':' if !in_string => colons += 1,
            _ => {}
        }
    }
    colons
}

/// Asserts that the primary part of a shape has the fingerprint of an object with only the primary
/// members, in both modes.
///
/// # Panics
///
/// Panics if it has another one.
pub(crate) fn part(json: &[u8]) {
    let Ok(object) = serde_json::from_slice::<Object<'_>>(json) else { return };
    compare(&Fingerprinter::<Exact>::new(0), json, &object);
    compare(&Fingerprinter::<Rfc8785>::new(1), json, &object);
}

fn compare<N: Numbers>(print: &Fingerprinter<N>, json: &[u8], object: &Object<'_>) {
    let whole = print.fingerprint(json);
    let primary = object.names(2);
    let shape = print.shape(json, &primary);
    let Ok(shape) = shape else {
        assert_eq!(whole, shape.map(|shape| shape.whole), "{object:?}");
        return;
    };
    let kept = (!primary.is_empty()).then(|| object.print(print, |name| primary.contains(&name)));
    assert_eq!(Ok(shape.whole), whole, "{object:?}");
    assert_eq!(shape.primary.map(Ok), kept, "{primary:?} of {object:?}");
}

/// The members of the outermost object in the order of the text, with all members of a repeated name.
#[derive(Debug)]
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl Object<'_> {
    /// Returns the name of every n-th member.
    fn names(&self, step: usize) -> Vec<&str> {
        self.0.iter().step_by(step).take(NAMES_MAX).map(|(name, _)| &**name).collect()
    }

    /// Returns the fingerprint of the members that `is_in` selects.
    fn print<N: Numbers>(
        &self,
        print: &Fingerprinter<N>,
        is_in: impl Fn(&str) -> bool,
    ) -> Result<Digest, JsonError> {
        let members: Vec<_> = self.0.iter().filter(|(name, _)| is_in(name)).map(written).collect();
        print.fingerprint(format!("{{{}}}", members.join(",")).as_bytes())
    }
}

fn written((name, value): &(String, &RawValue)) -> String {
    format!("{}:{value}", serde_json::Value::from(&**name))
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Collects all members, also of a repeated name.
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_is_counted_and_no_colon_of_a_string() {
        for (json, expected) in [
            ("{}", 0),
            (r#"{"a":1,"a":1}"#, 2),
            (r#"[{"a":{"b":1}},{"c":":"}]"#, 3),
            (r#"{":\"{:":"\\"}"#, 1),
        ] {
            assert_eq!(count(json.as_bytes()), expected, "{json}");
        }
    }

    #[test]
    fn a_part_has_all_members_of_its_names() {
        let json = r#"{"a":1,"\u0062":[2],"a":{"c":3},"d\"":4}"#;
        let object: Object<'_> = serde_json::from_str(json).expect("an object");
        assert_eq!(object.names(2), ["a", "a"]);
        assert_eq!(object.names(3), ["a", "d\""]);
        let print = Fingerprinter::<Exact>::new(0);
        for (names, expected) in [
            (&["a"][..], r#"{"a":1,"a":{"c":3}}"#),
            (&["b", "d\""], r#"{"b":[2],"d\"":4}"#),
            (&["c"], "{}"),
        ] {
            let part = object.print(&print, |name| names.contains(&name));
            assert_eq!(part, print.fingerprint(expected.as_bytes()), "{names:?}");
        }
    }
}
