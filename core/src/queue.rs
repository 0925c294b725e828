//! Two short lists in place: the calls that wait for their outcomes, and the latest values of something.

use core::mem::replace;

/// A queue of at most `N` values, the oldest first. As with [`Recent`],
/// nothing here can panic. A ring would not be faster, because there is usually only one value or
/// two.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T, const N: usize> {
    /// The oldest first. The values beyond `len` are unused.
    held: [T; N],
    len: u16,
}

impl<T: Copy, const N: usize> Queue<T, N> {
    /// Creates an empty queue. `filler` fills the unused places.
    pub(crate) const fn new(filler: T) -> Self {
        const { assert!(N <= 65_535, "a detector waits for at most 65,535 calls") };
        Self { held: [filler; N], len: 0 }
    }

    pub(crate) const fn len(&self) -> u16 {
        self.len
    }

    pub(crate) fn is_full(&self) -> bool {
        usize::from(self.len) >= N
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds the newest value. Returns `false` if there is no room.
    pub(crate) fn push(&mut self, value: T) -> bool {
        let Some(place) = self.held.get_mut(usize::from(self.len)) else { return false };
        *place = value;
        self.len = self.len.saturating_add(1);
        true
    }

    /// Keeps only the values that are `wanted`. O(N).
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn retain(&mut self, wanted: impl Fn(&T) -> bool) {
        let all = usize::from(self.len);
        self.clear();
        for place in 0..all {
            if let Some(value) = self.held.get(place).copied().filter(&wanted) {
                self.push(value);
            }
        }
    }

    /// Takes out the oldest value. O(N).
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn pop_oldest(&mut self) -> Option<T> {
        let filler = *self.oldest()?;
        let oldest =
            self.as_mut_slice().iter_mut().rev().fold(filler, |newer, place| replace(place, newer));
        self.len = self.len.saturating_sub(1);
        Some(oldest)
    }

    /// Takes out the newest value.
    pub(crate) fn pop_newest(&mut self) -> Option<T> {
        let newest = *self.as_slice().last()?;
        self.len = self.len.saturating_sub(1);
        Some(newest)
    }

    pub(crate) fn oldest(&self) -> Option<&T> {
        self.as_slice().first()
    }

    /// Returns the value with `later` newer ones.
    pub(crate) fn latest(&self, later: u32) -> Option<&T> {
        self.as_slice().iter().nth_back(usize::try_from(later).ok()?)
    }

    /// Returns the values, the oldest first.
    pub(crate) fn as_slice(&self) -> &[T] {
        self.held.get(..usize::from(self.len)).unwrap_or(&self.held)
    }

    /// Returns the values, the oldest first.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        self.held.get_mut(..usize::from(self.len)).unwrap_or_default()
    }
}

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

    use super::{Queue, Recent};

    proptest! {
        #[test]
        fn a_queue_agrees_with_a_list(steps in prop::collection::vec((0..5_u8, any::<u8>()), 0..40)) {
            let mut queue: Queue<u8, 4> = Queue::new(0);
            let mut list: Vec<u8> = Vec::new();
            for (step, value) in steps {
                match step {
                    0 => {
                        let expected = (!list.is_empty()).then(|| list.remove(0));
                        prop_assert_eq!(queue.pop_oldest(), expected);
                    }
                    1 => prop_assert_eq!(queue.pop_newest(), list.pop()),
                    2 => {
                        queue.retain(|held| *held > value);
                        list.retain(|held| *held > value);
                    }
                    _ => {
                        let fits = list.len() < 4;
                        prop_assert_eq!(queue.push(value), fits);
                        list.extend(fits.then_some(value));
                    }
                }
                prop_assert_eq!(queue.as_slice(), &*list);
                prop_assert_eq!(queue.as_mut_slice(), &*list);
                prop_assert_eq!(queue.oldest(), list.first());
                prop_assert_eq!(queue.latest(1), list.iter().nth_back(1));
                prop_assert_eq!(queue.is_full(), list.len() == 4);
                prop_assert_eq!(usize::from(queue.len()), list.len());
            }
        }

        #[test]
        fn the_latest_values_agree_with_a_list(steps in prop::collection::vec((any::<bool>(), 0..6_u8), 0..40)) {
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
