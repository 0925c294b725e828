//! The checkpoint of `SimilarCalls`, with every field checked when it is read.
//!
//! The checkpoint is a list of the groups, the one joined latest first. Each has the hash of its tool, the
//! digest of the group, and the hashes of its words in ascending order.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Unexpected, Visitor};
use serde::ser::{Serialize, SerializeSeq as _, Serializer};

use crate::lines::Lines;
use crate::similar_calls::{GROUPS_MAX, Group, SimilarCalls};
use crate::tokens::Tokens;

impl Serialize for SimilarCalls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.known().count()))?;
        for group in self.known() {
            list.serialize_element(&(group.tool, group.digest, &group.latest))?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for SimilarCalls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(List {
            expected: format_args!("at most {GROUPS_MAX} groups of calls"),
            value: Self::new(),
            add: |groups, at, (tool, digest, latest)| {
                let place = groups.place(at).ok_or(Flaw::Length)?;
                *place = Group { tool, digest, latest };
                if digest == 0 { Err(Flaw::Empty) } else { Ok(()) }
            },
        })
    }
}

impl Serialize for Tokens {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.sorted().hashes())
    }
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(List {
            expected: format_args!("as many hashes of words as are kept, in rising order"),
            value: Self::NONE,
            add: |tokens, _, hash| {
                if tokens.push(hash) { Ok(()) } else { Err(Flaw::Number(hash)) }
            },
        })
    }
}

impl<const WORDS: usize> Serialize for Lines<WORDS> {
    /// Writes a list of the words of both generations, the newer first. Most are zero.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.words())
    }
}

impl<'de, const WORDS: usize> Deserialize<'de> for Lines<WORDS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(List {
            expected: format_args!("the words of two generations of a filter"),
            value: Self::new(),
            add: |lines, at, word| {
                if lines.restore_word(at, word) { Ok(()) } else { Err(Flaw::Length) }
            },
        })
    }
}

/// A reader of a list, which adds one element after another to a value.
struct List<'e, T, I> {
    expected: fmt::Arguments<'e>,
    value: T,
    /// Adds an element, given its index.
    add: fn(&mut T, usize, I) -> Result<(), Flaw>,
}

/// What is wrong with an element.
enum Flaw {
    /// There is no room for it.
    Length,
    /// It is a number that cannot follow the one before it.
    Number(u32),
    /// It is a group without a digest.
    Empty,
}

impl<'de, T, I: Deserialize<'de>> Visitor<'de> for List<'_, T, I> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_fmt(self.expected)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<T, A::Error> {
        let mut at = 0;
        while let Some(element) = list.next_element()? {
            (self.add)(&mut self.value, at, element).map_err(|flaw| match flaw {
                Flaw::Length => A::Error::invalid_length(at, &self),
                Flaw::Number(n) => A::Error::invalid_value(Unexpected::Unsigned(n.into()), &self),
                Flaw::Empty => A::Error::custom("a group of calls that nothing stands for"),
            })?;
            at += 1;
        }
        Ok(self.value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec as list;
    use proptest::prelude::*;

    use super::{GROUPS_MAX, SimilarCalls};
    use crate::Recipe;

    proptest! {
        #[test]
        fn restored_groups_continue_as_the_originals(
            calls in list(("[ab]", list("[a-f]{1,3}", 0..90)), 0..20),
            more in list(("[ab]", list("[a-f]{1,3}", 0..6)), 0..20),
        ) {
            let mut groups = SimilarCalls::new();
            let call = |groups: &mut SimilarCalls, (tool, words): &(String, Vec<String>)| {
                Recipe::BALANCED.call_among(groups, tool, &words.join(" "))
            };
            for asked in &calls {
                call(&mut groups, asked);
            }
            let written = serde_json::to_string(&groups).expect("groups");
            let mut read: SimilarCalls = serde_json::from_str(&written).expect("groups");
            for asked in &more {
                prop_assert_eq!(call(&mut read, asked), call(&mut groups, asked));
            }
        }
    }

    #[test]
    fn invalid_checkpoints_are_refused() {
        let group = "[1,2,[3,4]]";
        let many = [group; GROUPS_MAX + 1].join(",");
        let hashes: Vec<_> = (0..65).map(|hash| format!("{hash}")).collect();
        for (text, why) in [
            (format!("[{many}]"), "invalid length 8, expected at most 8 groups of calls"),
            (format!("[[1,2,[{}]]]", hashes.join(",")), "integer `64`"),
            ("[[1,2,[4,3]]]".into(), "integer `3`"),
            ("[[1,2,[3,3]]]".into(), "integer `3`"),
            ("[[1,0,[3,4]]]".into(), "nothing stands for"),
            ("{}".into(), "expected at most 8 groups"),
        ] {
            let error = serde_json::from_str::<SimilarCalls>(&text).expect_err(&text).to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(serde_json::from_str::<SimilarCalls>(&format!("[{group}]")).is_ok());
    }
}
