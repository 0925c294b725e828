//! Sketches of results: 64 bits that tell how alike two are.

mod pairs;

use unstuck_core::Digest;

use crate::mask::{Masker, Masks};
use pairs::Pairs;

/// How many bins a sketch has, and how many bits each.
const BINS: u32 = 32;
const BITS: u32 = 2;

/// What the words and numbers of a masked text come to, so that texts can be compared when none of
/// them is kept.
///
/// A one-permutation minhash (Li, Owen and Zhang, 2012) of pairs of neighbours (shingles: Broder,
/// 1997), for two outputs of one command have most words in common, whatever they are about. Each
/// pair falls into one of 32 bins by its hash, and of each bin the least is kept, in 2 bits (b-bit
/// minwise hashing: Li and König, 2010). An empty bin borrows from another, in an order of its own
/// (densification: Shrivastava and Li, 2014; Shrivastava, 2017), so that short texts have a likeness,
/// too. Numbers count, for they may be progress. What is masked does not: it says nothing, and stands
/// in all logs alike.
///
/// Of made-up outputs of ten commands, the same one again is more alike than another, which may be
/// of the same command, in 99.99 % of all comparisons (the area under the ROC curve;
/// `tests/likeness`); from 80 percent on are 82 % of the same and none of the others.
///
/// ```
/// use unstuck_text::Masks;
///
/// let masks = Masks::ALL;
/// let first = masks.sketch(b"12:03:59 error: cannot connect to the database at 10.0.0.7");
/// let again = masks.sketch(b"12:04:31 error: cannot connect to the database at 10.0.0.7");
/// let other = masks.sketch(b"12:04:31 warning: unused variable `total` in cart.rs");
/// assert_eq!(first.likeness(again), 100);
/// assert!(first.likeness(other) < 30);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sketch(u64);

impl Sketch {
    /// The sketch whose bits are `bits`, which [`Sketch::bits`] gave.
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// The 64 bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// How alike the two texts are, in percent: about the share of the pairs of both that both have
    /// (Jaccard's index). 100 for equals, and the same in either order. O(1).
    ///
    /// Of the bins of texts that have nothing in common, 8 agree by chance; that is taken off. What
    /// is told then has a standard deviation of about 10 where texts differ, and less the more alike
    /// they are. From 80 percent on, take two texts for the same with small changes.
    pub fn likeness(self, other: Self) -> u8 {
        const CHANCE: u32 = BINS >> BITS;
        const LOWER: u64 = u64::MAX / 3;
        let differ = self.0 ^ other.0;
        let agree = BINS - ((differ | differ >> 1) & LOWER).count_ones();
        let percent = agree.saturating_sub(CHANCE) * 100 / (BINS - CHANCE);
        u8::try_from(percent).unwrap_or(100)
    }
}

impl Masks {
    /// The sketch of `text` without what these mask. O(n), in constant memory.
    pub fn sketch(self, text: &[u8]) -> Sketch {
        self.and(&[]).sketch(text)
    }
}

impl Masker<'_> {
    /// The sketch of `text` without what is masked. O(n), in constant memory.
    pub fn sketch(self, text: &[u8]) -> Sketch {
        let mut pairs = Pairs::default();
        self.walk(text, &mut pairs);
        pairs.finish().sketch()
    }
}

/// The least hash of each bin.
struct Bins([u32; BINS as usize]);

/// Greater than all hashes but one in four billion, whose token is left out.
const EMPTY: u32 = u32::MAX;

impl Default for Bins {
    fn default() -> Self {
        Self([EMPTY; BINS as usize])
    }
}

impl Bins {
    /// The highest bits tell the bin, the lowest stand for the token.
    fn add(&mut self, hash: u64) {
        let (bin, hash) = ((hash >> 59) as usize, (hash & 0xFFFF_FFFF) as u32);
        if let Some(least) = self.0.get_mut(bin) {
            *least = hash.min(*least);
        }
    }

    /// The bits of all bins, those of the first lowest.
    fn sketch(&self) -> Sketch {
        let bits = (0..BINS).rev().map(|bin| self.bits(bin));
        Sketch(bits.fold(0, |all, bits| all << BITS | bits))
    }

    /// Those of the least hash in `bin`, or else in the first of the others that is not empty; 0 if
    /// all are. The order of the others is the bin's own, and so are the bits that a hash has
    /// there: of different hashes, all who borrow them would agree, or none.
    fn bits(&self, bin: u32) -> u64 {
        let order = Digest::new(bin.into()).mix(Digest::new(BINS.into())).bits();
        // An odd stride comes by every bin once.
        let (first, stride) = ((order >> 32) as u32, (order & 0xFFFF_FFFF) as u32 | 1);
        let others = (0..BINS).map(|n| first.wrapping_add(n.wrapping_mul(stride)) % BINS);
        let mut bins = [bin].into_iter().chain(others);
        let least = bins.find_map(|bin| self.0.get(bin as usize).filter(|least| **least != EMPTY));
        let mixed = |least: &u32| Digest::new(order).mix(Digest::new((*least).into())).bits();
        least.map_or(0, |least| mixed(least) >> (u64::BITS - BITS))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::BTreeSet;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::Sketch;
    use crate::mask::{Mask, Masks};

    fn likeness(one: &str, two: &str) -> u8 {
        Masks::ALL.sketch(one.as_bytes()).likeness(Masks::ALL.sketch(two.as_bytes()))
    }

    /// Words that no mask takes for its own, and no other text has.
    fn words(text: usize, count: usize) -> Vec<String> {
        let letters =
            |n: usize| format!("{n}").bytes().map(|digit| char::from(digit + 49)).collect();
        (0..count).map(|n| letters(text * 1000 + n)).collect()
    }

    #[test]
    fn what_says_the_same_is_wholly_alike() {
        for (one, two) in [
            ("", " \n"),
            ("at 12:03:59 it failed", "at 07:30:00 it failed"),
            ("pid 4711 gone", "pid 17 gone"),
            ("12:03:59", ""),
            ("A Word, and 3.5 more", "a word\tand\n3.5: more"),
            ("found it", "fo\x1b[31mun\x1b[0md it"),
            ("GRÜn", "grÜn"),
        ] {
            assert_eq!(likeness(one, two), 100, "{one:?} and {two:?}");
        }
    }

    #[test]
    fn a_number_and_the_place_of_a_word_count() {
        for (one, two) in [
            ("40 % done", "50 % done"),
            ("1.5", "15"),
            ("a b c d", "d c b a"),
            ("ab", "a b"),
            ("v2", "v 3"),
            ("abcdefgh", "abcdefghabcdefgh"),
            ("abcdefgh", "abcdefg"),
        ] {
            assert!(likeness(one, two) < 80, "{one:?} and {two:?}");
        }
    }

    #[test]
    fn one_word_of_a_hundred_changes_little() {
        for text in 1..200 {
            let mut words = words(text, 100);
            let before = words.join(" ");
            words[text % 100] = "other".into();
            let told = likeness(&before, &words.join(" "));
            assert!(told >= 80, "{told}, text {text}");
        }
    }

    #[test]
    fn different_texts_are_not_alike() {
        let texts = [
            "error[E0425]: cannot find value `total` in this scope\n --> src/cart.rs:12:9",
            "GET /orders/7 200 in 35 ms\nGET /users 200 in 12 ms\nPOST /orders 201 in 80 ms",
            "On branch main\nChanges not staged for commit:\n  modified:   src/cart.rs",
            "total 48\n-rw-r--r-- 1 dev dev 1024 May 28 14:38 a.txt\n-rw-r--r-- 1 dev dev 9 b.txt",
            "collected 3 items\ntests/test_a.py ..F\n1 failed, 2 passed in 0.02s",
            "Nobody reads a long text to its end, unless it is short.",
        ];
        for (n, one) in texts.iter().enumerate() {
            for two in &texts[..n] {
                assert!(likeness(one, two) <= 30, "{} of {one} and {two}", likeness(one, two));
            }
        }
    }

    /// Jaccard's index of the pairs of neighbours, in percent.
    fn index(one: &[String], two: &[String]) -> usize {
        let pairs = [one, two].map(|words| {
            let before = [None].into_iter().chain(words.iter().map(Some));
            before.zip(words).collect::<BTreeSet<_>>()
        });
        let both = pairs[0].intersection(&pairs[1]).count();
        both * 100 / pairs[0].union(&pairs[1]).count()
    }

    #[test]
    fn in_the_mean_the_share_of_common_pairs_is_told() {
        const TEXTS: usize = 400;
        for (count, shared) in
            [(6, 3), (6, 5), (40, 10), (40, 30), (300, 0), (300, 200), (300, 290)]
        {
            let (mut told, mut exact) = (0, 0);
            for text in 1..=TEXTS {
                let one = words(text, count);
                let two = [&one[..shared], &words(TEXTS + text, count - shared)[..]].concat();
                told += usize::from(likeness(&one.join(" "), &two.join(" ")));
                exact += index(&one, &two);
            }
            // What chance has in excess is taken off, and not what it lacks.
            let (told, exact) = (told / TEXTS, exact / TEXTS);
            assert!(told.abs_diff(exact) <= 5, "{told} for {exact}, {shared} of {count}");
        }
    }

    proptest! {
        #[test]
        fn likeness_is_symmetric_and_whole_for_equals(
            one in vec(any::<u8>(), 0..200),
            two in vec(any::<u8>(), 0..200),
        ) {
            let [one, two] = [one, two].map(|text| Masks::ALL.sketch(&text));
            prop_assert_eq!(one.likeness(two), two.likeness(one));
            prop_assert!(one.likeness(two) <= 100);
            prop_assert_eq!(one.likeness(one), 100);
            prop_assert_eq!(Sketch::new(one.bits()), one);
        }

        #[test]
        fn colours_never_count(words in vec("[a-z]{1,9}", 1..20), at in any::<prop::sample::Index>()) {
            let text = words.join(" ");
            let (before, after) = text.split_at(at.index(text.len()));
            let coloured = format!("{before}\x1b[1m{after}");
            let masks = Masks::NONE.with(Mask::Ansi);
            prop_assert_eq!(masks.sketch(coloured.as_bytes()), masks.sketch(text.as_bytes()));
        }
    }
}
