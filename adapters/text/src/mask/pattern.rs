//! Patterns of a host's own: numbers that it knows to be volatile.

use core::fmt;

/// A text around a number that says nothing: `Step # of` or `run-#.log`; the `#` stands for the
/// number.
///
/// ```
/// use unstuck_text::{Masks, Pattern};
///
/// let patterns = [Pattern::new("--- round # ---")?];
/// let masker = Masks::ALL.and(&patterns);
/// assert_eq!(masker.digest(b"--- round 7 ---\nno"), masker.digest(b"--- round 8 ---\nno"));
/// assert_ne!(masker.digest(b"--- round 7 ---\nno"), masker.digest(b"--- round 8 ---\nyes"));
/// # Ok::<(), unstuck_text::PatternError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern<'p> {
    text: &'p str,
    number: usize,
}

/// A pattern without a place for its number, or with several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternError;

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pattern is a text with one # where a number stands, like \"Step # of\"")
    }
}

impl core::error::Error for PatternError {}

/// The longest pattern, in bytes: each is compared with the text around each number.
const PATTERN_MAX: usize = 256;

impl<'p> Pattern<'p> {
    /// The pattern that `text` describes.
    ///
    /// # Errors
    ///
    /// One if `text` has no `#`, more than one, nothing but that, or more than 256 bytes.
    pub const fn new(text: &'p str) -> Result<Self, PatternError> {
        let bytes = text.as_bytes();
        let (mut number, mut found, mut at) = (0, 0_usize, 0);
        while at < bytes.len() {
            if bytes[at] == b'#' {
                (number, found) = (at, found + 1);
            }
            at += 1;
        }
        if found != 1 || bytes.len() < 2 || bytes.len() > PATTERN_MAX {
            return Err(PatternError);
        }
        Ok(Self { text, number })
    }

    /// The text of the pattern, as it was given.
    pub const fn text(&self) -> &'p str {
        self.text
    }

    /// Whether the number from `start` to `end` of `text` is the pattern's.
    pub(super) fn matches(&self, text: &[u8], start: usize, end: usize) -> bool {
        let (before, after) = self.text.as_bytes().split_at(self.number);
        let after = after.get(1..).unwrap_or_default();
        let ahead = text.get(..start).unwrap_or_default();
        ahead.ends_with(before) && text.get(end..).unwrap_or_default().starts_with(after)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_pattern_has_one_place_for_a_number() {
        for (text, fits) in
            [("a #", true), ("# b", true), ("#", false), ("a", false), ("# #", false)]
        {
            assert_eq!(Pattern::new(text).is_ok(), fits, "{text}");
        }
    }
}
