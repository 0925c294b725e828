//! Bit masks over past records: bit *k* represents the record *k + 1* calls back.

use core::ops::{BitAnd, BitOr, Not};

/// The maximum window: a 64-bit mask has one bit for each record.
pub const WINDOW_MAX: u8 = 64;

/// One bit for each past record. The newest record is bit 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Mask(u64);

// On a 32-bit machine each of these takes a dozen instructions or more, and code size matters more
// than time. They are calls there, and inlined elsewhere.
impl Mask {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the `n` newest records, or all records if `n` is 64 or more.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) const fn newest(n: u32) -> Self {
        match u64::MAX.checked_shr(64_u32.saturating_sub(n)) {
            Some(bits) => Self(bits),
            None => Self::NONE,
        }
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns whether the record with `k` newer records is in the mask.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn has(self, k: u32) -> bool {
        self.0.checked_shr(k).unwrap_or(0) & 1 == 1
    }

    /// Returns the number of newest records that are in the mask without a gap.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) const fn leading_run(self) -> u32 {
        self.0.trailing_ones()
    }

    /// Returns the mask after one more record, which is in the mask if `newest` is true.
    pub(crate) fn then(self, newest: bool) -> Self {
        Self(self.0.wrapping_shl(1) | u64::from(newest))
    }

    /// Returns the mask as seen from `n` records earlier.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn since(self, n: u32) -> Self {
        Self(self.0.checked_shr(n).unwrap_or(0))
    }

    /// Returns the oldest record in the mask.
    pub(crate) fn oldest(self) -> Option<u32> {
        self.0.checked_ilog2()
    }

    /// Returns the `n`th newest record in the mask, counted from 0. O(n), or O(1) if no newer
    /// record is missing.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn nth(self, n: u32) -> Option<u32> {
        if n < self.leading_run() {
            return Some(n);
        }
        let mut bits = self.0;
        for _ in 0..n {
            bits &= bits.wrapping_sub(1);
        }
        (bits != 0).then(|| bits.trailing_zeros())
    }

    /// Returns the indices of the records in the mask, the newest first.
    pub(crate) fn places(self) -> impl Iterator<Item = u32> {
        let mut rest = self;
        core::iter::from_fn(move || rest.take_newest())
    }

    /// Takes the newest record out of the mask.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn take_newest(&mut self) -> Option<u32> {
        let place = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (place < u64::BITS).then_some(place)
    }

    /// Returns the mask restricted to the records of `selected`, as if the others did not exist.
    /// Bit *k* of the result is the *k*th newest of them. O(records selected).
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn among(self, selected: Self) -> Self {
        // There is no gap between the selected records, so no bit moves. This is by far the common
        // case.
        if selected.0 & selected.0.wrapping_add(1) == 0 {
            return self & selected;
        }
        let (mut result, mut place, mut rest) = (0, 1_u64, selected.0);
        while rest != 0 {
            let lowest = rest & rest.wrapping_neg();
            if self.0 & lowest != 0 {
                result |= place;
            }
            place = place.wrapping_shl(1);
            rest ^= lowest;
        }
        Self(result)
    }
}

impl BitAnd for Mask {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Mask {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Not for Mask {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

const _: () = assert!(WINDOW_MAX == 64, "a mask has 64 bits");

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::Mask;

    #[test]
    fn newest_covers_every_width() {
        for (n, bits) in
            [(0, 0), (1, 1), (5, 31), (63, u64::MAX >> 1), (64, u64::MAX), (99, u64::MAX)]
        {
            assert_eq!(Mask::newest(n).0, bits, "{n}");
        }
    }

    #[test]
    fn shifting_out_of_the_word_forgets() {
        assert_eq!(Mask::newest(64).since(64), Mask::NONE);
        assert!(!Mask::newest(64).has(64));
        assert_eq!(Mask::new(1 << 63).then(true).0, 1);
    }

    #[test]
    fn nth_and_oldest_agree_with_a_list() {
        for bits in [0_u64, 1, 0b1011_0100, u64::MAX, 1 << 63] {
            let list: Vec<u32> = (0..64).filter(|k| bits >> k & 1 == 1).collect();
            let mask = Mask::new(bits);
            assert_eq!(mask.oldest(), list.last().copied());
            assert_eq!(mask.places().collect::<Vec<_>>(), list);
            for n in 0..=64 {
                assert_eq!(mask.nth(n), list.get(n as usize).copied());
            }
        }
    }

    #[test]
    fn among_keeps_the_order_of_the_selected() {
        for selected in 0..256_u64 {
            for bits in 0..256_u64 {
                let expected = (0..8)
                    .filter(|k| selected >> k & 1 == 1)
                    .enumerate()
                    .fold(0, |mask, (place, k)| mask | (bits >> k & 1) << place);
                let mask = Mask::new(bits).among(Mask::new(selected));
                assert_eq!(mask.0, expected, "{bits:b} among {selected:b}");
            }
        }
    }
}
