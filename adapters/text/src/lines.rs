//! The lines that a worker has been shown: whether an answer holds hardly a line that is new.

use core::iter::from_fn;

use memchr::memchr_iter;

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
const SET_MAX: u64 = BITS * 2 / 5;

/// The shortest line that counts, in bytes. Shorter ones (a brace, a number) are everywhere.
const LINE_MIN: usize = 12;

/// From so many lines or members on only one in four is looked at: a file of ten thousand lines fits.
const SAMPLED_MIN: usize = 64;

/// The fewest sampled parts that tell how new a long answer is.
const SAMPLE_MIN: usize = 8;

/// How many lines or members of an answer are looked at.
const PARTS_MAX: usize = 4096;

/// The lines of the latest answers, as a filter (Bloom, 1970) in two generations: about five
/// thousand short answers' lines, or twenty thousand of long ones. 4 KiB, and no heap.
///
/// Of an answer in JSON, the members stand for lines, in whichever order they come.
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
    set: u64,
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
    /// without a line that counts is never known. Of JSON, every member must be known: one that is new
    /// may be all that tells one record from another. O(length of `answer`).
    pub fn show(&mut self, answer: &str) -> bool {
        self.show_masked(answer, Masks::NONE.and(&[]))
    }

    /// As [`Lines::show`], without what `masker` takes for volatile.
    pub(crate) fn show_masked(&mut self, answer: &str, masker: Masker<'_>) -> bool {
        if is_json(answer) {
            let is_long = holds_many(answer, b',');
            return self.add_parts(is_long, members(answer), masker).is_all_known();
        }
        let is_long = holds_many(answer, b'\n');
        self.add_parts(is_long, counted(answer), masker).is_known()
    }

    /// Remembers the `parts` of an answer, its lines or its members; of a long answer, one in four.
    /// Returns how many of them were known.
    fn add_parts<'t>(
        &mut self,
        is_long: bool,
        parts: impl Iterator<Item = &'t str>,
        masker: Masker<'_>,
    ) -> Tally {
        let (mut all, mut sampled) = (Tally::default(), Tally::default());
        for part in parts.take(PARTS_MAX) {
            let hash = hash(part, masker);
            let is_sampled = hash.is_multiple_of(4);
            if is_long && !is_sampled {
                continue;
            }
            let is_known = self.add(hash);
            all.add(is_known);
            if is_sampled {
                sampled.add(is_known);
            }
        }
        if sampled.parts >= SAMPLE_MIN { sampled } else { all }
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
        self.set += if place < WORDS { word.count_ones().into() } else { 0 };
        true
    }

    /// Remembers a line; says whether it was known. One that is known from the older generation is
    /// not set again: else a file that is shown again would drive out its own end.
    fn add(&mut self, hash: u64) -> bool {
        if has(&self.newer, hash) || has(&self.older, hash) {
            return true;
        }
        for (word, bit) in bits(hash) {
            let Some(word) = self.newer.get_mut(word) else { continue };
            self.set += u64::from(*word & bit == 0);
            *word |= bit;
        }
        if self.set > SET_MAX {
            self.older = core::mem::replace(&mut self.newer, [0; WORDS]);
            self.set = 0;
        }
        false
    }
}

/// Whether all bits of a line are set.
fn has(generation: &[u64; WORDS], hash: u64) -> bool {
    bits(hash).all(|(word, bit)| generation.get(word).is_some_and(|word| word & bit != 0))
}

/// The bits of a line, each with the place of its word: two halves of one hash make as many as are
/// needed (Kirsch and Mitzenmacher, 2006).
fn bits(hash: u64) -> impl Iterator<Item = (usize, u64)> {
    (0..PROBES).map(move |probe| {
        let at = (hash >> 32).wrapping_mul(u64::from(probe)).wrapping_add(hash >> 2) % BITS;
        ((at / 64) as usize % WORDS, 1 << (at % 64))
    })
}

/// The hash of `line` without its volatile parts. A line without a digit has hardly any, and is hashed
/// as it is.
fn hash(line: &str, masker: Masker<'_>) -> u64 {
    let line = line.as_bytes();
    let masker = if line.iter().any(u8::is_ascii_digit) { masker } else { Masks::NONE.and(&[]) };
    masker.digest(line).result.bits()
}

/// How many parts there are, and how many of them are known.
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

    /// Whether all but one in ten are known.
    fn is_known(&self) -> bool {
        self.parts > 0 && (self.parts - self.known) * 10 <= self.parts
    }

    fn is_all_known(&self) -> bool {
        self.parts > 0 && self.parts == self.known
    }
}

/// Whether `answer` has so many of `separator` that only a sample of its parts is looked at.
fn holds_many(answer: &str, separator: u8) -> bool {
    memchr_iter(separator, answer.as_bytes()).nth(SAMPLED_MIN - 1).is_some()
}

/// The lines of `answer` that count, without the number that a pager puts before each.
fn counted(answer: &str) -> impl Iterator<Item = &str> {
    let lines = find::lines(answer).map(|line| unnumbered(line.trim_ascii()));
    lines.filter(|line| line.len() >= LINE_MIN)
}

/// `line` without the number and the sign before it, as `cat -n`, `nl` and `grep -n` put them there.
fn unnumbered(line: &str) -> &str {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return line;
    }
    let signs = ['\t', '→', ':', '|', '-', ')'];
    let behind = line.get(digits..).unwrap_or_default().trim_start_matches(' ');
    behind.strip_prefix(signs).unwrap_or(line).trim_ascii_start()
}

/// Whether `answer` is an object in JSON, or several of them: by both of its ends alone.
fn is_json(answer: &str) -> bool {
    let mut signs = answer.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let opening = (signs.next(), signs.next(), signs.next_back());
    matches!(
        opening,
        (Some(b'{'), Some(b'"' | b'\''), Some(b'}')) | (Some(b'['), Some(b'{'), Some(b']'))
    )
}

/// The members of the objects in `json`, each with its name and its value. A value that holds an object
/// ends where that begins, and an array without objects is one value. What is not JSON comes in some
/// parts or other. Python's single quotes are read, too.
fn members(json: &str) -> impl Iterator<Item = &str> {
    // Of each bracket that is open, the latest lowest, whether it is an object's.
    let (mut objects, mut quote) = (0_u64, None);
    let (mut start, mut at) = (0, 0);
    let cuts = from_fn(move || {
        loop {
            let Some(&byte) = json.as_bytes().get(at) else {
                let rest = json.get(start..).filter(|rest| !rest.is_empty());
                start = json.len();
                return rest;
            };
            at += 1;
            let in_object = objects & 1 == 1;
            match (quote, byte) {
                (Some(_), b'\\') => at += 1,
                (Some(open), _) if byte == open => quote = None,
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'[') => objects <<= 1,
                (None, b'{') => objects = objects << 1 | 1,
                (None, b']' | b'}') => objects >>= 1,
                _ => {}
            }
            let is_cut = matches!(byte, b'{' | b'}') || byte == b',' && in_object;
            if quote.is_none() && is_cut {
                let part = json.get(start..at - 1);
                start = at;
                return part;
            }
        }
    });
    cuts.map(str::trim_ascii).filter(|part| part.bytes().any(says))
}

/// Whether `byte` is of a letter or a digit, and not a mere sign.
const fn says(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::HashSet;
    use std::format;
    use std::string::{String, ToString as _};
    use std::vec::Vec;

    use proptest::collection::{btree_map, vec as list};
    use proptest::prelude::*;

    use super::{LINE_MIN, Lines, SAMPLED_MIN, counted, is_json, members, unnumbered};
    use crate::mask::Masks;

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

    /// How often a line that was never shown is taken for one that was, among `lines`, in percent. Of
    /// those that were shown three lines before, hardly any may be forgotten: one that was taken for a
    /// line of the older generation, and goes with it.
    fn false_positives(lines: usize) -> usize {
        let (mut filter, mut shown, mut wrong, mut forgotten) =
            (Lines::new(), HashSet::new(), 0, 0);
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
            let (file, mut lines) = (file("routes", 82 * length), Lines::new());
            assert_eq!(pages(&file, 0, length).position(|page| lines.show(&page)), None);
            let again: Vec<_> = pages(&file, 20, length).map(|page| lines.show(&page)).collect();
            assert_eq!(again, [true; 82], "pages of {length} lines");
        }
    }

    #[test]
    fn other_files_are_new() {
        let mut lines = Lines::new();
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
            let mut lines = Lines::new();
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
            let mut lines = Lines::new();
            assert!(!lines.show(answer) && !lines.show(answer), "{answer:?}");
        }
    }

    #[test]
    fn numbers_that_a_pager_puts_before_lines_do_not_count() {
        for (line, expected) in [
            ("12\tlet x = 1;", "let x = 1;"),
            ("     12→    let x = 1;".trim(), "let x = 1;"),
            ("12:let x = 1;", "let x = 1;"),
            ("12-let x = 1;", "let x = 1;"),
            ("12 | let x = 1;", "let x = 1;"),
            ("12) let x = 1;", "let x = 1;"),
            ("12 apples", "12 apples"),
            ("let x = 1;", "let x = 1;"),
            ("12", "12"),
            ("", ""),
        ] {
            assert_eq!(unnumbered(line), expected, "{line:?}");
        }
    }

    #[test]
    fn short_lines_do_not_count() {
        let (short, long) = ("a".repeat(LINE_MIN - 1), "a".repeat(LINE_MIN));
        assert_eq!(counted(&format!("{short}\n  {long}  \n7\t{short}")).count(), 1);
    }

    #[test]
    fn members_are_read_with_their_names_and_values() {
        for (json, expected) in [
            (
                r#"{"a": 1, "b": [2, {"c": "d, {e}"}], "f": {}}"#,
                "\"a\": 1|\"b\": [2,|\"c\": \"d, {e}\"|\"f\":",
            ),
            (r#"[{"a":[1,2]},{"a":[3]}]"#, "\"a\":[1,2]|\"a\":[3]"),
            (r#"{"a":[[0,1],[1,0]],"b":"\"}"}"#, "\"a\":[[0,1],[1,0]]|\"b\":\"\\\"}\""),
            ("{'a': 'it is', 'b': None}", "'a': 'it is'|'b': None"),
            ("{\n  \"ä\": \"ö\",\n  \"b\": true\n}\n", "\"ä\": \"ö\"|\"b\": true"),
            ("{\"a\":1}\n{\"b\":2}\n", "\"a\":1|\"b\":2"),
            ("{\"a\":\"never ends}", "\"a\":\"never ends}"),
            ("{}", ""),
            ("", ""),
        ] {
            assert_eq!(members(json).collect::<Vec<_>>().join("|"), expected, "{json}");
        }
    }

    #[test]
    fn objects_are_told_from_text_by_their_ends() {
        for (answer, expected) in [
            ("{\"a\":1}", true),
            (" [ { \"a\": 1 } ]\n", true),
            ("{'a': 1}", true),
            ("[1, 2]", false),
            ("[main 1f2e3d4] add it [skip ci]", false),
            ("{ let x = 1; }", false),
            ("{\"a\":1} and more", false),
            ("{}", false),
            ("", false),
        ] {
            assert_eq!(is_json(answer), expected, "{answer}");
        }
    }

    #[test]
    fn an_object_is_known_if_each_member_is() {
        let first = r#"{"query":"fo","hits":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"total":2}"#;
        for (answer, expected) in [
            (first, true),
            (r#"{"total":2,"hits":[{"name":"b","id":2},{"name":"a","id":1}],"query":"fo"}"#, true),
            (r#"{"hits":[ {"id":1 , "name":"a"} ], "total":2}"#, true),
            // One member is new, though nine of ten letters are known.
            (r#"{"query":"fo","hits":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"total":3}"#, false),
            (r#"{"query":"fo","hits":[{"id":1,"name":"a"},{"id":3,"name":"b"}],"total":2}"#, false),
        ] {
            let mut lines = Lines::new();
            assert!(!lines.show(first));
            assert_eq!(lines.show(answer), expected, "{answer}");
        }
    }

    #[test]
    fn records_of_many_things_are_new_one_by_one() {
        let record = |n: usize| {
            format!(
                r#"{{"id":{n},"status":"active","currency":"USD","country":"CH","plan":"free"}}"#
            )
        };
        let mut lines = Lines::new();
        let known = (0..200).filter(|n| lines.show(&record(*n))).count();
        // As many as the filter takes for known ones.
        assert!(known <= 2, "{known} of 200");
        assert!((190..200).all(|n| lines.show(&record(n))));
    }

    #[test]
    fn of_a_long_document_a_sample_is_looked_at() {
        let item = |n: usize| format!(r#"{{"id":{n},"title":"the item number {n}"}}"#);
        let list = |items: std::ops::Range<usize>| {
            format!("[{}]", items.map(item).collect::<Vec<_>>().join(","))
        };
        let mut lines = Lines::new();
        assert!(!lines.show(&list(0..100)));
        assert!(lines.show(&list(0..100)) && lines.show(&list(20..90)));
        assert!(!lines.show(&list(50..150)));
    }

    #[test]
    fn nothing_is_known_after_it_was_forgotten() {
        let (page, mut lines) = (file("routes", 30).join("\n"), Lines::new());
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
            answers in list(list("[ab]{0,3}", 0..12), 0..20),
        ) {
            let (mut lines, mut shown) = (Lines::new(), HashSet::new());
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
            let (mut lines, one) = (Lines::new(), json(&members));
            let shift = shift % members.len();
            members.rotate_left(shift);
            prop_assert!(!lines.show(&one));
            prop_assert!(lines.show(&json(&members)), "{}", one);
        }

        #[test]
        fn members_are_those_of_a_parser(
            members in btree_map("[a-f][\"\\\\{,]{0,3}", "[a-z\"\\\\ ,:{}\\[\\]]{0,6}", 1..12),
        ) {
            let json = serde_json::to_string(&members).expect("an object");
            let expected: Vec<_> = members
                .iter()
                .map(|(name, value)| {
                    let [name, value] = [name, value].map(|text| serde_json::to_string(text).expect("a string"));
                    format!("{name}:{value}")
                })
                .collect();
            prop_assert_eq!(super::members(&json).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn any_text_has_members(text in any::<String>(), brackets in "[\\[\\]{}\",: a\\\\]{0,90}") {
            for text in [text, brackets] {
                let parts: Vec<_> = members(&text).collect();
                let total: usize = parts.iter().map(|part| part.len()).sum();
                prop_assert!(total <= text.len());
            }
        }

        #[test]
        fn what_is_read_goes_on_as_what_was_written(
            answers in list((0..5_usize, 0..3 * SAMPLED_MIN), 0..60),
            more in list((0..5_usize, 0..3 * SAMPLED_MIN), 0..9),
        ) {
            let names = ["routes", "models", "views", "tests", "forms"];
            let answer = |(name, length): (usize, usize)| file(names[name], length).join("\n");
            let mut lines = Lines::new();
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
        assert!(serde_json::from_str::<Lines>(&words(2 * super::WORDS)).is_ok());
        let error = serde_json::from_str::<Lines>(&words(2 * super::WORDS + 1));
        assert!(error.expect_err("too many").to_string().contains("two generations"));
        assert_eq!(serde_json::to_string(&Lines::new()).expect("lines"), "[]");
    }
}
