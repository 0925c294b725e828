//! Removes lines at either end of a text that contain only volatile values and their labels.
//!
//! Hosts and wrappers put such a line beside every answer, for example `elapsed_ms=412` or `[step
//! 17/200]`. The line does not describe the call. Without it, equal silent answers and equal
//! one-line errors compare as equal.

use super::kind::{LABELS, Mask, Masker, Masks};
use super::pieces::Sink;
use super::word_end::{self, BEHIND};
use crate::find;

/// The longest such line, in bytes.
const LINE_MAX: usize = 160;

/// The most lines that are taken from either end.
const LINES_MAX: usize = 8;

/// A text without the volatile lines at its ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trimmed<'t> {
    pub(crate) text: &'t str,
    /// True if there was no other line.
    pub(crate) is_volatile: bool,
}

impl Masker<'_> {
    /// `text` without the volatile lines at its ends.
    ///
    /// A text of such lines alone becomes empty if each of them has a label. Without a label, a
    /// time or a hash may be the answer, and stays.
    pub(crate) fn trimmed(self, text: &str) -> Trimmed<'_> {
        if self.masks == Masks::NONE {
            return Trimmed { text, is_volatile: false };
        }
        let (bare, is_bare) = self.without(text, |line| line == Volatile::Labelled);
        // Most answers end here: their first and last lines say something.
        let rest = if is_bare { self.without(bare, |_| true).0 } else { bare };
        let is_volatile = find::trim(rest).is_empty();
        Trimmed { text: if is_volatile { bare } else { rest }, is_volatile }
    }

    /// `text` without such volatile lines at its ends, and whether another volatile line follows.
    fn without(self, text: &str, is_such: impl Fn(Volatile) -> bool) -> (&str, bool) {
        let (mut rest, mut is_other) = (text, false);
        for split in [last as fn(&str) -> (&str, &str), first] {
            for _ in 0..LINES_MAX {
                let (line, others) = split(rest);
                let found = self.volatile(line);
                if !found.is_some_and(&is_such) {
                    is_other |= found.is_some();
                    if others.is_empty() {
                        // The only line is the first and the last one.
                        return (rest, is_other);
                    }
                    break;
                }
                rest = others;
            }
        }
        (rest, is_other)
    }

    /// Returns whether `line` is volatile as a whole.
    fn volatile(self, line: &str) -> Option<Volatile> {
        let may_be =
            line.len() <= LINE_MAX && !find::trim(line).is_empty() && may_be_volatile(line);
        if may_be { self.look(line) } else { None }
    }

    /// Returns the kind of `line` if it holds masked values and labels alone.
    fn look(self, line: &str) -> Option<Volatile> {
        let mut look = Look::default();
        self.walk(line.as_bytes(), &mut look);
        let found = if look.has_label { Volatile::Labelled } else { Volatile::Bare };
        (look.has_value && !look.says).then_some(found)
    }
}

/// Returns whether `line` may consist of values that a mask covers, and of labels: it has a digit, or the slash of a path,
/// and no word between spaces that is none of these. Most lines have such a word.
fn may_be_volatile(line: &str) -> bool {
    let is_word = |word: &&[u8]| word.len() > 1 && word.iter().all(u8::is_ascii_alphabetic);
    let is_masked = |word: &[u8]| {
        let zones = [&b"UTC"[..], b"GMT"];
        BEHIND.may_hold(word_end::first(word)) || zones.contains(&word)
    };
    let says = |word: &[u8]| !LABELS.contains_bytes_in_any_case(word) && !is_masked(word);
    let mut words = line.as_bytes().split(|byte| *byte == b' ').filter(is_word);
    // The text of a terminal control disappears, with all of its words.
    (!words.any(says) || find::contains(line, "\x1b"))
        && line.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'/' | b'\\'))
}

/// A volatile line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Volatile {
    /// Words name its values.
    Labelled,
    /// It holds values and signs alone.
    Bare,
}

/// The last line of `text`, and the text before it. White space at the end is dropped.
fn last(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    find::rsplit_once(text, "\n").map_or((text, ""), |(rest, line)| (line, rest))
}

/// The first line of `text`, and the text behind it. White space at the start is dropped.
fn first(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    find::split_once(text, "\n").unwrap_or((text, ""))
}

/// The parts of a line.
#[derive(Default)]
struct Look {
    has_value: bool,
    has_label: bool,
    /// The mask of the last value.
    last: Option<Mask>,
    /// Returns whether a word or a number says more than a label does.
    says: bool,
}

impl Sink for Look {
    fn text(&mut self, text: &[u8]) {
        if self.says {
            return;
        }
        let words = text.split(|byte| !byte.is_ascii_alphabetic() && *byte < 0x80);
        for word in words.filter(|word| !word.is_empty()) {
            self.has_label = true;
            self.says |= !LABELS.contains_bytes_in_any_case(word);
        }
    }

    fn number(&mut self, _: &[u8]) {
        // The `200` of `step 17/200` belongs to the value before it.
        let is_total = matches!(self.last, Some(Mask::Steps | Mask::Tokens | Mask::Costs));
        self.says |= !is_total;
    }

    fn masked(&mut self, mask: Option<Mask>) {
        (self.has_value, self.last) = (true, mask);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::may_be_volatile;
    use crate::mask::{Mask, Masks};
    use crate::tables::check;

    const PARTS: &[&str] = &crate::phrases::texts![
        " " " " " " ":" "=" "(" "[" "]" "/" "\"" "-" "\x1b[31m" "12" "4711" "0.4" "12:03:59" "2026-05-28" "3fa9c1d"
        "/tmp/tmpab12cd" "elapsed" "took" "UTC" "pm" "May" "Thu" "seconds" "ms" "tokens" "left" "context" "steps"
        "of" "error" "more" "pid" "id" "request" "step" "spent" "$" "%" "files" "In" "a" "T" "e"
    ];

    proptest! {
        #[test]
        fn no_line_is_passed_over_that_the_masks_cover(parts in vec(select(PARTS), 1..9)) {
            let line = parts.concat();
            let found = Masks::ALL.and(&[]).look(&line);
            prop_assert!(found.is_none() || may_be_volatile(&line), "{:?}", line);
        }
    }

    #[test]
    fn volatile_lines_go_from_both_ends() {
        check("trimmed", |text| format!("{:?}", Masks::ALL.and(&[]).trimmed(text).text));
        let masks = Masks::ALL.without(Mask::Durations);
        assert_eq!(masks.and(&[]).trimmed("ok\nelapsed_ms=412").text, "ok\nelapsed_ms=412");
        assert_eq!(Masks::NONE.and(&[]).trimmed("ok\npid 4711").text, "ok\npid 4711");
    }
}
