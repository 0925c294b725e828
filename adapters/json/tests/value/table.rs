//! Values one by one: those with a trap, those of the published suite, and their texts.

use std::fs;
use std::path::Path;

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};
use serde_json::Value;
use unstuck_json::{Exact, Fingerprinter, Rfc8785, fingerprint, fingerprint_value};

use crate::{agrees, by_each};

/// A number of arbitrary precision, as `serde_json` tells one.
pub(crate) struct Arbitrary(pub(crate) &'static str);

impl Serialize for Arbitrary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NAME: &str = "$serde_json::private::Number";
        let mut number = serializer.serialize_struct(NAME, 1)?;
        number.serialize_field(NAME, self.0)?;
        number.end()
    }
}

/// A map with the same key twice over.
struct Twice(u8, u8);

impl Serialize for Twice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("a", &self.0)?;
        map.serialize_entry("a", &self.1)?;
        map.end()
    }
}

#[test]
fn a_float_is_what_serde_json_writes_of_it() {
    // Each stands right between two decimals of one digit less, so that one must be chosen.
    agrees(&[433.0_f32, 645.0, 5_482.0, -66.5].map(|float| float / 256.0));
    agrees(&[2_f64.powi(-25), 5.0 * 2_f64.powi(-23)]);
    agrees(&[0.1_f32, 1e16, 1e-7, 16_777_216.0, f32::MAX, f32::MIN_POSITIVE, f32::EPSILON]);
    agrees(&[0.1_f64, 1e16, 1e21, 1e-7, 9_007_199_254_740_993.0, f64::MAX, f64::MIN, 5e-324]);
    agrees(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0]);
    agrees(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0]);
}

#[test]
fn an_integer_of_any_width_is_what_it_is_worth() {
    let most = 10_u64.pow(19);
    agrees(&[0, 1, 9, 10, most - 1, most, most + 1, u64::MAX]);
    agrees(&[i64::MIN, -1, 0, i64::MAX]);
    agrees(&[i128::MIN, -i128::from(u64::MAX) - 1, -i128::from(most), 0, i128::MAX]);
    agrees(&[u128::MAX, u128::MAX / 2, u128::MAX / 2 + 1, 10_u128.pow(38)]);
    assert_eq!(fingerprint_value(&1_u8), fingerprint_value(&1.0_f64));
    assert_ne!(fingerprint_value(&(1_u64 << 53)), fingerprint_value(&((1_u64 << 53) + 1)));
}

#[test]
fn a_number_of_arbitrary_precision_is_its_text() {
    let numbers =
        ["0", "-0", "1.50", "1E400", "0.1000000000000000055511151231257827", "1e-400", "12345678"];
    for number in numbers {
        for [value, text] in by_each(&Arbitrary(number), number) {
            assert_eq!(value, text, "{number}");
        }
        let nested = format!("[{number},{{\"a\":{number}}}]");
        let map = std::collections::BTreeMap::from([("a", Arbitrary(number))]);
        for [value, text] in by_each(&(Arbitrary(number), map), &nested) {
            assert_eq!(value, text, "{nested}");
        }
    }
    let exact = Fingerprinter::<Exact>::new(0);
    assert!(exact.value(&Arbitrary("1e400")).is_ok());
}

#[test]
fn a_key_that_occurs_twice_counts_twice() {
    agrees(&Twice(1, 1));
    agrees(&Twice(1, 2));
    assert_eq!(fingerprint_value(&Twice(1, 2)), fingerprint_value(&Twice(2, 1)));
    assert_ne!(fingerprint_value(&Twice(1, 1)), fingerprint_value(&Twice(2, 2)));
}

#[test]
fn the_published_suite_parsed_has_the_fingerprints_of_its_texts() {
    const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/json/suite");
    let Ok(entries) = fs::read_dir(Path::new(DATA)) else {
        eprintln!("skipped: no test data in {DATA}");
        return;
    };
    let mut parsed = 0;
    for entry in entries {
        let json = fs::read(entry.expect("a readable folder").path()).expect("a readable file");
        if let Ok(value) = serde_json::from_slice::<Value>(&json)
            && fingerprint(&json).is_ok()
        {
            agrees(&value);
            parsed += 1;
        }
    }
    assert!(parsed > 90, "only {parsed} documents of the suite were parsed");
}

#[test]
fn unsized_values_and_references_are_values() {
    let print = Fingerprinter::<Rfc8785>::new(7);
    assert_eq!(print.value("a"), print.value(&&'a'));
    assert_eq!(print.value(&[1, 2][..]), print.value(&(1.0, 2_u8)));
    assert_eq!(print.value("a").ok(), print.fingerprint(b"\"a\"").ok());
}
