//! Counters of a host's own: numbers that it knows to be volatile.

use core::fmt;

/// A number with a fixed text around it, for example `Step # of` or `run-#.log`. The `#` stands for
/// the number, which is volatile.
///
/// ```
/// use unstuck_text::{Masks, Counter};
///
/// let counters = [Counter::new("--- round # ---")?];
/// let masker = Masks::ALL.and(&counters);
/// assert_eq!(masker.digest(b"--- round 7 ---\nno"), masker.digest(b"--- round 8 ---\nno"));
/// assert_ne!(masker.digest(b"--- round 7 ---\nno"), masker.digest(b"--- round 8 ---\nyes"));
/// # Ok::<(), unstuck_text::CounterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter<'p> {
    text: &'p str,
    number: usize,
}

/// A counter without a place for its number, or with several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterError;

impl fmt::Display for CounterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a counter is a text with one # where a number stands, like \"Step # of\"")
    }
}

impl core::error::Error for CounterError {}

/// The longest counter, in bytes: each is compared with the text around each number.
const COUNTER_MAX: usize = 256;

impl<'p> Counter<'p> {
    /// The counter that `text` describes.
    ///
    /// # Errors
    ///
    /// Returns an error if `text` has no `#`, more than one, only a `#`, or more than 256 bytes.
    pub const fn new(text: &'p str) -> Result<Self, CounterError> {
        let bytes = text.as_bytes();
        let (mut number, mut found, mut at) = (0, 0_usize, 0);
        while at < bytes.len() {
            if bytes[at] == b'#' {
                (number, found) = (at, found + 1);
            }
            at += 1;
        }
        if found != 1 || bytes.len() < 2 || bytes.len() > COUNTER_MAX {
            return Err(CounterError);
        }
        Ok(Self { text, number })
    }

    /// The text of the counter, as it was given.
    pub const fn text(&self) -> &'p str {
        self.text
    }

    /// Returns whether the number from `start` to `end` of `text` is the counter's.
    pub(super) fn matches(&self, text: &[u8], start: usize, end: usize) -> bool {
        let own = self.text.as_bytes();
        // The compiler does not know that the number is inside of its text.
        let (before, after) = own.split_at(self.number.min(own.len()));
        let after = after.get(1..).unwrap_or_default();
        let ahead = text.get(..start).unwrap_or_default();
        ahead.ends_with(before) && text.get(end..).unwrap_or_default().starts_with(after)
    }
}

#[cfg(test)]
mod tests {
    use super::Counter;
    use crate::tables::check;

    #[test]
    fn a_counter_has_one_place_for_a_number() {
        check("a counter", |text| format!("{}", Counter::new(text).is_ok()));
    }
}
