//! Compares fingerprints with trees of known meaning.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::sample::select;
use unstuck_core::Digest;
use unstuck_json::{Exact, Fingerprinter, JsonError, fingerprint};

use crate::random::{objects, trees};
use crate::tree::{Choices, Decimal, Tree};

fn of(json: &str) -> Digest {
    fingerprint(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// The digest of those members whose name is in `keep`.
fn kept(json: &str, keep: &[&str]) -> Result<Option<Digest>, JsonError> {
    let print = Fingerprinter::<Exact>::new(0);
    print.shape(json.as_bytes(), keep).map(|shape| shape.primary)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

    #[test]
    fn two_spellings_of_a_tree_are_equal(tree in trees(), one: u64, other: u64) {
        let (one, other) = (tree.spelled(&mut Choices(one)), tree.spelled(&mut Choices(other)));
        prop_assert_eq!(of(&one), of(&other), "{} and {}", one, other);
    }

    #[test]
    fn two_trees_are_equal_when_their_canonical_texts_are(a in trees(), b in trees(), seed: u64) {
        let mut choices = Choices(seed);
        let (one, other) = (a.spelled(&mut choices), b.spelled(&mut choices));
        let equal = a.canonical() == b.canonical();
        prop_assert_eq!(of(&one) == of(&other), equal, "{} and {}", one, other);
    }

    #[test]
    fn a_tree_differs_from_each_of_its_parts_and_wrappings(tree in trees(), seed: u64) {
        let whole = of(&tree.spelled(&mut Choices(seed)));
        let parts = match &tree {
            Tree::Array(elements) => elements.clone(),
            Tree::Object(members) => members.iter().map(|(_, value)| value.clone()).collect(),
            _ => Vec::new(),
        };
        let wrapped = [
            Tree::Array(vec![tree.clone()]),
            Tree::Object(vec![("a".to_owned(), tree)]),
        ];
        for other in parts.iter().chain(&wrapped) {
            prop_assert_ne!(whole, of(&other.spelled(&mut Choices(seed))));
        }
    }

    #[test]
    fn kept_members_are_those_of_the_smaller_object(
        members in objects(trees()),
        keep in prop::collection::vec(select(vec!["", "a", "b", "é", "a/b", "\0", "😂"]), 0..5),
        seed: u64,
    ) {
        let json = Tree::Object(members.clone()).spelled(&mut Choices(seed));
        let is_kept = |(name, _): &(String, Tree)| keep.contains(&name.as_str());
        let left: Vec<_> = members.into_iter().filter(is_kept).collect();
        let empty = left.is_empty();
        let left = of(&Tree::Object(left).spelled(&mut Choices(seed)));
        prop_assert_eq!(kept(&json, &keep), Ok((!empty).then_some(left)), "{}", json);
    }

    #[test]
    fn two_numbers_are_equal_when_their_values_are(one in number_texts(), other in number_texts()) {
        let equal = value(&one) == value(&other);
        prop_assert_eq!(of(&one.text()) == of(&other.text()), equal, "{:?} {:?}", one, other);
    }
}

/// The parts of a number as it is written.
#[derive(Clone, Debug)]
struct Written {
    sign: &'static str,
    integer: u32,
    fraction: &'static str,
    exponent: i32,
}

impl Written {
    fn text(&self) -> String {
        let Self { sign, integer, fraction, exponent } = self;
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{integer}{point}{fraction}e{exponent}")
    }
}

fn number_texts() -> impl Strategy<Value = Written> {
    let integers = prop_oneof![select(vec![0, 1, 10, 11, 100, 101, 110]), 0..1_000_000_u32];
    let fractions = select(vec!["", "0", "1", "00", "01", "10", "11", "010", "0010", "2500"]);
    (select(vec!["", "-"]), integers, fractions, -4..5_i32).prop_map(
        |(sign, integer, fraction, exponent)| Written { sign, integer, fraction, exponent },
    )
}

/// The value in units of 10⁻⁸, the smallest that can be written: plain integer arithmetic.
fn value(number: &Written) -> i128 {
    let digits: i128 = format!("{}{}", number.integer, number.fraction).parse().unwrap();
    let places = i32::try_from(number.fraction.len()).unwrap();
    let scale = u32::try_from(8 + number.exponent - places).unwrap();
    let magnitude = digits * 10_i128.pow(scale);
    if number.sign == "-" { -magnitude } else { magnitude }
}

/// Every tree of `nodes` nodes over few leaves and names.
fn trees_of(nodes: usize) -> Vec<Tree> {
    if nodes == 1 {
        let one = Decimal { negative: false, digits: "1".to_owned(), exponent: 0 };
        return vec![
            Tree::Null,
            Tree::Number(one),
            Tree::String("a".to_owned()),
            Tree::Array(Vec::new()),
            Tree::Object(Vec::new()),
        ];
    }
    let mut trees = Vec::new();
    for elements in sequences_of(nodes - 1) {
        for names in 0..1_usize << elements.len() {
            let name = |i: usize| if names >> i & 1 == 0 { "a" } else { "b" };
            let members = elements.iter().enumerate();
            let members = members.map(|(i, value)| (name(i).to_owned(), value.clone()));
            trees.push(Tree::Object(members.collect()));
        }
        trees.push(Tree::Array(elements));
    }
    trees
}

/// Every sequence of trees that have `nodes` nodes together.
fn sequences_of(nodes: usize) -> Vec<Vec<Tree>> {
    if nodes == 0 {
        return vec![Vec::new()];
    }
    let mut sequences = Vec::new();
    for first in 1..=nodes {
        for rest in sequences_of(nodes - first) {
            for tree in trees_of(first) {
                let mut sequence = vec![tree];
                sequence.extend(rest.iter().cloned());
                sequences.push(sequence);
            }
        }
    }
    sequences
}

#[test]
fn all_small_trees_are_told_apart() {
    let mut texts = HashMap::new();
    let mut meanings = HashMap::new();
    for tree in (1..=5).flat_map(trees_of) {
        let text = tree.canonical();
        let digest = of(&tree.spelled(&mut Choices(0)));
        assert_eq!(*texts.entry(text.clone()).or_insert(digest), digest, "{text}");
        let meaning = meanings.entry(digest).or_insert_with(|| text.clone());
        assert_eq!(*meaning, text);
    }
    assert!(meanings.len() > 10_000, "{} trees are too few to tell", meanings.len());
}
