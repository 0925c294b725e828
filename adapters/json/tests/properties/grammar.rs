//! Compares the accepted documents with `serde_json`, and checks that invalid ones are refused.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use unstuck_json::{JsonErrorKind, fingerprint};

use crate::random::trees;
use crate::tree::{Choices, Tree};

/// Asserts that `json` is accepted exactly when `serde_json` accepts it.
///
/// The two differ by design in their limits: our depth and our exponents, and
/// their doubles. Lone surrogates are no difference: their strings are UTF-8, as ours.
fn agrees(json: &[u8]) {
    let ours = fingerprint(json);
    let theirs = serde_json::from_slice::<Value>(json);
    let our_limit = ours.is_err_and(|error| {
        matches!(error.kind, JsonErrorKind::DepthLimit(_) | JsonErrorKind::ExponentLimit)
    });
    let their_limit =
        theirs.as_ref().is_err_and(|error| error.to_string().starts_with("number out of range"));
    if !our_limit && !their_limit {
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{}: {ours:?}, {theirs:?}", json.escape_ascii());
    }
}

/// Parts of strings: escapes that RFC 8785 uses, other escapes, and characters of every length.
const PARTS: &[&str] = &[
    "\\n",
    "\\t",
    "\\\"",
    "\\\\",
    "\\/",
    "\\u0430",
    "\\u4e2d",
    "\\u00E9",
    "\\u0041",
    "\\u0007",
    "\\ud83d\\ude02",
    "a",
    " ",
    "word",
    "eightchr",
    "é",
    "中",
    "😂",
];

/// Changes one place of `json`.
fn mutate(json: &mut Vec<u8>, choices: &mut Choices) {
    const BYTES: &[u8] = b"{}[]\",:\\/ubfnrt-+.eE0159aD8 \n\0\x1F\x7F\x80\xBF\xC0\xC3\xED\xF4\xFF";
    let at = choices.below(json.len() + 1);
    match choices.below(5) {
        0 => json.insert(at, choices.pick(BYTES)),
        1 if at < json.len() => json[at] = choices.pick(BYTES),
        2 if at < json.len() => drop(json.remove(at)),
        3 if at < json.len() => json.insert(at, json[at]),
        4 if at + 1 < json.len() => json.swap(at, at + 1),
        _ => json.truncate(at),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn a_spelled_tree_is_accepted(tree in trees(), seed: u64) {
        let json = tree.spelled(&mut Choices(seed));
        prop_assert!(serde_json::from_str::<Value>(&json).is_ok(), "{}", json);
        agrees(json.as_bytes());
    }

    #[test]
    fn a_damaged_document_is_judged_as_serde_json_judges_it(tree in trees(), seed: u64) {
        let mut choices = Choices(seed);
        let whole = tree.spelled(&mut choices).into_bytes();
        for mutations in 1..4 {
            for _ in 0..8 {
                let mut json = whole.clone();
                for _ in 0..mutations {
                    mutate(&mut json, &mut choices);
                }
                agrees(&json);
            }
        }
    }

    #[test]
    fn a_truncated_document_is_an_error_within_it(tree in trees(), seed: u64) {
        // In brackets, since 12 is a truncated 123 and a value of its own.
        let json = Tree::Array(vec![tree]).spelled(&mut Choices(seed));
        for end in 0..json.len() {
            let error = fingerprint(&json.as_bytes()[..end]).unwrap_err();
            prop_assert!(error.offset <= end, "{} cut at {}: {}", json, end, error);
        }
    }

    #[test]
    fn any_bytes_are_a_value_or_an_error_within_them(bytes in vec(any::<u8>(), 0..64)) {
        agrees(&bytes);
        let error = fingerprint(&bytes).err();
        prop_assert!(error.is_none_or(|error| error.offset <= bytes.len()));
    }

    #[test]
    fn any_string_contents_are_judged_as_serde_json_judges_them(bytes in vec(any::<u8>(), 0..8)) {
        agrees(&[b"\"", bytes.as_slice(), b"\""].concat());
    }

    #[test]
    fn long_strings_mean_what_serde_json_reads(
        parts in vec(
            prop_oneof![
                6 => prop::sample::select(PARTS).prop_map(str::to_owned),
                1 => "[a-z ]{1,80}",
                1 => "\\\\u[0-9a-fA-F]{4}",
            ],
            0..120,
        ),
        cut: bool,
    ) {
        let mut json = format!(r#"{{"a":"{}"}}"#, parts.concat()).into_bytes();
        if cut {
            json.truncate(json.len() - 2);
        }
        agrees(&json);
        // `serde_json` writes the escapes that RFC 8785 uses.
        if let Ok(value) = serde_json::from_slice::<Value>(&json) {
            prop_assert_eq!(fingerprint(&json), fingerprint(value.to_string().as_bytes()));
        }
    }

    #[test]
    fn any_two_code_units_are_judged_as_serde_json_judges_them(
        units in vec(prop_oneof![0xD700..0xE100_u16, any::<u16>()], 1..4),
    ) {
        let escapes: Vec<_> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        agrees(format!("\"{}\"", escapes.concat()).as_bytes());
    }
}

#[test]
fn all_short_texts_are_judged_as_serde_json_judges_them() {
    const ALPHABET: &[u8] = b"{}[],:\"\\u01-.e ";
    let mut texts = vec![Vec::new()];
    for _ in 0..5 {
        texts = texts
            .iter()
            .flat_map(|text| ALPHABET.iter().map(|&byte| [text.as_slice(), &[byte]].concat()))
            .collect();
        for text in &texts {
            agrees(text);
        }
    }
}
