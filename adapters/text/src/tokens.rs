//! A bounded sketch of the words in a call's arguments, and the similarity of two sketches.

use core::iter::from_fn;

use memchr::memchr2;

use crate::lexer::{Lexer, Token, is_joint, is_letter};

/// The number of words that are kept, which is more than most calls have. Of a longer call, the words
/// with the smallest hashes are kept, a fair sample (bottom-k sketch: Broder, 1997; Cohen, 1997).
const KEPT_MAX: usize = 64;

/// The distinct words of a call's arguments, as hashes.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    /// They are in ascending order if there is no room for more.
    hashes: [u32; KEPT_MAX],
    count: usize,
    /// A bit for each word, by the end of its hash. A bit that only one of two calls has proves a word
    /// that only this call has.
    marks: u64,
}

impl Tokens {
    /// No words.
    pub(crate) const NONE: Self = Self { hashes: [0; KEPT_MAX], count: 0, marks: 0 };

    /// Returns the words in the values of `args`, except those of the members in `notes`. Text that is no JSON is read as
    /// it is. O(n).
    pub(crate) fn of(args: &str, notes: &[&str]) -> Self {
        let mut tokens = Self::NONE;
        if args.starts_with(['{', '[']) {
            tokens.add_values(args.as_bytes(), notes);
        } else {
            tokens.add_words(args.as_bytes());
        }
        if tokens.count == KEPT_MAX {
            // Words that had to make room have left their marks.
            tokens.marks = tokens.hashes().iter().fold(0, |marks, hash| marks | mark(*hash));
        }
        tokens
    }

    /// Returns the pairs of letters in the pattern of a search, with those at its ends. Upper and lower case are the
    /// same. A pattern is one word, and a near one differs in a few letters.
    pub(crate) fn of_pattern(pattern: &str) -> Self {
        let mut tokens = Self::NONE;
        let mut before = 0;
        for byte in pattern.bytes().chain([0]) {
            let letter = u64::from(byte.to_ascii_lowercase());
            tokens.add(spread(stirred(stirred(0, before), letter)));
            before = letter;
        }
        tokens
    }

    pub(crate) fn hashes(&self) -> &[u32] {
        self.hashes.get(..self.count).unwrap_or_default()
    }

    /// Returns the same words with their hashes in ascending order. O(64²).
    pub(crate) fn sorted(&self) -> Self {
        let mut sorted = Self { count: 0, ..self.clone() };
        self.hashes().iter().for_each(|hash| sorted.insert(*hash));
        sorted
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
        self.marks |= mark(hash);
        true
    }

    /// Adds the words of the [values] of a JSON text. Most strings are too short for a search.
    fn add_values(&mut self, json: &[u8], notes: &[&str]) {
        let mut rest = json;
        while let [first, behind @ ..] = rest {
            if *first == b'"' {
                let length = string_length(behind);
                rest = behind.get(length + 1..).unwrap_or_default();
                let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                if rest.get(blanks) == Some(&b':') {
                    rest = rest.get(blanks + 1..).unwrap_or_default();
                    let name = behind.get(..length).unwrap_or_default();
                    if notes.iter().any(|note| note.as_bytes() == name) {
                        rest = behind_value(rest);
                    }
                } else {
                    self.add_words(behind.get(..length).unwrap_or_default());
                }
            } else if is_of_word(*first) {
                let length = rest.iter().take_while(|byte| is_of_word(**byte)).count();
                self.add_words(rest.get(..length).unwrap_or_default());
                rest = rest.get(length..).unwrap_or_default();
            } else {
                rest = behind;
            }
        }
    }

    /// Adds the words of `text`: letters, and the signs between them that join the parts of a path or a
    /// version. Upper and lower case are the same, as far as that is ASCII's.
    fn add_words(&mut self, text: &[u8]) {
        let mut bytes = text.iter();
        while let Some(&first) = bytes.next() {
            let mut behind = first;
            if sign(first) >= LETTERS {
                let mut hash = stirred(0, sign(first));
                behind = loop {
                    let Some(&byte) = bytes.next() else { break 0 };
                    let (mut byte, mut sign) = (byte, self::sign(byte));
                    if sign >= LETTERS {
                        hash = stirred(hash, sign);
                        continue;
                    }
                    // The signs that join letters count if another letter follows.
                    let mut joined = hash;
                    while sign != 0 && sign < LETTERS {
                        joined = stirred(joined, sign);
                        byte = bytes.next().copied().unwrap_or(0);
                        sign = self::sign(byte);
                    }
                    if sign == 0 {
                        break byte;
                    }
                    hash = stirred(joined, sign);
                };
                self.add(spread(hash));
            }
            // The letter of an escape is no part of the word behind it.
            if behind == b'\\' && bytes.as_slice().first().is_some_and(|next| is_letter(*next)) {
                bytes.next();
            }
        }
    }

    fn add(&mut self, hash: u32) {
        if self.has(hash) {
            return;
        }
        if let Some(place) = self.hashes.get_mut(self.count) {
            *place = hash;
            self.count += 1;
            self.marks |= mark(hash);
            if self.count == KEPT_MAX {
                *self = self.sorted();
            }
        } else if self.hashes().last().is_some_and(|last| hash < *last) {
            self.marks |= mark(hash);
            self.insert(hash);
        }
    }

    /// Inserts a hash into those in ascending order. The largest makes room.
    fn insert(&mut self, hash: u32) {
        self.count = (self.count + 1).min(KEPT_MAX);
        let mut left = self.hashes.get_mut(..self.count).unwrap_or_default();
        while let [rest @ .., place] = left {
            match rest.last() {
                Some(before) if *before > hash => *place = *before,
                _ => {
                    *place = hash;
                    return;
                }
            }
            left = rest;
        }
    }

    #[inline]
    fn has(&self, hash: u32) -> bool {
        self.marks & mark(hash) != 0 && self.hashes().contains(&hash)
    }

    /// Returns `false` only if the [likeness](Self::likeness) is below `percent`. O(1).
    pub(crate) fn may_be_like(&self, other: &Self, percent: u8) -> bool {
        let (fewer, more) = (self.count.min(other.count), self.count.max(other.count));
        let apart = (self.marks ^ other.marks).count_ones() as usize;
        let both = fewer.min((fewer + more - apart) / 2);
        let all = if more == KEPT_MAX { KEPT_MAX } else { fewer + more - both };
        both * 100 >= all * usize::from(percent)
    }

    /// Returns the similarity of two calls in percent: the share of their words that both have (Jaccard
    /// index), estimated from the sample if there are more words than are kept. O(64) for most calls.
    pub(crate) fn likeness(&self, other: &Self) -> u32 {
        if self.count.max(other.count) == KEPT_MAX {
            return self.sorted().likeness_of_samples(&other.sorted());
        }
        let both = self.hashes().iter().filter(|hash| other.has(**hash)).count();
        percentage(both, self.count + other.count - both)
    }

    /// Returns the share of the words with the smallest hashes that both calls have. Beyond the sample of
    /// either, what one lacks may only have been left out.
    fn likeness_of_samples(&self, other: &Self) -> u32 {
        let (mut one, mut two) = (self.hashes(), other.hashes());
        let mut both = 0;
        for _ in 0..KEPT_MAX {
            match (one.split_first(), two.split_first()) {
                (Some((a, ones)), Some((b, twos))) => {
                    both += usize::from(a == b);
                    (one, two) = (if a <= b { ones } else { one }, if b <= a { twos } else { two });
                }
                // Both have none of the rest.
                _ => break,
            }
        }
        percentage(both, KEPT_MAX)
    }
}

/// Returns the share of `part` in `all` in percent. All of nothing is 100.
fn percentage(part: usize, all: usize) -> u32 {
    u32::try_from((part * 100).checked_div(all).unwrap_or(100)).unwrap_or(100)
}

/// The longest start of a string that is read byte by byte.
const SHORT: usize = 24;

/// Returns the rest of `json` behind the string, the number or the word that it begins with.
fn behind_value(json: &[u8]) -> &[u8] {
    let json = json.trim_ascii_start();
    let length = match json.split_first() {
        Some((b'"', behind)) => string_length(behind) + 2,
        _ => json.iter().take_while(|byte| is_of_word(**byte)).count(),
    };
    json.get(length..).unwrap_or_default()
}

/// Returns the length of the JSON string that `text` begins with, without its quotes. Without a closing
/// quote it reaches to the end.
fn string_length(text: &[u8]) -> usize {
    let (mut at, mut is_short) = (0, 0..SHORT);
    while let Some(byte) = text.get(at) {
        at += match byte {
            b'"' => return at,
            b'\\' => 2,
            _ if is_short.next().is_some() => 1,
            // The byte here is neither, so that the search gets ahead.
            _ => {
                memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()).unwrap_or(text.len() - at)
            }
        };
    }
    text.len()
}

/// The mark of the word with this hash.
const fn mark(hash: u32) -> u64 {
    1 << (hash % u64::BITS)
}

/// The first sign of a word's letters. The signs that join letters are smaller.
const LETTERS: u64 = (ON | b'0' as u16) as u64;

/// A bit of all signs that are part of a word.
const ON: u16 = 0x100;

/// For each byte, its part in a word: a letter in lower case, a sign that joins letters, or 0.
static SIGNS: [u16; 256] = {
    let (mut signs, mut byte) = ([0; 256], 0_u8);
    loop {
        signs[byte as usize] = match byte {
            _ if is_letter(byte) && byte.is_ascii() => ON | byte as u16 | 0x20,
            _ if is_letter(byte) || is_joint(byte) => ON | byte as u16,
            _ => 0,
        };
        if byte == u8::MAX {
            break signs;
        }
        byte += 1;
    }
};

#[inline]
fn sign(byte: u8) -> u64 {
    SIGNS[usize::from(byte)].into()
}

/// Returns whether `byte` belongs to a word or a number.
#[inline]
pub(crate) fn is_of_word(byte: u8) -> bool {
    sign(byte) != 0
}

/// An odd number without a pattern: 2⁶⁴ by the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Adds one sign to `hash`, as FNV-1a adds a byte.
#[inline]
const fn stirred(hash: u64, sign: u64) -> u64 {
    (hash ^ sign).wrapping_mul(SPREAD)
}

/// Returns the upper half of the hash of a word, which depends on every letter.
#[inline]
const fn spread(hash: u64) -> u32 {
    ((hash ^ hash >> 32).wrapping_mul(SPREAD) >> 32) as u32
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
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{KEPT_MAX, Tokens, values};
    use crate::tables::check_pairs;

    fn likeness(one: &str, two: &str) -> u32 {
        Tokens::of(one, &[]).likeness(&Tokens::of(two, &[]))
    }

    #[test]
    fn only_values_count() {
        let json = r#"{"a": "x y", "b" : [1.5, true, {"c": "d\"e"}], "f": "", "g": "h:"}"#;
        assert_eq!(values(json).collect::<Vec<_>>(), ["x y", "1.5", "true", "d\\\"e", "", "h:"]);
        assert_eq!(likeness(r#"{"path":"a b"}"#, r#"{"file":"b, a"}"#), 100);
    }

    #[test]
    fn likeness_is_the_share_of_common_words() {
        check_pairs("common words", likeness);
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
        assert_eq!(Tokens::of(&words(0..1000), &[]).hashes().len(), KEPT_MAX);
        assert!(!Tokens::of(&words(0..90), &[]).may_be_like(&Tokens::of(&words(90..180), &[]), 80));
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
        fn no_likeness_exceeds_its_bound(
            shared in 0..80_u32, one in 0..80_u32, two in 0..80_u32, percent in any::<u8>(),
        ) {
            let (one, two) = (words(0..shared + one), words(0..shared) + " " + &words(200..200 + two));
            let (one, two) = (Tokens::of(&one, &[]), Tokens::of(&two, &[]));
            let is_like = one.likeness(&two) >= u32::from(percent);
            prop_assert!(!is_like || one.may_be_like(&two, percent));
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
