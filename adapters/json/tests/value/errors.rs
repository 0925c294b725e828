//! Values without a fingerprint, and what is said of them.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::fmt;

use serde::ser::{Error, Serialize, SerializeStruct, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use unstuck_core::Digest;
use unstuck_json::{
    DEPTH_MAX, Exact, Fingerprinter, Fnv, JsonError, JsonErrorKind, Rfc8785, ValueError,
};

use crate::table::Arbitrary;

/// A value that serializes by a function.
struct By<F>(F);

impl<F: Fn() -> Result<(), &'static str>> Serialize for By<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0)().map_err(S::Error::custom)?;
        serializer.serialize_unit()
    }
}

/// A text that cannot be displayed.
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("half")?;
        Err(fmt::Error)
    }
}

impl Serialize for Broken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A map with one key of any kind.
struct Keyed<K>(K);

impl<K: Serialize> Serialize for Keyed<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(&self.0, 1)])
    }
}

/// What `serde_json` would tell of a raw value, with anything for its text.
struct Forged<T>(T);

impl<T: Serialize> Serialize for Forged<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NAME: &str = "$serde_json::private::RawValue";
        let mut raw = serializer.serialize_struct(NAME, 1)?;
        raw.serialize_field(NAME, &self.0)?;
        raw.end()
    }
}

/// Bytes that are told as such.
struct Bytes;

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(b"bytes")
    }
}

#[derive(serde::Serialize)]
struct Unit;

#[derive(serde::Serialize)]
struct Tuple(u8, u8);

#[derive(serde::Serialize)]
struct Record {
    a: u8,
}

#[derive(serde::Serialize)]
enum Variant {
    Newtype(u8),
    Tuple(u8, u8),
    Record { a: u8 },
}

fn exact(value: &(impl Serialize + ?Sized)) -> Result<Digest, ValueError> {
    Fingerprinter::<Exact>::new(0).value(value)
}

fn doubles(value: &(impl Serialize + ?Sized)) -> Result<Digest, ValueError> {
    Fingerprinter::<Rfc8785>::new(0).value(value)
}

/// Asserts that `value` is refused alone, and within other values.
fn refused(value: &impl Serialize, expected: ValueError) {
    for error in [
        exact(value),
        doubles(value),
        exact(&[value]),
        exact(&(1, Some(value))),
        exact(&BTreeMap::from([("a", value)])),
    ] {
        assert_eq!(error, Err(expected));
    }
}

/// Asserts that `key` is no key, to `serde_json` neither.
fn no_key(key: impl Serialize) {
    let map = Keyed(Some(key));
    assert!(serde_json::to_string(&map).is_err());
    refused(&map, ValueError::Key);
}

#[test]
fn what_is_no_text_is_no_key() {
    no_key(None::<u8>);
    no_key(());
    no_key(Unit);
    no_key(Bytes);
    no_key([1]);
    no_key((1, 2));
    no_key(Tuple(1, 2));
    no_key(Record { a: 1 });
    no_key(BTreeMap::from([(1, 1)]));
    no_key(Variant::Newtype(1));
    no_key(Variant::Tuple(1, 2));
    no_key(Variant::Record { a: 1 });
    no_key(f64::NAN);
    no_key(f32::INFINITY);
    // These have a text, though not the same in every version of `serde_json`.
    refused(&Keyed(1.5_f64), ValueError::Key);
    refused(&Keyed(1.5_f32), ValueError::Key);
}

#[test]
fn what_refuses_to_be_serialized_is_refused() {
    refused(&By(|| Err("no")), ValueError::Refused);
    refused(&Broken, ValueError::Refused);
    refused(&Keyed(Broken), ValueError::Refused);
    refused(&Keyed(By(|| Err("no"))), ValueError::Refused);
    assert_eq!(exact(&By(|| Ok(()))), exact(&()));
}

#[test]
fn raw_text_that_is_not_json_is_refused_where_it_is_wrong() {
    let raw = |kind, offset| ValueError::Raw(JsonError { kind, offset });
    for (text, kind, offset) in [
        ("", JsonErrorKind::ExpectedValue, 0),
        ("1 2", JsonErrorKind::TrailingData, 2),
        ("01", JsonErrorKind::LeadingZero, 1),
        ("[1", JsonErrorKind::ExpectedCommaOrBracket, 2),
        ("1e9999999999999999999", JsonErrorKind::ExponentLimit, 11),
    ] {
        let text: &'static str = text;
        if kind != JsonErrorKind::ExponentLimit {
            refused(&Arbitrary(text), raw(kind, offset));
            refused(&Forged(text), raw(kind, offset));
        }
        assert_eq!(exact(&Arbitrary(text)), Err(raw(kind, offset)), "{text}");
    }
    assert_eq!(doubles(&Arbitrary("1e400")), Err(raw(JsonErrorKind::NumberRange, 0)));
    for error in [exact(&Forged(())), exact(&Forged(1.5)), exact(&Forged(Broken))] {
        assert_eq!(error, Err(raw(JsonErrorKind::ExpectedValue, 0)));
    }
}

#[test]
fn the_deepest_value_is_taken_and_one_deeper_is_not() {
    let limit = ValueError::DepthLimit(64);
    for wrap in [|value: Value| json!([value]), |value: Value| json!({ "a": value })] {
        let mut value = json!(0);
        for _ in 0..DEPTH_MAX {
            value = wrap(value);
        }
        assert!(exact(&value).is_ok());
        refused(&wrap(value.clone()), limit);
        assert_eq!(exact(&Variant::Newtype(1)), exact(&json!({"Newtype": 1})));
        assert_eq!(exact(&(value, 1)), Err(limit));
    }
}

#[test]
fn variants_and_raw_text_count_as_deep_as_they_are() {
    let one = Fingerprinter::<Exact, Fnv, 1>::with_hash(Fnv::new(0), 0);
    let limit = Err(ValueError::DepthLimit(1));
    assert!(one.value(&Variant::Newtype(1)).is_ok());
    assert_eq!(one.value(&Variant::Tuple(1, 2)), limit);
    assert_eq!(one.value(&Variant::Record { a: 1 }), limit);
    assert_eq!(one.value(&[Variant::Newtype(1)]), limit);
    let raw = RawValue::from_string("[1]".to_owned()).expect("JSON");
    assert!(one.value(&raw).is_ok());
    let error = JsonError { kind: JsonErrorKind::DepthLimit(1), offset: 0 };
    assert_eq!(one.value(&[raw]), Err(ValueError::Raw(error)));
    let none = Fingerprinter::<Exact, Fnv, 0>::with_hash(Fnv::new(0), 0);
    assert!(none.value("text").is_ok());
    assert_eq!(none.value::<[u8]>(&[]), Err(ValueError::DepthLimit(0)));
}

#[test]
fn each_error_says_what_would_be_right() {
    let raw = ValueError::Raw(JsonError { kind: JsonErrorKind::LeadingZero, offset: 1 });
    for (error, message) in [
        (
            ValueError::Refused,
            "expected a value that can be serialized; serde_json::to_string says why it cannot",
        ),
        (
            ValueError::Key,
            "expected the key of a map to be a string, a char, an integer, a bool or a unit variant",
        ),
        (ValueError::DepthLimit(8), "expected arrays and objects to nest at most 8 deep"),
        (raw, "raw JSON within the value, byte 1: expected no more digits after a leading 0"),
    ] {
        assert_eq!(error.to_string(), message);
        assert!(error.source().is_none(), "{error}");
    }
}
