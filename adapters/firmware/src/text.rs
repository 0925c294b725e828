//! Text of a fixed capacity.

use core::fmt;

use heapless::String;

/// The end of a text that was cut.
const CUT: &str = "…";

/// A text of at most `N` bytes. A longer text is cut between two characters and ends with an ellipsis,
/// because a long sentence must neither stop nor silence a robot.
///
/// ```
/// use core::fmt::Write as _;
/// use unstuck_firmware::Text;
///
/// let mut text = Text::<16>::new();
/// write!(text, "the left wheel {}", "stalls").expect("writing into a text never fails");
/// assert_eq!(text.as_str(), "the left whee…");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Text<const N: usize> {
    buffer: String<N>,
    is_cut: bool,
}

impl<const N: usize> Text<N> {
    /// Creates an empty text.
    pub const fn new() -> Self {
        Self { buffer: String::new(), is_cut: false }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.buffer
    }

    /// Adds `letter` if there is room for it and for the ellipsis.
    fn push(&mut self, letter: char) {
        let room = N.saturating_sub(self.buffer.len() + CUT.len());
        self.is_cut = self.is_cut || letter.len_utf8() > room || self.buffer.push(letter).is_err();
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.is_cut {
            return Ok(());
        }
        text.chars().for_each(|letter| self.push(letter));
        if self.is_cut {
            return self.buffer.push_str(CUT).map_err(|_| fmt::Error);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use core::fmt::Write as _;

    use proptest::prelude::*;

    use super::Text;

    proptest! {
        #[test]
        fn a_text_is_whole_or_a_beginning_with_an_ellipsis(pieces in prop::collection::vec(".{0,9}", 0..6)) {
            let mut text = Text::<24>::new();
            for piece in &pieces {
                text.write_str(piece).expect("writing never fails");
            }
            let whole = pieces.concat();
            match text.as_str().strip_suffix('…') {
                Some(beginning) if whole.len() > 21 => prop_assert!(whole.starts_with(beginning)),
                _ => prop_assert_eq!(text.as_str(), whole),
            }
        }
    }
}
