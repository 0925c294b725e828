//! Combines digests: values in order, members in any order, and each kind of value separately.
//!
//! The digests of members are added. The sum does not depend on their order, so nothing is sorted,
//! and it gives digests of parts in the same pass. With exclusive or, a member that occurs twice
//! would vanish.

/// Two keys that follow from a seed, with which digests are combined.
///
/// Without the seed nobody can choose numbers, elements or members whose combinations are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mixer {
    left: u64,
    right: u64,
}

/// The kinds of values. Each is combined with another constant.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Null = 1,
    True,
    False,
    Positive,
    Negative,
    Zero,
    Long,
    Double,
    Array,
    Object,
    Root,
}

impl Kind {
    /// Returns a constant for the kind, far from the others: a multiple of 2⁶⁴ divided by the
    /// golden ratio.
    #[expect(clippy::as_conversions, reason = "nothing else tells the number of a variant")]
    const fn constant(self) -> u64 {
        0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(self as u64)
    }
}

impl Mixer {
    /// The mixer of `seed`.
    pub(crate) const fn new(seed: u64) -> Self {
        // The hexadecimal digits of π, without a pattern, so that a seed of 0 is as good as any.
        // A key is never like a small number, which would swallow what it is combined with.
        let left = 1 << 63 | fold(seed ^ 0x2FFD_72DB_D01A_DFB7, 0xB8E1_AFED_6A26_7E96);
        Self { left, right: 1 << 63 | fold(left ^ 0xBA7C_9045_F12C_7F99, 0x24A1_9947_B391_6CF7) }
    }

    /// The digest of the ordered pair of `a` and `b`.
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn pair(&self, a: u64, b: u64) -> u64 {
        fold(a ^ self.left, b ^ self.right)
    }

    /// The digest of `contents` as a value of `kind`.
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn tagged(&self, kind: Kind, contents: u64) -> u64 {
        self.pair(contents, kind.constant())
    }

    /// The digest of the value of `kind` that has no contents.
    #[inline]
    pub(crate) const fn bare(&self, kind: Kind) -> u64 {
        self.tagged(kind, 0)
    }
}

/// The two halves of the product of `a` and `b`, combined: each bit of the result depends on
/// nearly all bits of both. The step of `wyhash` and its descendants (Wang Yi, 2019).
#[cfg_attr(target_pointer_width = "64", inline)]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "the halves of a product, in a constant function, where `From` cannot be called"
)]
pub(crate) const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::collections::HashSet;

    use super::{Kind, Mixer, fold};

    #[test]
    fn the_halves_of_a_product_are_combined() {
        assert_eq!(fold(3, 5), 15);
        assert_eq!(fold(1 << 63, 6), 3);
        assert_eq!(fold(u64::MAX, u64::MAX), u64::MAX);
        assert_eq!(fold(1 << 63 | 1, 2), 1 ^ 2);
    }

    #[test]
    fn small_contents_order_and_kind_are_told_apart() {
        for seed in [0, 1, u64::MAX, 0x2FFD_72DB_D01A_DFB7, 0xBA7C_9045_F12C_7F99] {
            let mixer = Mixer::new(seed);
            let kinds = [
                Kind::Null,
                Kind::True,
                Kind::False,
                Kind::Positive,
                Kind::Negative,
                Kind::Zero,
                Kind::Long,
                Kind::Double,
                Kind::Array,
                Kind::Object,
                Kind::Root,
            ];
            let mut seen = HashSet::new();
            for contents in 0..64 {
                for other in 0..64 {
                    assert!(seen.insert(mixer.pair(contents, other)), "{contents} {other}");
                }
                for kind in kinds {
                    assert!(seen.insert(mixer.tagged(kind, contents)), "{contents}");
                }
            }
        }
    }

    #[test]
    fn each_seed_has_digests_of_its_own() {
        let digests: HashSet<_> =
            (0..1_000).map(|seed| Mixer::new(seed).bare(Kind::Null)).collect();
        assert_eq!(digests.len(), 1_000);
    }
}
