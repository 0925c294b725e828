//! The calls that wait for their outcomes, in the order in which they were issued.

use core::mem::replace;

/// A queue of at most `N` values, the oldest first. As with [`Recent`](crate::recent::Recent),
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

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::Queue;

    proptest! {
        #[test]
        fn it_agrees_with_a_list(steps in prop::collection::vec((0..4_u8, any::<u8>()), 0..40)) {
            let mut queue: Queue<u8, 4> = Queue::new(0);
            let mut list: Vec<u8> = Vec::new();
            for (step, value) in steps {
                match step {
                    0 => {
                        let expected = (!list.is_empty()).then(|| list.remove(0));
                        prop_assert_eq!(queue.pop_oldest(), expected);
                    }
                    1 => prop_assert_eq!(queue.pop_newest(), list.pop()),
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
    }
}
