//! A fast search for a few words in a text, by four letters of each word.

use crate::find::few;
use crate::list::Words;

/// Four letters of each word, in lower case. A text without any of them contains no such word.
///
/// Three letters in a row are looked up at every second byte of a text: of each word, the first three or the
/// last three of the four letters begin at such a byte. Only where they stand, the four are looked up. Each row has a slot
/// of its own among the `THREES` or the `FOURS`.
pub(crate) struct Grams<const THREES: usize = 128, const FOURS: usize = 32> {
    threes: Set<THREES>,
    fours: Set<FOURS>,
}

/// Four letters of each of a dozen words at most.
pub(crate) type FewGrams = Grams<64, 16>;

/// Rows of letters as numbers, each in a slot of its own.
struct Set<const SLOTS: usize> {
    slots: [u32; SLOTS],
    /// Spreads the rows over the slots.
    factor: u32,
}

/// The bit that makes a letter lower case, in each of four bytes.
const LOWER: u32 = 0x2020_2020;

/// The bits of three bytes.
const THREE: u32 = 0xFF_FFFF;

impl<const THREES: usize, const FOURS: usize> Grams<THREES, FOURS> {
    /// Creates the set of `words` at compile time, which fails if one of the `phrases` contains none of them.
    pub(crate) const fn of<const N: usize>(words: &[&[u8; 4]; N], phrases: &[Words]) -> Self {
        let mut list = 0;
        while list < phrases.len() {
            let mut others = phrases[list];
            while let Some((phrase, rest)) = others.split_first() {
                assert!(holds_any(phrase, words), "a phrase without any of the words");
                others = rest;
            }
            list += 1;
        }
        Self::new(words)
    }

    /// Creates the set of `words` at compile time.
    pub(crate) const fn new<const N: usize>(words: &[&[u8; 4]; N]) -> Self {
        let (mut fours, mut firsts, mut lasts) = ([0; N], [0; N], [0; N]);
        let mut n = 0;
        while n < N {
            let word = u32::from_le_bytes(*words[n]);
            assert!(word & LOWER == LOWER, "a word in lower case, or a sign that has no other");
            (fours[n], firsts[n], lasts[n]) = (word, word & THREE, word >> 8);
            n += 1;
        }
        Self { threes: Set::new(&[&firsts, &lasts]), fours: Set::new(&[&fours]) }
    }

    /// Returns `false` only if `text` contains no such word, in any case. O(n).
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        self.next(text, 0).is_some()
    }

    /// Returns the start of the four letters of the first such word in `text` from `from` on. O(n).
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            // Most blocks hold no word, and two at once are cheaper.
            if let Some(both) = rest.first_chunk::<14>()
                && let (Some(first), Some(second)) = (both.first_chunk(), both.last_chunk())
                && !self.may_begin_in(u64::from_le_bytes(*first))
                && !self.may_begin_in(u64::from_le_bytes(*second))
            {
                at += 12;
                continue;
            }
            let letters =
                rest.first_chunk().map_or_else(|| few(rest), |it| u64::from_le_bytes(*it));
            if self.may_begin_in(letters) {
                let found = [at, at + 2, at + 4].into_iter().find_map(|at| self.at(text, at, from));
                if found.is_some() {
                    return found;
                }
            }
            at += 6;
        }
        None
    }

    /// Returns whether a row of three letters stands at the start of eight `letters`, or two or four places behind it.
    #[inline]
    fn may_begin_in(&self, letters: u64) -> bool {
        let letters = letters | u64::from(LOWER) << 32 | u64::from(LOWER);
        let holds = |shift: u32| self.threes.holds(low_half(letters >> shift) & THREE);
        holds(0) || holds(16) || holds(32)
    }

    /// Returns the start of a word of which a row of three letters may stand at `at`.
    fn at(&self, text: &[u8], at: usize, from: usize) -> Option<usize> {
        let holds = |start: usize| {
            let four = text.get(start..).and_then(<[u8]>::first_chunk::<4>);
            four.is_some_and(|four| self.fours.holds(u32::from_le_bytes(*four) | LOWER))
        };
        let before = at.checked_sub(1).filter(|&before| before >= from && holds(before));
        before.or_else(|| Some(at).filter(|&at| holds(at)))
    }
}

impl<const SLOTS: usize> Set<SLOTS> {
    /// Creates a set of the rows in all lists at compile time.
    const fn new(lists: &[&[u32]]) -> Self {
        const { assert!(SLOTS.is_power_of_two() && SLOTS > 1, "not a power of two") };
        // An odd number, far from any pattern of letters: 2³² divided by the golden ratio.
        let mut factor = 0x9E37_79B9_u32;
        loop {
            let (mut slots, mut list, mut is_spread) = ([0; SLOTS], 0, true);
            while list < lists.len() {
                is_spread = is_spread && spread(&mut slots, lists[list], factor);
                list += 1;
            }
            if is_spread {
                return Self { slots, factor };
            }
            factor = factor.wrapping_mul(5).wrapping_add(2);
        }
    }

    /// Returns whether the set holds this row, which is in lower case.
    #[inline]
    const fn holds(&self, row: u32) -> bool {
        self.slots[slot::<SLOTS>(row, self.factor)] == row
    }
}

/// Puts `rows` into their slots. Returns `false` if two rows share a slot.
const fn spread<const SLOTS: usize>(slots: &mut [u32; SLOTS], rows: &[u32], factor: u32) -> bool {
    let mut n = 0;
    while n < rows.len() {
        let slot = slot::<SLOTS>(rows[n], factor);
        if slots[slot] != 0 && slots[slot] != rows[n] {
            return false;
        }
        slots[slot] = rows[n];
        n += 1;
    }
    true
}

/// Returns whether `text`, in lower case, contains one of `words`.
const fn holds_any(text: &[u8], words: &[&[u8; 4]]) -> bool {
    let mut at = 0;
    while at + 4 <= text.len() {
        let mut n = 0;
        while n < words.len() {
            let [one, two, three, four] = *words[n];
            if text[at] == one
                && text[at + 1] == two
                && text[at + 2] == three
                && text[at + 3] == four
            {
                return true;
            }
            n += 1;
        }
        at += 1;
    }
    false
}

/// Returns the lower half of `bits`.
fn low_half(bits: u64) -> u32 {
    u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(0)
}

const fn slot<const SLOTS: usize>(gram: u32, factor: u32) -> usize {
    (gram.wrapping_mul(factor) >> (32 - SLOTS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Grams;
    use crate::tables::check;

    static FRUIT: Grams = Grams::new(&[b"appl", b"pear", b"'s f"]);

    #[test]
    fn words_are_found_wherever_they_stand_and_however_they_are_written() {
        check("fruit", |text| format!("{}", FRUIT.may_be_in(text.as_bytes())));
    }

    proptest! {
        #[test]
        fn the_first_word_is_found_from_any_place(text in "[aplerPE' sf]{0,40}", from in 0_usize..40) {
            let from = from.min(text.len());
            let lower: String = text.to_ascii_lowercase();
            let starts = ["appl", "pear", "'s f"].map(|word| lower[from..].find(word));
            let first = starts.into_iter().flatten().min().map(|at| from + at);
            prop_assert_eq!(FRUIT.next(text.as_bytes(), from), first, "{:?}", text);
        }
    }
}
