//! Canonical texts against `serde_json_canonicalizer`, against ECMAScript's rule for numbers, and
//! against fingerprints.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Number, Value};
use unstuck_json::{CanonicalError, Fingerprinter, JsonErrorKind, Rfc8785, canonicalize};

use crate::random::trees;
use crate::tree::{Choices, Tree};

/// The canonical text of `json`.
pub(crate) fn text_of(json: &[u8]) -> Result<String, CanonicalError> {
    let mut text = String::new();
    canonicalize(json, &mut text).map(|()| text)
}

fn text(json: &str) -> String {
    text_of(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// The value that the tree stands for, its numbers read by the standard library.
fn value(tree: &Tree) -> Value {
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(value) => Value::Bool(*value),
        Tree::Number(decimal) => {
            let sign = if decimal.negative { "-" } else { "" };
            let text = format!("{sign}{}e{}", decimal.digits, decimal.exponent);
            Value::Number(Number::from_f64(text.parse().unwrap()).expect("a finite number"))
        }
        Tree::String(text) => Value::String(text.clone()),
        Tree::Array(elements) => Value::Array(elements.iter().map(value).collect()),
        Tree::Object(members) => {
            Value::Object(members.iter().map(|(name, tree)| (name.clone(), value(tree))).collect())
        }
    }
}

/// The text of a double by the rule of ECMAScript (`Number::toString`): of the shortest decimals
/// that are read as this double, the closest to it, and of two such the even one.
fn ecmascript(double: f64) -> String {
    if double == 0.0 {
        return "0".to_owned();
    }
    // The standard library finds a shortest one, but not always the even one; with a given number
    // of digits it rounds to even, but not always to what is read as this double.
    let shortest = format!("{:e}", double.abs());
    let (digits, _) = shortest.split_once('e').unwrap();
    let closest = format!("{:.*e}", digits.len().saturating_sub(2), double.abs());
    let is_read = closest.parse() == Ok(double.abs());
    let scientific = if is_read { closest } else { shortest };
    let (digits, exponent) = scientific.split_once('e').unwrap();
    let digits = digits.replace('.', "");
    // The value is 0.digits × 10^point.
    let point = exponent.parse::<i32>().unwrap() + 1;
    let count = i32::try_from(digits.len()).unwrap();
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap());
    let split = |at: i32| digits.split_at(usize::try_from(at).unwrap());
    let magnitude = match point {
        _ if count <= point && point <= 21 => format!("{digits}{}", zeros(point - count)),
        1..=21 => format!("{}.{}", split(point).0, split(point).1),
        -5..=0 => format!("0.{}{digits}", zeros(-point)),
        _ => {
            let sign = if point > 0 { "+" } else { "-" };
            let fraction = if count > 1 { format!(".{}", split(1).1) } else { String::new() };
            format!("{}{fraction}e{sign}{}", split(1).0, (point - 1).abs())
        }
    };
    if double < 0.0 { format!("-{magnitude}") } else { magnitude }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn a_spelled_tree_has_the_text_that_another_crate_writes(tree in trees(), seed: u64) {
        let json = tree.spelled(&mut Choices(seed));
        let once = tree.clone().without_repeats();
        if once.canonical() == tree.canonical() {
            let expected = serde_json_canonicalizer::to_string(&value(&tree)).unwrap();
            prop_assert_eq!(text(&json), expected, "{}", json);
        } else {
            let error = text_of(json.as_bytes()).unwrap_err();
            let CanonicalError::Json(error) = error else { panic!("{json}: {error}") };
            prop_assert_eq!(error.kind, JsonErrorKind::RepeatedName, "{}", json);
            prop_assert_eq!(json.as_bytes()[error.offset], b'"', "{}", json);
        }
    }

    #[test]
    fn a_canonical_text_is_its_own(tree in trees(), seed: u64) {
        let text = text(&tree.without_repeats().spelled(&mut Choices(seed)));
        prop_assert_eq!(text_of(text.as_bytes()), Ok(text));
    }

    #[test]
    fn fingerprints_are_equal_when_canonical_texts_are(a in trees(), b in trees(), seed: u64) {
        let mut choices = Choices(seed);
        let (a, b) = (a.without_repeats(), b.without_repeats());
        let spelled = [&a, &a, &b, &b].map(|tree| tree.spelled(&mut choices));
        agree(&spelled);
    }

    #[test]
    fn fingerprints_of_numbers_are_equal_when_canonical_texts_are(
        digits in vec(0..10_u8, 14..20),
        others in vec(0..10_u8, 1..3),
        exponent in -30..30_i32,
    ) {
        // Numbers that differ only in their last digits, near the precision of a double.
        let common: String = digits.iter().map(u8::to_string).collect();
        let number = |last: u8| format!("{{\"a\":0.{common}{last}e{exponent}}}");
        agree(&others.iter().map(|&last| number(last)).chain([number(0)]).collect::<Vec<_>>());
    }

    #[test]
    fn a_double_is_written_as_ecmascript_does(bits: u64) {
        let double = f64::from_bits(bits);
        prop_assume!(double.is_finite());
        prop_assert_eq!(text(&format!("{double:e}")), ecmascript(double));
        // And a number as people write them.
        let short = (double.abs().log10() * 1e4).round() / 1e3;
        prop_assert_eq!(text(&format!("{short}")), ecmascript(short));
    }

    #[test]
    fn any_bytes_have_a_text_or_the_error_of_their_fingerprint(bytes in vec(any::<u8>(), 0..64)) {
        judged_alike(&bytes);
        judged_alike(&[b"{\"", bytes.as_slice(), b"\":0}"].concat());
    }
}

/// Asserts that the fingerprints of `documents` are equal exactly if their canonical texts are.
fn agree(documents: &[String]) {
    let print = Fingerprinter::<Rfc8785>::new(0);
    let read = |json: &String| (print.fingerprint(json.as_bytes()).unwrap(), text(json));
    for one in documents {
        for other in documents {
            let ((digest, text), (other_digest, other_text)) = (read(one), read(other));
            assert_eq!(digest == other_digest, text == other_text, "{one} and {other}");
        }
    }
}

/// Asserts that `json` has a canonical text if it has a fingerprint, and the same error if not.
fn judged_alike(json: &[u8]) {
    let text = text_of(json).map(drop);
    let digest = Fingerprinter::<Rfc8785>::new(0).fingerprint(json).map(drop);
    assert_eq!(text, digest.map_err(CanonicalError::from), "{}", json.escape_ascii());
}
