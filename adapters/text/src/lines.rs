//! The lines that a worker has been shown: whether an answer holds hardly a line that is new.

use crate::find;
use crate::mask::{Masker, Masks};

/// The words of one generation of the filter, of 64 bits each.
const WORDS: usize = 256;

/// The bits of one generation: a power of two.
const BITS: u64 = 64 * WORDS as u64;

/// How many bits each line sets.
const PROBES: u32 = 3;

/// How many bits of a generation are set before the next begins: two of five, so that one line in
/// sixteen is taken for one that was shown.
const SET_MAX: u32 = 64 * WORDS as u32 * 2 / 5;

/// The shortest line that counts, in bytes. Shorter ones (a brace, a number) are everywhere.
const LINE_MIN: usize = 12;

/// From so many lines on only one in four is looked at: a file of ten thousand lines fits.
const SAMPLED_MIN: usize = 64;

/// The fewest sampled lines that tell how new a long answer is.
const SAMPLE_MIN: usize = 8;

/// How many lines of an answer are looked at.
const LINES_MAX: usize = 4096;

/// The lines of the latest answers, as a filter (Bloom, 1970) in two generations: about five
/// thousand short answers' lines, or twenty thousand of long ones. 4 KiB, and no heap.
///
/// ```
/// use unstuck_text::Lines;
///
/// let mut lines = Lines::new();
/// let page = "fn main() {\n    println!(\"one\");\n    println!(\"two\");\n}\n";
/// assert!(!lines.show(page), "nothing was shown before");
/// assert!(lines.show("    println!(\"two\");\n    println!(\"one\");\n"), "no line is new");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    newer: [u64; WORDS],
    older: [u64; WORDS],
    /// How many bits of the newer generation are set.
    set: u32,
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
}

impl Lines {
    /// No line was shown.
    pub const fn new() -> Self {
        Self { newer: [0; WORDS], older: [0; WORDS], set: 0 }
    }

    /// Forgets all lines.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Remembers the lines of `answer`; says whether they were known, all but one in ten. An answer
    /// without a line that counts is never known. O(length of `answer`).
    pub fn show(&mut self, answer: &str) -> bool {
        self.show_masked(answer, Masks::NONE.and(&[]))
    }

    /// As [`Lines::show`], without what `masker` takes for volatile.
    pub(crate) fn show_masked(&mut self, answer: &str, masker: Masker<'_>) -> bool {
        let is_long = counted(answer).nth(SAMPLED_MIN - 1).is_some();
        let (mut all, mut sampled) = (Tally::default(), Tally::default());
        for line in counted(answer) {
            let hash = masker.digest(line.as_bytes()).result.bits();
            let is_sampled = hash & 3 == 0;
            if is_long && !is_sampled {
                continue;
            }
            let is_known = self.add(hash);
            all.add(is_known);
            if is_sampled {
                sampled.add(is_known);
            }
        }
        if sampled.lines >= SAMPLE_MIN { sampled.is_known() } else { all.is_known() }
    }

    /// The words of both generations, the newer first, without the zeros at the end.
    #[cfg(feature = "serde")]
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let words = self.newer.iter().chain(&self.older);
        let places = (1..).zip(words.clone()).filter(|(_, word)| **word != 0);
        let used = places.last().map_or(0, |(place, _)| place);
        words.copied().take(used)
    }

    /// Puts `word` to the place that it had among [`Lines::words`]; false if there is no such place.
    #[cfg(feature = "serde")]
    pub(crate) fn restore_word(&mut self, place: usize, word: u64) -> bool {
        let slot = match place.checked_sub(WORDS) {
            None => self.newer.get_mut(place),
            Some(place) => self.older.get_mut(place),
        };
        let Some(slot) = slot else { return false };
        *slot = word;
        self.set += if place < WORDS { word.count_ones() } else { 0 };
        true
    }

    /// Remembers a line; says whether it was known.
    fn add(&mut self, hash: u64) -> bool {
        let (mut known, mut is_older) = (true, true);
        for probe in 0..PROBES {
            // Two halves of one hash make as many as are needed (Kirsch and Mitzenmacher, 2006).
            let at = (hash >> 32).wrapping_mul(u64::from(probe)).wrapping_add(hash >> 2) % BITS;
            let (word, bit) = ((at / 64) as usize % WORDS, 1 << (at % 64));
            let newer =
                self.newer.get_mut(word).map_or(0, |word| core::mem::replace(word, *word | bit));
            known &= newer & bit != 0;
            self.set += u32::from(newer & bit == 0);
            is_older &= self.older.get(word).is_some_and(|word| word & bit != 0);
        }
        if self.set > SET_MAX {
            self.older = core::mem::replace(&mut self.newer, [0; WORDS]);
            self.set = 0;
        }
        known || is_older
    }
}

/// How many lines there are, and how many of them are known.
#[derive(Default)]
struct Tally {
    lines: usize,
    known: usize,
}

impl Tally {
    fn add(&mut self, is_known: bool) {
        self.lines += 1;
        self.known += usize::from(is_known);
    }

    fn is_known(&self) -> bool {
        self.lines > 0 && (self.lines - self.known) * 10 <= self.lines
    }
}

/// The lines of `answer` that count, without the number that a pager puts before each.
fn counted(answer: &str) -> impl Iterator<Item = &str> {
    let lines = find::lines(answer).map(|line| unnumbered(line.trim()));
    let long = lines.filter(|line| line.len() >= LINE_MIN);
    long.take(LINES_MAX)
}

/// `line` without the number and the sign before it, as `cat -n`, `nl` and `grep -n` put them there.
fn unnumbered(line: &str) -> &str {
    let text = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if text.len() == line.len() {
        return line;
    }
    let signs = ['\t', '→', ':', '|', '-', ')'];
    text.trim_start_matches(' ').strip_prefix(signs).unwrap_or(line).trim_start()
}
