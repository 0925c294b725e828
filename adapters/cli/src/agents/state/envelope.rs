//! The header of a state file: magic bytes, version, length and checksum.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use unstuck_json::{Hash64 as _, Rapid};

/// The first bytes of a state file.
const MAGIC: [u8; 4] = *b"ustk";

/// The version of the content. Every change of a stored type raises it.
const VERSION: u16 = 12;

/// The length of the header: magic, version, length and checksum.
const HEAD: usize = 4 + 2 + 4 + 8;

/// The longest state that is read: ten times the size of a detector with full tables.
pub(super) const BYTES_MAX: usize = 256 * 1024;

/// The reason why a state file cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// A later version of this program wrote it. A copy of the file is kept for that version.
    Newer,
    /// An earlier version of this program wrote it.
    Older,
    /// The file is incomplete or another program wrote to it.
    Torn,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Newer => {
                "a newer version of unstuck wrote the state, of which a copy is kept; the session begins anew"
            }
            Self::Older => "an older version of unstuck wrote the state; the session begins anew",
            Self::Torn => "the state is damaged; the session begins anew",
        })
    }
}

/// Returns the content of a state file for `body`, or `None` if it is longer than [`BYTES_MAX`].
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

/// Reads the content of a state file. `T` may be a prefix of the stored type. Returns `None` for an empty
/// file, which has just been created.
pub(super) fn open<T: DeserializeOwned>(bytes: &[u8]) -> Result<Option<T>, Damage> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let body = body(bytes)?;
    let (value, _) = postcard::take_from_bytes(body).map_err(|_| Damage::Torn)?;
    Ok(Some(value))
}

/// Checks the header of `bytes` and returns the state behind it.
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
    // The rest of a longer earlier state may follow.
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
    fn a_sealed_state_and_a_prefix_of_it_can_be_read() {
        let state = (7_u64, "main".to_owned());
        let bytes = seal(&state).expect("a short state");
        assert_eq!(opened(&bytes), Ok(Some(state)));
        assert_eq!(open::<u64>(&bytes), Ok(Some(7)));
        assert_eq!(opened(&[]), Ok(None));
        let longer = [&bytes[..], b"the rest of what was there"].concat();
        assert_eq!(opened(&longer), opened(&bytes));
    }

    #[test]
    fn newer_older_and_torn_states_are_different_errors() {
        let bytes = seal(&(7_u64, String::new())).expect("a short state");
        for (version, damage) in [(0, Damage::Older), (VERSION + 1, Damage::Newer)] {
            let mut other = bytes.clone();
            other[4..6].copy_from_slice(&version.to_le_bytes());
            assert_eq!(opened(&other), Err(damage));
        }
        assert_eq!(opened(b"something else entirely"), Err(Damage::Torn));
        // Complete, but of another type.
        assert_eq!(open::<(u64, String)>(&seal(&7_u8).expect("a byte")), Err(Damage::Torn));
    }

    #[test]
    fn a_state_that_is_too_long_to_read_is_not_written() {
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
