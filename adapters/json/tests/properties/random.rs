//! Trees made at random.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::tree::{Decimal, Tree};

/// Trees of any shape; small, and from few words, so that two of them are often alike.
pub(crate) fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        decimals().prop_map(Tree::Number),
        strings().prop_map(Tree::String),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Tree::Array),
            objects(inner).prop_map(Tree::Object),
        ]
    })
}

/// The members of objects that hold values from `values`.
pub(crate) fn objects(
    values: impl Strategy<Value = Tree>,
) -> impl Strategy<Value = Vec<(String, Tree)>> {
    vec((strings(), values), 0..4)
}

fn strings() -> impl Strategy<Value = String> {
    let words = vec!["", "a", "b", "A", "é", "/", "\\", "\"", "\0", "\n", "\u{7F}", "😂", "a/b"];
    prop_oneof![3 => select(words).prop_map(str::to_owned), 1 => any::<String>()]
}

fn decimals() -> impl Strategy<Value = Decimal> {
    let digits = prop_oneof![
        3 => select(vec!["0", "1", "10", "12", "100", "101"]).prop_map(str::to_owned),
        1 => vec(0..10_u8, 1..40).prop_map(|digits| digits.iter().map(u8::to_string).collect()),
    ];
    (any::<bool>(), digits, -4..4_i32).prop_map(|(negative, digits, exponent)| Decimal {
        negative,
        digits,
        exponent,
    })
}

impl Tree {
    /// The tree with only the first of the members that share a name, in every object.
    pub(crate) fn without_repeats(self) -> Self {
        match self {
            Self::Array(elements) => {
                Self::Array(elements.into_iter().map(Self::without_repeats).collect())
            }
            Self::Object(members) => {
                let mut names = HashSet::new();
                let is_first = |(name, _): &(String, _)| names.insert(name.clone());
                let members: Vec<_> = members.into_iter().filter(is_first).collect();
                let member = |(name, value): (_, Self)| (name, value.without_repeats());
                Self::Object(members.into_iter().map(member).collect())
            }
            leaf => leaf,
        }
    }
}
