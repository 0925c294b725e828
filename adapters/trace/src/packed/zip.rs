//! Reads the members of a zip archive in their order.
//!
//! The directory at the end of an archive is not read: a pipe has none yet, and a file that breaks off has
//! none at all. Each member has a header of its own with all that is needed. The crate `zip` reads members
//! in this way too, but unpacks zstd only with a library in C, which WebAssembly does not have.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, copy, sink};
use std::rc::Rc;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::zstd::Frames;
use super::{Account, Bounded, Counted, broken};
use crate::problem::ProblemKind;

/// The first bytes of a member.
const MEMBER: [u8; 4] = *b"PK\x03\x04";

/// The first bytes of what follows the last member: the directory, its end, and others.
const ENDS: [[u8; 4]; 4] = [*b"PK\x01\x02", *b"PK\x05\x06", *b"PK\x06\x06", *b"PK\x06\x08"];

/// The number of bytes in a member's header, after the first four.
const HEADER_BYTES: usize = 26;

/// A function that reads a member, or gets the reason why it cannot be read.
type Each<'f> = dyn FnMut(&str, core::result::Result<&mut dyn BufRead, ProblemKind>) + 'f;

/// Returns the name of the first member of an archive that begins with these bytes.
pub(crate) fn first_member(mut begin: &[u8]) -> Option<String> {
    let account = Rc::new(Account::default());
    let header = Header::read(&mut Counted { input: &mut begin, account }).ok()??;
    Some(header.name)
}

/// Delivers the members of an archive that are `wanted`, by their names. A member that cannot be read does
/// not affect the others.
///
/// # Errors
///
/// Returns an error if the archive breaks off or is broken between its members.
pub(crate) fn members(
    input: &mut dyn BufRead,
    wanted: fn(&str) -> bool,
    each: &mut Each<'_>,
) -> core::result::Result<(), ProblemKind> {
    let account = Rc::new(Account::default());
    let mut input = Counted { input, account: account.clone() };
    loop {
        let done = match Header::read(&mut input) {
            Ok(None) => return Ok(()),
            Ok(Some(header)) => header.deliver(&mut input, wanted, each),
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            return Err(ProblemKind::io(&broken("zip", &error, account.packed.get())));
        }
    }
}

/// The header of a member.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    /// `true` if the sizes have eight bytes each.
    is_wide: bool,
}

impl Header {
    /// Reads the next header. Returns `None` behind the last member.
    fn read(input: &mut Counted<'_>) -> Result<Option<Self>> {
        let begin: [u8; 4] = bytes(input)?;
        if ENDS.contains(&begin) {
            return Ok(None);
        }
        if begin != MEMBER {
            return Err(Error::other("expected a member, or the directory at the end"));
        }
        let fixed: [u8; HEADER_BYTES] = bytes(input)?;
        let short = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let long = |at: usize| u32::from(short(at)) | (u32::from(short(at + 2)) << 16);
        let mut name = vec![0; usize::from(short(22))];
        input.read_exact(&mut name)?;
        let mut extra = vec![0; usize::from(short(24))];
        input.read_exact(&mut extra)?;
        let wide =
            (long(14) == u32::MAX || long(18) == u32::MAX).then(|| wide_size(&extra)).flatten();
        Ok(Some(Self {
            name: String::from_utf8_lossy(&name).into_owned(),
            flags: short(2),
            method: short(4),
            crc: long(10),
            packed: wide.unwrap_or_else(|| u64::from(long(14))),
            is_wide: wide.is_some(),
        }))
    }

    /// Returns whether the size and the checksum are behind the content, and not in the header.
    const fn is_streamed(&self) -> bool {
        self.flags & 8 != 0
    }

    const fn is_encrypted(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Delivers the content, if it is wanted, and passes it.
    fn deliver(
        &self,
        input: &mut Counted<'_>,
        wanted: fn(&str) -> bool,
        each: &mut Each<'_>,
    ) -> Result<()> {
        let account = input.account.clone();
        let size = if self.is_streamed() { u64::MAX } else { self.packed };
        let mut content = input.take(size);
        match self.unpack(&mut content) {
            Ok(unpacked) => {
                let unpacked = Bounded::new("zip", unpacked, account);
                let mut unpacked = BufReader::new(Checked::new(unpacked, self));
                if wanted(&self.name) {
                    each(&self.name, Ok(&mut unpacked));
                }
                if self.is_streamed() {
                    // Only the content itself says where it ends.
                    copy(&mut unpacked, &mut sink())?;
                }
            }
            Err(message) => {
                if wanted(&self.name) {
                    each(&self.name, Err(ProblemKind::Io { message: message.to_owned() }));
                }
                if self.is_streamed() {
                    return Err(Error::other(message));
                }
            }
        }
        if self.is_streamed() {
            return self.pass_descriptor(input);
        }
        let left = content.limit();
        if copy(&mut content, &mut sink())? < left {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    /// Returns the unpacked content, or the reason why it cannot be unpacked.
    fn unpack<'c>(
        &self,
        content: &'c mut (impl BufRead + 'c),
    ) -> core::result::Result<Box<dyn Read + 'c>, &'static str> {
        match self.method {
            _ if self.is_encrypted() => Err("encrypted: expected a member without a password"),
            0 if self.is_streamed() => Err("stored without its size: expected it in the header"),
            0 => Ok(Box::new(content)),
            8 => Ok(Box::new(DeflateDecoder::new(content))),
            93 if self.is_streamed() => Ok(Box::new(Frames::single(content))),
            93 => Ok(Box::new(Frames::new(content))),
            _ => Err("packed by an unknown method: expected deflate or zstd"),
        }
    }

    /// Passes the checksum and the sizes behind the content, with or without four bytes before them.
    fn pass_descriptor(&self, input: &mut Counted<'_>) -> Result<()> {
        let first: [u8; 4] = bytes(input)?;
        let sign = if first == *b"PK\x07\x08" { 4 } else { 0 };
        let sizes = if self.is_wide { 16 } else { 8 };
        copy(&mut input.take(sign + sizes), &mut sink()).map(|_| ())
    }
}

/// Returns the packed size from the extra fields of a large member.
fn wide_size(mut extra: &[u8]) -> Option<u64> {
    loop {
        let (head, rest) = extra.split_first_chunk::<4>()?;
        let (kind, length) = ([head[0], head[1]], u16::from_le_bytes([head[2], head[3]]));
        let (field, rest) = rest.split_at_checked(usize::from(length))?;
        if kind == [1, 0] {
            // Behind the unpacked size.
            return Some(u64::from_le_bytes(*field.get(8..)?.first_chunk()?));
        }
        extra = rest;
    }
}

fn bytes<const N: usize>(input: &mut Counted<'_>) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A content whose checksum is compared at its end.
struct Checked<R> {
    content: R,
    crc: Crc,
    expected: Option<u32>,
}

impl<R> Checked<R> {
    fn new(content: R, header: &Header) -> Self {
        let expected = (!header.is_streamed()).then_some(header.crc);
        Self { content, crc: Crc::new(), expected }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.content.read(buffer)?;
        self.crc.update(&buffer[..count]);
        let is_end = count == 0 && !buffer.is_empty();
        if is_end && self.expected.is_some_and(|expected| expected != self.crc.sum()) {
            return Err(Error::other("the checksum of the member does not match its content"));
        }
        Ok(count)
    }
}
