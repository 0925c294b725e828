//! The entries of the journal, each with its length and checksum.

use unstuck_json::{Hash64 as _, Rapid};

use super::journal::VERSION;

/// The longest entry: a request with the largest body that can be allowed, and its head.
const ENTRY_MAX: usize = (1 << 30) + 64;

/// An entry of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    /// Spans that were taken in at a time in milliseconds, in the encoding of their request.
    Spans { at: u64, encoding: Encoding, body: &'a [u8] },
    /// An output has delivered the finding with this id, or has dropped it.
    Done { output: u8, id: &'a str },
}

/// The encoding of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
}

impl<'a> Entry<'a> {
    pub(super) fn written(self) -> Vec<u8> {
        let mut body = Vec::new();
        match self {
            Self::Spans { at, encoding, body: spans } => {
                body.reserve(spans.len() + 21);
                body.extend([0; 12]);
                body.push(match encoding {
                    Encoding::Protobuf => 1,
                    Encoding::Json => 2,
                });
                body.extend(at.to_le_bytes());
                body.extend(spans);
            }
            Self::Done { output, id } => {
                body.extend([0; 12]);
                body.extend([3, output]);
                body.extend(id.as_bytes());
            }
        }
        let (head, rest) = body.split_at_mut(12);
        // The largest body has less than 4 GiB.
        let length = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        head[..4].copy_from_slice(&length.to_le_bytes());
        head[4..].copy_from_slice(&sum(rest));
        body
    }

    pub(super) fn read(body: &'a [u8]) -> Option<Self> {
        let (kind, rest) = body.split_first()?;
        let spans = |encoding| {
            let (at, body) = rest.split_first_chunk()?;
            Some(Self::Spans { at: u64::from_le_bytes(*at), encoding, body })
        };
        match kind {
            1 => spans(Encoding::Protobuf),
            2 => spans(Encoding::Json),
            3 => {
                let (output, id) = rest.split_first()?;
                Some(Self::Done { output: *output, id: str::from_utf8(id).ok()? })
            }
            _ => None,
        }
    }
}

/// Returns the body of the first entry, and the bytes after it. Returns `None` if the entry is incomplete.
pub(super) fn entry(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (expected, rest) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (body, rest) = rest.split_at_checked(length).filter(|_| length <= ENTRY_MAX)?;
    (sum(body) == *expected).then_some((body, rest))
}

/// Returns the checksum of an entry or of a snapshot.
pub(super) fn sum(body: &[u8]) -> [u8; 8] {
    Rapid::new(u64::from(VERSION)).hash(body).to_le_bytes()
}
