//! A quick look for any of a few words: by four of their letters, in upper or lower case.

/// Four letters each, in lower case; a text that has none of them has none of the words.
pub(crate) struct Grams {
    slots: [u32; SLOTS],
}

/// More slots than any set has words.
const SLOTS: usize = 16;

/// Spreads the letters over the slots. Found by trial, so that no two of a set's words share one.
const FACTOR: u32 = 0xA8F9_9DD1;

/// The bit that makes a letter lower case, in each of four bytes.
const LOWER: u32 = 0x2020_2020;

impl Grams {
    /// The set of `words`. Made by the compiler, which refuses one whose words share a slot.
    pub(crate) const fn new(words: &[&[u8; 4]]) -> Self {
        let (mut slots, mut n) = ([0; SLOTS], 0);
        while n < words.len() {
            let gram = u32::from_le_bytes(*words[n]);
            assert!(gram & LOWER == LOWER, "a word in lower case");
            let slot = slot(gram);
            assert!(slots[slot] == 0, "two words share a slot: look for another factor");
            slots[slot] = gram;
            n += 1;
        }
        Self { slots }
    }

    /// Whether one of the words may be in `text`; surely not if this says no. O(n).
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        text.windows(4).any(|window| {
            let gram = window.try_into().map_or(0, u32::from_le_bytes) | LOWER;
            self.slots[slot(gram)] == gram
        })
    }
}

const fn slot(gram: u32) -> usize {
    (gram.wrapping_mul(FACTOR) >> (32 - SLOTS.trailing_zeros())) as usize
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
