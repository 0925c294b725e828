//! The words beside a number that a mask may know: their ends in front of it, and their beginnings behind it.
//!
//! Four letters tell nearly all other words apart, so that most numbers are passed over after a look at each side.

/// Up to four letters in lower case, with spaces for those that a shorter word lacks.
pub(super) type Letters = [u8; 4];

/// Returns the last letters of the word that ends at the end of `text`, or spaces. A capital behind a small letter
/// begins a word.
pub(super) fn last(text: &[u8]) -> Letters {
    // Most words are longer, and in lower case.
    if let Some(four) = text.last_chunk::<4>()
        && four.iter().all(u8::is_ascii_lowercase)
    {
        return *four;
    }
    let mut letters = [b' '; 4];
    let mut rest = text;
    for place in letters.iter_mut().rev() {
        let [before @ .., byte] = rest else { break };
        if !byte.is_ascii_alphabetic() {
            break;
        }
        (*place, rest) = (byte.to_ascii_lowercase(), before);
        if byte.is_ascii_uppercase() && before.last().is_some_and(u8::is_ascii_lowercase) {
            break;
        }
    }
    letters
}

/// Returns the first letters of the word that begins at the start of `text`, or spaces.
pub(super) fn first(text: &[u8]) -> Letters {
    if let Some(four) = text.first_chunk::<4>()
        && four.iter().all(u8::is_ascii_lowercase)
    {
        return *four;
    }
    let mut letters = [b' '; 4];
    for (place, byte) in letters.iter_mut().zip(text) {
        if !byte.is_ascii_alphabetic() {
            break;
        }
        *place = byte.to_ascii_lowercase();
    }
    letters
}

/// A set of such letters, as two bits each. Few other letters have both.
pub(super) struct Known([u32; 32]);

impl Known {
    /// Creates the set of the ends of `words` at compile time, or of their beginnings.
    pub(super) const fn new(words: &[&str], is_end: bool) -> Self {
        let (mut bits, mut n) = ([0; 32], 0);
        while n < words.len() {
            let word = words[n].as_bytes();
            let (mut letters, mut at) = ([b' '; 4], 0);
            while at < 4 && at < word.len() {
                if is_end {
                    letters[3 - at] = word[word.len() - 1 - at];
                } else {
                    letters[at] = word[at];
                }
                at += 1;
            }
            let [one, two] = places(letters);
            bits[one / 32] |= 1 << (one % 32);
            bits[two / 32] |= 1 << (two % 32);
            n += 1;
        }
        Self(bits)
    }

    /// Returns `false` only if no word of the set has these letters.
    #[inline]
    pub(super) fn may_hold(&self, letters: Letters) -> bool {
        let [one, two] = places(letters);
        let has = |bit: usize| self.0.get(bit / 32).is_some_and(|bits| bits >> (bit % 32) & 1 == 1);
        has(one) && has(two)
    }
}

/// Returns the places of two bits for these letters (Bloom, 1970).
#[inline]
const fn places(letters: Letters) -> [usize; 2] {
    let hash = u32::from_le_bytes(letters).wrapping_mul(0x9E37_79B1);
    [(hash >> 22) as usize, (hash >> 12 & 0x3FF) as usize]
}

/// The ends of the last words of labels, of the names of processes, and of months. The tests of `labelled` read the
/// words of labels from the files that know them.
pub(super) static AHEAD: Known = Known::new(super::kind::AHEAD, true);

/// The beginnings of units, halves of a day, months, and the names of tokens, costs and steps.
pub(super) static BEHIND: Known = Known::new(super::kind::BEHIND, false);
