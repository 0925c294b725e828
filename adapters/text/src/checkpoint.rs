//! The checkpoint of `SimilarCalls`, with every field checked when it is read.
//!
//! The checkpoint is a list of the groups, the one joined latest first. Each has the hash of its tool, the
//! digest of the group, and the hashes of its words in ascending order.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
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

impl Serialize for Tokens {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.sorted().hashes())
    }
}

impl<'de> Deserialize<'de> for SimilarCalls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListOfGroups)
    }
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListOfHashes)
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
        deserializer.deserialize_seq(ListOfWords::<WORDS>)
    }
}

struct ListOfWords<const WORDS: usize>;

impl<'de, const WORDS: usize> Visitor<'de> for ListOfWords<WORDS> {
    type Value = Lines<WORDS>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the words of two generations of a filter")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Lines<WORDS>, A::Error> {
        let mut lines = Lines::new();
        let mut count = 0;
        while let Some(word) = list.next_element()? {
            if !lines.restore_word(count, word) {
                return Err(A::Error::invalid_length(count, &self));
            }
            count += 1;
        }
        Ok(lines)
    }
}

struct ListOfGroups;

impl<'de> Visitor<'de> for ListOfGroups {
    type Value = SimilarCalls;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {GROUPS_MAX} groups of calls")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<SimilarCalls, A::Error> {
        let mut groups = SimilarCalls::new();
        let mut places = groups.empty_places();
        while let Some((tool, digest, latest)) = list.next_element()? {
            let place = places.next().ok_or_else(|| A::Error::invalid_length(GROUPS_MAX, &self))?;
            if digest == 0 {
                return Err(A::Error::custom("a group of calls that nothing stands for"));
            }
            *place = Group { tool, digest, latest };
        }
        Ok(groups)
    }
}

struct ListOfHashes;

impl<'de> Visitor<'de> for ListOfHashes {
    type Value = Tokens;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("as many hashes of words as are kept, in rising order")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tokens, A::Error> {
        let mut tokens = Tokens::NONE;
        while let Some(hash) = list.next_element()? {
            if !tokens.push(hash) {
                return Err(A::Error::invalid_value(
                    serde::de::Unexpected::Unsigned(hash.into()),
                    &self,
                ));
            }
        }
        Ok(tokens)
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
