//! A lenient lexer of JSON, for texts that may be cut short, or written by Python.
//!
//! The fingerprint of `unstuck-json` refuses such a text. The readers of words, members and objects read as
//! far as it goes.

use memchr::memchr2;

use crate::find;
use crate::tokens::is_of_word;

/// A token of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    /// `{` or `[`.
    Open(u8),
    /// `}` or `]`.
    Close(u8),
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// A string without its quotes. Escapes are kept. Without a closing quote it reaches to the end.
    Text(&'t str),
    /// A number or a word, for example `1.5` or `true`.
    Plain(&'t str),
}

/// The tokens of a text, each with the index of its first byte. Other signs are skipped. O(n).
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    /// The index of the next byte.
    at: usize,
    /// The second quote that opens a string; the first is `"`.
    quote: u8,
}

impl<'t> Lexer<'t> {
    /// Reads JSON: strings have double quotes.
    pub(crate) const fn json(text: &'t str) -> Self {
        Self { text, at: 0, quote: b'"' }
    }

    /// Reads JSON or a literal of Python: strings have double or single quotes.
    pub(crate) const fn lenient(text: &'t str) -> Self {
        Self { text, at: 0, quote: b'\'' }
    }

    /// Skips a colon. Returns whether it was the next token.
    pub(crate) fn skip_colon(&mut self) -> bool {
        let rest = self.rest().as_bytes();
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let is_colon = rest.get(blanks) == Some(&b':');
        if is_colon {
            self.at += blanks + 1;
        }
        is_colon
    }

    /// Returns the text that was not read yet.
    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the raw text of the value that comes next, and does not skip it.
    pub(crate) fn value(&self) -> &'t str {
        let mut depth = 0_usize;
        let end = self.clone().find_map(|(at, token)| match token {
            Token::Comma | Token::Close(_) if depth == 0 => Some(at),
            Token::Open(_) => {
                depth += 1;
                None
            }
            Token::Close(_) => {
                depth -= 1;
                None
            }
            _ => None,
        });
        find::trim(self.text.get(self.at..end.unwrap_or(self.text.len())).unwrap_or_default())
    }

    /// Reads the string that begins at `start`.
    fn string(&mut self, start: usize, quote: u8) -> Token<'t> {
        let bytes = self.text.as_bytes();
        let inside = start + 1;
        let mut at = inside;
        while let Some(next) = bytes.get(at..).and_then(|rest| memchr2(quote, b'\\', rest)) {
            at += next;
            if bytes.get(at) == Some(&quote) {
                self.at = at + 1;
                return Token::Text(self.text.get(inside..at).unwrap_or_default());
            }
            // The escaped character cannot end the string.
            at += 2;
        }
        self.at = bytes.len();
        Token::Text(self.text.get(inside..).unwrap_or_default())
    }

    /// Reads the number or the word that begins at `start`.
    fn plain(&mut self, start: usize) -> Token<'t> {
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let length = rest.iter().position(|&byte| !is_of_word(byte)).unwrap_or(rest.len());
        self.at = start + length;
        Token::Plain(self.text.get(start..self.at).unwrap_or_default())
    }
}

impl<'t> Iterator for Lexer<'t> {
    type Item = (usize, Token<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let start = self.at;
            let byte = *self.text.as_bytes().get(start)?;
            self.at = start + 1;
            let token = match byte {
                b'{' | b'[' => Token::Open(byte),
                b'}' | b']' => Token::Close(byte),
                b',' => Token::Comma,
                b':' => Token::Colon,
                b'"' => self.string(start, byte),
                _ if byte == self.quote => self.string(start, byte),
                _ if is_of_word(byte) => self.plain(start),
                _ => continue,
            };
            return Some((start, token));
        }
    }
}

/// Appends the characters of a string to `text`. `string` has no quotes. Returns `None` at an escape that neither JSON
/// nor Python has. O(n).
#[cfg(feature = "alloc")]
pub(crate) fn unescape(string: &str, text: &mut alloc::string::String) -> Option<()> {
    let mut rest = string;
    while let Some((before, escape)) = find::split_once(rest, "\\") {
        text.push_str(before);
        let sign = escape.chars().next()?;
        rest = escape.get(sign.len_utf8()..)?;
        let digits = match sign {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        if digits == 0 {
            text.push(match sign {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\x08',
                'f' => '\x0C',
                '"' | '\'' | '\\' | '/' => sign,
                _ => return None,
            });
            continue;
        }
        let code = |from: usize, to: usize| u32::from_str_radix(rest.get(from..to)?, 16).ok();
        let first = code(0, digits)?;
        // A character beyond the first 65,536 is a pair of escapes in JSON.
        let pair = |second: u32| 0x1_0000 + ((first & 0x3FF) << 10 | second & 0x3FF);
        let second = rest.get(4..6).filter(|sign| *sign == "\\u").and_then(|_| code(6, 10));
        let second = second.filter(|second| first >> 10 == 0x36 && second >> 10 == 0x37);
        text.push(second.map_or(first, pair).try_into().unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = rest.get(digits + if second.is_some() { 6 } else { 0 }..)?;
    }
    text.push_str(rest);
    Some(())
}

/// Returns whether `byte` belongs to a letter or a digit of any script.
pub(crate) const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Returns whether `byte` is a sign that joins the parts of a path or a version.
pub(crate) const fn is_joint(byte: u8) -> bool {
    matches!(byte, b'/' | b'.' | b'-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Lexer, Token};
    use crate::tables::check;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        Lexer::lenient(text).map(|(_, token)| token).collect()
    }

    #[test]
    fn every_token_is_read() {
        check("tokens", |text| format!("{:?}", tokens(text)));
    }

    #[test]
    fn a_text_cut_short_is_read_to_its_end() {
        check("the last token", |text| format!("{:?}", tokens(text).last()));
    }

    #[test]
    fn single_quotes_open_strings_only_if_allowed() {
        let text = "{'a': 1}";
        assert_eq!(tokens(text)[1], Token::Text("a"));
        assert_eq!(Lexer::json(text).nth(1), Some((2, Token::Plain("a"))));
    }

    #[test]
    fn a_value_ends_before_the_next_member() {
        check("the first value", |json| format!("{:?}", Lexer::lenient(json).value()));
    }

    proptest! {
        #[test]
        fn tokens_stand_where_they_say(text in any::<String>(), signs in "[{\\[\"'a:,\\]}\\\\ ü]{0,64}") {
            for text in [text, signs] {
                let (mut lexer, mut behind) = (Lexer::lenient(&text), 0);
                while let Some((at, token)) = lexer.next() {
                    prop_assert!(behind <= at && at < lexer.at);
                    behind = lexer.at;
                    match token {
                        Token::Text(inner) => prop_assert!(text[at + 1..].starts_with(inner)),
                        Token::Plain(word) => prop_assert_eq!(&text[at..behind], word),
                        _ => prop_assert_eq!(at + 1, behind),
                    }
                }
            }
        }
    }
}
