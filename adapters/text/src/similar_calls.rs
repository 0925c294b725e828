//! Groups of similar calls, formed as calls arrive.

use unstuck_core::Digest;

use crate::tokens::Tokens;

/// The number of groups that are remembered. A new group replaces the one joined longest ago. A stuck
/// search moves between a few wordings, so a window rarely holds more groups.
pub const GROUPS_MAX: usize = 8;

/// The similar calls of one worker's run, by the words of their arguments.
///
/// A new call joins the nearest recent group of its tool if it is similar to the group's latest call.
/// Otherwise it founds a group. All calls of a group have the same digest, so the engine only compares
/// digests. Takes 2 KiB and no heap.
#[derive(Clone, Debug)]
pub struct SimilarCalls {
    /// The latest first.
    recent: [Group; GROUPS_MAX],
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
        Self { recent: [const { Group::NONE }; GROUPS_MAX] }
    }

    /// Removes all groups, because a new run begins.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Returns the groups, the one joined latest first.
    #[cfg(feature = "serde")]
    pub(crate) fn known(&self) -> impl Iterator<Item = &Group> {
        self.recent.iter().filter(|group| group.digest != 0)
    }

    /// Returns the places of all groups, the one joined latest first.
    #[cfg(feature = "serde")]
    pub(crate) fn places(&mut self) -> core::slice::IterMut<'_, Group> {
        self.recent.iter_mut()
    }

    /// Adds the call of `tool` with `args`, whose digest is `call`, and returns the digest of its group.
    /// Calls are similar if at least `percent` of their words are equal. O(length of `args`).
    pub(crate) fn join(&mut self, tool: &str, args: &str, call: Digest, percent: u8) -> Digest {
        let tool = Digest::of(tool.as_bytes()).bits();
        let tokens = Tokens::of(args);
        let nearest = self
            .recent
            .iter()
            .enumerate()
            .filter(|(_, group)| group.digest != 0 && group.tool == tool)
            .map(|(place, group)| (group.latest.likeness(&tokens), place))
            .filter(|(likeness, _)| *likeness >= u32::from(percent))
            // The latest of several equally near groups.
            .max_by_key(|&(likeness, place)| (likeness, GROUPS_MAX - place));
        let place = nearest.map_or(GROUPS_MAX - 1, |(_, place)| place);
        if let Some(upto) = self.recent.get_mut(..=place) {
            upto.rotate_right(1);
        }
        let [first, ..] = &mut self.recent;
        if nearest.is_none() {
            (first.tool, first.digest) = (tool, call.bits());
        }
        first.latest = tokens;
        Digest::new(first.digest)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;
    use std::vec::Vec;

    use unstuck_core::Digest;

    use super::{GROUPS_MAX, SimilarCalls};

    /// Which of the calls before it each call is grouped with first.
    fn founders(calls: &[(&str, &str)]) -> Vec<usize> {
        let mut groups = SimilarCalls::new();
        let digest = |n: usize| Digest::new(n as u64 + 1);
        let joined = calls.iter().enumerate().map(|(n, (tool, args))| {
            let group = groups.join(tool, args, digest(n), 80);
            (0..=n).find(|&n| digest(n) == group).expect("a call before it")
        });
        joined.collect()
    }

    #[test]
    fn variants_are_one_group_and_items_are_many() {
        let variants = [
            ("sh", "find lib -type f -exec gzip"),
            ("sh", "find lib -type f -exec gzip -9"),
            ("sh", "find lib -type f -exec gzip -9 -k"),
            ("sh", "find lib -type f -exec gzip -9 -k --force"),
        ];
        assert_eq!(founders(&variants), [0, 0, 0, 0]);
        let items = [("read", "src/a.rs"), ("read", "src/b.rs"), ("read", "src/c.rs")];
        assert_eq!(founders(&items), [0, 1, 2]);
        let tools = [("a", "x"), ("b", "x"), ("a", "x")];
        assert_eq!(founders(&tools), [0, 1, 0]);
    }

    #[test]
    fn the_nearest_group_is_joined() {
        let calls = [
            ("t", "a b c d e"),
            ("t", "a b c d e f g h"),
            ("t", "a b c d e f"),
            ("t", "a b c d e"),
        ];
        // Five of six is nearer than six of eight, which is too far.
        assert_eq!(founders(&calls), [0, 1, 0, 0]);
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
}
