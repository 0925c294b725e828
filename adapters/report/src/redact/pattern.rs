//! Matches a pattern with a text. A pattern is a list of parts that is read once, from left to right.

use std::ops::Range;

use super::names::{Kind, Name};
use super::symbol::{Symbol, after_spaces, next, rest};
use super::values::{self, Extent, Form};

/// A set of bytes.
pub(super) type Class = fn(u8) -> bool;

pub(super) const DIGITS: Class = |byte| byte.is_ascii_digit();
pub(super) const HEX: Class = |byte| byte.is_ascii_hexdigit();
pub(super) const CAPITALS: Class = |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit();
/// Letters and digits.
pub(super) const LETTERS: Class = |byte| byte.is_ascii_alphanumeric();
pub(super) const WORD: Class = |byte| LETTERS(byte) || matches!(byte, b'_' | b'-');
pub(super) const DOTTED: Class = |byte| WORD(byte) || byte == b'.';
/// The alphabets of base64, and the signs that join its parts.
pub(super) const BASE64: Class =
    |byte| DOTTED(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~' | b'$' | b',');

/// The signs between a name and its value.
pub(super) const SIGN: Class = |byte| matches!(byte, b':' | b'=');
/// Quotation marks, and the backslashes before them.
pub(super) const MARKS: Class = |byte| matches!(byte, b'"' | b'\'' | b'\\');

/// The most bytes that a part takes of a text that may turn out to be no secret, and that are read before a place.
pub(super) const AHEAD: usize = 128;

/// A number of bytes without a limit, for the last part of a pattern.
pub(super) const MANY: usize = usize::MAX;

/// A part of a pattern. It takes text, says what the text is like, or says what is the secret.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// Takes this text, also with escapes.
    Text(&'static str),
    /// Takes one of these texts, the first that is there.
    Any(&'static [&'static str]),
    /// Takes this text if it is there.
    Maybe(&'static str),
    /// Takes at least so many spaces.
    Spaces(usize),
    /// Takes spaces and line breaks, if there are any.
    Lines,
    /// Takes bytes of a class: at least the first number of them, at most the second.
    Run(Class, usize, usize),
    /// Takes as many bytes as this function says.
    Read(fn(&str) -> Option<usize>),
    /// Takes everything up to this text, a quotation mark or the end.
    Until(&'static str),
    /// Goes to the next argument of a command.
    Next,
    /// Goes to the next argument, or stays if the value of the option is in the same word.
    Either,

    /// The text that the part before took passes this test.
    If(fn(&str) -> bool),
    /// The name stands for one of these kinds of secrets.
    Kinds(&'static [Kind]),
    /// The name is an option of a command.
    IsOption,
    /// A quotation mark is after the name.
    IsQuoted,
    /// The name belongs to a function that takes the secret, such as `setPassword`.
    Sets,
    /// The name is one of these.
    Named(&'static [&'static str]),
    /// The name is none of these.
    Unnamed(&'static [&'static str]),
    /// The name begins an element of XML.
    Tag,
    /// The text ends with one of these before the name.
    Behind(&'static [&'static str]),
    /// One of these words is before the name, so many words before it.
    Before(usize, &'static [&'static str]),
    /// One of these texts is near, before the place.
    Since(&'static [&'static str]),
    /// Before the place is a space, a quotation mark, or one of these characters.
    Free(&'static str),
    /// The value of an option follows in the same word.
    Attached,
    /// A symbol like this follows.
    Ahead(fn(Symbol) -> bool),
    /// None of these bytes follows.
    Not(Class),
    /// A word follows that has so many characters and looks random.
    Random(usize),

    /// The secret begins here.
    Secret,
    /// The secret ended here, before spaces and quotation marks.
    End,
    /// The secret is the value at this place.
    Value(Form),
    /// There is no secret.
    Nothing,
}

impl Part {
    /// Returns whether text that this part takes may begin with `byte`, if it has no escapes.
    pub(super) fn begins(self, byte: u8) -> bool {
        match self {
            Self::Text(text) => text.as_bytes()[0] == byte,
            Self::Any(texts) => texts.iter().any(|text| text.as_bytes()[0] == byte),
            Self::Run(class, ..) => class(byte),
            _ => true,
        }
    }
}

/// A place in a text where a pattern is matched.
#[derive(Clone, Copy)]
pub(super) struct Place<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// The symbol before the place, or before the name.
    pub(super) previous: Option<Symbol>,
    /// The name that ends before the place.
    pub(super) name: Option<&'t Name>,
    /// The kind of secret that the name stands for.
    pub(super) kind: Kind,
}

impl<'t> Place<'t> {
    /// Returns the place `at`, after the symbol `previous`.
    pub(super) const fn at(text: &'t str, at: usize, previous: Option<Symbol>) -> Self {
        Self { text, at, previous, name: None, kind: Kind::Strong }
    }

    /// Returns the place after `name`, and after the marks that belong to it.
    pub(super) fn after(text: &'t str, name: &'t Name, kind: Kind) -> Self {
        let mut at = name.span.end;
        for marks in ["\"'`“‘«", "]", "\"'`“‘«", "?"] {
            at +=
                next(text, at).filter(|symbol| marks.contains(symbol.c)).map_or(0, |mark| mark.len);
        }
        Self { text, at, previous: name.previous, name: Some(name), kind }
    }

    /// Returns the secret of the first of the `patterns` that is at this place, if it has one.
    pub(super) fn first<'p>(
        &self,
        patterns: impl IntoIterator<Item = &'p [Part]>,
    ) -> Option<Range<usize>> {
        for pattern in patterns {
            if let Some(secret) = self.matches(pattern) {
                return Some(secret).filter(|secret| !secret.is_empty());
            }
        }
        None
    }

    /// Returns the secret if the pattern is at this place. It is empty if there is none.
    pub(super) fn matches(&self, pattern: &[Part]) -> Option<Range<usize>> {
        let (mut at, mut last, mut start, mut end) = (self.at, self.at, self.at, None);
        for part in pattern {
            match *part {
                Part::Secret => start = at,
                Part::End => {
                    let bare = self.text[start..at].trim_end_matches([' ', '"', '\'', '\\']);
                    end = Some(start + bare.len());
                }
                Part::Nothing => return Some(at..at),
                Part::Value(form) => return values::value(self, at, form).or(Some(at..at)),
                Part::If(is) => is(&self.text[last..at]).then_some(())?,
                part => {
                    let after = self.end_of(part, at)?;
                    last = if after > at { at } else { last };
                    at = after;
                }
            }
        }
        let secret = start..end.unwrap_or(at);
        values::checked(self.text, secret, self.kind, Form::Word).or(Some(at..at))
    }

    /// Returns the place after `part` at `at`, if it is there.
    fn end_of(&self, part: Part, at: usize) -> Option<usize> {
        let text = self.text;
        match part {
            Part::Text(expected) => literal(text, at, expected),
            Part::Any(all) => all.iter().find_map(|expected| literal(text, at, expected)),
            Part::Maybe(expected) => literal(text, at, expected).or(Some(at)),
            Part::Spaces(min) => {
                let over_lines = self.name.is_some_and(|name| name.is_quoted);
                Some(after_spaces(text, at, over_lines)).filter(|end| *end >= at + min)
            }
            Part::Lines => Some(after_spaces(text, at, true)),
            Part::Run(class, min, max) => {
                Some(run(text, at, class, max)).filter(|end| *end >= at + min)
            }
            Part::Read(length) => length(rest(text, at)).map(|length| at + length),
            Part::Until(expected) => {
                let mut end = at;
                while let Some(symbol) = next(text, end).filter(|symbol| !symbol.quotes())
                    && literal(text, end, expected).is_none()
                {
                    end += symbol.len;
                }
                Some(end)
            }
            Part::Attached => is_attached(text, at).then_some(at),
            Part::Next => argument(text, at),
            Part::Either => {
                Some(at).filter(|at| is_attached(text, *at)).or_else(|| argument(text, at))
            }
            condition => self.holds(condition, at).then_some(at),
        }
    }

    /// Returns whether `condition` holds at `at`.
    fn holds(&self, condition: Part, at: usize) -> bool {
        match condition {
            Part::Ahead(is) => next(self.text, at).is_some_and(is),
            Part::Not(class) => !rest(self.text, at).bytes().next().is_some_and(class),
            Part::Random(min) => is_random(word(self.text, at), min),
            Part::Kinds(kinds) => kinds.contains(&self.kind),
            Part::Free(others) => self.previous.is_none_or(|symbol| {
                symbol.is_space() || symbol.quotes() || others.contains(symbol.c)
            }),
            Part::Since(words) => {
                let before = near(self.text, self.at);
                words.iter().any(|word| before.contains(word))
            }
            condition => self.name.is_some_and(|name| holds_for(name, self.text, condition)),
        }
    }
}

/// Returns the beginning of the word at `at`.
fn word(text: &str, at: usize) -> &str {
    let ahead = &text[..run(text, at, |_| true, AHEAD)];
    &ahead[Extent::WORD.of(ahead, at)]
}

/// Returns whether `condition` holds for `name` and what is before it.
fn holds_for(name: &Name, text: &str, condition: Part) -> bool {
    let before = near(text, name.span.start);
    match condition {
        Part::IsOption => name.is_option,
        Part::IsQuoted => name.is_quoted,
        Part::Sets => name.sets(),
        Part::Named(words) => name.is_any(words),
        Part::Unnamed(words) => !name.is_any(words),
        Part::Behind(ends) => ends.iter().any(|end| before.ends_with(end)),
        Part::Tag => {
            let tag = before
                .strip_suffix(':')
                .map(|prefix| prefix.trim_end_matches(char::is_alphanumeric));
            tag.unwrap_or(before).ends_with('<')
        }
        Part::Before(back, words) => {
            let word = before.split_ascii_whitespace().nth_back(back - 1);
            word.is_some_and(|word| words.iter().any(|end| ends_with_word(word, end)))
        }
        _ => false,
    }
}

/// Returns whether `word` is the last word of `text`, in capital or small letters. A line break may be an escape.
fn ends_with_word(text: &str, word: &str) -> bool {
    text.len().checked_sub(word.len()).and_then(|start| text.split_at_checked(start)).is_some_and(
        |(before, last)| {
            last.eq_ignore_ascii_case(word)
                && (!before.ends_with(char::is_alphanumeric) || before.ends_with("\\n"))
        },
    )
}

/// Returns the text before `at`, at most `AHEAD` bytes.
pub(super) fn near(text: &str, at: usize) -> &str {
    let begin = (at.saturating_sub(AHEAD)..at).find(|begin| text.is_char_boundary(*begin));
    &text[begin.unwrap_or(at)..at]
}

/// Returns the place after `expected` at `at`, which may be written with escapes.
fn literal(text: &str, at: usize, expected: &str) -> Option<usize> {
    let first = *text.as_bytes().get(at)?;
    if expected.bytes().next() != Some(first) && !matches!(first, b'\\' | b'%' | b'&' | b'\r') {
        return None;
    }
    expected.chars().try_fold(at, |end, c| {
        next(text, end).filter(|symbol| symbol.c == c).map(|symbol| end + symbol.len)
    })
}

/// Returns the place after the bytes of `class` at `at`, at most `max` of them.
#[inline]
pub(super) fn run(text: &str, at: usize, class: Class, max: usize) -> usize {
    let mut end = at + rest(text, at).bytes().take(max).take_while(|byte| class(*byte)).count();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Returns whether the value of an option is in the same word, and no mark that ends the option.
fn is_attached(text: &str, at: usize) -> bool {
    let is_part = |symbol: Symbol| !symbol.is_space() && !"=,)]}\"'".contains(symbol.c);
    let quote = next(text, at).filter(|symbol| symbol.c == '\'').map_or(0, |quote| quote.len);
    next(text, at + quote).is_some_and(is_part)
}

/// Returns the place of the value of an option that ends at `at`.
fn argument(text: &str, at: usize) -> Option<usize> {
    let first = next(text, at)?;
    if first.c == '=' {
        return Some(at + first.len);
    }
    let value = next_argument(text, at)?;
    let is_option = first.is_space() && rest(text, value).starts_with('-');
    (!is_option).then_some(value)
}

/// Returns the place of the next argument after `at`, also in a list of quoted words.
pub(super) fn next_argument(text: &str, at: usize) -> Option<usize> {
    let first = next(text, at)?;
    if first.is_space() {
        let value = after_spaces(text, at, false);
        return next(text, value).filter(|symbol| !"|><&;\n".contains(symbol.c)).map(|_| value);
    }
    let comma = after_spaces(text, at + first.len, false);
    next(text, comma).filter(|symbol| symbol.c == ',' && first.quotes())?;
    let value = after_spaces(text, comma + 1, true);
    next(text, value).filter(|symbol| symbol.quotes()).map(|_| value)
}

/// Returns whether `value` has at least `min` characters and looks random: it has digits and letters.
pub(super) fn is_random(value: &str, min: usize) -> bool {
    let is_uuid = value.len() == 36 && value.bytes().filter(|byte| *byte == b'-').count() == 4;
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_plain = value.bytes().all(|byte| byte.is_ascii_graphic());
    let mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let is_path = value.starts_with(['/', '.', '~']) || value.matches('/').count() > 2;
    value.len() >= min
        && is_plain
        && !is_uuid
        && !is_path
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || mixed && value.len() >= 20)
}
