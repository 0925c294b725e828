//! Lines of styled text that are not wider than the terminal.

use anstyle::{AnsiColor, Style};
use textwrap::{Options, WordSplitter};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};
use unstuck_report::shown::columns_on;

pub(super) const BASE: Style = Style::new();
pub(super) const STRONG: Style = Style::new().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// A line of styled text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    spans: Vec<(Style, String)>,
}

impl Line {
    pub(super) fn of(style: Style, text: impl Into<String>) -> Self {
        Self { spans: vec![(style, text.into())] }
    }

    /// Adds `text` at the end.
    pub(super) fn add(&mut self, style: Style, text: &str) {
        self.spans.push((style, text.to_owned()));
    }

    /// Adds another line at the end.
    pub(super) fn append(&mut self, mut other: Self) {
        self.spans.append(&mut other.spans);
    }

    pub(super) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.width()).sum()
    }

    /// Returns the beginning of the line in at most `columns`.
    pub(super) fn cut(mut self, columns: usize) -> Self {
        let mut room = columns;
        for (_, text) in &mut self.spans {
            text.truncate(columns_on(text, room));
            room -= text.width().min(room);
        }
        self
    }

    /// Returns the line in one style, filled up to `columns`.
    pub(super) fn bar(self, style: Style, columns: usize) -> Self {
        let mut text = self.plain();
        text.push_str(&" ".repeat(columns.saturating_sub(text.width())));
        Self::of(style, text).cut(columns)
    }

    /// Returns the text without styles.
    pub(super) fn plain(&self) -> String {
        self.spans.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Returns the text with escape sequences for its styles, or only for those without a colour.
    pub(super) fn escaped(&self, colours: bool) -> String {
        let style = |style: Style| {
            if colours { style } else { style.fg_color(None).bg_color(None) }
        };
        let span = |(of, text): &(Style, String)| {
            let of = style(*of);
            format!("{of}{text}{of:#}")
        };
        self.spans.iter().map(span).collect()
    }
}

/// Returns `text` in lines of at most `columns`, the first behind `first` and the others as far to the right.
pub(super) fn wrapped(style: Style, first: &str, text: &str, columns: usize) -> Vec<Line> {
    let indent = " ".repeat(first.width().min(columns / 2));
    let options = Options::new(columns.max(1))
        .initial_indent(first)
        .subsequent_indent(&indent)
        .word_splitter(WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, options);
    lines.into_iter().map(|line| Line::of(style, line).cut(columns)).collect()
}

/// Returns the end of `text` in at most `columns`, with an ellipsis if something was cut off.
pub(super) fn ending(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let mut used = 0;
    let starts = text.char_indices().rev().take_while(|(_, c)| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    let start = starts.last().map_or(text.len(), |(at, _)| at);
    let fits = |start: &usize| text[*start..].width() <= room;
    let starts = text[start..].char_indices().map(|(at, _)| start + at);
    let start = starts.chain([text.len()]).find(fits).unwrap_or(text.len());
    format!("…{}", &text[start..])
}

#[cfg(test)]
mod tests {
    use anstyle::AnsiColor;
    use proptest::prelude::*;

    use super::*;

    const RED: Style = AnsiColor::Red.on_default().bold();

    #[test]
    fn a_wide_character_is_not_cut_in_half() {
        for (columns, expected) in [(0, ""), (1, "a"), (2, "a"), (3, "a漢"), (9, "a漢字")] {
            assert_eq!(Line::of(RED, "a漢字").cut(columns).plain(), expected);
        }
        assert_eq!(ending("a漢字", 4), "…字");
        assert_eq!(ending("abc", 3), "abc");
    }

    #[test]
    fn without_colours_only_the_weight_is_left() {
        let line = Line::of(RED, "a");
        assert_eq!(line.escaped(true), "\u{1b}[1m\u{1b}[31ma\u{1b}[0m");
        assert_eq!(line.escaped(false), "\u{1b}[1ma\u{1b}[0m");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal(
            text in "(.|[a\u{301}\u{263A}\u{FE0F}\u{1F469}漢 ]){0,80}",
            columns in 0..40_usize,
        ) {
            let text = unstuck_report::plain(&text);
            for line in wrapped(RED, "  first ", &text, columns) {
                prop_assert!(line.width() <= columns, "{line:?}");
            }
            prop_assert!(ending(&text, columns.max(1)).width() <= columns.max(1));
            prop_assert!(Line::of(RED, &*text).bar(RED, columns).width() <= columns);
        }
    }
}
