//! A pull parser for JSON in memory that was checked before.
//!
//! A checked text needs no grammar: a string ends at its next quote, and a list or an object at the bracket of its
//! depth. So a value that nobody asks for costs little more than a search for quotes. [`is_json`] is the check.
//!
//! The walker of `unstuck-json` makes the check. It cannot be the parser as well: it calls a visitor for each token of a
//! whole document. It also refuses half a surrogate pair and deep nesting, which transcripts have, so what it
//! refuses is checked by `serde_json`.

use std::borrow::Cow;

use memchr::memchr;
use serde::de::IgnoredAny;

use crate::field::text_of_json;

/// Returns whether a text is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    unstuck_json::check(text.as_bytes()).is_ok() || serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// A place in a checked text. A copy of it stays where it was.
///
/// In a text that is not JSON the values are wrong, but each step goes on, so that a loop over them ends.
#[derive(Clone, Copy)]
pub(crate) struct Pull<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Pull<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the number of bytes before this place.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Returns the next byte that is not white space, without passing it, or `None` at the end.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Passes the bracket that opens a list or an object. Returns `false` if another value begins here.
    pub(crate) fn enter(&mut self, open: u8) -> bool {
        let opens = self.peek() == Some(open);
        self.at += usize::from(opens);
        opens
    }

    /// Goes to the next element or key of the list or object that was entered. Returns `false` behind its end.
    pub(crate) fn goes_on(&mut self) -> bool {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                true
            }
            Some(b']' | b'}') => {
                self.at += 1;
                false
            }
            next => next.is_some(),
        }
    }

    /// Goes to the next member of the object that was entered, and passes its key. Returns the key with its quotes,
    /// or `None` behind the last member.
    pub(crate) fn quoted_key(&mut self) -> Option<&'a str> {
        self.goes_on().then(|| self.value())
    }

    /// Passes the colon behind a key.
    pub(crate) fn colon(&mut self) {
        self.at += usize::from(self.peek() == Some(b':'));
    }

    /// Goes to the value of the next member, and returns the text of its key, or `None` behind the last member.
    pub(crate) fn key(&mut self) -> Option<Cow<'a, str>> {
        let key = text_of_json(self.quoted_key()?).unwrap_or_default();
        self.colon();
        Some(key)
    }

    /// Passes a value, and returns its text if it is a string.
    pub(crate) fn string(&mut self) -> Option<Cow<'a, str>> {
        text_of_json(self.value())
    }

    /// Passes a value, and returns its JSON.
    pub(crate) fn value(&mut self) -> &'a str {
        self.peek();
        let begin = self.at;
        self.skip();
        self.text.get(begin..self.at).unwrap_or_default()
    }

    /// Passes a value.
    pub(crate) fn skip(&mut self) {
        match self.peek() {
            Some(b'"') => self.skip_string(),
            Some(b'[' | b'{') => self.skip_nested(),
            _ => {
                let is_end =
                    |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
                self.at += self.rest().iter().position(is_end).unwrap_or(self.rest().len());
            }
        }
    }

    fn skip_nested(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b'"' => {
                    self.skip_string();
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
    }

    /// Passes a string: up to the first quote behind an even number of backslashes.
    fn skip_string(&mut self) {
        let bytes = self.text.as_bytes();
        let mut end = self.at + 1;
        while let Some(rest) = bytes.get(end..) {
            let quote = end + bytes_before(rest, b'"');
            end = quote + 1;
            let before = bytes.get(..quote).unwrap_or_default();
            if !before.ends_with(b"\\")
                || before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
            {
                break;
            }
        }
        self.at = end.min(bytes.len());
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}

/// The bytes that are looked at before [`memchr`] is, which takes longer to begin.
const NEAR: usize = 64;

/// A bit for each byte of a word, the lowest one.
pub(crate) const ONES: u64 = u64::MAX / 255;

/// Marks the bytes of a word that are below a bound, by their highest bits. The lowest mark is exact:
/// a borrow moves to higher bytes only.
pub(crate) const fn below(word: u64, bound: u8) -> u64 {
    word.wrapping_sub(ONES * bound as u64) & !word & (ONES << 7)
}

/// Marks the bytes of a word that are equal to one, like [`below`].
pub(crate) const fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * byte as u64), 1)
}

/// Returns the number of bytes before the first `end`, which mostly is near.
#[inline]
pub(crate) fn bytes_before(bytes: &[u8], end: u8) -> usize {
    let mut rest = bytes;
    let mut before = 0;
    while before < NEAR
        && let Some((word, behind)) = rest.split_first_chunk()
    {
        let marks = equal(u64::from_le_bytes(*word), end);
        if marks != 0 {
            return before + marks.trailing_zeros() as usize / 8;
        }
        before += size_of_val(word);
        rest = behind;
    }
    before + memchr(end, rest).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_byte_is_found(bytes in vec(prop_oneof![9 => any::<u8>(), 1 => Just(b'"')], 0..60)) {
            let quote = bytes.iter().position(|&byte| byte == b'"');
            prop_assert_eq!(bytes_before(&bytes, b'"'), quote.unwrap_or(bytes.len()));
        }

        #[test]
        fn every_text_ends(text in r#"[\[\]{},: "\\a0]{0,40}"#) {
            let mut json = Pull::new(&text);
            let mut values = 0;
            while json.goes_on() {
                json.skip();
                values += 1;
            }
            prop_assert!(values <= text.len());
        }
    }
}
