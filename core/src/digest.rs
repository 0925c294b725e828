//! Digests: 64 bits that represent a value, so that values can be compared.

use core::hash::Hasher as _;

use fnv::FnvHasher;

/// 64 bits that represent a value. Equal values have equal digests.
///
/// The engine never looks inside a digest. The adapter that makes digests decides which values are
/// equal. For example, an adapter for JSON ignores key order and the spelling of numbers, and an
/// adapter for text masks clock times. Two different values share a digest with probability 2⁻⁶⁴
/// per pair if the hash is a good one.
///
/// ```
/// use unstuck_core::Digest;
///
/// assert_eq!(Digest::of(b"ls -la"), Digest::of(b"ls -la"));
/// assert_ne!(Digest::of(b"ls -la"), Digest::of(b"ls"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "[u8; 8]", into = "[u8; 8]")
)]
pub struct Digest(u64);

impl Digest {
    /// Creates a digest from the bits of a hash of the caller's choice.
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the digest of `bytes` by 64-bit FNV-1a, the default hash, finished by the avalanche
    /// of [`Digest::mix`]. O(n).
    ///
    /// FNV is small and fast on short input, but it is *not* collision-resistant: an adversary who
    /// chooses the bytes can make two inputs collide. Use a keyed hash and [`Digest::new`] if
    /// digests leave the process or an adversary writes the input.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = FnvHasher::default();
        hasher.write(bytes);
        Self(avalanche(hasher.finish()))
    }

    /// Returns the 64 bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns the digest in 32 bits, both halves combined.
    pub(crate) const fn folded(self) -> u32 {
        let (low, high) = (self.0, self.0.rotate_left(32));
        let [a, b, c, d, ..] = (low ^ high).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    /// Returns the digest of the ordered pair `(self, other)`. O(1).
    ///
    /// ```
    /// use unstuck_core::Digest;
    ///
    /// let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
    /// assert_ne!(a.mix(b), b.mix(a));
    /// ```
    #[must_use]
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub const fn mix(self, other: Self) -> Self {
        Self(avalanche(self.0.rotate_left(23) ^ avalanche(other.0)))
    }
}

#[cfg(feature = "serde")]
impl From<[u8; 8]> for Digest {
    fn from(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }
}

#[cfg(feature = "serde")]
impl From<Digest> for [u8; 8] {
    fn from(digest: Digest) -> Self {
        digest.0.to_le_bytes()
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014), after adding an odd constant so
/// that 0 does not map to 0. It is a bijection and loses no information.
#[cfg_attr(target_pointer_width = "32", inline(never))]
const fn avalanche(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn mixing_depends_on_order_and_on_both_sides() {
        let digests = [0, 1, 2, u64::MAX].map(Digest::new);
        for (i, a) in digests.into_iter().enumerate() {
            for (j, b) in digests.into_iter().enumerate() {
                assert_eq!(a.mix(b) == b.mix(a), i == j);
                assert_ne!(a.mix(b), a);
            }
        }
    }

    #[test]
    fn empty_input_has_its_own_digest() {
        assert_ne!(Digest::of(b""), Digest::default());
        assert_ne!(Digest::of(b""), Digest::of(b"\0"));
    }
}
