//! Makes JSON documents and their spellings from bytes.

use arbitrary::{Arbitrary as _, Result, Unstructured};

use crate::tree::{Choices, Decimal, Tree};

/// The maximum nesting of arrays and objects.
const DEPTH_MAX: usize = 6;

/// The maximum number of elements of an array, members of an object, and characters of a string.
const LENGTH_MAX: u32 = 6;

/// A document and two of its spellings.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) tree: Tree,
    pub(crate) spellings: [String; 2],
}

impl Document {
    /// Reads a document from `bytes`. No object in it repeats a name.
    ///
    /// # Errors
    ///
    /// Returns the errors of `Unstructured`. Too few bytes are not an error, because zeros follow them.
    pub(crate) fn new(bytes: &mut Unstructured<'_>) -> Result<Self> {
        let seeds = <[u64; 2]>::arbitrary(bytes)?;
        let tree = tree(bytes, DEPTH_MAX)?;
        let spellings = seeds.map(|seed| tree.spelled(&mut Choices(seed)));
        Ok(Self { tree, spellings })
    }
}

/// Returns a tree with a nesting of at most `depth`.
pub(crate) fn tree(bytes: &mut Unstructured<'_>, depth: usize) -> Result<Tree> {
    let kinds = if depth == 0 { 3 } else { 5 };
    Ok(match bytes.int_in_range(0..=kinds)? {
        0 => Tree::Null,
        1 => Tree::Bool(bool::arbitrary(bytes)?),
        2 => Tree::Number(number(bytes)?),
        3 => Tree::String(string(bytes)?),
        4 => Tree::Array(
            (0..bytes.int_in_range(0..=LENGTH_MAX)?)
                .map(|_| tree(bytes, depth - 1))
                .collect::<Result<_>>()?,
        ),
        _ => Tree::Object(members(bytes, depth - 1)?),
    })
}

fn members(bytes: &mut Unstructured<'_>, depth: usize) -> Result<Vec<(String, Tree)>> {
    let mut members: Vec<(String, Tree)> = Vec::new();
    for _ in 0..bytes.int_in_range(0..=LENGTH_MAX)? {
        let (name, value) = (string(bytes)?, tree(bytes, depth)?);
        if members.iter().all(|(other, _)| *other != name) {
            members.push((name, value));
        }
    }
    Ok(members)
}

/// Returns a string, usually of special characters: those with a meaning in the grammar or in escapes, the
/// first and last ones of each length in UTF-8, and two that UTF-8 and UTF-16 sort differently.
pub(crate) fn string(bytes: &mut Unstructured<'_>) -> Result<String> {
    const CHARACTERS: [char; 18] = [
        'a', 'b', 'A', '0', '"', '\\', '/', '\0', '\n', '\t', '\u{1F}', '\u{7F}', '\u{80}', 'é',
        '\u{2028}', '\u{FB33}', '\u{FFFF}', '😂',
    ];
    let character = |bytes: &mut Unstructured<'_>| {
        if bytes.ratio(7, 8)? { bytes.choose(&CHARACTERS).copied() } else { char::arbitrary(bytes) }
    };
    (0..bytes.int_in_range(0..=LENGTH_MAX)?).map(|_| character(bytes)).collect()
}

/// Returns a small number, one of any length, or a double in its shortest digits.
fn number(bytes: &mut Unstructured<'_>) -> Result<Decimal> {
    let negative = bool::arbitrary(bytes)?;
    let (digits, exponent) = match bytes.int_in_range(0..=3)? {
        0 | 1 => (bytes.int_in_range(0..=120_u8)?.to_string(), bytes.int_in_range(-4..=4)?),
        2 => (u128::arbitrary(bytes)?.to_string(), bytes.int_in_range(-400..=300)?),
        _ => shortest(f64::arbitrary(bytes)?),
    };
    Ok(Decimal { negative, digits, exponent })
}

/// Returns the digits of a double without its sign, and the exponent of the last digit. Returns 0 for a
/// double that is not a number.
fn shortest(double: f64) -> (String, i32) {
    let text = format!("{:e}", double.abs());
    let Some((digits, exponent)) = text.split_once('e') else { return ("0".to_owned(), 0) };
    let exponent: i32 = exponent.parse().expect("an exponent of at most three digits");
    let places = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    (digits.replace('.', ""), exponent - i32::try_from(places).expect("at most 16 places"))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;

    use super::*;

    /// Returns the value of a document as `serde_json` reads it. The standard library reads the numbers,
    /// because `serde_json` may round them differently.
    #[derive(Debug, PartialEq)]
    enum Meaning {
        Word(String),
        Number(f64),
        String(String),
        Array(Vec<Self>),
        Object(BTreeMap<String, Self>),
    }

    fn meaning(json: &RawValue) -> Meaning {
        const READ: &str = "read once, as a part of the whole";
        let text = json.get();
        match text.as_bytes()[0] {
            b'{' => {
                let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).expect(READ);
                let members = members.into_iter().map(|(name, value)| (name, meaning(value)));
                Meaning::Object(members.collect())
            }
            b'[' => {
                let elements: Vec<&RawValue> = serde_json::from_str(text).expect(READ);
                Meaning::Array(elements.into_iter().map(meaning).collect())
            }
            b'"' => Meaning::String(serde_json::from_str(text).expect(READ)),
            b'-' | b'0'..=b'9' => Meaning::Number(text.parse().expect("a number to both")),
            _ => Meaning::Word(text.to_owned()),
        }
    }

    fn meant(tree: &Tree) -> Meaning {
        match tree {
            Tree::Null => Meaning::Word("null".to_owned()),
            Tree::Bool(value) => Meaning::Word(value.to_string()),
            Tree::Number(Decimal { negative, digits, exponent }) => {
                let sign = if *negative { "-" } else { "" };
                Meaning::Number(format!("{sign}{digits}e{exponent}").parse().expect("a number"))
            }
            Tree::String(text) => Meaning::String(text.clone()),
            Tree::Array(elements) => Meaning::Array(elements.iter().map(meant).collect()),
            Tree::Object(members) => Meaning::Object(
                members.iter().map(|(name, value)| (name.clone(), meant(value))).collect(),
            ),
        }
    }

    /// Returns pseudo-random bytes, the same ones every time.
    pub(crate) fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut choices = Choices(seed);
        let byte = |_| u8::try_from(choices.below(256)).expect("a byte");
        (0..length).map(byte).collect()
    }

    #[test]
    fn every_spelling_of_a_document_means_the_same_to_serde_json() {
        let mut depths = [0; DEPTH_MAX + 1];
        for seed in 0..4_000 {
            let noise = noise(seed, 300);
            let Document { tree, spellings } =
                Document::new(&mut Unstructured::new(&noise)).expect("no end of bytes is an error");
            depths[depth(&tree)] += 1;
            for json in &spellings {
                let read: &RawValue = serde_json::from_str(json).expect(json);
                assert_eq!(meaning(read), meant(&tree), "{json}");
            }
        }
        assert!(depths.iter().all(|count| *count > 20), "trees of each depth: {depths:?}");
    }

    fn depth(tree: &Tree) -> usize {
        match tree {
            Tree::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
            Tree::Object(members) => {
                1 + members.iter().map(|(_, value)| depth(value)).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    #[test]
    fn most_documents_are_spelled_in_two_ways() {
        let documents =
            (0..1_000).map(|seed| Document::new(&mut Unstructured::new(&noise(seed, 300))));
        let differ = |document: Result<Document>| {
            let [one, other] = document.expect("no end of bytes is an error").spellings;
            one != other
        };
        assert!(documents.map(differ).filter(|differ| *differ).count() > 500);
    }

    #[test]
    fn a_double_has_its_shortest_digits() {
        for (double, digits, exponent) in [
            (0.0, "0", 0),
            (-1.5, "15", -1),
            (1e21, "1", 21),
            (f64::MAX, "17976931348623157", 292),
            (5e-324, "5", -324),
            (f64::INFINITY, "0", 0),
            (f64::NAN, "0", 0),
        ] {
            assert_eq!(shortest(double), (digits.to_owned(), exponent), "{double}");
        }
    }
}
