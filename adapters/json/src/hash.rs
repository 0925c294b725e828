//! The hash behind every digest: a parameter, with a fast default and a small alternative.

use core::hash::Hasher as _;

use fnv::FnvHasher;
use rapidhash::v3::{RapidSecrets, rapidhash_v3_nano_inline};
use unstuck_core::Digest;

use crate::mix::fold;

/// A 64-bit hash of bytes under a seed: what [`Fingerprinter`](crate::Fingerprinter) hashes the
/// texts of a document with.
///
/// Strings are handed over in blocks of at most [`BLOCK`](crate::BLOCK) bytes, so that one call
/// for each block is all that an implementation needs; it never sees a string in other pieces,
/// whatever its spelling. That is why this is not [`core::hash::BuildHasher`], whose hashers may
/// tell the same bytes apart when they come in other pieces, or on another machine.
///
/// Only texts are: strings, names, and numbers of more than nineteen digits. All else is combined
/// under the seed.
///
/// Digests cross machines and outlive processes, for example in checkpoints and swarms. An
/// implementation should therefore give the same bits everywhere. It needs good low bits, because
/// the digests of members are added up.
///
/// Against texts made to collide, use a keyed hash with a secret key, and a secret seed. Even then a
/// fingerprint is not a message authentication code. If an adversary sees digests, use canonical text and
/// a cryptographic hash.
///
/// ```
/// use core::hash::Hasher as _;
///
/// use siphasher::sip::SipHasher13;
/// use unstuck_json::{Exact, Fingerprinter, Hash64};
///
/// struct Sip(u64, u64);
///
/// impl Hash64 for Sip {
///     fn hash(&self, bytes: &[u8]) -> u64 {
///         let mut hasher = SipHasher13::new_with_keys(self.0, self.1);
///         hasher.write(bytes);
///         hasher.finish()
///     }
/// }
///
/// let (key, seed) = (Sip(0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908), 0xC0FF_EE);
/// let keyed = Fingerprinter::<Exact, Sip>::with_hash(key, seed);
/// assert_eq!(keyed.fingerprint(br#"["a/b"]"#)?, keyed.fingerprint(br#"["a\/b"]"#)?);
/// # Ok::<(), unstuck_json::JsonError>(())
/// ```
pub trait Hash64 {
    /// The hash of `bytes`.
    fn hash(&self, bytes: &[u8]) -> u64;

    /// Hashes a text of less than eight bytes. The bytes are the lowest ones of `word`, in order;
    /// the bytes above are 0. All such texts use this function instead of [`Hash64::hash`], except
    /// the last block of a long text. Most names are that short.
    #[inline]
    fn hash_short(&self, word: u64, length: usize) -> u64 {
        self.hash(word.to_le_bytes().get(..length).unwrap_or_default())
    }
}

/// The default: `rapidhash` V3 in its smallest form (`nano`).
///
/// It is fast on short names and on long texts, and of good quality: it passes `SMHasher3`. Texts
/// of less than eight bytes take one step of it. It gives the same bits on every machine and in
/// every version to come. It is *not* collision-resistant. A secret seed only prevents deliberate
/// collisions by somebody who does not see digests.
#[derive(Clone, Copy, Debug)]
pub struct Rapid(RapidSecrets);

impl Rapid {
    /// The hash whose secrets follow from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(RapidSecrets::seed(seed))
    }
}

impl Hash64 for Rapid {
    fn hash(&self, bytes: &[u8]) -> u64 {
        rapidhash_v3_nano_inline::<true, false>(bytes, &self.0)
    }

    /// One step of the hash in place of three: what is hashed is combined once more at least
    /// before it meets another such digest.
    #[inline]
    fn hash_short(&self, word: u64, length: usize) -> u64 {
        let RapidSecrets { seed, secrets: [first, ..] } = self.0;
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        fold(word ^ first, length ^ seed)
    }
}

/// The smallest: 64-bit FNV-1a, byte by byte, finished by the avalanche of [`Digest::mix`].
///
/// For a device where a few hundred bytes of code matter more than the time of long strings.
/// It is *not* collision-resistant, not even under a secret seed.
#[derive(Clone, Copy, Debug)]
pub struct Fnv(u64);

impl Fnv {
    /// The hash that begins with `seed` and the standard's offset basis, combined.
    pub const fn new(seed: u64) -> Self {
        Self(seed ^ 0xCBF2_9CE4_8422_2325)
    }
}

impl Hash64 for Fnv {
    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hasher = FnvHasher::with_key(self.0);
        hasher.write(bytes);
        Digest::new(self.0).mix(Digest::new(hasher.finish())).bits()
    }
}
