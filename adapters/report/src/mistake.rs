//! A mistake in a configuration file: what is wrong, where, and what would be right.

use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use crate::shown::{COLUMNS, beginning, plain, shortened};

/// The columns that are shown before the mistake in a long line.
const BEFORE: usize = 24;

/// A mistake in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The bytes of the text that are wrong.
    span: Range<usize>,
    what: String,
}

impl Mistake {
    /// Says `what` is wrong with the bytes `span` of a text.
    pub fn new(span: Range<usize>, what: impl Into<String>) -> Self {
        Self { span, what: what.into() }
    }

    /// Returns one sentence that says what is wrong.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Returns the line and the column of the mistake in `text`, counted from 1.
    pub fn place(&self, text: &str) -> (usize, usize) {
        let before = self.before(text);
        let lines = before.matches('\n').count();
        (lines + 1, line_of(before).chars().count() + 1)
    }

    /// Returns the line of `text` with the mistake marked, like a compiler.
    pub fn quote(&self, text: &str) -> String {
        self.quote_from(text, 1)
    }

    /// Like [`Mistake::quote`], for a `text` that begins at the line `first` of its file.
    pub fn quote_from(&self, text: &str, first: usize) -> String {
        let before = self.before(text);
        let start = before.len();
        let begin = start - line_of(before).len();
        let line = text[begin..].lines().next().unwrap_or_default();
        let fault = line.get(start - begin..).unwrap_or_default();
        let long = self.span.end.saturating_sub(start).min(fault.len());
        let number = (self.place(text).0 + first - 1).to_string();
        let gutter = " ".repeat(number.len());
        let room = COLUMNS - number.len() - " | ".len();

        let (before, fault) = (plain(line_of(before)), plain(fault.get(..long).unwrap_or(fault)));
        let line = plain(line);
        // A secret that reaches over the begin of the mistake is masked as a whole.
        let same = before.chars().zip(line.chars()).take_while(|(one, other)| one == other);
        let same = same.map(|(c, _)| c.len_utf8()).sum();
        let (cut, before) = beginning_cut(&before[..same], room);
        let rest = &line[cut..];
        let rest = if cut > 0 { format!("…{rest}") } else { rest.to_owned() };
        let marks = "^".repeat(fault.width().clamp(1, room - before));
        let indent = " ".repeat(before);
        let line = shortened(&rest, room);
        format!("{gutter} |\n{number} | {line}\n{gutter} | {indent}{marks}\n")
    }

    /// Returns the text before the mistake.
    fn before<'t>(&self, text: &'t str) -> &'t str {
        beginning(text, self.span.start)
    }
}

/// Returns the last line of `text`.
fn line_of(text: &str) -> &str {
    text.rsplit('\n').next().unwrap_or_default()
}

/// Returns the number of bytes of `before` to leave out so that the mistake fits into `room`
/// columns, and the width of the rest with an ellipsis.
fn beginning_cut(before: &str, room: usize) -> (usize, usize) {
    let width = before.width();
    if width < room - BEFORE {
        return (0, width);
    }
    let tail = |&(at, _): &(usize, char)| before[at..].width() < BEFORE;
    let cut = before.char_indices().find(tail).map_or(before.len(), |(at, _)| at);
    (cut, before[cut..].width() + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cases::check;

    #[test]
    fn a_mistake_is_marked_in_its_line() {
        check("mistake: a text with the mistake in ‹›, its place, and its line", |marked| {
            let (start, rest) = marked.split_once('‹').expect("a begin");
            let (wrong, _) = rest.split_once('›').expect("an end");
            let text = marked.replace(['‹', '›'], "");
            let mistake = Mistake::new(start.len()..start.len() + wrong.len(), "wrong");
            let (line, column) = mistake.place(&text);
            format!("{line}:{column}\n{}", mistake.quote(&text))
        });
    }

    #[test]
    fn a_long_line_is_cut_on_both_sides() {
        let text = format!("{} = oops{}", "k".repeat(200), "z".repeat(200));
        let quote = Mistake::new(203..207, "wrong").quote(&text);
        let expected = format!(
            "  |\n1 | …{} = oops{}…\n  | {}^^^^\n",
            "k".repeat(20),
            "z".repeat(47),
            " ".repeat(24)
        );
        assert_eq!(quote, expected);
    }

    proptest! {
        #[test]
        fn any_place_of_any_text_can_be_shown(text in "(?s)(.{0,200}|.{0,90}password = \"[a-z•]{0,90})", start in 0..300_usize, long in 0..99_usize) {
            let quote = Mistake::new(start..start + long, "wrong").quote(&text);
            prop_assert_eq!(quote.lines().count(), 3);
            prop_assert!(quote.lines().all(|line| line.width() <= COLUMNS), "{}", quote);
            prop_assert!(!quote.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
