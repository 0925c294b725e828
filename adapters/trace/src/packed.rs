//! Unpacks inputs that were packed by gzip, zstd or zip, while they are read.
//!
//! Only a piece of an input is unpacked at a time. An archive that unpacks to more than [`RATIO_MAX`] times
//! its own size is not read any further, so that a small file cannot keep a reader busy for hours. What was
//! unpacked before a break is delivered.
//!
//! The unpacking is done here and not by the program, so that the packages for Python and JavaScript and the
//! HTML page read packed inputs, too. The crates `flate2` and `ruzstd` contain no C, so they compile to
//! WebAssembly.

mod zip;
mod zstd;

use core::cell::Cell;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use self::zstd::Frames;
use crate::problem::LINE_BYTES_MAX;

pub(crate) use self::zip::{first_member, members};

/// The most bytes to which a byte of an archive may unpack: as many as deflate can reach at all.
const RATIO_MAX: u64 = 1032;

/// The bytes that any archive may unpack to. Small ones of equal lines pack better than that.
const UNPACKED_FREE: u64 = LINE_BYTES_MAX as u64;

/// The bytes that are unpacked at a time. A piece with a broken byte in it is lost.
const PIECE_BYTES: usize = 8 * 1024;

/// The program by which an input was packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// Recognises the packing of an input by its first bytes.
    pub(crate) const fn of(begin: &[u8]) -> Option<Self> {
        match begin {
            [0x1F, 0x8B, 0x08, ..] => Some(Self::Gzip),
            // Some packers begin with a frame that is to be skipped.
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Unpacks an input while it is read.
    pub(crate) fn unpack(self, input: &mut dyn BufRead) -> Box<dyn BufRead + '_> {
        let account = Rc::new(Account::default());
        let input = Counted { input, account: account.clone() };
        match self {
            Self::Gzip => buffered(Bounded::new("gzip", MultiGzDecoder::new(input), account)),
            Self::Zstd => buffered(Bounded::new("zstd", Frames::new(input), account)),
        }
    }
}

fn buffered<'i>(unpacked: impl Read + 'i) -> Box<dyn BufRead + 'i> {
    Box::new(BufReader::new(unpacked))
}

/// The bytes that went into the unpacking of an archive, and those that came out.
#[derive(Debug, Default)]
struct Account {
    packed: Cell<u64>,
    unpacked: Cell<u64>,
}

impl Account {
    /// Counts unpacked bytes.
    fn unpack(&self, count: usize) -> Result<()> {
        let unpacked = self.unpacked.get().saturating_add(count as u64);
        self.unpacked.set(unpacked);
        let most = self.packed.get().saturating_mul(RATIO_MAX).saturating_add(UNPACKED_FREE);
        if unpacked <= most {
            return Ok(());
        }
        let message = format!("the archive unpacks to more than {RATIO_MAX} times its size");
        Err(Error::other(message))
    }
}

/// An input that counts the bytes that were taken from it.
struct Counted<'i> {
    input: &'i mut dyn BufRead,
    account: Rc<Account>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.input.read(buffer)?;
        self.account.packed.set(self.account.packed.get() + count as u64);
        Ok(count)
    }
}

impl BufRead for Counted<'_> {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.account.packed.set(self.account.packed.get() + count as u64);
        self.input.consume(count);
    }
}

/// The unpacked bytes of an archive, within its bounds. An error names the archive and the place in it.
struct Bounded<D> {
    name: &'static str,
    unpacker: D,
    account: Rc<Account>,
}

impl<D> Bounded<D> {
    const fn new(name: &'static str, unpacker: D, account: Rc<Account>) -> Self {
        Self { name, unpacker, account }
    }
}

impl<D: Read> Read for Bounded<D> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let room = buffer.len().min(PIECE_BYTES);
        let read = self.unpacker.read(&mut buffer[..room]);
        let count = read.map_err(|error| broken(self.name, &error, self.account.packed.get()))?;
        self.account.unpack(count)?;
        Ok(count)
    }
}

/// Returns the error that an archive is broken, or breaks off, behind some bytes.
fn broken(name: &str, error: &Error, packed: u64) -> Error {
    match error.kind() {
        kind @ ErrorKind::Interrupted => kind.into(),
        kind @ ErrorKind::UnexpectedEof => {
            Error::new(kind, format!("the {name} archive breaks off at byte {packed}"))
        }
        kind => {
            Error::new(kind, format!("the {name} archive is broken near byte {packed}: {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    /// Returns the unpacked bytes, and the error at their end.
    fn unpack(mut packed: &[u8]) -> (Vec<u8>, Option<String>) {
        let packing = Packing::of(packed).expect("an archive");
        let mut bytes = Vec::new();
        let end = packing.unpack(&mut packed).read_to_end(&mut bytes);
        (bytes, end.err().map(|error| error.to_string()))
    }

    /// Returns bytes that pack to about half of their size.
    fn noise(count: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            b"0123456789abcdef"[usize::try_from(state >> 60).unwrap_or(0)]
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn archives_one_after_the_other_are_one_input() {
        for pack in [gzip, zstd] {
            let packed = [pack(b"one\n"), pack(b""), pack(b"two\n")].concat();
            assert_eq!(unpack(&packed), (b"one\ntwo\n".to_vec(), None));
        }
        let skipped =
            [b"\x52\x2a\x4d\x18\x03\0\0\0abc", &*zstd(b"one"), b"\x5f\x2a\x4d\x18\0\0\0\0"];
        assert_eq!(unpack(&skipped.concat()), (b"one".to_vec(), None));
    }

    #[test]
    fn an_archive_that_breaks_off_delivers_what_was_before() {
        let bytes = noise(400_000);
        for (pack, name) in [(gzip as fn(&[u8]) -> Vec<u8>, "gzip"), (zstd, "zstd")] {
            let packed = pack(&bytes);
            for cut in [packed.len() / 2, packed.len() - 1] {
                let (found, end) = unpack(&packed[..cut]);
                assert_eq!(end, Some(format!("the {name} archive breaks off at byte {cut}")));
                // A block of zstd has 128 KiB.
                let lost = (bytes.len() * cut / packed.len()).saturating_sub(found.len());
                assert!(lost < 140_000, "{name} {cut}: {lost}");
                assert_eq!(found, bytes[..found.len()], "{name} {cut}");
            }
        }
    }

    #[test]
    fn a_broken_byte_is_an_error_with_its_place() {
        let bytes = noise(400_000);
        for (pack, name) in [(gzip as fn(&[u8]) -> Vec<u8>, "gzip"), (zstd, "zstd")] {
            let mut packed = pack(&bytes);
            let end = packed.len();
            // The end of both has a checksum.
            packed[end - 1] ^= 1;
            let (found, error) = unpack(&packed);
            let begin = format!("the {name} archive is broken near byte {end}: ");
            assert!(error.as_ref().is_some_and(|error| error.starts_with(&begin)), "{error:?}");
            assert!(found.len() >= bytes.len() - PIECE_BYTES, "{name}");
        }
    }

    #[test]
    fn a_bomb_is_not_unpacked_to_its_end() {
        let bomb = zstd(&vec![b' '; 200 << 20]);
        assert!(bomb.len() < 100_000, "{}", bomb.len());
        let (found, error) = unpack(&bomb);
        assert_eq!(error.as_deref(), Some("the archive unpacks to more than 1032 times its size"));
        let most = UNPACKED_FREE + RATIO_MAX * bomb.len() as u64;
        assert!(found.len() as u64 <= most);
        // Deflate cannot pack more tightly than the bound.
        let packed = gzip(&vec![b' '; 100 << 20]);
        let (found, error) = unpack(&packed);
        assert_eq!((found.len(), error), (100 << 20, None));
    }

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked(bytes in prop::collection::vec(any::<u8>(), 0..2000), repeat in 1..40_usize) {
            let bytes = bytes.repeat(repeat);
            for pack in [gzip, zstd] {
                prop_assert_eq!(unpack(&pack(&bytes)), (bytes.clone(), None));
            }
        }
    }
}
