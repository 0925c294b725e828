//! A short list of the latest values, the newest first.

use core::mem::replace;

/// The latest `N` values. If there are more, the oldest is forgotten. Unlike a ring, it cannot
/// panic, because the compiler need not know an invariant of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recent<T, const N: usize> {
    /// The newest first. The values beyond `len` are unused.
    held: [T; N],
    len: u8,
}

impl<T: Copy, const N: usize> Recent<T, N> {
    /// Creates an empty list. `filler` fills the unused places.
    pub(crate) const fn new(filler: T) -> Self {
        Self { held: [filler; N], len: 0 }
    }

    /// Adds the newest value. O(N).
    pub(crate) fn push(&mut self, value: T) {
        self.held.iter_mut().fold(value, |newer, place| replace(place, newer));
        let most = u8::try_from(N).unwrap_or(u8::MAX);
        self.len = self.len.saturating_add(1).min(most);
    }

    /// Takes out the newest `wanted` value. O(N).
    pub(crate) fn take(&mut self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        let place = self.iter().position(wanted)?;
        let older = self.held.get_mut(place..usize::from(self.len))?;
        let oldest = *older.last()?;
        let taken = older.iter_mut().rev().fold(oldest, |older, place| replace(place, older));
        self.len = self.len.saturating_sub(1);
        Some(taken)
    }

    /// Returns the values, the newest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.held.get(..usize::from(self.len)).unwrap_or(&self.held).iter()
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::Recent;

    proptest! {
        #[test]
        fn it_agrees_with_a_list(steps in prop::collection::vec((any::<bool>(), 0..6_u8), 0..40)) {
            let mut recent: Recent<u8, 4> = Recent::new(0);
            let mut list: Vec<u8> = Vec::new();
            for (takes, value) in steps {
                if takes {
                    let place = list.iter().position(|held| *held == value);
                    let expected = place.map(|place| list.remove(place));
                    prop_assert_eq!(recent.take(|held| *held == value), expected);
                } else {
                    recent.push(value);
                    list.insert(0, value);
                    list.truncate(4);
                }
                prop_assert_eq!(recent.iter().copied().collect::<Vec<_>>(), list.clone());
            }
        }
    }
}
