//! Repetition inside a text: sentences word by word, everything else line by line.

mod line;

use core::mem::replace;

use unstuck_core::{Digest, RepeatFinder, RepeatedText};

use crate::find;
use line::{Fences, Shape, is_word, parts, shape};

/// The longest lap looked for, in words of sentences and other lines: a paragraph.
const LAP_MAX: usize = 64;

/// The most words looked at, from the end: a model that has lost itself does not find back, and a
/// long report is read in bounded time.
const WORDS_MAX: usize = 2048;

/// The fewest words of sentences that the repetitions cover together: fewer are a refrain, or a
/// joke.
const WORDS_MIN: u32 = 48;

/// The fewest lines that are no sentences and that the repetitions cover together. An honest report
/// may hold a table, a checklist, a log, or code with dozens of equal lines in a row; a model that
/// has lost itself inside one prints hundreds.
const LINES_MIN: u32 = 100;

/// Finds the sequence that is repeated most often inside `text`, if the repetitions cover enough of
/// it.
///
/// Takes O(length of `text`) to find the words, and bounded time for each of the last.
pub(crate) fn echo(text: &str) -> RepeatedText {
    let mut most = RepeatedText::NONE;
    if !may_echo(text) {
        return most;
    }
    let mut echoes: RepeatFinder<LAP_MAX> = RepeatFinder::new();
    let mut latest = Latest::default();
    each_symbol(text, |symbol| {
        echoes.push(symbol.digest);
        latest.push(symbol.weight);
        let echo = echoes.latest();
        if echo.laps > most.laps && latest.is_enough(echo) {
            most = echo;
        }
        true
    });
    most
}

/// A word of a sentence, or a whole line of anything else.
struct Symbol {
    digest: Digest,
    weight: Weight,
}

/// The number of words or lines that a symbol adds to an echo.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// A number, or a line of signs and numbers: boards and dumps repeat by their nature.
    Nothing,
    Word,
    Line,
}

/// The weights of the latest symbols: bit 0 stands for the latest.
#[derive(Default)]
struct Latest {
    words: u64,
    lines: u64,
}

impl Latest {
    fn push(&mut self, weight: Weight) {
        self.words = (self.words << 1) | u64::from(weight == Weight::Word);
        self.lines = (self.lines << 1) | u64::from(weight == Weight::Line);
    }

    /// Returns whether the laps of `echo`, which end with the latest symbol, cover enough of a
    /// text.
    fn is_enough(&self, echo: RepeatedText) -> bool {
        let lap = u64::MAX.checked_shr(u64::BITS.saturating_sub(echo.period.into())).unwrap_or(0);
        let covered = |weights: u64| (weights & lap).count_ones().saturating_mul(echo.laps.into());
        covered(self.words) >= WORDS_MIN || covered(self.lines) >= LINES_MIN
    }
}

/// Hands the symbols at the end of `text` to `each`, in their order, as long as it returns `true`.
fn each_symbol(text: &str, mut each: impl FnMut(Symbol) -> bool) {
    let (head, tail) = tail(text);
    let unclosed = Fences::unclosed(text);
    let mut fences = Fences::default();
    find::lines(head).for_each(|line| _ = fences.take(line));
    for line in find::lines(tail) {
        let is_fence = fences.take(line);
        let is_code = is_fence || (fences.is_open() && unclosed != Some(fences.opened()));
        let goes_on = match if is_code { Shape::of_code(line) } else { shape(line) } {
            Shape::Blank => true,
            Shape::Signs => each(whole(line, Weight::Nothing)),
            Shape::Line => each(whole(line, Weight::Line)),
            Shape::Sentence => parts(line).all(|part| each(word(part))),
        };
        if !goes_on {
            return;
        }
    }
}

/// The symbol of a whole line.
fn whole(line: &str, weight: Weight) -> Symbol {
    // Mixed, so that a line of one word is not that word.
    Symbol { digest: Digest::of(line.trim().as_bytes()).mix(Digest::new(1)), weight }
}

/// The symbol of a word in a sentence. Numbers tell sentences apart, but are no words.
fn word(part: &str) -> Symbol {
    let weight = if is_word(part) { Weight::Word } else { Weight::Nothing };
    Symbol { digest: Digest::of(part.as_bytes()), weight }
}

/// Splits `text` where its last [`WORDS_MAX`] words begin.
fn tail(text: &str) -> (&str, &str) {
    let mut head = text;
    for _ in 0..WORDS_MAX {
        head = head.trim_end();
        let before = head.char_indices().rfind(|(_, character)| character.is_whitespace());
        let Some((at, blank)) = before else { return ("", text) };
        head = head.get(..at.saturating_add(blank.len_utf8())).unwrap_or_default();
    }
    text.split_at_checked(head.len()).unwrap_or(("", text))
}

/// Returns `false` if `text` cannot contain an echo, at a tenth of the price of a search.
///
/// After its first lap, each symbol of an echo stood at most a lap before. Two laps are the fewest,
/// so half of the symbols do in a row. Other texts hardly ever have so many.
fn may_echo(text: &str) -> bool {
    // For each place in which symbols are sorted by their digests, where the latest of them stood.
    let mut latest = [0_usize; 256];
    let mut row = 0_u32;
    let mut place = 0_usize;
    each_symbol(text, |symbol| {
        place = place.saturating_add(1);
        let [lowest, ..] = symbol.digest.bits().to_le_bytes();
        let Some(slot) = latest.get_mut(usize::from(lowest)) else { return true };
        let before = replace(slot, place);
        let is_near = before > 0 && place.saturating_sub(before) <= LAP_MAX;
        row = if is_near { row.saturating_add(1) } else { 0 };
        row < WORDS_MIN / 2
    });
    row >= WORDS_MIN / 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unstuck_core::RepeatedText;

    use super::{LAP_MAX, LINES_MIN, WORDS_MAX, echo};
    use crate::tables::cases::{Case, cases, spelled};

    const SENTENCE: &str = "We will now check the file again. ";

    /// `count` words, no two of them equal, as one sentence.
    fn words(count: usize) -> String {
        let words: Vec<String> = (0..count).map(letters).collect();
        words.join(" ") + ". "
    }

    /// A number of four digits or fewer, spelled with letters.
    fn letters(n: usize) -> String {
        format!("{n:04}").bytes().map(|digit| char::from(digit + b'a' - b'0')).collect()
    }

    /// Returns `text` after what a heading says to do with it.
    fn made(text: String, step: &str) -> String {
        let times = |times: &str| times.parse().expect("a number");
        match step.split_once('×') {
            Some((count, "")) => match count.strip_prefix("each line ") {
                Some(count) => {
                    text.lines().map(|line| format!("{line}\n").repeat(times(count))).collect()
                }
                None => (text + "\n").repeat(times(count)),
            },
            Some((count, _)) => (text + " ").repeat(times(count)),
            None => match step {
                "numbered" => {
                    let lines = (1..60).map(|n| text.replace('#', &n.to_string()));
                    lines.collect::<Vec<_>>().join("\n")
                }
                "in a fence" => format!("This is what I did.\n\n```\n{text}```\n\nDone.\n"),
                "of tildes" => text.replace("```", "~~~"),
                "in brackets" => format!("[{text}]"),
                "in a block" => format!("```\n{text}```\n"),
                "in a block without an end" => format!("```python\n{text}"),
                _ => panic!("{step}"),
            },
        }
    }

    #[test]
    fn an_honest_report_has_no_echo_and_a_lost_model_has_one() {
        for Case { group, heading, text } in cases(include_str!("echo/texts.txt")) {
            let mut steps = heading.split(", ");
            let expected = steps.next().expect("an echo");
            let text = steps.fold(spelled(text), made);
            let found = echo(&text);
            let told = format!("{} words {} times", found.period, found.laps);
            let told = if found == RepeatedText::NONE { "none" } else { &told };
            assert_eq!(told, expected, "{group}: {text}");
        }
    }

    #[test]
    fn what_goes_round_is_found_wherever_it_stands() {
        let round = SENTENCE.repeat(9);
        let expected = RepeatedText { period: 7, laps: 9 };
        for text in [
            round.clone(),
            words(100) + &round,
            round.clone() + &words(100),
            round.replace(' ', " \u{a0} "),
            round.replace(". ", ".\n"),
            round.replace(". ", ".\n\n"),
            format!("Look:\n\n```rust\nlet a = 1;\n```\n\n{round}"),
            // A model that is lost inside a block of code does not close it.
            format!("Look:\n\n```rust\nlet a = 1;\n{round}"),
        ] {
            assert_eq!(echo(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_says_each_thing_once_has_no_echo() {
        for text in [String::new(), " \n".to_string(), words(3 * WORDS_MAX)] {
            assert_eq!(echo(&text), RepeatedText::NONE, "{text}");
        }
    }

    #[test]
    fn lines_that_are_no_sentences_count_from_a_hundred_on() {
        let least = usize::try_from(LINES_MIN).unwrap();
        let line = "self.assertTrue(found)\n";
        assert_eq!(echo(&line.repeat(least - 1)), RepeatedText::NONE);
        assert_eq!(usize::from(echo(&line.repeat(least)).laps), least);
    }

    #[test]
    fn a_paragraph_is_found_and_a_chapter_is_not() {
        let paragraph = words(LAP_MAX).repeat(3);
        assert_eq!(echo(&paragraph).laps, 3);
        assert_eq!(echo(&words(LAP_MAX + 1).repeat(3)), RepeatedText::NONE);
    }

    #[test]
    fn only_the_end_of_a_long_text_is_looked_at() {
        let lost = "and so on ".repeat(WORDS_MAX);
        assert_eq!(usize::from(echo(&lost).laps), WORDS_MAX / 3);
        assert_eq!(echo(&(lost + "\n" + &words(WORDS_MAX))), RepeatedText::NONE);
    }

    proptest! {
        /// A reported echo exists: the last words of some stretch of the text are equal laps.
        #[test]
        fn an_echo_covers_what_it_must(
            lines in prop::collection::vec(
                prop::sample::select(&[
                    "I am stuck.", "Let me look again.", "| a | row |", "```", "let it = be;", "", "}",
                ][..]),
                0..40,
            ),
            times in 1..40_usize,
        ) {
            let text = (lines.join("\n") + "\n").repeat(times);
            let found = echo(&text);
            prop_assert!(found == RepeatedText::NONE || found.laps >= 2);
            let symbols = text.lines().map(|line| line.split_whitespace().count()).sum::<usize>();
            prop_assert!(found == RepeatedText::NONE || symbols >= usize::from(found.laps) * usize::from(found.period));
        }

        #[test]
        fn no_block_that_is_closed_has_an_echo_of_words(
            code in prop::collection::vec(
                prop::sample::select(&["I am stuck.", "Let me look again.", "}", "a = b"][..]),
                0..99,
            ),
        ) {
            let lines: Vec<&str> = code;
            prop_assert_eq!(echo(&format!("```\n{}\n```\n", lines.join("\n"))), RepeatedText::NONE);
        }
    }
}
