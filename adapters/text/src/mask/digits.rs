//! Rows of decimal digits in a text, and what stands directly beside them.

use super::kind::{Mask, Part, Span};
use super::scan::{is_of, kind};

/// Returns the byte at `at`, or 0 outside of the text.
pub(super) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// A row of decimal digits, and the extent of the number that it begins.
pub(super) struct Digits {
    pub(super) start: usize,
    /// Behind the digits.
    pub(super) end: usize,
    /// Behind further rows with single points between them.
    pub(super) decimal: usize,
    /// The byte before it, or 0 at the start of the text.
    pub(super) before: u8,
    /// The byte behind the digits, or 0 at the end of the text.
    pub(super) after: u8,
    /// True if no letter, digit or decimal point stands directly before it.
    pub(super) is_free: bool,
}

impl Digits {
    pub(super) fn at(text: &[u8], start: usize) -> Self {
        let end = digits_end(text, start);
        let after = byte(text, end);
        let mut decimal = end;
        while byte(text, decimal) == b'.' && byte(text, decimal + 1).is_ascii_digit() {
            decimal = digits_end(text, decimal + 1);
        }
        let before = start.checked_sub(1).map_or(0, |at| byte(text, at));
        let is_free = !is_of(kind::ALPHANUMERIC, before) && before != b'.' && before < 0x80;
        Self { start, end, decimal, before, after, is_free }
    }

    /// The row with nothing before it.
    pub(super) const fn freed(self) -> Self {
        Self { before: 0, is_free: true, ..self }
    }

    pub(super) const fn length(&self) -> usize {
        self.end - self.start
    }

    /// Returns whether letters and hyphens stand on neither side, so that the digits are no part of a
    /// longer word.
    pub(super) fn is_apart(&self) -> bool {
        fn joins(byte: u8) -> bool {
            is_of(kind::ALPHANUMERIC, byte) || byte == b'-'
        }
        !joins(self.before) && !joins(self.after)
    }

    /// Only this row, without what follows a point.
    pub(super) const fn only(&self, mask: Mask) -> Span {
        Span { start: self.start, end: self.end, part: Part::of(mask) }
    }
}

/// Returns the end of the decimal digits at `start`.
pub(super) fn digits_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default().iter();
    start + rest.take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns whether `text` ends with `word`, in upper or lower case.
pub(super) fn ends_with(text: &[u8], word: &[u8]) -> bool {
    let end = text.len().checked_sub(word.len()).and_then(|start| text.get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(word))
}
