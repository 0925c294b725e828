//! What was read of the latest short texts, so that an equal text is not read again: an agent in a loop makes the same call
//! and gets the same answer.

use std::collections::VecDeque;

/// The number of texts that are remembered: those of a few calls in turns.
const TEXTS_MAX: usize = 4;

/// The longest text that is remembered, in bytes. Nearly all that come again are shorter.
const LENGTH_MAX: usize = 256;

/// The latest short texts, each with its circumstances and with what was read of it. It is not part of a saved state.
#[derive(Clone, Debug)]
pub(crate) struct Known<C, R>(VecDeque<KnownText<C, R>>);

#[derive(Clone, Debug)]
struct KnownText<C, R> {
    circumstances: C,
    text: String,
    read: R,
}

impl<C, R> Default for Known<C, R> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<C: PartialEq, R> Known<C, R> {
    /// Returns what was read of `text` in the same `circumstances`.
    pub(crate) fn find(&self, circumstances: &C, text: &str) -> Option<&R> {
        let mut known = self.0.iter().rev();
        let known =
            known.find(|known| known.text == text && known.circumstances == *circumstances)?;
        Some(&known.read)
    }

    /// Remembers what was read of `text`, unless it is long. Forgets the oldest text if there are too many.
    pub(crate) fn add(&mut self, circumstances: C, text: &str, read: R) {
        if text.len() > LENGTH_MAX {
            return;
        }
        let is_full = self.0.len() >= TEXTS_MAX;
        let oldest = if is_full { self.0.pop_front() } else { None };
        let room = oldest.map_or_else(|| String::with_capacity(LENGTH_MAX), |oldest| oldest.text);
        let mut known = KnownText { circumstances, text: room, read };
        known.text.clear();
        known.text.push_str(text);
        self.0.push_back(known);
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, LENGTH_MAX, TEXTS_MAX};

    #[test]
    fn the_latest_short_texts_are_known_in_their_circumstances() {
        let mut known = Known::default();
        for n in 0..10 {
            known.add(n % 2, &n.to_string(), n);
        }
        let found = |n: usize| known.find(&(n % 2), &n.to_string()).copied();
        let latest: Vec<_> = (0..10).filter_map(found).collect();
        assert_eq!(latest, (10 - TEXTS_MAX..10).collect::<Vec<_>>());
        assert_eq!(known.find(&0, "9"), None);
        let long = "x".repeat(LENGTH_MAX + 1);
        known.add(0, &long, 0);
        assert_eq!(known.find(&0, &long), None);
    }
}
