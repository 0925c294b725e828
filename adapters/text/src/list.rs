//! A list of words, with a filter that answers most questions without a comparison.

/// A list of words. Made by [`list`].
pub(crate) struct List {
    words: &'static [&'static str],
    filter: Filter,
}

/// Creates a [`List`] at compile time.
macro_rules! list {
    [$($word:literal)+] => { $crate::list::List::new(&[$($word),+]) };
}
pub(crate) use list;

impl List {
    /// Creates the list of `words` at compile time.
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        let (mut filter, mut n) = (Filter::NONE, 0);
        while n < words.len() {
            filter = filter.with(words[n]);
            n += 1;
        }
        Self { words, filter }
    }

    /// Returns the words as a slice, for the filters that are made of them.
    pub(crate) const fn all(&self) -> &'static [&'static str] {
        self.words
    }

    /// Returns the words.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.words.iter().copied()
    }

    /// Returns whether `word` is in the list.
    pub(crate) fn contains(&self, word: &str) -> bool {
        Word::new(word).is_in(self)
    }

    /// Returns whether `word` is in the list. What is not UTF-8 is in no list.
    pub(crate) fn contains_bytes(&self, word: &[u8]) -> bool {
        core::str::from_utf8(word).is_ok_and(|word| self.contains(word))
    }

    /// Returns whether `word` is in the list. Case does not matter. What is not UTF-8 is in no list.
    pub(crate) fn contains_bytes_in_any_case(&self, word: &[u8]) -> bool {
        core::str::from_utf8(word).is_ok_and(|word| self.contains_in_any_case(word))
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
        Self { text, bit: bit(text) }
    }

    /// Returns whether the word is in `list`.
    #[inline]
    pub(crate) fn is_in(&self, list: &List) -> bool {
        self.may_be_in(&list.filter) && list.words.contains(&self.text)
    }

    /// Returns whether the word is in `list`. Case does not matter, as far as it is ASCII's.
    #[inline]
    pub(crate) fn is_in_any_case(&self, list: &List) -> bool {
        let is_it = |known: &&str| known.eq_ignore_ascii_case(self.text);
        self.may_be_in(&list.filter) && list.words.iter().any(is_it)
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

    pub(crate) const fn with(mut self, word: &str) -> Self {
        let bit = bit(word);
        self.0[bit as usize / 32] |= 1 << (bit % 32);
        self
    }
}

/// Returns the bit of `word`, by its ends and its length. It is the same in upper and lower case.
#[inline]
const fn bit(word: &str) -> u8 {
    let [length, ..] = word.len().to_le_bytes();
    let ends = match word.as_bytes() {
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
    const LIST: List = List::new(&WORDS);

    proptest! {
        #[test]
        fn a_list_has_its_words(word in "[aglox]?|[gG][eo]t|.{0,5}|Größe|GRÖSSE") {
            let any_case = WORDS.iter().any(|known| known.eq_ignore_ascii_case(&word));
            prop_assert_eq!(Word::new(&word).is_in_any_case(&LIST), any_case);
            prop_assert_eq!(LIST.contains(&word), WORDS.contains(&&*word));
        }
    }
}
