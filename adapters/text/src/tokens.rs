//! A bounded sketch of the words in a call's arguments, and the similarity of two sketches.

use core::iter::from_fn;
use core::mem::take;

use crate::lexer::{Lexer, Token, is_joint, is_letter};

/// The number of words that are kept, which is more than most calls have. Of a longer call, the words
/// with the smallest hashes are kept, a fair sample (bottom-k sketch: Broder, 1997; Cohen, 1997).
const KEPT_MAX: usize = 64;

/// The distinct words of a call's arguments, as hashes in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    hashes: [u32; KEPT_MAX],
    count: usize,
}

impl Tokens {
    /// No words.
    pub(crate) const NONE: Self = Self { hashes: [0; KEPT_MAX], count: 0 };

    /// Returns the words in the values of `args`, a JSON text. Arguments that are not JSON are read as
    /// plain text. O(n).
    pub(crate) fn of(args: &str) -> Self {
        let mut tokens = Self::NONE;
        if args.starts_with(['{', '[']) {
            values(args).for_each(|value| tokens.add_words(value.as_bytes()));
        } else {
            tokens.add_words(args.as_bytes());
        }
        tokens
    }

    pub(crate) fn hashes(&self) -> &[u32] {
        self.hashes.get(..self.count).unwrap_or_default()
    }

    /// Appends a hash. Returns `false` if it is not greater than all others, or if there is no room.
    #[cfg(feature = "serde")]
    pub(crate) fn push(&mut self, hash: u32) -> bool {
        if self.hashes().last().is_some_and(|last| *last >= hash) {
            return false;
        }
        let Some(place) = self.hashes.get_mut(self.count) else { return false };
        *place = hash;
        self.count += 1;
        true
    }

    fn add_words(&mut self, text: &[u8]) {
        let (mut word, mut before) = (Word::NONE, 0);
        for &byte in text {
            match byte {
                // The letter of an escape is no part of the word behind it.
                _ if is_letter(byte) && (word.length > 0 || before != b'\\') => word.letter(byte),
                _ if is_joint(byte) => word.joint(byte),
                _ => self.add(take(&mut word)),
            }
            before = byte;
        }
        self.add(word);
    }

    fn add(&mut self, word: Word) {
        if word.length == 0 {
            return;
        }
        let hash = word.hash();
        let Err(place) = self.hashes().binary_search(&hash) else { return };
        if place == KEPT_MAX {
            return;
        }
        self.count = (self.count + 1).min(KEPT_MAX);
        if let Some(from @ [_, ..]) = self.hashes.get_mut(place..self.count) {
            from.rotate_right(1);
            from[0] = hash;
        }
    }

    /// Returns the similarity of two calls in percent: the share of their words that both have (Jaccard
    /// index), estimated from the sample if there are more words than are kept. O(64).
    pub(crate) fn likeness(&self, other: &Self) -> u32 {
        let (mut one, mut two) = (self.hashes(), other.hashes());
        let (mut all, mut both) = (0_u32, 0_u32);
        // Beyond the sample of either, what one lacks may only have been left out.
        let sample = if one.len().max(two.len()) < KEPT_MAX { usize::MAX } else { KEPT_MAX };
        while all as usize != sample {
            match (one.split_first(), two.split_first()) {
                (Some((a, ones)), Some((b, twos))) => {
                    both += u32::from(a == b);
                    (one, two) = (if a <= b { ones } else { one }, if b <= a { twos } else { two });
                }
                (Some((_, rest)), None) => one = rest,
                (None, Some((_, rest))) => two = rest,
                (None, None) => break,
            }
            all += 1;
        }
        (both * 100).checked_div(all).unwrap_or(100)
    }
}

/// A word that is being read: letters, and the signs between them that join the parts of a path or a
/// version.
#[derive(Clone, Copy, Default)]
struct Word {
    /// The number of letters so far.
    length: usize,
    /// The hash of the letters and of the signs between them.
    hash: u64,
    /// The hash including signs behind the last letter, which count if another letter follows.
    joined: u64,
}

impl Word {
    const NONE: Self = Self { length: 0, hash: 0, joined: 0 };

    fn letter(&mut self, byte: u8) {
        // Upper and lower case are the same, as far as that is ASCII's.
        let byte = if byte.is_ascii() { byte | 0x20 } else { byte };
        self.joined = stirred(self.joined, byte);
        self.hash = self.joined;
        self.length += 1;
    }

    fn joint(&mut self, byte: u8) {
        // A sign before the first letter joins no words.
        if self.length > 0 {
            self.joined = stirred(self.joined, byte);
        }
    }

    /// Returns the upper half of the hash, which depends on every letter.
    const fn hash(&self) -> u32 {
        ((self.hash ^ self.hash >> 32).wrapping_mul(SPREAD) >> 32) as u32
    }
}

/// An odd number without a pattern: 2⁶⁴ by the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Adds one byte to `hash`, as FNV-1a does.
const fn stirred(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64 ^ 0x100).wrapping_mul(SPREAD)
}

/// Returns every value in a JSON text that is not a container. Strings keep their escapes. Names of members
/// are skipped.
pub(crate) fn values(json: &str) -> impl Iterator<Item = &str> {
    let mut lexer = Lexer::json(json);
    from_fn(move || {
        loop {
            match lexer.next()?.1 {
                Token::Text(_) if lexer.skip_colon() => {}
                Token::Text(value) | Token::Plain(value) => return Some(value),
                _ => {}
            }
        }
    })
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

    use super::{KEPT_MAX, Tokens, values};

    fn likeness(one: &str, two: &str) -> u32 {
        Tokens::of(one).likeness(&Tokens::of(two))
    }

    #[test]
    fn only_values_count() {
        let json = r#"{"a": "x y", "b" : [1.5, true, {"c": "d\"e"}], "f": "", "g": "h:"}"#;
        assert_eq!(values(json).collect::<Vec<_>>(), ["x y", "1.5", "true", "d\\\"e", "", "h:"]);
        assert_eq!(likeness(r#"{"path":"a b"}"#, r#"{"file":"b, a"}"#), 100);
    }

    #[test]
    fn likeness_is_the_share_of_common_words() {
        for (one, two, expected) in [
            ("", "", 100),
            ("{}", "[]", 100),
            ("a b c", "", 0),
            ("find src -type f", "find src -type f -print", 80),
            ("Hello world", "hello, WORLD!", 100),
            ("a b c d", "a b c e", 60),
            (r#"{"q":"one\ntwo"}"#, r#"{"q":"one two"}"#, 100),
            (r#"{"n":1}"#, r#"{"n":2}"#, 0),
            ("grün", "grün blau", 50),
        ] {
            assert_eq!(likeness(one, two), expected, "{one} and {two}");
        }
    }

    #[test]
    fn json_cut_short_is_read_as_far_as_it_goes() {
        for text in ["{", "{\"", "{\"a", "{\"a\\", "[\"a\\\"", "{\"a\":\"b\\u00"] {
            assert_eq!(likeness(text, text), 100);
        }
    }

    fn words(range: std::ops::Range<u32>) -> String {
        range.map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn many_words_are_sampled() {
        for (shared, expected) in [(0, 0), (500, 33), (900, 81), (1000, 100)] {
            let found = likeness(&words(0..1000), &words(1000 - shared..2000 - shared));
            assert!(found.abs_diff(expected) <= 15, "{found} for {expected}");
        }
        assert_eq!(Tokens::of(&words(0..1000)).hashes().len(), KEPT_MAX);
    }

    proptest! {
        #[test]
        fn few_words_are_compared_exactly(
            one in vec("[a-e]{1,2}", 0..20),
            two in vec("[a-e]{1,2}", 0..20),
        ) {
            let sets = [&one, &two].map(|words| words.iter().collect::<BTreeSet<_>>());
            let (both, all) = (sets[0].intersection(&sets[1]).count(), sets[0].union(&sets[1]).count());
            let expected = (both * 100).checked_div(all).unwrap_or(100);
            let found = likeness(&one.join(" "), &two.join(" "));
            prop_assert_eq!(found as usize, expected);
            prop_assert_eq!(likeness(&two.join(" "), &one.join(" ")), found);
        }

        #[test]
        fn likeness_is_symmetric_and_whole_for_equals(one in any::<String>(), two in any::<String>()) {
            prop_assert_eq!(likeness(&one, &two), likeness(&two, &one));
            prop_assert_eq!(likeness(&one, &one), 100);
            let json = [format!("{{\"a\":{one:?}}}"), one];
            prop_assert!(json.iter().all(|text| likeness(text, text) == 100));
        }
    }
}
