//! Finds where a value ends.

use std::ops::Range;

use super::names::Name;
use super::pattern::run;
use super::symbol::{Symbol, after_spaces, next, quotation, rest};

/// The longest value, in bytes, that is read twice.
pub(super) const SHORT: usize = 200;

/// The most symbols of a name after which another value begins.
const NAME_MAX: usize = 64;

/// The signs at which a value ends.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// The quotation around the value.
    pub(super) enclosing: Option<Symbol>,
    /// The value goes on over spaces.
    pub(super) is_line: bool,
    /// Another name and value may follow after punctuation.
    pub(super) in_list: bool,
}

impl Extent {
    /// The extent of a word.
    pub(super) const WORD: Self = Self { enclosing: None, is_line: false, in_list: true };

    /// Returns the place of the value at `at`, with its quoted parts. It goes on over punctuation, because a password
    /// may contain it.
    pub(super) fn of(self, text: &str, at: usize) -> Range<usize> {
        let (mut end, mut depth, mut previous) = (at, 0_usize, None);
        while let Some(symbol) = next(text, end) {
            let after = end + symbol.len;
            if symbol.c == '\n'
                || symbol.is_space() && !self.is_line && depth == 0
                || self.enclosing.is_some_and(|open| symbol.closes(open))
                || self.in_list && end > at && self.begins_other(text, after, symbol)
                || is_tag(text, end)
            {
                break;
            }
            let before = previous.replace(symbol.c);
            if symbol.quotes() && !(self.is_line && self.enclosing.is_some()) {
                let is_opening = !self.is_line || before == Some('=');
                let is_closing = if self.is_line {
                    !is_opening && (symbol.c == '"' || before != Some(' '))
                } else {
                    end > at && depth == 0
                };
                if is_closing && ends(text, after) || symbol.c == '`' && !self.is_line {
                    break;
                }
                if is_opening {
                    end = quotation(text, symbol, after).1;
                    continue;
                }
            }
            match symbol.c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            // A backslash keeps a space in the word.
            let is_kept = symbol.c == '\\' && rest(text, after).starts_with(' ');
            end = after + usize::from(is_kept);
        }
        trimmed(text, at..end)
    }

    /// Returns whether another name and its sign follow the punctuation `symbol`, which ends at `at`.
    fn begins_other(self, text: &str, at: usize, symbol: Symbol) -> bool {
        if !",;&?".contains(symbol.c) || symbol.c == '?' && self.is_line {
            return false;
        }
        let mut place = if self.is_line { after_spaces(text, at, false) } else { at };
        let begin = place;
        let mut has_space = false;
        for _ in 0..NAME_MAX {
            let Some(part) = next(text, place) else { return false };
            match part.c {
                // A name in the address of a database may have several words.
                ' ' if symbol.c == ';' && place > begin => has_space = true,
                '-' | '.' if place > begin => {}
                '=' | ':' => return place > begin && !(part.c == ':' && has_space),
                c if c.is_alphanumeric() || c == '_' || part.quotes() => {}
                _ => return false,
            }
            place += part.len;
        }
        false
    }
}

/// Returns the contents of the quotation that `open` begins at `at`.
pub(super) fn quoted(text: &str, at: usize, open: Symbol) -> Range<usize> {
    let is_mark = |symbol: &Symbol| symbol.c == open.c && symbol.level == open.level;
    let triple = |at: usize| {
        (0..3).try_fold(at, |at, _| next(text, at).filter(is_mark).map(|mark| at + mark.len))
    };
    if let Some(begin) = triple(at) {
        let mut end = begin;
        while let Some(symbol) = next(text, end).filter(|_| triple(end).is_none()) {
            end += symbol.len;
        }
        return begin..end;
    }
    let inside = at + open.len;
    let (mut end, mut after) = quotation(text, open, inside);
    // In YAML a doubled mark is a part, and in a shell the next part follows.
    while end < after
        && let Some(symbol) = next(text, after)
    {
        let part = after + symbol.len;
        if symbol.c == '\'' && open.c == '\'' && symbol.level > open.level {
            (end, after) = quotation(text, open, part + 1);
        } else if symbol.quotes() && (!ends(text, part) || symbol.c == '\'' && open.c == '\'') {
            (end, after) = quotation(text, symbol, part);
        } else {
            if symbol.c.is_alphanumeric() && open.level == 0 && open.c != '`' {
                end = Extent::WORD.of(text, after).end;
            }
            break;
        }
    }
    inside..end
}

/// Returns the contents of the brackets that `open` begins at `at`.
pub(super) fn bracketed(text: &str, at: usize, open: Symbol) -> Range<usize> {
    let (mut depth, mut end) = (0_usize, at);
    while let Some(symbol) = next(text, end) {
        match symbol.c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            '"' => {
                end = quotation(text, symbol, end + symbol.len).1;
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        end += symbol.len;
    }
    at + open.len..end
}

/// Returns the lines below `at` that belong to `name`: those that are indented more, and its items. Nothing but the
/// sign of a block is at `at`.
pub(super) fn block(text: &str, at: usize, name: &Name) -> Option<Range<usize>> {
    let indent = name.indent?;
    let sign = run(text, at, |byte| b"|>-+".contains(&byte) || byte.is_ascii_digit(), 4);
    let mut place = after_spaces(text, sign, false);
    let (mut start, mut end) = (None, place);
    // At the place is a line break, or a second half of one.
    while let Some(newline) = next(text, place).filter(|symbol| symbol.c == '\n') {
        let begin = place + newline.len;
        let first = after_spaces(text, begin, false);
        let Some(symbol) = next(text, first) else { break };
        if symbol.c == '\n' {
            place = first;
            continue;
        }
        let columns = first - begin;
        let is_item = columns == indent && rest(text, first).starts_with("- ");
        if columns <= indent && !is_item || symbol.quotes() && ends(text, first + symbol.len) {
            break;
        }
        start.get_or_insert(first);
        let line = Extent { enclosing: None, is_line: true, in_list: false };
        end = line.of(text, first).end.max(first);
        place = after_spaces(text, end, false);
    }
    Some(start?..end)
}

/// Returns the place of the first `c` at `at` or later.
pub(super) fn until(text: &str, mut at: usize, c: char) -> usize {
    while let Some(symbol) = next(text, at).filter(|symbol| symbol.c != c) {
        at += symbol.len;
    }
    at
}

/// Returns whether the tag of an element is at `at`.
fn is_tag(text: &str, at: usize) -> bool {
    let is_name = |symbol: Symbol| symbol.c == '/' || symbol.c.is_ascii_alphabetic();
    next(text, at)
        .filter(|open| open.c == '<')
        .is_some_and(|open| next(text, at + open.len).is_some_and(is_name))
}

/// Returns whether nothing follows at `at` that belongs to a word.
fn ends(text: &str, at: usize) -> bool {
    next(text, at)
        .is_none_or(|symbol| symbol.is_space() || ",:;)}]>|&".contains(symbol.c) || symbol.quotes())
}

/// Returns `range` without the spaces and the punctuation after a value. A value of punctuation stays whole.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let mut value = text[range.clone()].trim_end();
    let whole = value.len();
    while let Some(c) = value.chars().next_back() {
        // A closing bracket belongs to the value if the opening one does.
        let is_alone =
            |open| value.len() >= SHORT || value.matches(open).count() < value.matches(c).count();
        let is_punctuation = match c {
            ')' => is_alone('('),
            ']' => is_alone('['),
            '}' => is_alone('{'),
            '>' => is_alone('<'),
            c => c.is_whitespace() || ",;.\\".contains(c),
        };
        if !is_punctuation {
            break;
        }
        value = &value[..value.len() - c.len_utf8()];
    }
    range.start..range.start + if value.is_empty() { whole } else { value.len() }
}
