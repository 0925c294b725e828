//! Makes text from a recording safe to show: one line, no control characters, no secrets.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::redact::masked;

/// The columns of a terminal of the usual width.
pub const COLUMNS: usize = 80;

/// The most characters of a text. Paths and messages are shorter.
const TEXT_MAX: usize = 4096;

/// The most characters without a width in a row, for example accents over one letter.
const MARKS_MAX: usize = 4;

/// Returns `text` as it may be shown: on one line, without secrets and invisible characters, and not
/// longer than a message. Control characters, for example in an escape sequence, become visible.
///
/// All text that others wrote goes through this function before a person sees it.
pub fn plain(text: &str) -> String {
    // A character of a text takes at most four bytes, and some are left out.
    bounded(&one_line(&masked(beginning(text, 8 * TEXT_MAX))))
}

/// Returns whether a person sees `text` as it is written.
pub(crate) fn is_plain(text: &str) -> bool {
    bounded(&one_line(text)) == text
}

/// Returns at most `bytes` bytes of `text`, cut between characters.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

fn one_line(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut indenting = false;
    for c in text.chars() {
        let broken = matches!(c, '\n' | '\r');
        // The indentation of a line goes with the line break.
        if indenting && (broken || c == ' ' || c == '\t') {
            continue;
        }
        indenting = broken;
        match c {
            '\n' | '\r' | '\t' => plain.push(' '),
            c if is_hidden(c) => plain.push('\u{FFFD}'),
            c => plain.push(c),
        }
    }
    plain
}

/// Returns `text` with a limited number of characters, and of characters without a width in a row.
fn bounded(text: &str) -> String {
    let mut bounded = String::with_capacity(text.len());
    let (mut length, mut marks) = (0, 0);
    for c in text.chars() {
        marks = if c.width() == Some(0) { marks + 1 } else { 0 };
        if marks > MARKS_MAX {
            continue;
        }
        if length == TEXT_MAX {
            bounded.push('…');
            break;
        }
        length += 1;
        bounded.push(c);
    }
    bounded
}

/// Returns whether `c` is a control character or invisible.
pub fn is_hidden(c: char) -> bool {
    c.is_control() || is_invisible(c)
}

/// Returns whether `c` has no width or no ink, or changes the writing direction, so that it could hide
/// other text or look like a space.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Returns a number with its noun, for example "1 run" or "2 runs".
pub fn counted(n: impl TryInto<u64>, what: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// Returns `text` cut to `columns`, with an ellipsis if something was cut off.
pub fn shortened(text: &str, columns: usize) -> String {
    let (mut used, mut end) = (0, None);
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used >= columns && end.is_none() {
            end = Some(at);
        }
        if used > columns {
            return format!("{}…", &text[..end.unwrap_or(at)]);
        }
    }
    text.to_owned()
}

/// Returns the number of bytes of `text` in its first `columns`.
pub fn columns_on(text: &str, columns: usize) -> usize {
    let mut used = 0;
    let too_wide = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > columns
    });
    let end = too_wide.map_or(text.len(), |(at, _)| at);
    // Some characters are wider together, for example an emoji and the selector of its form.
    let mut ends = text[..end].char_indices().rev().map(|(at, _)| at);
    let fits = |end: &usize| text[..*end].width() <= columns;
    if fits(&end) { end } else { ends.find(fits).unwrap_or(0) }
}

/// A tool's name in at most `columns`.
pub fn tool_name(tool: &str, columns: usize) -> String {
    let tool = plain(tool);
    if tool.trim().is_empty() { "(no name)".to_owned() } else { shortened(&tool, columns) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cases::check;

    #[test]
    fn a_terminal_never_sees_a_control_character_or_a_secret() {
        check("shown: text of a recording on one line", plain);
    }

    #[test]
    fn a_text_is_bounded_in_characters_and_in_bytes() {
        let accents = "\u{301}".repeat(200_000);
        assert_eq!(plain(&format!("e{accents}")), format!("e{}", &accents[..8]));
        assert_eq!(plain(&format!("e{accents}x")).chars().count(), 5, "the rest is not looked at");
        let long = plain(&"é\u{301}".repeat(200_000));
        assert!(long.chars().count() <= TEXT_MAX + 1 && long.ends_with('…'), "{}", long.len());
        assert_eq!(plain(&"\u{E0041}".repeat(200_000)).chars().count(), TEXT_MAX + 1);
        let path = "p".repeat(TEXT_MAX);
        assert_eq!(plain(&path), path);
    }

    #[test]
    fn text_that_fits_is_not_cut() {
        check("shown: a text in some columns", |row| {
            let (text, columns) = row.rsplit_once(" in ").expect("columns");
            shortened(text, columns.parse().expect("columns"))
        });
    }

    proptest! {
        #[test]
        fn shown_text_fits_on_one_line(text in ".{0,80}", columns in 1..40_usize) {
            let shown = shortened(&plain(&text), columns);
            prop_assert!(shown.width() <= columns);
            prop_assert!(!shown.chars().any(is_hidden));
        }
    }
}
