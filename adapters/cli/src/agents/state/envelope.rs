//! What stands around a state on disk: who wrote it, in which version, how long it is, and a sum
//! over it.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use unstuck_json::{Hash64 as _, Rapid};

/// What a state file begins with.
const MAGIC: [u8; 4] = *b"ustk";

/// The version of what [`seal`] writes, raised with every change of a type that is kept.
const VERSION: u16 = 3;

/// The length of what stands before a state: magic, version, length and sum.
const HEAD: usize = 4 + 2 + 4 + 8;

/// The longest state that is read: ten times what a detector with full tables takes.
pub(super) const BYTES_MAX: usize = 256 * 1024;

/// Why a state file says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// A later version of this program wrote it, and shall find it as it was.
    Newer,
    /// An earlier one did.
    Older,
    /// It was not written to its end, or something else wrote to it.
    Torn,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Newer => "the state is of a newer version of unstuck, and was left as it is",
            Self::Older => "the state is of an older version of unstuck; the session begins anew",
            Self::Torn => "the state is damaged; the session begins anew",
        })
    }
}

/// `body` as it is kept; none if it is longer than what is read again.
pub(super) fn seal(body: &impl Serialize) -> Option<Vec<u8>> {
    let mut bytes = postcard::to_extend(body, vec![0; HEAD]).ok()?;
    let (head, body) = bytes.split_at_mut(HEAD);
    let length = u32::try_from(body.len()).ok().filter(|_| body.len() <= BYTES_MAX)?;
    let fields = [&MAGIC[..], &VERSION.to_le_bytes(), &length.to_le_bytes(), &sum(body)];
    for (place, byte) in head.iter_mut().zip(fields.concat()) {
        *place = byte;
    }
    Some(bytes)
}

/// What was kept in `bytes`, or the beginning of it if `T` is less; none of a file that is new.
pub(super) fn open<T: DeserializeOwned>(bytes: &[u8]) -> Result<Option<T>, Damage> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let body = body(bytes)?;
    let (value, _) = postcard::take_from_bytes(body).map_err(|_| Damage::Torn)?;
    Ok(Some(value))
}

/// The state in `bytes`, if it is one that this version wrote.
fn body(bytes: &[u8]) -> Result<&[u8], Damage> {
    let (magic, rest) = bytes.split_first_chunk().ok_or(Damage::Torn)?;
    let (version, rest) = rest.split_first_chunk().ok_or(Damage::Torn)?;
    if *magic != MAGIC {
        return Err(Damage::Torn);
    }
    match u16::from_le_bytes(*version) {
        VERSION => {}
        version if version > VERSION => return Err(Damage::Newer),
        _ => return Err(Damage::Older),
    }
    let (length, rest) = rest.split_first_chunk().ok_or(Damage::Torn)?;
    let (expected, rest) = rest.split_first_chunk().ok_or(Damage::Torn)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| Damage::Torn)?;
    // Behind it there may be the rest of a longer state that was there before.
    let body = rest.get(..length).ok_or(Damage::Torn)?;
    if sum(body) == *expected { Ok(body) } else { Err(Damage::Torn) }
}

fn sum(body: &[u8]) -> [u8; 8] {
    Rapid::new(u64::from(VERSION)).hash(body).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::{BYTES_MAX, Damage, HEAD, VERSION, open, seal};

    fn opened(bytes: &[u8]) -> Result<Option<(u64, String)>, Damage> {
        open(bytes)
    }

    #[test]
    fn what_is_kept_comes_back_and_so_does_its_beginning() {
        let kept = (7_u64, "main".to_owned());
        let bytes = seal(&kept).expect("a short state");
        assert_eq!(opened(&bytes), Ok(Some(kept)));
        assert_eq!(open::<u64>(&bytes), Ok(Some(7)));
        assert_eq!(opened(&[]), Ok(None));
        let longer = [&bytes[..], b"the rest of what was there"].concat();
        assert_eq!(opened(&longer), opened(&bytes));
    }

    #[test]
    fn a_newer_state_is_told_from_an_older_and_from_a_torn_one() {
        let bytes = seal(&(7_u64, String::new())).expect("a short state");
        for (version, damage) in [(0, Damage::Older), (VERSION + 1, Damage::Newer)] {
            let mut other = bytes.clone();
            other[4..6].copy_from_slice(&version.to_le_bytes());
            assert_eq!(opened(&other), Err(damage));
        }
        assert_eq!(opened(b"something else entirely"), Err(Damage::Torn));
        // Whole, and not what is asked for.
        assert_eq!(open::<(u64, String)>(&seal(&7_u8).expect("a byte")), Err(Damage::Torn));
    }

    #[test]
    fn a_state_that_would_not_be_read_again_is_not_written() {
        assert!(seal(&vec![0_u8; BYTES_MAX - 8]).is_some());
        assert_eq!(seal(&vec![0_u8; BYTES_MAX]), None);
    }

    proptest! {
        #[test]
        fn every_cut_and_every_flipped_bit_is_noticed(
            text in ".{0,40}", at in any::<Index>(), bit in 0..8_u8,
        ) {
            let bytes = seal(&(7_u64, text)).expect("a short state");
            let cut = at.index(bytes.len() - 1) + 1;
            prop_assert!(cut == bytes.len() || opened(&bytes[..cut]) == Err(Damage::Torn));
            let mut flipped = bytes.clone();
            flipped[at.index(bytes.len())] ^= 1 << bit;
            prop_assert!(opened(&flipped).is_err(), "{HEAD}");
        }
    }
}
