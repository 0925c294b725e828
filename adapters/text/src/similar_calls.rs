//! Groups of similar calls, formed as calls arrive.
//!
//! Calls are compared by words, and not by letters: letters group `user_1` with `user_2`, which are items of
//! work. A path is one word, because batches mostly go over files. If it fell apart, `git add src/a.tsx` and
//! `git add src/b.tsx` would have five of seven words in common, instead of two of four. Two edits are never
//! similar: `sed -i` with another script is another piece of work.

use unstuck_core::Digest;

use crate::tokens::Tokens;

/// The number of groups that are remembered. A new group replaces the one joined longest ago. A stuck
/// search moves between a few wordings, so a window rarely holds more groups.
pub const GROUPS_MAX: usize = 8;

/// The similar calls of one worker's run, by the words of their arguments.
///
/// A new call joins the nearest recent group of its tool if it is similar to the group's latest call.
/// Otherwise it founds a group. All calls of a group have the same digest, so the engine only compares
/// digests. Takes 2.3 KiB and no heap.
#[derive(Clone, Debug)]
pub struct SimilarCalls {
    groups: [Group; GROUPS_MAX],
    /// The places of the groups: the one joined latest first, and empty places last.
    order: [u8; GROUPS_MAX],
}

#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) tool: u64,
    /// The digest of the call that founded the group, or 0 for an empty place.
    pub(crate) digest: u64,
    pub(crate) latest: Tokens,
}

impl Group {
    const NONE: Self = Self { tool: 0, digest: 0, latest: Tokens::NONE };
}

impl Default for SimilarCalls {
    fn default() -> Self {
        Self::new()
    }
}

impl SimilarCalls {
    /// Creates an empty set of groups.
    pub const fn new() -> Self {
        Self { groups: [const { Group::NONE }; GROUPS_MAX], order: [0, 1, 2, 3, 4, 5, 6, 7] }
    }

    /// Removes all groups, because a new run begins.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns the groups, the one joined latest first.
    #[cfg(feature = "serde")]
    pub(crate) fn known(&self) -> impl Iterator<Item = &Group> {
        self.places().filter(|group| group.digest != 0)
    }

    /// Returns the places of all groups, the one joined latest first.
    fn places(&self) -> impl Iterator<Item = &Group> {
        self.order.iter().filter_map(|place| self.groups.get(usize::from(*place)))
    }

    /// Returns the place with this index, which is empty in a new set. The first is for the group joined latest.
    #[cfg(feature = "serde")]
    pub(crate) fn place(&mut self, index: usize) -> Option<&mut Group> {
        self.groups.get_mut(index)
    }

    /// Adds a call of `tool` with these words, whose digest is `call`, and returns the digest of its group. Calls are
    /// similar if at least `percent` of their words are equal. O(64) for each group.
    pub(crate) fn join(
        &mut self,
        tool: Digest,
        tokens: Tokens,
        call: Digest,
        percent: u8,
    ) -> Digest {
        let tool = tool.bits();
        let nearest = self
            .places()
            .enumerate()
            .filter(|(_, group)| group.digest != 0 && group.tool == tool)
            .filter(|(_, group)| group.latest.may_be_like(&tokens, percent))
            .map(|(rank, group)| (group.latest.likeness(&tokens), rank))
            .filter(|(likeness, _)| *likeness >= u32::from(percent))
            // The latest of several equally near groups.
            .max_by_key(|&(likeness, rank)| (likeness, GROUPS_MAX - rank));
        let rank = nearest.map_or(GROUPS_MAX - 1, |(_, rank)| rank);
        if let Some(upto) = self.order.get_mut(..=rank) {
            upto.rotate_right(1);
        }
        let [first, ..] = self.order;
        let Some(group) = self.groups.get_mut(usize::from(first)) else { return call };
        if nearest.is_none() {
            (group.tool, group.digest) = (tool, call.bits());
        }
        group.latest = tokens;
        Digest::new(group.digest)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use unstuck_core::Digest;

    use super::{GROUPS_MAX, SimilarCalls};
    use crate::lexer::{is_joint, is_letter};
    use crate::tables::check;
    use crate::tokens::{Tokens, values};

    fn join(
        groups: &mut SimilarCalls,
        (tool, args): (&str, &str),
        call: Digest,
        percent: u8,
    ) -> Digest {
        groups.join(Digest::of(tool.as_bytes()), Tokens::of(args, &[]), call, percent)
    }

    /// Which of the calls before it each call is grouped with first.
    fn founders(calls: &[(&str, &str)]) -> Vec<usize> {
        let mut groups = SimilarCalls::new();
        let digest = |n: usize| Digest::new(n as u64 + 1);
        let joined = calls.iter().enumerate().map(|(n, (tool, args))| {
            let group = join(&mut groups, (tool, args), digest(n), 80);
            (0..=n).find(|&n| digest(n) == group).expect("a call before it")
        });
        joined.collect()
    }

    #[test]
    fn variants_are_one_group_and_items_are_many() {
        check("the group of each call", |calls| {
            let calls: Vec<_> = calls.lines().filter_map(|call| call.split_once(' ')).collect();
            format!("{:?}", founders(&calls))
        });
    }

    #[test]
    fn the_group_joined_longest_ago_makes_room() {
        let mut calls: Vec<_> = (0..=GROUPS_MAX).map(|n| ("t", format!("w{n}"))).collect();
        calls.insert(GROUPS_MAX, ("t", "w0".into()));
        calls.extend([("t", "w0".into()), ("t", "w1".into())]);
        let calls: Vec<_> = calls.iter().map(|(tool, args)| (*tool, args.as_str())).collect();
        // w0 was joined again before one more was founded; w1 had to go.
        assert_eq!(founders(&calls)[GROUPS_MAX..], [0, 9, 0, 11]);
    }

    /// The groups by their definition: sets of words, and no bound of a likeness.
    #[derive(Default)]
    struct Oracle(Vec<(String, Digest, BTreeSet<u32>)>);

    impl Oracle {
        fn join(&mut self, tool: &str, args: &str, call: Digest, percent: u8) -> Digest {
            let words = smallest(words(args));
            let mut nearest = None;
            for (place, (_, _, latest)) in
                self.0.iter().enumerate().filter(|(_, (theirs, ..))| theirs == tool)
            {
                let likeness = likeness(latest, &words);
                if likeness >= percent.into() && nearest.is_none_or(|(best, _)| likeness > best) {
                    nearest = Some((likeness, place));
                }
            }
            let group = match nearest {
                Some((_, place)) => self.0.remove(place).1,
                None => call,
            };
            self.0.insert(0, (tool.into(), group, words));
            self.0.truncate(GROUPS_MAX);
            group
        }
    }

    /// The share of the words that both have, of the 64 with the smallest hashes if either has as many.
    fn likeness(one: &BTreeSet<u32>, two: &BTreeSet<u32>) -> usize {
        let all: BTreeSet<_> = one.union(two).copied().collect();
        let all = if one.len().max(two.len()) < 64 { all } else { smallest(all) };
        let both = all.iter().filter(|word| one.contains(word) && two.contains(word)).count();
        (both * 100).checked_div(all.len()).unwrap_or(100)
    }

    fn smallest(words: BTreeSet<u32>) -> BTreeSet<u32> {
        words.into_iter().take(64).collect()
    }

    /// The hashes of the words in the values of a call.
    fn words(args: &str) -> BTreeSet<u32> {
        let is_json = args.starts_with(['{', '[']);
        let values = if is_json { values(args).collect() } else { Vec::from([args]) };
        let is_part = |byte: u8| is_letter(byte) || is_joint(byte);
        let mut words = BTreeSet::new();
        for value in values {
            let bytes = value.as_bytes();
            // The letter of an escape separates words, as the backslash before it does.
            let is_escape = |at: usize| at > 0 && bytes[at - 1] == b'\\' && is_letter(bytes[at]);
            let signs = (0..bytes.len()).map(|at| if is_escape(at) { b' ' } else { bytes[at] });
            let signs: Vec<u8> = signs.collect();
            for word in signs.split(|sign| !is_part(*sign)) {
                let first = word.iter().position(|sign| is_letter(*sign));
                let last = word.iter().rposition(|sign| is_letter(*sign));
                if let (Some(first), Some(last)) = (first, last) {
                    words.insert(hash(&word[first..=last]));
                }
            }
        }
        words
    }

    /// The hash of a word, as checkpoints hold it.
    fn hash(word: &[u8]) -> u32 {
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        let hash = word.iter().fold(0_u64, |hash, sign| {
            let sign = if is_letter(*sign) { sign.to_ascii_lowercase() } else { *sign };
            (hash ^ u64::from(sign) ^ 0x100).wrapping_mul(FACTOR)
        });
        ((hash ^ hash >> 32).wrapping_mul(FACTOR) >> 32) as u32
    }

    /// Words as calls have them, and signs that join, separate or escape.
    fn text() -> impl Strategy<Value = String> {
        let signs = prop::sample::select(
            &[" ", "\\n", "\\\\n", "/", "-", "--", ".", "_", "\"", ",", ":", "{", "é", "\\é"][..],
        );
        let piece = prop_oneof![6 => "[a-hA-C]{1,2}", 3 => Just(String::from(" ")), 2 => signs.prop_map(Into::into)];
        vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    /// Some arguments, and variants of them with another end.
    fn calls() -> impl Strategy<Value = Vec<(String, String)>> {
        let many = (0..200_u32, 0..200_u32).prop_map(|(first, count)| {
            (first..first + count).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ")
        });
        let text = prop_oneof![4 => text(), 1 => many];
        let args = prop_oneof![
            text.clone(),
            text.clone().prop_map(|text| format!("{{\"name\": {text:?}, \"b\" : [1, {text:?}]}}")),
            text.prop_map(|text| format!("{{\"a\": \"{text}")),
            "\\{[{\\[\"':,\\]}\\\\ ü0ab-]{0,60}",
            "\\{(\"[a-d]{20,40}(\\\\.)?[a-d]{0,40}\"[ :,]){0,4}",
        ];
        let pool = (vec(args, 1..12), vec("[a-h]{0,2}", 1..4));
        let picks =
            vec(("[ab]", any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..60);
        (pool, picks).prop_map(|((args, ends), picks)| {
            let call = |(tool, one, two): (String, prop::sample::Index, prop::sample::Index)| {
                (tool, format!("{} {}", one.get(&args), two.get(&ends)))
            };
            picks.into_iter().map(call).collect()
        })
    }

    proptest! {
        #[test]
        fn groups_are_those_of_their_definition(calls in calls(), percent in 0..=101_u8) {
            let (mut groups, mut oracle) = (SimilarCalls::new(), Oracle::default());
            for (n, (tool, args)) in calls.iter().enumerate() {
                let call = Digest::new(n as u64 + 1);
                let group = join(&mut groups, (tool, args), call, percent);
                prop_assert_eq!(group, oracle.join(tool, args, call, percent), "{} {}", n, args);
            }
        }
    }

    #[test]
    fn a_word_that_was_read_once_has_the_same_hash_in_each_version() {
        let hashes: Vec<u32> = words("make src/Main.rs -C é").into_iter().collect();
        assert_eq!(hashes, HASHES);
        let mut groups = SimilarCalls::new();
        join(&mut groups, ("sh", "make src/Main.rs -C é"), Digest::new(1), 70);
        let latest = groups.places().next().expect("a group").latest.sorted();
        assert_eq!(latest.hashes(), HASHES);
    }

    const HASHES: [u32; 4] = [1_019_240_689, 1_185_402_879, 1_282_481_167, 2_894_992_014];
}
