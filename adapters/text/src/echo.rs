//! What repeats inside a text, word by word.

use core::mem::replace;

use unstuck_core::{Digest, Echo, Echoes};

/// The longest lap looked for, in words: a paragraph.
const LAP_MAX: usize = 64;

/// The most words looked at, from the end: a model that has lost itself does not find back, and a
/// long report is read in bounded time.
const WORDS_MAX: usize = 2048;

/// The fewest words that the repetitions cover together: fewer are a refrain, or a joke.
const COVERED_MIN: usize = 48;

/// What is repeated most often inside `text`, if the repetitions cover enough words; else nothing.
/// O(length of `text`) to find the words, and a bounded time for each of the last.
pub(crate) fn echo(text: &str) -> Echo {
    let mut echoes: Echoes<LAP_MAX> = Echoes::new();
    let mut most = Echo::NONE;
    if !may_echo(text) {
        return most;
    }
    for word in last_words(text) {
        echoes.push(word);
        let echo = echoes.latest();
        let covered = usize::from(echo.laps).saturating_mul(usize::from(echo.period));
        if echo.laps > most.laps && covered >= COVERED_MIN {
            most = echo;
        }
    }
    most
}

/// What stands for each of the last words of `text`, the last first: what goes round does so
/// backwards, too.
fn last_words(text: &str) -> impl Iterator<Item = Digest> {
    let words = text.split_whitespace().rev().filter(|word| is_word(word));
    words.take(WORDS_MAX).map(|word| Digest::of(word.as_bytes()))
}

/// Whether anything can be found in `text`. After its first lap each word of an echo stood at most
/// a lap before; two laps are the fewest, so half of the words do in a row. Other texts hardly ever
/// have so many, and are told at a tenth of the price.
fn may_echo(text: &str) -> bool {
    // For each place in which words are sorted by their digests, where the latest of them stood.
    let mut latest = [0_usize; 256];
    let mut row = 0_usize;
    for (place, word) in (1_usize..).zip(last_words(text)) {
        let [lowest, ..] = word.bits().to_le_bytes();
        let Some(slot) = latest.get_mut(usize::from(lowest)) else { continue };
        let before = replace(slot, place);
        let is_near = before > 0 && place.saturating_sub(before) <= LAP_MAX;
        row = if is_near { row.saturating_add(1) } else { 0 };
        if row >= COVERED_MIN / 2 {
            return true;
        }
    }
    false
}

/// Whether a part of a text is a word: it has two letters. What tables, boards and dumps are
/// drawn with repeats by its nature.
fn is_word(part: &str) -> bool {
    part.chars().filter(|character| character.is_alphabetic()).nth(1).is_some()
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::{String, ToString as _};

    use unstuck_core::Echo;

    use super::{LAP_MAX, WORDS_MAX, echo};

    /// `count` words, no two of them equal.
    fn words(count: usize) -> String {
        (0..count).map(|n| "word".to_string() + &n.to_string() + " ").collect()
    }

    #[test]
    fn what_goes_round_is_found_wherever_it_stands() {
        let round = "We will now check the file again. ".repeat(9);
        let expected = Echo { period: 7, laps: 9 };
        for text in [
            round.clone(),
            words(100) + &round,
            round.clone() + &words(100),
            round.replace(' ', "\n\t "),
        ] {
            assert_eq!(echo(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_says_each_thing_once_has_no_echo() {
        for text in [
            String::new(),
            " \n".to_string(),
            "no ".repeat(6),
            words(3 * WORDS_MAX),
            "| --- | --- | --- |\n| | | |\n".repeat(40),
            "0 0 0 0 0 0 0 0 0 0\n".repeat(10),
            ". . X . O . . .\n".repeat(8),
            "00000000 00 00 00 00 00 00 00 00\n".repeat(8),
        ] {
            assert_eq!(echo(&text), Echo::NONE, "{text}");
        }
    }

    #[test]
    fn a_paragraph_is_found_and_a_chapter_is_not() {
        let paragraph = words(LAP_MAX).repeat(3);
        assert_eq!(echo(&paragraph).laps, 3);
        assert_eq!(echo(&words(LAP_MAX + 1).repeat(3)), Echo::NONE);
    }

    #[test]
    fn only_the_end_of_a_long_text_is_looked_at() {
        let lost = "and so on ".repeat(WORDS_MAX);
        assert_eq!(usize::from(echo(&lost).laps), WORDS_MAX / 3);
        assert_eq!(echo(&(lost + &words(WORDS_MAX))), Echo::NONE);
    }
}
