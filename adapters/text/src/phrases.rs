//! Searches for words and phrases in short texts, ignoring ASCII case.

use core::iter::from_fn;

use memchr::memchr2;

use crate::find;
use crate::list::Words;

/// Returns the rest of `text` behind `phrase`, if `text` starts with it.
pub(crate) fn after<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    opens(text, phrase.as_bytes()).then(|| text.get(phrase.len()..)).flatten()
}

/// Returns whether `text` starts with `phrase`.
fn opens(text: &str, phrase: &[u8]) -> bool {
    let start = text.as_bytes().get(..phrase.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(phrase))
}

/// Returns the part of `text` before `phrase`, if `text` ends with it.
pub(crate) fn before<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    ends(text, phrase.as_bytes()).then(|| text.get(..text.len() - phrase.len())).flatten()
}

/// Returns whether `text` ends with `phrase`.
fn ends(text: &str, phrase: &[u8]) -> bool {
    let start = text.len().checked_sub(phrase.len());
    let end = start.and_then(|start| text.as_bytes().get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(phrase))
}

/// Phrases in lower case, with filters that most texts fail after a few instructions. Made by [`phrases`].
pub(crate) struct Phrases {
    texts: Words,
    /// The position of the byte of each phrase that texts contain least often.
    rarest: &'static [u8],
    /// The slots of the first two bytes, and of the last two.
    openings: [u64; 2],
    endings: [u64; 2],
}

/// Creates an array of texts.
macro_rules! texts {
    [$($text:literal)+] => { [$($text),+] };
}
pub(crate) use texts;

/// Creates [`Phrases`] at compile time, which fails for a phrase in upper case.
macro_rules! phrases {
    [$($phrase:literal)+] => {{
        const TEXTS: &[&str] = &[$($phrase),+];
        const RAREST: &[u8] = &$crate::phrases::rarest::<{ TEXTS.len() }>(TEXTS);
        $crate::phrases::Phrases::new($crate::list::packed!(TEXTS), RAREST)
    }};
}
pub(crate) use phrases;

impl Phrases {
    /// Creates the set of `texts`, with the positions of their [`rarest`] bytes. A phrase of one byte opens and
    /// ends no text.
    pub(crate) const fn new(texts: Words, rarest: &'static [u8]) -> Self {
        let (mut openings, mut endings, mut others) = ([0; 2], [0; 2], texts);
        while let Some((text, rest)) = others.split_first() {
            if let [first, second, ..] = text {
                let slot = slot(*first, *second);
                openings[slot / 64] |= 1 << (slot % 64);
            }
            if let [.., prior, last] = text {
                let slot = slot(*prior, *last);
                endings[slot / 64] |= 1 << (slot % 64);
            }
            others = rest;
        }
        Self { texts, rarest, openings, endings }
    }

    /// Returns the phrases in their row, for the filters that are made of them.
    pub(crate) const fn all(&self) -> Words {
        self.texts
    }

    /// Returns the phrases.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static [u8]> + Clone {
        self.texts.iter()
    }

    /// Returns whether `text` begins with one of the phrases. O(1) for most texts.
    pub(crate) fn open(&self, text: &str) -> bool {
        let [one, two, ..] = text.as_bytes() else { return false };
        holds(&self.openings, *one, *two)
            && self.iter().any(|phrase| opens_alike(text, phrase) && opens(text, phrase))
    }

    /// Returns whether `text` ends with one of the phrases. O(1) for most texts.
    pub(crate) fn end(&self, text: &str) -> bool {
        let [.., one, two] = text.as_bytes() else { return false };
        holds(&self.endings, *one, *two) && self.iter().any(|phrase| ends(text, phrase))
    }

    /// Returns whether `text` contains one of the phrases. O(n) for each phrase.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        self.split(text).is_some()
    }

    /// Splits `text` at the first of the phrases that it contains. O(n) for each phrase.
    pub(crate) fn split<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        self.splits(text).next()
    }

    /// Splits `text` at each of the phrases that it contains.
    pub(crate) fn splits<'t>(&self, text: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.splits_of(text, &Pairs::ALL)
    }

    /// Like [`Phrases::splits`], for a `text` of these `pairs` that is searched for many phrases.
    pub(crate) fn splits_of<'t>(
        &self,
        text: &'t str,
        pairs: &Pairs,
    ) -> impl Iterator<Item = (&'t str, &'t str)> {
        let places = self.rarest.iter().map(|&place| usize::from(place));
        let phrases = self.iter().zip(places).filter(move |(phrase, _)| pairs.may_spell(phrase));
        phrases.filter_map(|(phrase, place)| around(text, phrase, place))
    }
}

/// The pairs of neighbouring bytes in a text, as bits. Upper and lower case share a bit, and so do some other pairs.
#[derive(Clone, Copy)]
pub(crate) struct Pairs([u64; 2]);

impl Pairs {
    const ALL: Self = Self([u64::MAX; 2]);

    /// Returns the pairs of `text`. O(n).
    pub(crate) fn of(text: &str) -> Self {
        let (mut pairs, mut before) = ([0; 2], 0);
        for &byte in text.as_bytes() {
            let slot = slot(before, byte);
            pairs[slot / 64] |= 1 << (slot % 64);
            before = byte;
        }
        Self(pairs)
    }

    /// Returns `false` only if `phrase` has a pair that the text lacks. Nearly every phrase that the text does not contain
    /// has one.
    fn may_spell(&self, phrase: &[u8]) -> bool {
        let mut pairs = phrase.windows(2);
        pairs.all(|pair| matches!(pair, [one, two] if holds(&self.0, *one, *two)))
    }
}

/// Returns the position of the byte of each phrase that texts contain least often.
pub(crate) const fn rarest<const N: usize>(phrases: &[&str]) -> [u8; N] {
    let (mut rarest, mut n) = ([0; N], 0);
    while n < N {
        let phrase = phrases[n].as_bytes();
        assert!(!phrase.is_empty() && phrase.len() < 256, "a phrase of 1 to 255 bytes");
        let (mut at, mut place) = (0, 0_u8);
        while at < phrase.len() {
            assert!(!phrase[at].is_ascii_uppercase(), "a phrase in lower case");
            if frequency(phrase[at]) < frequency(phrase[rarest[n] as usize]) {
                rarest[n] = place;
            }
            (at, place) = (at + 1, place.wrapping_add(1));
        }
        n += 1;
    }
    rarest
}

/// Returns whether the slot of two bytes is taken.
const fn holds(slots: &[u64; 2], one: u8, two: u8) -> bool {
    let slot = slot(one, two);
    slots[slot / 64] >> (slot % 64) & 1 == 1
}

/// Returns a number below 128 for two bytes, the same in either case. Few answers begin with two letters that are in the
/// slot of others.
const fn slot(one: u8, two: u8) -> usize {
    (one | 0x20).wrapping_mul(17).wrapping_add((two | 0x20).wrapping_mul(3)) as usize % 128
}

/// Splits `text` at the first `phrase`, in which the byte at `place` is rare. O(n) for a `phrase` of a
/// few words.
fn around<'t>(text: &'t str, phrase: &[u8], place: usize) -> Option<(&'t str, &'t str)> {
    let bytes = text.as_bytes();
    let letter = phrase.get(place)?;
    let (lower, upper) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
    let mut from = place;
    loop {
        let found = from.checked_add(memchr2(lower, upper, bytes.get(from..)?)?)?;
        let at = found.checked_sub(place)?;
        let end = at.checked_add(phrase.len())?;
        if bytes.get(at..end)?.eq_ignore_ascii_case(phrase) {
            return Some((text.get(..at)?, text.get(end..)?));
        }
        from = found.checked_add(1)?;
    }
}

/// Returns how frequent `byte` is in texts, by the order of the letters in English.
const fn frequency(byte: u8) -> u8 {
    /// From `a` to `z`.
    const LETTERS: [u8; 26] = [
        24, 7, 15, 17, 26, 12, 11, 18, 22, 3, 5, 16, 14, 21, 23, 10, 2, 19, 20, 25, 13, 6, 9, 4, 8,
        1,
    ];
    match byte {
        b' ' => 27,
        b'a'..=b'z' => LETTERS[(byte - b'a') as usize],
        // Signs and digits are less frequent than most letters.
        _ => 6,
    }
}

/// Returns whether both texts start with the same letter, or both are empty. Most phrases fail here.
#[inline]
fn opens_alike(text: &str, phrase: &[u8]) -> bool {
    match (text.as_bytes().first(), phrase.first()) {
        (Some(one), Some(two)) => one.eq_ignore_ascii_case(two),
        (one, two) => one.is_none() && two.is_none(),
    }
}

/// Returns whether `text` begins with one of a few `phrases`.
pub(crate) fn starts_with_any(text: &str, phrases: &[&str]) -> bool {
    phrases
        .iter()
        .any(|phrase| opens_alike(text, phrase.as_bytes()) && opens(text, phrase.as_bytes()))
}

/// Returns whether `text` ends with one of a few `phrases`.
pub(crate) fn ends_with_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| before(text, phrase).is_some())
}

/// Returns whether `word` is one of a few `words`.
pub(crate) fn is_any(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Returns the part of `text` before the first space.
pub(crate) fn first_word(text: &str) -> &str {
    find::split_once(text, " ").map_or(text, |(word, _)| word)
}

/// Returns the words of `text`: runs of letters, digits, and the apostrophe.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    let mut rest = text;
    from_fn(move || {
        let (_, text) = rest.split_at_checked(length_of(rest, false))?;
        let (word, behind) = text.split_at_checked(length_of(text, true))?;
        rest = behind;
        Some(word).filter(|word| !word.is_empty())
    })
}

/// Returns the length of the letters at the start of `text`, as they stand in words, or of what is none.
fn length_of(text: &str, is_word: bool) -> usize {
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        let c = match byte {
            // Most texts are ASCII, of which no character has to be put together.
            0..0x80 => char::from(byte),
            _ => text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or_default(),
        };
        if (is_alphanumeric(c) || c == '\'') != is_word {
            break;
        }
        at += c.len_utf8();
    }
    at
}

/// Returns whether `c` is a letter, as far as [`is_alphanumeric`] tells.
pub(crate) fn is_alphabetic(c: char) -> bool {
    is_alphanumeric(c) && !c.is_ascii_digit()
}

/// Returns whether `c` is a letter or a digit. Beyond ASCII, every character counts that is not in a
/// block of punctuation, arrows, boxes or pictures: a search in Unicode's own tables brings panics into
/// the program.
pub(crate) fn is_alphanumeric(c: char) -> bool {
    match c {
        '\0'..'\u{80}' => c.is_ascii_alphanumeric(),
        '\u{80}'..'\u{c0}' | '\u{d7}' | '\u{f7}' => matches!(c, 'ª' | 'µ' | 'º'),
        '\u{2000}'..'\u{2c00}'
        | '\u{3000}'..'\u{3005}'
        | '\u{3008}'..'\u{3021}'
        | '\u{e000}'..'\u{f900}'
        | '\u{fe00}'..'\u{fe70}'
        | '\u{ff00}'..'\u{ff10}'
        | '\u{ff1a}'..'\u{ff21}'
        | '\u{1f000}'..'\u{1fb00}' => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Phrases, after, before, is_alphanumeric, is_any, words};

    /// The exceptions are few: letters in blocks of signs and in rare scripts, and, the other way round,
    /// combining marks and signs inside the blocks of a script.
    #[test]
    fn letters_and_digits_are_nearly_those_of_unicode() {
        for c in (0..0x80).map(char::from) {
            assert_eq!(is_alphanumeric(c), c.is_ascii_alphanumeric(), "{c:?}");
        }
        let (mut all, mut missed) = (0, 0);
        for c in '\u{80}'..char::MAX {
            all += u32::from(c.is_alphanumeric());
            missed += u32::from(c.is_alphanumeric() && !is_alphanumeric(c));
        }
        assert!(all > 130_000 && missed < 1_500, "{missed} of {all}");
        for c in "ßéñøœΩЖяקعअกあア字한１".chars() {
            assert!(is_alphanumeric(c), "{c:?}");
        }
        for c in "«»·×÷–—‘’“”…•→⇒✓✗█│└─★、。「」！：（🚀❌✅".chars()
        {
            assert!(!is_alphanumeric(c), "{c:?}");
        }
    }

    static ALL: Phrases = phrases!["a" "ab" "b " "ü" "aab" "ba ü"];

    /// The same phrases.
    const EACH: [&str; 6] = ["a", "ab", "b ", "ü", "aab", "ba ü"];

    proptest! {
        #[test]
        fn phrases_are_found_as_in_the_text_in_lower_case(text in "[aAbBü ]{0,12}") {
            let lower: String = text.to_ascii_lowercase();
            let lengths = |(a, b): (&str, &str)| (a.len(), b.len());
            for phrase in EACH {
                prop_assert_eq!(after(&text, phrase).is_some(), lower.starts_with(phrase));
                prop_assert_eq!(before(&text, phrase).is_some(), lower.ends_with(phrase));
            }
            let long = || EACH.iter().filter(|phrase| phrase.len() > 1);
            prop_assert_eq!(ALL.open(&text) || text.starts_with(['a', 'A']),
                long().any(|phrase| lower.starts_with(*phrase)) || text.starts_with(['a', 'A']));
            prop_assert_eq!(ALL.end(&text) || lower.ends_with('a'),
                long().any(|phrase| lower.ends_with(*phrase)) || lower.ends_with('a'));
            prop_assert_eq!(ALL.are_in(&text), EACH.iter().any(|phrase| lower.contains(phrase)));
            let splits: Vec<_> = ALL.splits(&text).map(lengths).collect();
            let expected = EACH.iter().filter_map(|phrase| lower.split_once(*phrase));
            prop_assert_eq!(splits, expected.map(lengths).collect::<Vec<_>>());
        }
    }

    #[test]
    fn words_are_runs_of_letters() {
        assert_eq!(
            words("It's in_progress: 3/4.").collect::<Vec<_>>(),
            ["It's", "in", "progress", "3", "4"]
        );
        assert!(is_any("OK", &["ok"]) && !is_any("okay", &["ok"]));
    }
}
