//! A list of words, with a filter that answers most questions without a comparison.

use core::iter::from_fn;
use core::str;

/// Words packed into one row of bytes, each behind its length. A slice of texts would also store an address and a length for
/// each word: on a microcontroller these take more space than a short word, and in a process the loader has to set each
/// address.
#[derive(Clone, Copy)]
pub(crate) struct Words(&'static [u8]);

/// Creates [`Words`] at compile time from a slice of texts, none of which is longer than 255 bytes.
macro_rules! packed {
    ($words:expr) => {{
        const TO_PACK: &[&str] = $words;
        const PACKED: [u8; $crate::list::packed_length(TO_PACK)] = $crate::list::pack(TO_PACK);
        $crate::list::Words::new(&PACKED)
    }};
}
pub(crate) use packed;

/// Returns the length of [`Words`], in bytes.
pub(crate) const fn packed_length(words: &[&str]) -> usize {
    let (mut length, mut n) = (0, 0);
    while n < words.len() {
        length += 1 + words[n].len();
        n += 1;
    }
    length
}

/// Returns the bytes of [`Words`].
pub(crate) const fn pack<const LENGTH: usize>(words: &[&str]) -> [u8; LENGTH] {
    let (mut packed, mut end, mut n) = ([0; LENGTH], 0, 0);
    while n < words.len() {
        let (word, mut at) = (words[n].as_bytes(), 0);
        let [length, ..] = word.len().to_le_bytes();
        assert!(word.len() < 256, "a word of at most 255 bytes");
        packed[end] = length;
        while at < word.len() {
            packed[end + 1 + at] = word[at];
            at += 1;
        }
        end += 1 + word.len();
        n += 1;
    }
    packed
}

impl Words {
    /// Takes the bytes that [`pack`] returned.
    pub(crate) const fn new(packed: &'static [u8]) -> Self {
        Self(packed)
    }

    /// Returns the first word, and the others.
    #[inline]
    pub(crate) const fn split_first(self) -> Option<(&'static [u8], Self)> {
        let [length, rest @ ..] = self.0 else { return None };
        match rest.split_at_checked(*length as usize) {
            Some((word, rest)) => Some((word, Self(rest))),
            None => None,
        }
    }

    /// Returns the words.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = &'static [u8]> + Clone {
        let mut others = self;
        from_fn(move || {
            let (word, rest) = others.split_first()?;
            others = rest;
            Some(word)
        })
    }

    /// Returns the `N` words as texts.
    pub(crate) const fn texts<const N: usize>(self) -> [&'static str; N] {
        let (mut texts, mut others, mut n) = ([""; N], self, 0);
        while let Some((word, rest)) = others.split_first() {
            texts[n] = match str::from_utf8(word) {
                Ok(text) => text,
                Err(_) => panic!("a word in UTF-8"),
            };
            (others, n) = (rest, n + 1);
        }
        texts
    }
}

/// A list of words. Made by [`list`].
pub(crate) struct List {
    words: Words,
    filter: Filter,
}

/// Creates a [`List`] at compile time, of words or of a slice of them.
macro_rules! list {
    [$($word:literal)+] => { $crate::list::list!(of &[$($word),+]) };
    [of $words:expr] => { $crate::list::List::new($crate::list::packed!($words)) };
}
pub(crate) use list;

impl List {
    /// Creates the list of `words` at compile time.
    pub(crate) const fn new(words: Words) -> Self {
        let (mut filter, mut others) = (Filter::NONE, words);
        while let Some((word, rest)) = others.split_first() {
            (filter, others) = (filter.with_bytes(word), rest);
        }
        Self { words, filter }
    }

    /// Returns the words in their row, for the filters that are made of them.
    pub(crate) const fn all(&self) -> Words {
        self.words
    }

    /// Returns the words.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static [u8]> + Clone {
        self.words.iter()
    }

    /// Returns whether `word` is in the list.
    pub(crate) fn contains(&self, word: &str) -> bool {
        Word::new(word).is_in(self)
    }

    /// Returns whether `word` is in the list. What is not UTF-8 is in no list.
    pub(crate) fn contains_bytes(&self, word: &[u8]) -> bool {
        str::from_utf8(word).is_ok_and(|word| self.contains(word))
    }

    /// Returns whether `word` is in the list. Case does not matter. What is not UTF-8 is in no list.
    pub(crate) fn contains_bytes_in_any_case(&self, word: &[u8]) -> bool {
        str::from_utf8(word).is_ok_and(|word| self.contains_in_any_case(word))
    }

    /// Returns whether `word` is in the list. Case does not matter, as far as it is ASCII's.
    pub(crate) fn contains_in_any_case(&self, word: &str) -> bool {
        Word::new(word).is_in_any_case(self)
    }
}

/// A word with its place in filters, for a look into many lists.
#[derive(Clone, Copy)]
pub(crate) struct Word<'t> {
    pub(crate) text: &'t str,
    bit: u8,
}

impl<'t> Word<'t> {
    pub(crate) const fn new(text: &'t str) -> Self {
        Self { text, bit: bit(text.as_bytes()) }
    }

    /// Returns whether the word is in `list`.
    #[inline]
    pub(crate) fn is_in(&self, list: &List) -> bool {
        self.may_be_in(&list.filter) && list.words().any(|known| known == self.text.as_bytes())
    }

    /// Returns whether the word is in `list`. Case does not matter, as far as it is ASCII's.
    #[inline]
    pub(crate) fn is_in_any_case(&self, list: &List) -> bool {
        let is_it = |known: &[u8]| known.eq_ignore_ascii_case(self.text.as_bytes());
        self.may_be_in(&list.filter) && list.words().any(is_it)
    }

    /// Returns `false` only if the word was not added to `filter` in any case.
    #[inline]
    pub(crate) fn may_be_in(&self, filter: &Filter) -> bool {
        filter.0[usize::from(self.bit / 32)] >> (self.bit % 32) & 1 != 0
    }
}

/// A bit for each word of a set, of several times as many bits as there are words. Words share bits.
#[derive(Clone, Copy)]
pub(crate) struct Filter([u32; 8]);

impl Filter {
    pub(crate) const NONE: Self = Self([0; 8]);

    pub(crate) const fn with(self, word: &str) -> Self {
        self.with_bytes(word.as_bytes())
    }

    const fn with_bytes(mut self, word: &[u8]) -> Self {
        let bit = bit(word);
        self.0[bit as usize / 32] |= 1 << (bit % 32);
        self
    }
}

/// Returns the bit of `word`, by its ends and its length. It is the same in upper and lower case.
#[inline]
const fn bit(word: &[u8]) -> u8 {
    let [length, ..] = word.len().to_le_bytes();
    let ends = match word {
        [first, .., last] => {
            (*first | 0x20).wrapping_mul(37).wrapping_add((*last | 0x20).wrapping_mul(101))
        }
        [only] => *only | 0x20,
        [] => 0,
    };
    ends.wrapping_add(length.wrapping_mul(59))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{List, Word};

    const WORDS: [&str; 7] = ["a", "get", "got", "list", "größe", "", "x"];
    const LIST: List = list![of & WORDS];

    #[test]
    fn words_come_as_they_were_written() {
        assert!(LIST.words().eq(WORDS.map(str::as_bytes)));
    }

    proptest! {
        #[test]
        fn a_list_has_its_words(word in "[aglox]?|[gG][eo]t|.{0,5}|Größe|GRÖSSE") {
            let any_case = WORDS.iter().any(|known| known.eq_ignore_ascii_case(&word));
            prop_assert_eq!(Word::new(&word).is_in_any_case(&LIST), any_case);
            prop_assert_eq!(LIST.contains(&word), WORDS.contains(&&*word));
        }
    }
}
