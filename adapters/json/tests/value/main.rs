//! Values against the text that `serde_json` writes of them: one fingerprint, or none.
#![expect(clippy::cast_possible_truncation, reason = "a part of random bits is as random")]

mod errors;
mod node;
mod table;

use proptest::prelude::*;
use serde::Serialize;
use unstuck_core::Digest;
use unstuck_json::{Exact, Fingerprinter, Fnv, Hash64, Numbers, Rfc8785};

use crate::node::{nodes, values};

/// The fingerprints of `value` and of `json` by one of all kinds of fingerprinters; `None` where it
/// is refused.
type Both = [Option<Digest>; 2];

fn both<N: Numbers, H: Hash64, const DEPTH: usize>(
    print: &Fingerprinter<N, H, DEPTH>,
    value: &(impl Serialize + ?Sized),
    json: &str,
) -> Both {
    [print.value(value).ok(), print.fingerprint(json.as_bytes()).ok()]
}

/// The fingerprints by each.
fn by_each(value: &(impl Serialize + ?Sized), json: &str) -> [Both; 4] {
    [
        both(&Fingerprinter::<Exact>::new(0), value, json),
        both(&Fingerprinter::<Rfc8785>::new(1), value, json),
        both(&Fingerprinter::<Exact, Fnv>::with_hash(Fnv::new(2), 3), value, json),
        both(&Fingerprinter::<Rfc8785, Fnv, 3>::with_hash(Fnv::new(4), 5), value, json),
    ]
}

/// Asserts that `value` has the fingerprint of its text, by every fingerprinter; only the last,
/// which takes three containers in each other, may refuse it.
fn agrees(value: &(impl Serialize + ?Sized)) {
    let json = serde_json::to_string(value).expect("a value with a text");
    let pairs = by_each(value, &json);
    for (i, [value, text]) in pairs.iter().enumerate() {
        assert_eq!(value, text, "{json} by {i}");
        assert!(value.is_some() || i == 3, "{json} was refused by {i}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_parsed_value_has_the_fingerprint_of_its_text(value in values()) {
        agrees(&value);
    }

    #[test]
    fn a_value_of_types_has_the_fingerprint_of_its_text(node in nodes()) {
        agrees(&node);
    }

    #[test]
    fn a_string_has_the_fingerprint_of_its_text(text in "[a\"\\\\\n\u{1}\u{7F}é😂]{0,600}") {
        agrees(&text);
    }

    #[test]
    fn a_float_has_the_fingerprint_of_its_text(bits: u64, odd: u32, places in 0..60) {
        agrees(&f64::from_bits(bits));
        agrees(&f32::from_bits((bits >> 32) as u32));
        // Few binary places: often right between two decimals of so many digits.
        let few = f64::from(odd) / 2_f64.powi(places);
        agrees(&few);
        agrees(&(few as f32));
        agrees(&few.trunc());
    }

    #[test]
    fn an_integer_has_the_fingerprint_of_its_text(bits: u128, shift in 0..128_u32) {
        let wide = bits >> shift;
        agrees(&wide);
        agrees(&wide.cast_signed());
        agrees(&(wide as u64));
        agrees(&(wide as i64));
        agrees(&(wide as i32, wide as u32, wide as i16, wide as u16, wide as i8, wide as u8));
    }
}
