//! Many documents that are spelled anew, and many that differ in one place.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use unstuck_core::Digest;
use unstuck_json::{Exact, Fingerprinter, Rfc8785};

use crate::canonical::text_of;
use crate::tree::{Choices, Decimal, Tree};

const WORDS: &[&str] = &[
    "",
    "a",
    "b",
    "A",
    "é",
    "/",
    "\\",
    "\"",
    "\0",
    "\n",
    "😂",
    "\u{FB33}",
    "path",
    "command",
    "limit",
    "src/lib.rs",
    "description",
    "descriptions",
    "cargo test 2>&1 | tail -40",
];

impl Tree {
    /// A tree that `choices` picks, at most `depth` deep; no object has a name twice.
    fn grown(depth: usize, choices: &mut Choices) -> Self {
        let kinds = if depth == 0 { 5 } else { 9 };
        let (kind, length) = (choices.below(kinds), choices.below(5));
        match kind {
            0 => Self::Null,
            1 => Self::Bool(choices.below(2) == 0),
            2 | 3 => Self::Number(Decimal::grown(choices)),
            4 => Self::String(word(choices)),
            5 => Self::Array((0..length).map(|_| Self::grown(depth - 1, choices)).collect()),
            _ => {
                let member = |_| (word(choices), Self::grown(depth - 1, choices));
                Self::Object((0..length).map(member).collect()).without_repeats()
            }
        }
    }

    /// Changes one place of the tree.
    fn alter(&mut self, choices: &mut Choices) {
        let inside = choices.below(4) > 0;
        match self {
            Self::Array(elements) if inside && !elements.is_empty() => {
                let at = choices.below(elements.len());
                elements[at].alter(choices);
            }
            Self::Object(members) if inside && !members.is_empty() => {
                let at = choices.below(members.len());
                members[at].1.alter(choices);
            }
            _ => self.alter_here(choices),
        }
    }

    fn alter_here(&mut self, choices: &mut Choices) {
        match self {
            Self::Bool(value) if choices.below(2) == 0 => *value = !*value,
            Self::Number(decimal) => decimal.alter(choices),
            Self::String(text) if choices.below(4) > 0 => text.push_str(choices.pick(WORDS)),
            Self::Array(elements) if elements.len() > 1 => {
                let at = choices.below(elements.len());
                match choices.below(4) {
                    0 => drop(elements.remove(at)),
                    1 => elements.insert(at, elements[at].clone()),
                    _ => elements.rotate_left(at),
                }
            }
            Self::Object(members) if members.len() > 1 => {
                let at = choices.below(members.len() - 1);
                match choices.below(4) {
                    0 => drop(members.remove(at)),
                    1 => members[at].0.push('\u{7F}'),
                    // Two values change places, under the names as they are.
                    _ => {
                        let (before, after) = members.split_at_mut(at + 1);
                        std::mem::swap(&mut before[at].1, &mut after[0].1);
                    }
                }
            }
            Self::Null | Self::Bool(_) => *self = Self::grown(0, choices),
            Self::String(_) | Self::Array(_) | Self::Object(_) => {
                *self = Self::Array(vec![self.clone()]);
            }
        }
    }
}

impl Decimal {
    fn grown(choices: &mut Choices) -> Self {
        let length = choices.pick(&[1, 1, 2, 2, 3, 5, 17, 25]);
        let digits = (0..length).map(|_| choices.pick(&["0", "1", "2", "3", "5", "7", "9"]));
        let digits = digits.collect();
        Self {
            negative: choices.below(2) == 0,
            digits,
            exponent: choices.pick(&[-7, -2, 0, 0, 1, 3]),
        }
    }

    fn alter(&mut self, choices: &mut Choices) {
        match choices.below(4) {
            0 => self.negative = !self.negative,
            1 => self.exponent += 1,
            2 => self.digits.push('1'),
            _ => self.digits.insert(0, '1'),
        }
    }
}

fn word(choices: &mut Choices) -> String {
    choices.pick(WORDS).to_owned()
}

/// Takes fingerprints by both modes.
struct Prints(Fingerprinter<Exact>, Fingerprinter<Rfc8785>);

impl Prints {
    const NEW: Self = Self(Fingerprinter::new(0), Fingerprinter::new(0));

    fn of(&self, json: &str) -> (Digest, Digest) {
        let digests = (self.0.fingerprint(json.as_bytes()), self.1.fingerprint(json.as_bytes()));
        match digests {
            (Ok(exact), Ok(doubles)) => (exact, doubles),
            (exact, doubles) => panic!("{json}: {exact:?}, {doubles:?}"),
        }
    }
}

#[test]
fn a_hundred_thousand_respellings_mean_the_same() {
    let mut choices = Choices(1);
    for _ in 0..10_000 {
        let tree = Tree::grown(4, &mut choices);
        let json = tree.spelled(&mut choices);
        let (digests, text) = (Prints::NEW.of(&json), text_of(json.as_bytes()));
        assert!(text.is_ok(), "{json}: {text:?}");
        for _ in 0..10 {
            let respelled = tree.spelled(&mut choices);
            assert_eq!(Prints::NEW.of(&respelled), digests, "{json} and {respelled}");
            assert_eq!(text_of(respelled.as_bytes()), text, "{json} and {respelled}");
        }
    }
}

/// The meaning of each digest, as a hash that is independent of the digest.
#[derive(Default)]
struct Meanings(HashMap<Digest, u64>);

impl Meanings {
    /// Asserts that `digest` belongs only to this `meaning`.
    fn add(&mut self, digest: Digest, meaning: u64, json: &str) {
        assert_eq!(*self.0.entry(digest).or_insert(meaning), meaning, "{json} shares its digest");
    }
}

/// Compares a million pairs if `UNSTUCK_EXHAUSTIVE` is 2, and else a part of them.
#[test]
fn pairs_of_different_documents_are_told_apart() {
    let most = match std::env::var("UNSTUCK_EXHAUSTIVE").as_deref() {
        Err(_) => 30_000,
        Ok("1") => 200_000,
        Ok(_) => 1_000_000,
    };
    let (mut choices, hasher) = (Choices(2), RandomState::new());
    let (mut exact, mut doubles) = (Meanings::default(), Meanings::default());
    let mut pairs = 0;
    while pairs < most {
        let tree = Tree::grown(3, &mut choices);
        let mut tell = |tree: &Tree| {
            let json = tree.spelled(&mut choices);
            let text = text_of(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"));
            let meanings = (hasher.hash_one(tree.canonical()), hasher.hash_one(text));
            let digests = Prints::NEW.of(&json);
            exact.add(digests.0, meanings.0, &json);
            doubles.add(digests.1, meanings.1, &json);
            meanings
        };
        let one = tell(&tree);
        for seed in 0..10 {
            let mut altered = tree.clone();
            altered.alter(&mut Choices(seed + pairs));
            let other = tell(&altered);
            pairs += u64::from(one.0 != other.0 && one.1 != other.1);
        }
    }
}
