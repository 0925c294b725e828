//! A filter of the lines that a worker has seen, to find answers with hardly a new line.

mod objects;

use memchr::memchr_iter;
use unstuck_core::Digest;

use crate::mask::{Masked, Masker, Masks};
use crate::said::{self, Clocks};
use objects::is_json;

/// The default number of 64-bit words in one generation of [`Lines`].
pub const LINE_WORDS: usize = 256;

/// The number of bits that each line sets.
const PROBES: u32 = 3;

/// The shortest line that counts, in bytes. Shorter lines, such as a brace, occur in every file.
const LINE_MIN: usize = 12;

/// Answers with at least this many lines or objects are sampled, one part in four, so that a file of
/// ten thousand lines fits.
const SAMPLED_MIN: usize = 64;

/// The smallest sample that decides whether a long answer is known.
const SAMPLE_MIN: usize = 8;

/// The number of lines of an answer that are read.
const LINES_MAX: usize = 4096;

/// The lines of the latest answers, in a Bloom filter (Bloom, 1970) of two generations.
///
/// Each generation has `WORDS` 64-bit words, a power of two. With the default of [`LINE_WORDS`] the filter
/// takes 4 KiB and no heap, and holds about five thousand lines of short answers, or twenty thousand of
/// long ones. A filter of 0 words knows no line, and is for hosts that cannot spare the memory.
///
/// In an answer in JSON, objects take the place of lines. The order of their members does not matter.
///
/// ```
/// use unstuck_text::Lines;
///
/// let mut lines: Lines = Lines::new();
/// let page = "fn main() {\n    println!(\"one\");\n    println!(\"two\");\n}\n";
/// assert!(!lines.show(page), "nothing was shown before");
/// assert!(lines.show("    println!(\"two\");\n    println!(\"one\");\n"), "no line is new");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines<const WORDS: usize = LINE_WORDS> {
    newer: [u64; WORDS],
    older: [u64; WORDS],
    /// The number of bits that are set in the newer generation.
    set: u64,
}

impl<const WORDS: usize> Default for Lines<WORDS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const WORDS: usize> Lines<WORDS> {
    /// The number of bits in one generation.
    const BITS: u64 = 64 * WORDS as u64;

    /// The number of set bits at which the next generation begins. With two of five bits set, one new
    /// line in sixteen is taken for a known one.
    const SET_MAX: u64 = Self::BITS * 2 / 5;

    /// Creates an empty filter.
    pub const fn new() -> Self {
        const { assert!(WORDS == 0 || WORDS.is_power_of_two(), "not a power of two") };
        Self { newer: [0; WORDS], older: [0; WORDS], set: 0 }
    }

    /// Removes all lines.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Adds the lines of `answer`, or its objects if it is JSON. Returns whether at least nine of ten were
    /// known before. Returns `false` for an answer without a line that counts. O(length of `answer`).
    pub fn show(&mut self, answer: &str) -> bool {
        self.show_all(|each| {
            digests(answer, Masks::NONE.and(&[]), each);
        })
    }

    /// Adds and counts the lines that `hashes` passes on, which are those of [`digests`]. Returns whether at
    /// least nine of ten were known before. A filter of 0 words asks for none.
    pub(crate) fn show_all(&mut self, hashes: impl FnOnce(&mut dyn FnMut(u64))) -> bool {
        if WORDS == 0 {
            return false;
        }
        let mut count = Count::default();
        hashes(&mut |hash| {
            let is_known = self.add(hash);
            count.all.add(is_known);
            if is_sampled(hash) {
                count.sampled.add(is_known);
            }
        });
        count.is_known()
    }

    /// Returns the words of both generations, the newer one first, without the zeros at the end.
    #[cfg(feature = "serde")]
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let words = self.newer.iter().chain(&self.older);
        let places = (1..).zip(words.clone()).filter(|(_, word)| **word != 0);
        let used = places.last().map_or(0, |(place, _)| place);
        words.copied().take(used)
    }

    /// Puts `word` at its index in [`Lines::words`]. Returns `false` if the index is out of range.
    #[cfg(feature = "serde")]
    pub(crate) fn restore_word(&mut self, place: usize, word: u64) -> bool {
        let slot = match place.checked_sub(WORDS) {
            None => self.newer.get_mut(place),
            Some(place) => self.older.get_mut(place),
        };
        let Some(slot) = slot else { return false };
        *slot = word;
        self.set += if place < WORDS { word.count_ones().into() } else { 0 };
        true
    }

    /// Adds a line. Returns whether it was known. A line that the older generation holds is not added to
    /// the newer one: a file that is shown again would otherwise push out its own end.
    fn add(&mut self, hash: u64) -> bool {
        if Self::has(&self.newer, hash) || Self::has(&self.older, hash) {
            return true;
        }
        for (word, bit) in Self::bits(hash) {
            let Some(word) = self.newer.get_mut(word) else { continue };
            self.set += u64::from(*word & bit == 0);
            *word |= bit;
        }
        if self.set > Self::SET_MAX {
            self.older = core::mem::replace(&mut self.newer, [0; WORDS]);
            self.set = 0;
        }
        false
    }

    /// Returns whether all bits of a line are set.
    fn has(generation: &[u64; WORDS], hash: u64) -> bool {
        Self::bits(hash).all(|(word, bit)| generation.get(word).is_some_and(|word| word & bit != 0))
    }

    /// Returns the bits of a line, each with the index of its word. The two halves of one hash give all
    /// of them (Kirsch and Mitzenmacher, 2006).
    fn bits(hash: u64) -> impl Iterator<Item = (usize, u64)> {
        // A filter of 0 words has no bits, and no word at any index.
        let mask = Self::BITS.wrapping_sub(1);
        (0..PROBES).map(move |probe| {
            let at = (hash >> 32).wrapping_mul(u64::from(probe)).wrapping_add(hash >> 2) & mask;
            ((at / 64) as usize, 1 << (at % 64))
        })
    }
}

/// The digests of an answer without its volatile parts, and that with them if it is JSON, which is compared by its meaning.
pub(crate) type Digests = (Masked, Option<Digest>);

/// Returns the digests of `answer`. Calls `each` with the hash of each line that counts, or of each object if it is JSON; in
/// a long answer, of one in four. `masker` removes the volatile parts first. O(length of `answer`).
pub(crate) fn digests(answer: &str, masker: Masker<'_>, each: &mut dyn FnMut(u64)) -> Digests {
    let is_json = is_json(answer);
    let is_long = holds_many(answer, if is_json { b'{' } else { b'\n' });
    let mut each = |hash| {
        if !is_long || is_sampled(hash) {
            each(hash);
        }
    };
    if is_json {
        let document = of_json(answer, masker, &mut each);
        return document.unwrap_or_else(|| (masker.digest(answer.as_bytes()), None));
    }
    let mut left = LINES_MAX;
    let mut line = |line: &[u8], digest: Digest| {
        if line.len() >= LINE_MIN && left > 0 {
            left -= 1;
            each(if holds_data(line) { hash(line, masker) } else { digest.bits() });
        }
    };
    if !Clocks::of(answer).any() {
        return (masker.digest_by_line(answer.as_bytes(), &mut line), None);
    }
    // A clock before a line is no part of it.
    for shown in said::lines(answer) {
        masker.digest_by_line(shown.as_bytes(), &mut line);
    }
    (masker.digest(answer.as_bytes()), None)
}

/// Returns the digests of `answer` if it is a whole document of JSON. O(length of `answer`).
pub(crate) fn document(answer: &str, masker: Masker<'_>) -> Option<Digests> {
    if is_json(answer) { of_json(answer, masker, &mut |_| {}) } else { None }
}

/// Returns the digests of a whole document, or `None`. Calls `each` with the hash of each object.
fn of_json(answer: &str, masker: Masker<'_>, each: &mut dyn FnMut(u64)) -> Option<Digests> {
    objects::digest(answer, masker, each).map(|it| (it.masked, Some(it.raw)))
}

/// Returns whether a line or an object is in the sample of a long answer.
fn is_sampled(hash: u64) -> bool {
    hash.is_multiple_of(4)
}

/// The shortest row of letters of Base64 that is data, in bytes. A picture is encoded anew each time.
const DATA_MIN: usize = 256;

/// Returns whether `byte` may belong to data.
const fn is_of_data(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns whether `text` holds data. O(n), and for most texts far less.
fn holds_data(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(row) = rest.get(..DATA_MIN) {
        let Some(end) = row.iter().rposition(|byte| !is_of_data(*byte)) else { return true };
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    false
}

/// The hash of `line` without its volatile parts and without data. O(n).
#[cold]
fn hash(line: &[u8], masker: Masker<'_>) -> u64 {
    // The parts that are hashed so far, the start of the next one, and the start of the row at hand.
    let (mut parts, mut from, mut start) = (None, 0, 0);
    for row in line.split_inclusive(|byte| !is_of_data(*byte)) {
        let end = start + row.iter().take_while(|byte| is_of_data(**byte)).count();
        if end - start >= DATA_MIN {
            let part = masker.digest(line.get(from..start).unwrap_or_default()).result;
            parts = Some(parts.map_or(part, |parts: Digest| parts.mix(part)));
            from = end;
        }
        start += row.len();
    }
    let last = masker.digest(line.get(from..).unwrap_or_default()).result;
    parts.map_or(last, |parts| parts.mix(last)).bits()
}

/// The known parts of an answer.
#[derive(Default)]
struct Count {
    /// Among all parts that were added.
    all: Tally,
    /// Among the sampled ones.
    sampled: Tally,
}

impl Count {
    fn is_known(&self) -> bool {
        let Self { all, sampled } = self;
        if sampled.parts >= SAMPLE_MIN { sampled.is_known() } else { all.is_known() }
    }
}

/// A number of parts, and how many of them are known.
#[derive(Default)]
struct Tally {
    parts: usize,
    known: usize,
}

impl Tally {
    fn add(&mut self, is_known: bool) {
        self.parts += 1;
        self.known += usize::from(is_known);
    }

    /// Returns whether at least nine of ten are known.
    fn is_known(&self) -> bool {
        self.parts > 0 && (self.parts - self.known) * 10 <= self.parts
    }
}

/// Returns whether `answer` has so many parts, by their `separator`, that it is sampled.
fn holds_many(answer: &str, separator: u8) -> bool {
    memchr_iter(separator, answer.as_bytes()).count() >= SAMPLED_MIN
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::collection::{btree_map, hash_set, vec as list};
    use proptest::prelude::*;

    use super::{LINE_MIN, Lines, SAMPLED_MIN, digests, document};
    use crate::mask::Masks;
    use crate::tables::check_pairs;

    /// The lines of a source file called `name`, no two of which are equal.
    fn file(name: &str, lines: usize) -> Vec<String> {
        let line =
            |n: usize| format!("    {name}.register(Handler::new({}, \"{n}\"));", n * 7 % 31);
        (0..lines).map(line).collect()
    }

    /// The pages of `lines` from `start` on.
    fn pages(lines: &[String], start: usize, length: usize) -> impl Iterator<Item = String> {
        lines.get(start..).unwrap_or_default().chunks(length).map(|page| page.join("\n"))
    }

    /// Returns how often a line is wrongly taken for a known one among `lines`, in percent. Lines
    /// that were shown three lines before must not be forgotten. The exception is a line that was
    /// taken for one of the older generation and disappears with it.
    fn false_positives(lines: usize) -> usize {
        let (mut filter, mut shown, mut wrong, mut forgotten) =
            (<Lines>::new(), HashSet::new(), 0, 0);
        let masker = Masks::NONE.and(&[]);
        for n in 0..lines {
            // Every fourth line comes again.
            let line = format!("the line number {} of many", if n % 4 == 3 { n - 3 } else { n });
            let is_known = filter.add(masker.digest(line.as_bytes()).result.bits());
            let is_shown = !shown.insert(line);
            forgotten += usize::from(is_shown && !is_known);
            wrong += usize::from(is_known && !is_shown);
        }
        assert!(forgotten * 10_000 <= lines, "{forgotten} of {lines} were forgotten");
        wrong * 100 / lines
    }

    #[test]
    fn a_second_sweep_through_a_file_is_known_and_the_first_is_not() {
        for length in [40, 100, 200] {
            let (file, mut lines) = (file("routes", 82 * length), <Lines>::new());
            assert_eq!(pages(&file, 0, length).position(|page| lines.show(&page)), None);
            let again: Vec<_> = pages(&file, 20, length).map(|page| lines.show(&page)).collect();
            assert_eq!(again, [true; 82], "pages of {length} lines");
        }
    }

    #[test]
    fn other_files_are_new() {
        let mut lines: Lines = Lines::new();
        let licence = "// Licensed under the Apache License, Version 2.0.\n// All rights reserved.";
        for name in ["routes", "models", "views", "tests"] {
            for length in [30, 300] {
                let answer = format!("{licence}\n{}", file(name, length).join("\n"));
                // The longer file begins as the shorter does.
                assert!(!lines.show(&answer), "{name} {length}");
            }
        }
    }

    #[test]
    fn an_answer_is_known_if_all_but_one_line_in_ten_are() {
        let file = file("routes", 20);
        for (new, expected) in [(0, true), (1, true), (2, true), (3, false), (20, false)] {
            let mut lines: Lines = Lines::new();
            lines.show(&file.join("\n"));
            let old = file.iter().skip(new).cloned();
            let answer: Vec<_> =
                old.chain((0..new).map(|n| format!("something new {n}"))).collect();
            assert_eq!(lines.show(&answer.join("\n")), expected, "{new} of 20");
        }
    }

    #[test]
    fn an_answer_without_a_line_that_counts_is_new() {
        for answer in ["", "\n\n", "}\n}\n", "12\n13\n", "short line\n"] {
            let mut lines: Lines = Lines::new();
            assert!(!lines.show(answer) && !lines.show(answer), "{answer:?}");
        }
    }

    /// The hashes of the lines of `answer` that count.
    fn hashes(answer: &str) -> Vec<u64> {
        let mut hashes = Vec::new();
        digests(answer, Masks::ALL.and(&[]), &mut |hash| hashes.push(hash));
        hashes
    }

    #[test]
    fn numbers_that_a_pager_puts_before_lines_do_not_count() {
        check_pairs("without the number of the line", |line, expected| {
            assert_eq!(hashes(line).len(), 1, "{line:?}");
            hashes(line) == hashes(expected)
        });
        assert_ne!(hashes("12 green apples"), hashes("13 green apples"));
        assert_ne!(hashes("12  green apples"), hashes("green apples"));
    }

    #[test]
    fn short_lines_do_not_count() {
        let (short, long) = ("a".repeat(LINE_MIN - 1), "a".repeat(LINE_MIN));
        assert_eq!(hashes(&format!("{short}\n  {long}  \n7\t{short}")).len(), 1);
    }

    #[test]
    fn an_answer_is_known_if_nine_of_ten_objects_are() {
        let list = |query: &str, hits: std::ops::Range<usize>| {
            let hit = |n| format!(r#"{{"path":"src/{n}.rs","line":{n}}}"#);
            let hits = hits.map(hit).collect::<Vec<_>>().join(", ");
            format!(r#"{{"query": "{query}", "hits": [{hits}]}}"#)
        };
        for (query, hits, expected) in [
            ("foo", 0..12, true),
            ("foo", 3..9, true),
            // The object with the query is new: one of ten, and one of nine.
            ("fo0", 0..9, true),
            ("fo0", 0..8, false),
            ("foo", 2..14, false),
        ] {
            let mut lines: Lines = Lines::new();
            assert!(!lines.show(&list("foo", 0..12)));
            assert_eq!(lines.show(&list(query, hits.clone())), expected, "{query} {hits:?}");
        }
    }

    #[test]
    fn an_object_of_known_members_is_new_if_they_never_stood_together() {
        let mut lines: Lines = Lines::new();
        for (x, y) in (0..5).flat_map(|x| (0..5).map(move |y| (x, y))) {
            assert!(!lines.show(&format!(r#"{{"x":{x},"y":{y},"door":"open"}}"#)), "{x} {y}");
        }
        assert!(lines.show(r#"{"y":3,"door":"open","x":1}"#));
    }

    #[test]
    fn records_of_many_things_are_new_one_by_one() {
        let record = |n: usize| {
            format!(
                r#"{{"id":{n},"status":"active","currency":"USD","country":"CH","plan":"free"}}"#
            )
        };
        let mut lines: Lines = Lines::new();
        let known = (0..200).filter(|n| lines.show(&record(*n))).count();
        // The number that the filter takes for known lines.
        assert!(known <= 2, "{known} of 200");
        assert!((190..200).all(|n| lines.show(&record(n))));
    }

    #[test]
    fn of_a_long_document_a_sample_is_looked_at() {
        let item = |n: usize| format!(r#"{{"id":{n},"title":"the item number {n}"}}"#);
        let list = |items: std::ops::Range<usize>| {
            format!("[{}]", items.map(item).collect::<Vec<_>>().join(","))
        };
        let mut lines: Lines = Lines::new();
        assert!(!lines.show(&list(0..100)));
        assert!(lines.show(&list(0..100)) && lines.show(&list(20..90)));
        assert!(!lines.show(&list(50..150)));
    }

    #[test]
    fn nothing_is_known_after_it_was_forgotten() {
        let (page, mut lines) = (file("routes", 30).join("\n"), <Lines>::new());
        assert!(!lines.show(&page) && lines.show(&page));
        lines.clear();
        assert_eq!(lines, Lines::new());
        assert!(!lines.show(&page));
    }

    #[test]
    fn few_new_lines_are_taken_for_known_ones() {
        for (lines, percent) in [(1_000, 0), (2_500, 2), (50_000, 8)] {
            let wrong = false_positives(lines);
            assert!(wrong <= percent, "{wrong} % of {lines} lines");
        }
    }

    proptest! {
        #[test]
        fn short_answers_are_judged_as_by_a_set(
            // Without equal lines in one answer, too few are sampled to decide alone.
            answers in list(hash_set("[ab]{0,3}", 0..12), 0..20),
        ) {
            let (mut lines, mut shown) = (<Lines>::new(), HashSet::new());
            for answer in answers {
                let answer = answer.iter().map(|line| format!("a longer line {line}\n"));
                let answer: Vec<_> = answer.collect();
                let new = answer.iter().filter(|line| shown.insert((*line).clone())).count();
                let is_known = !answer.is_empty() && new * 10 <= answer.len();
                prop_assert_eq!(lines.show(&answer.concat()), is_known);
            }
        }

        #[test]
        fn the_order_of_members_does_not_matter(
            members in btree_map("[a-f]{1,3}", "[a-z ,:{}\\[\\]]{0,6}", 1..12),
            shift in 0..12_usize,
        ) {
            let json = |members: &[(String, String)]| {
                let member = |(name, value): &(String, String)| format!("{name:?}: {value:?}");
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            };
            let mut members: Vec<_> = members.into_iter().collect();
            let (mut lines, one) = (<Lines>::new(), json(&members));
            let shift = shift % members.len();
            members.rotate_left(shift);
            prop_assert!(!lines.show(&one));
            prop_assert!(lines.show(&json(&members)), "{}", one);
        }

        #[test]
        fn any_text_may_be_looked_at(text in any::<String>(), signs in "[\\[\\]{}\",: a1\n\\\\]{0,90}") {
            for text in [text, signs] {
                let mut lines: Lines = Lines::new();
                let first = lines.show(&text);
                prop_assert!(lines.show(&text) || !first);
                // A look at the lines changes no digest.
                let masker = Masks::ALL.and(&[]);
                let whole = document(&text, masker).map(|it| it.0);
                let whole = whole.unwrap_or_else(|| masker.digest(text.as_bytes()));
                prop_assert_eq!(digests(&text, masker, &mut |_| {}).0, whole);
            }
        }

        #[test]
        fn what_is_read_goes_on_as_what_was_written(
            answers in list((0..5_usize, 0..3 * SAMPLED_MIN), 0..60),
            more in list((0..5_usize, 0..3 * SAMPLED_MIN), 0..9),
        ) {
            let names = ["routes", "models", "views", "tests", "forms"];
            let answer = |(name, length): (usize, usize)| file(names[name], length).join("\n");
            let mut lines: Lines = Lines::new();
            for asked in answers {
                lines.show(&answer(asked));
            }
            let written = serde_json::to_string(&lines).expect("lines");
            let mut read: Lines = serde_json::from_str(&written).expect("lines");
            prop_assert_eq!(&read, &lines);
            for asked in more {
                prop_assert_eq!(read.show(&answer(asked)), lines.show(&answer(asked)));
            }
            prop_assert_eq!(read, lines);
        }
    }

    #[test]
    fn too_many_words_are_refused() {
        let words = |count: usize| format!("[{}]", ["1"].repeat(count).join(","));
        assert!(serde_json::from_str::<Lines>(&words(2 * super::LINE_WORDS)).is_ok());
        let error = serde_json::from_str::<Lines>(&words(2 * super::LINE_WORDS + 1));
        assert!(error.expect_err("too many").to_string().contains("two generations"));
        assert_eq!(serde_json::to_string(&<Lines>::new()).expect("lines"), "[]");
    }
}
