//! A fast test whether a text may contain one of a few words, by four letters of each word.

/// Four letters of each word, in lower case. A text without any of them contains no such word.
pub(crate) struct Grams {
    slots: [u32; SLOTS],
    /// Spreads the letters over the slots, so that no two words share a slot.
    factor: u32,
}

/// The number of slots, more than the words of any set.
const SLOTS: usize = 32;

/// The bit that makes a letter lower case, in each of four bytes.
const LOWER: u32 = 0x2020_2020;

impl Grams {
    /// Creates the set of `words` at compile time.
    pub(crate) const fn new(words: &[&[u8; 4]]) -> Self {
        // An odd number, far from any pattern of letters; 2³² divided by the golden ratio.
        let mut factor = 0x9E37_79B9_u32;
        loop {
            if let Some(slots) = spread(words, factor) {
                return Self { slots, factor };
            }
            factor = factor.wrapping_mul(5).wrapping_add(2);
        }
    }

    /// Returns `false` only if `text` contains no such word, in any case. O(n).
    #[inline]
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        let mut rest = text;
        // Eight bytes hold five rows of four.
        while let Some((eight, _)) = rest.split_first_chunk::<8>() {
            let letters = u64::from_le_bytes(*eight);
            let hits = [0, 8, 16, 24, 32].map(|shift| self.holds(low_half(letters >> shift)));
            if hits.iter().fold(false, |any, hit| any | hit) {
                return true;
            }
            rest = rest.get(5..).unwrap_or_default();
        }
        rest.windows(4)
            .any(|row| row.try_into().is_ok_and(|row| self.holds(u32::from_le_bytes(row))))
    }

    #[inline]
    const fn holds(&self, row: u32) -> bool {
        let gram = row | LOWER;
        self.slots[slot(gram, self.factor)] == gram
    }
}

/// Spreads `words` over the slots by `factor`. Returns `None` if two words share a slot.
const fn spread(words: &[&[u8; 4]], factor: u32) -> Option<[u32; SLOTS]> {
    let (mut slots, mut n) = ([0; SLOTS], 0);
    while n < words.len() {
        let gram = u32::from_le_bytes(*words[n]);
        assert!(gram & LOWER == LOWER, "a word in lower case, or a sign that has no other");
        let slot = slot(gram, factor);
        if slots[slot] != 0 {
            return None;
        }
        slots[slot] = gram;
        n += 1;
    }
    Some(slots)
}

/// Returns the lower half of `bits`.
fn low_half(bits: u64) -> u32 {
    u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(0)
}

const fn slot(gram: u32, factor: u32) -> usize {
    (gram.wrapping_mul(factor) >> (32 - SLOTS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::Grams;

    const FRUIT: Grams = Grams::new(&[b"appl", b"pear"]);

    #[test]
    fn words_are_found_wherever_they_stand_and_however_they_are_written() {
        for (text, found) in [
            ("", false),
            ("app", false),
            ("appl", true),
            ("an Apple", true),
            ("SPEARS", true),
            ("a pea r", false),
        ] {
            assert_eq!(FRUIT.may_be_in(text.as_bytes()), found, "{text}");
        }
    }
}
