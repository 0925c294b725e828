//! Frames of binary files: a head with magic bytes and a version, and bodies with their lengths and checksums.

use unstuck_json::{Hash64 as _, Rapid};

/// The format of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The first bytes of the file.
    pub(crate) magic: [u8; 4],
    /// The version of the content, which follows them.
    pub(crate) version: u16,
}

impl Frame {
    /// The length of the head.
    pub(crate) const HEAD: usize = 4 + 2;

    /// The length of what stands before a body: its length and its checksum.
    pub(crate) const BEFORE: usize = 4 + 8;

    /// Returns the head of a file.
    pub(crate) fn head(self) -> Vec<u8> {
        [&self.magic[..], &self.version.to_le_bytes()].concat()
    }

    /// Checks the head of a file. Returns the bytes behind it, or `None` if it is damaged.
    ///
    /// # Errors
    ///
    /// Returns the version of the file if it is another one.
    pub(crate) fn behind_head(self, bytes: &[u8]) -> Result<Option<&[u8]>, u16> {
        let Some((magic, rest)) = bytes.split_first_chunk() else { return Ok(None) };
        let Some((version, rest)) = rest.split_first_chunk() else { return Ok(None) };
        match u16::from_le_bytes(*version) {
            _ if *magic != self.magic => Ok(None),
            version if version == self.version => Ok(Some(rest)),
            version => Err(version),
        }
    }

    /// Writes the length and the checksum of a body into the [`Frame::BEFORE`] bytes that stand before it.
    pub(crate) fn seal(self, bytes: &mut [u8]) {
        let Some((before, body)) = bytes.split_at_mut_checked(Self::BEFORE) else { return };
        // The largest body has less than 4 GiB.
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let (of_length, of_sum) = before.split_at_mut(4);
        of_length.copy_from_slice(&length.to_le_bytes());
        of_sum.copy_from_slice(&self.sum(body));
    }

    /// Returns the first body in `bytes`, which [`Frame::seal`] has sealed, and the bytes behind it. Returns `None` if the
    /// body is incomplete or damaged.
    pub(crate) fn body(self, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (expected, rest) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (body, rest) = rest.split_at_checked(length)?;
        (self.sum(body) == *expected).then_some((body, rest))
    }

    /// Returns the checksum of a body.
    pub(crate) fn sum(self, body: &[u8]) -> [u8; 8] {
        Rapid::new(u64::from(self.version)).hash(body).to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    const FRAME: Frame = Frame { magic: *b"test", version: 7 };

    /// Returns the first body of a file.
    fn body(bytes: &[u8]) -> Option<&[u8]> {
        FRAME.behind_head(bytes).ok()?.and_then(|rest| FRAME.body(rest)).map(|(body, _)| body)
    }

    proptest! {
        #[test]
        fn every_cut_and_every_flipped_bit_is_noticed(
            text in ".{0,40}", at in any::<Index>(), bit in 0..8_u8,
        ) {
            let mut bytes = [&FRAME.head()[..], &[0; Frame::BEFORE], text.as_bytes()].concat();
            FRAME.seal(&mut bytes[Frame::HEAD..]);
            prop_assert_eq!(body(&bytes), Some(text.as_bytes()));
            prop_assert!(bytes.starts_with(b"test\x07\0"));
            let (at, longer) = (at.index(bytes.len()), [&bytes[..], b"more"].concat());
            prop_assert_eq!(body(&longer), Some(text.as_bytes()));
            prop_assert_eq!(body(&bytes[..at]), None);
            bytes[at] ^= 1 << bit;
            prop_assert_eq!(body(&bytes), None);
        }
    }
}
