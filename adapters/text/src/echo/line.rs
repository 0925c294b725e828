//! Lines of a text: which are sentences, and which are code, tables, lists or logs.

use crate::phrases::is_alphabetic;

/// The fewest words of a line that ends as a sentence does: fewer are a label, or the word of a
/// test runner.
const SENTENCE_MIN: usize = 3;

/// The fewest words of a line that is prose without such an end: text that is wrapped, or that never
/// comes to an end. Eight words do not stand in most lines of code and tables.
const PROSE_MIN: usize = 8;

/// The fewest letters of a sentence in a script that puts no blanks between words.
const LETTERS_MIN: usize = 6;

/// The kinds of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// An empty line.
    Blank,
    /// Signs and numbers: the rule of a table, a board, a dump.
    Signs,
    /// Code, the row of a table, an item of a list, a line of a log, a heading.
    Line,
    /// Prose.
    Sentence,
}

impl Shape {
    /// The shape of a line that is known to be code.
    pub(super) fn of_code(line: &str) -> Self {
        match line.trim() {
            "" => Self::Blank,
            code if parts(code).any(is_word) => Self::Line,
            _ => Self::Signs,
        }
    }
}

/// The shape of a line that is not known to be code.
pub(super) fn shape(line: &str) -> Shape {
    match Shape::of_code(line) {
        Shape::Line if is_sentence(line) => Shape::Sentence,
        shape => shape,
    }
}

/// Returns whether `line` is prose: mostly letters, and not code, a list item or a table row.
fn is_sentence(line: &str) -> bool {
    let text = line.trim();
    let is_row = text.contains('\t');
    if is_row || is_indented(line) || !begins_as_prose(text) || !is_mostly_letters(text) {
        return false;
    }
    let is_long = has(parts(text).filter(|part| is_word(part)), PROSE_MIN);
    let goes_on = is_long && !text.ends_with([';', '{']);
    goes_on
        || (ends(text) && has(text.split_whitespace(), SENTENCE_MIN))
        || ends_without_blanks(text)
}

/// Returns whether there are `least` parts or more.
fn has<'l>(parts: impl Iterator<Item = &'l str>, least: usize) -> bool {
    parts.take(least).count() == least
}

/// Returns whether Markdown takes `line` for code.
fn is_indented(line: &str) -> bool {
    line.starts_with("    ") || line.starts_with('\t')
}

/// Returns whether a sentence can start like `text`: with a letter, a quotation mark, a bracket, or
/// Markdown's emphasis. Lists, tables, headings, quotations and JSON start differently.
fn begins_as_prose(text: &str) -> bool {
    let mut characters = text.chars();
    match characters.next() {
        Some('*' | '_') => characters.next().is_some_and(|next| !next.is_whitespace()),
        Some('"' | '\'' | '`' | '(' | '“' | '‘' | '«' | '„' | '¿' | '¡' | '「' | '『') => {
            true
        }
        first => first.is_some_and(is_alphabetic),
    }
}

/// Returns whether three of four characters are letters, blanks aside.
fn is_mostly_letters(text: &str) -> bool {
    let characters = text.chars().filter(|character| !character.is_whitespace());
    let (letters, all) = characters.fold((0_usize, 0_usize), |(letters, all), character| {
        (letters.saturating_add(is_alphabetic(character).into()), all.saturating_add(1))
    });
    letters.saturating_mul(4) >= all.saturating_mul(3)
}

/// Returns whether `text` ends as a sentence does.
fn ends(text: &str) -> bool {
    let text = text.trim_end_matches(['"', '\'', ')', '*', '_', '”', '’', '»']);
    text.ends_with(['.', '!', '?', '…'])
}

/// Returns whether `text` is a sentence of a script that puts no blanks between words.
fn ends_without_blanks(text: &str) -> bool {
    let has_letters = || text.chars().filter(|character| is_alphabetic(*character));
    text.ends_with(['。', '！', '？']) && has_letters().nth(LETTERS_MIN).is_some()
}

/// The words of `line`, and its parts that hold a digit.
pub(super) fn parts(line: &str) -> impl Iterator<Item = &str> {
    let has_digit = |part: &str| part.bytes().any(|byte| byte.is_ascii_digit());
    line.split_whitespace().filter(move |part| is_word(part) || has_digit(part))
}

/// Returns whether a part of a line is a word: it has two letters.
pub(super) fn is_word(part: &str) -> bool {
    part.chars().filter(|character| is_alphabetic(*character)).nth(1).is_some()
}

/// The fences around blocks of code in Markdown, as one line after another is taken in.
#[derive(Clone, Copy, Default)]
pub(super) struct Fences {
    /// The character and the length of the fence that is open.
    open: Option<(char, usize)>,
    /// The number of fences opened so far.
    opened: usize,
}

impl Fences {
    /// The number of the fence in `text` that is never closed, if there is one; the first is 1. A
    /// model that has lost itself inside a block of code does not close it.
    pub(super) fn unclosed(text: &str) -> Option<usize> {
        let mut fences = Self::default();
        crate::find::lines(text).for_each(|line| _ = fences.take(line));
        fences.open.map(|_| fences.opened)
    }

    /// Reads a line, and returns whether it opens or closes a block.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let Some((mark, length, rest)) = fence(line) else { return false };
        match self.open {
            None if mark == '`' && rest.contains('`') => false,
            None => {
                self.open = Some((mark, length));
                self.opened = self.opened.saturating_add(1);
                true
            }
            Some((open, least)) if open == mark && length >= least && rest.trim().is_empty() => {
                self.open = None;
                true
            }
            Some(_) => false,
        }
    }

    /// True if a block is open.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns the number of blocks opened so far.
    pub(super) fn opened(&self) -> usize {
        self.opened
    }
}

/// The character and the length of the fence that `line` begins with, and what stands behind it.
/// Blocks inside a list are indented, so the indentation is not limited.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len().saturating_sub(rest.len());
    (length >= 3).then_some((mark, length, rest))
}

#[cfg(test)]
mod tests {
    use super::{Fences, Shape, shape};
    use crate::tables::{check, kinds};

    #[test]
    fn a_sentence_is_told_from_code_tables_lists_and_logs() {
        for (expected, line) in kinds(include_str!("line.txt")) {
            assert_eq!(format!("{:?}", shape(line)).to_lowercase(), expected, "{line}");
        }
        assert_eq!(["", "  \t"].map(shape), [Shape::Blank; 2]);
    }

    #[test]
    fn a_fence_is_closed_by_one_of_its_kind() {
        check("an unclosed fence", |text| format!("{:?}", Fences::unclosed(text)));
    }
}
