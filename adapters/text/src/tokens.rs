//! The words of a call's arguments: a bounded sketch of them, and how alike two are.

use unstuck_json::Hash64 as _;

use crate::recipe::HASH;

/// How many words of a call are kept: more than most calls have. Of a longer call those with the
/// smallest hashes are, which are a fair sample of all (bottom-k sketch: Broder, 1997; Cohen, 1997).
const KEPT_MAX: usize = 64;

/// The different words of a call's arguments, as hashes in rising order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    hashes: [u32; KEPT_MAX],
    count: usize,
}

impl Tokens {
    /// No words.
    pub(crate) const NONE: Self = Self { hashes: [0; KEPT_MAX], count: 0 };

    /// The words among the values of `args`, which is JSON text; what is not JSON is taken as a text.
    /// O(n), and O(log n) insertions of O(64) each where the words come in any order.
    pub(crate) fn of(args: &str) -> Self {
        let mut tokens = Self::NONE;
        let args = args.as_bytes();
        if matches!(args.first(), Some(b'{' | b'[')) {
            values(args, |value| tokens.add_words(value));
        } else {
            tokens.add_words(args);
        }
        tokens
    }

    fn hashes(&self) -> &[u32] {
        self.hashes.get(..self.count).unwrap_or_default()
    }

    fn add_words(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some(start) = rest.iter().position(|&byte| is_inner(byte)) {
            let word = rest.get(start..).unwrap_or_default();
            let length = word.iter().position(|&byte| !is_inner(byte)).unwrap_or(word.len());
            let (word, after) = word.split_at(length);
            // The letter of an escape is no part of the word behind it.
            let escaped = rest.get(..start).is_some_and(|before| before.ends_with(b"\\"));
            let word = word.get(usize::from(escaped)..).unwrap_or_default();
            self.add(trimmed(word));
            rest = after;
        }
    }

    fn add(&mut self, word: &[u8]) {
        if word.is_empty() {
            return;
        }
        let hash = hash(word);
        let Err(place) = self.hashes().binary_search(&hash) else { return };
        if place == KEPT_MAX {
            return;
        }
        self.count = (self.count + 1).min(KEPT_MAX);
        if let Some(from) = self.hashes.get_mut(place..self.count) {
            from.rotate_right(1);
            from[0] = hash;
        }
    }

    /// How alike the two are, in percent: the share of the words of both that both have (Jaccard's
    /// index), of a fair sample where they are many. 100 for equals. O(64).
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

/// Whether `byte` belongs to a word: letters and digits of any script, and what joins the parts of a
/// path or a version, which are one thing.
const fn is_inner(byte: u8) -> bool {
    is_letter(byte) || is_joint(byte)
}

const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

const fn is_joint(byte: u8) -> bool {
    matches!(byte, b'/' | b'.' | b'-')
}

/// `word` without what joins it to nothing, at either end.
fn trimmed(word: &[u8]) -> &[u8] {
    let start = word.iter().position(|&byte| is_letter(byte)).unwrap_or(word.len());
    let end = word.iter().rposition(|&byte| is_letter(byte)).map_or(start, |last| last + 1);
    word.get(start..end).unwrap_or_default()
}

/// The hash of a word, in lower case as far as that is ASCII's; of a long one, of its beginning.
fn hash(word: &[u8]) -> u32 {
    let mut lower = [0; 64];
    let length = word.len().min(lower.len());
    for (to, from) in lower.iter_mut().zip(word) {
        *to = from.to_ascii_lowercase();
    }
    let hash = HASH.hash(lower.get(..length).unwrap_or_default());
    (hash >> 32) as u32
}

/// Gives every value of a JSON text that is no container to `each`, strings as they are spelled.
/// Names of members are no values.
pub(crate) fn values(json: &[u8], mut each: impl FnMut(&[u8])) {
    let mut rest = json;
    while let Some(&byte) = rest.first() {
        if byte == b'"' {
            let (text, after) = string(rest);
            let next = after.iter().find(|byte| !byte.is_ascii_whitespace());
            if next != Some(&b':') {
                each(text);
            }
            rest = after;
        } else if is_inner(byte) {
            let length = rest.iter().position(|&byte| !is_inner(byte));
            let (value, after) = rest.split_at(length.unwrap_or(rest.len()));
            each(value);
            rest = after;
        } else {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
}

/// The string that `text` begins with, without its quotes, and what is behind it.
fn string(text: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 1;
    loop {
        match text.get(at) {
            Some(b'"') | None => break,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
    let inner = text.get(1..at.min(text.len())).unwrap_or_default();
    (inner, text.get(at + 1..).unwrap_or_default())
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
        let mut found = Vec::new();
        let json = br#"{"a": "x y", "b" : [1.5, true, {"c": "d\"e"}], "f": "", "g": "h:"}"#;
        values(json, |value| found.push(String::from_utf8_lossy(value).into_owned()));
        assert_eq!(found, ["x y", "1.5", "true", "d\\\"e", "", "h:"]);
        assert_eq!(likeness(r#"{"path":"a b"}"#, r#"{"file":"b, a"}"#), 100);
    }

    #[test]
    fn the_share_of_common_words_is_told() {
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
    fn of_many_words_a_sample_tells() {
        for (shared, expected) in [(0, 0), (500, 33), (900, 81), (1000, 100)] {
            let told = likeness(&words(0..1000), &words(1000 - shared..2000 - shared));
            assert!(told.abs_diff(expected) <= 15, "{told} for {expected}");
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
            let told = likeness(&one.join(" "), &two.join(" "));
            prop_assert_eq!(told as usize, expected);
            prop_assert_eq!(likeness(&two.join(" "), &one.join(" ")), told);
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
