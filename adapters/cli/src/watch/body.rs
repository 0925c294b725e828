//! Reads the body of a request, with limits on its length before and after decompression, and on time.

use std::cell::Cell;
use std::io::Read as _;
use std::mem;
use std::time::Duration;

use flate2::bufread::GzDecoder;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use tokio::time::timeout;

use super::entry::Encoding;

/// The time in which a body has to arrive. A collector gives up after ten seconds.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The most bytes beyond the limit that are read and dropped.
const DROPPED_MAX: usize = 256 << 20;

/// The most members of a body in gzip. A client sends one. Each costs a microsecond, also if it is empty.
const MEMBERS_MAX: usize = 1000;

/// The reason why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is longer than the limit, or becomes so when it is decompressed.
    TooLong,
    /// It did not arrive in time.
    TooSlow,
    /// The client broke off.
    BrokenOff,
    /// It is not gzip.
    NotGzip,
    /// It consists of too many members of gzip.
    TooManyParts,
    /// Other bodies take up the memory.
    NoRoom,
}

/// The memory that a body takes of the bytes that all of them may take. It grows with the bytes that arrive, so
/// a client that only announces a body keeps nobody out. It is given back at the end.
pub(super) struct Room<'s> {
    left: &'s Cell<usize>,
    taken: usize,
}

impl<'s> Room<'s> {
    pub(super) const fn of(left: &'s Cell<usize>) -> Self {
        Self { left, taken: 0 }
    }

    /// Takes room for more bytes. Returns whether there was as much.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.left.get().checked_sub(bytes);
        if let Some(left) = left {
            self.left.set(left);
            self.taken += bytes;
        }
        left.is_some()
    }

    fn give_back(&mut self) {
        self.left.set(self.left.get() + mem::take(&mut self.taken));
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// The compression of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
}

/// Returns the encoding that a request names, or `None` if it is neither protobuf nor JSON.
pub(super) fn encoding(headers: &HeaderMap) -> Option<Encoding> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = value.split(';').next().unwrap_or_default().trim();
    match () {
        () if kind.eq_ignore_ascii_case("application/x-protobuf") => Some(Encoding::Protobuf),
        () if kind.eq_ignore_ascii_case("application/json") => Some(Encoding::Json),
        () => None,
    }
}

/// Returns the compression that a request names, or `None` if it is neither gzip nor identity.
pub(super) fn compression(headers: &HeaderMap) -> Option<Compression> {
    let Some(value) = headers.get(CONTENT_ENCODING) else { return Some(Compression::None) };
    match value.to_str().ok()?.trim() {
        "" => Some(Compression::None),
        word if word.eq_ignore_ascii_case("identity") => Some(Compression::None),
        word if word.eq_ignore_ascii_case("gzip") => Some(Compression::Gzip),
        _ => None,
    }
}

/// Reads a body of at most `most` bytes. `room` is for the bytes that arrive: a body is decompressed at once, so
/// only one decompressed body is in memory beside them.
pub(super) async fn read(
    body: Incoming,
    compression: Compression,
    most: usize,
    room: &mut Room<'_>,
) -> Result<Vec<u8>, Unread> {
    let collected = timeout(BODY_TIME, collected(body, most, room)).await;
    let bytes = collected.map_err(|_| Unread::TooSlow)??;
    match compression {
        Compression::None => Ok(bytes),
        Compression::Gzip => unzipped(&bytes, most),
    }
}

/// Collects a body. A body that is too long, or for which there is no room, is still read to its end and dropped,
/// because a client does not see the answer while it is writing.
async fn collected(
    mut body: Incoming,
    most: usize,
    room: &mut Room<'_>,
) -> Result<Vec<u8>, Unread> {
    let (mut bytes, mut length, mut unread) = (Vec::new(), 0_usize, None);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Unread::BrokenOff)?;
        let Some(data) = frame.data_ref() else { continue };
        length = length.saturating_add(data.len());
        if length > most {
            unread = Some(Unread::TooLong);
        } else if unread.is_none() && !room.take(data.len()) {
            unread = Some(Unread::NoRoom);
        }
        if unread.is_none() {
            bytes.extend_from_slice(data);
            continue;
        }
        bytes = Vec::new();
        room.give_back();
        if length > most.saturating_add(DROPPED_MAX) {
            break;
        }
    }
    unread.map_or(Ok(bytes), Err)
}

/// Reads a body and drops it.
pub(super) async fn discard(body: Incoming) {
    let none = Cell::new(0);
    // The answer does not depend on the body.
    let _ = timeout(BODY_TIME, collected(body, 0, &mut Room::of(&none))).await;
}

/// Decompresses at most `most` bytes of at most [`MEMBERS_MAX`] members.
fn unzipped(bytes: &[u8], most: usize) -> Result<Vec<u8>, Unread> {
    let (mut plain, mut rest) = (Vec::new(), bytes);
    for _ in 0..MEMBERS_MAX {
        let left = most - plain.len();
        let mut member = GzDecoder::new(rest);
        let read = member.by_ref().take(left as u64 + 1).read_to_end(&mut plain);
        read.map_err(|_| Unread::NotGzip)?;
        if plain.len() > most {
            return Err(Unread::TooLong);
        }
        rest = member.into_inner();
        if rest.is_empty() {
            return Ok(plain);
        }
    }
    Err(Unread::TooManyParts)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression as Level;
    use flate2::write::GzEncoder;
    use hyper::header::HeaderValue;

    use super::*;

    fn zipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Level::best());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    #[test]
    fn room_is_given_back() {
        let left = Cell::new(10);
        let (mut first, mut second) = (Room::of(&left), Room::of(&left));
        assert!(first.take(3) && second.take(6) && first.take(1));
        assert!(!second.take(1) && left.get() == 0);
        second.give_back();
        assert_eq!(left.get(), 6);
        assert!(!first.take(7) && first.take(6));
        drop(first);
        drop(second);
        assert_eq!(left.get(), 10);
    }

    #[test]
    fn a_bomb_stops_at_the_limit() {
        let bomb = zipped(&vec![0; 50 << 20]);
        assert!(bomb.len() < 100_000);
        assert_eq!(unzipped(&bomb, 1 << 20), Err(Unread::TooLong));
        assert_eq!(unzipped(&zipped(b"spans"), 5), Ok(b"spans".to_vec()));
        assert_eq!(unzipped(&zipped(b"spans"), 4), Err(Unread::TooLong));
    }

    #[test]
    fn what_is_no_gzip_is_refused() {
        let whole = zipped(b"some spans");
        for bytes in
            [&b""[..], b"{}", &whole[..whole.len() - 9], &[whole.clone(), b"x".to_vec()].concat()]
        {
            assert_eq!(unzipped(bytes, 100), Err(Unread::NotGzip), "{bytes:?}");
        }
        let twice = [whole.clone(), whole].concat();
        assert_eq!(unzipped(&twice, 100), Ok(b"some spanssome spans".to_vec()));
    }

    #[test]
    fn the_members_of_a_body_are_limited() {
        for part in ["", "x"] {
            let parts = |count| zipped(part.as_bytes()).repeat(count);
            let most = Ok(part.repeat(MEMBERS_MAX).into_bytes());
            assert_eq!(unzipped(&parts(MEMBERS_MAX), 1 << 20), most);
            let beyond = unzipped(&parts(MEMBERS_MAX + 1), 1 << 20);
            assert_eq!(beyond, Err(Unread::TooManyParts));
        }
    }

    #[test]
    fn headers_name_the_encoding_and_the_compression() {
        for (name, encoding) in [
            ("application/json", Some(Encoding::Json)),
            ("Application/JSON; charset=utf-8", Some(Encoding::Json)),
            ("application/x-protobuf", Some(Encoding::Protobuf)),
            ("application/jsonl", None),
            ("text/plain", None),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(name))]);
            assert_eq!(super::encoding(&headers), encoding, "{name}");
        }
        assert_eq!(encoding(&HeaderMap::new()), None);
        for (name, compression) in [
            ("gzip", Some(Compression::Gzip)),
            ("GZIP", Some(Compression::Gzip)),
            ("identity", Some(Compression::None)),
            ("zstd", None),
            ("gzip, gzip", None),
        ] {
            let headers =
                HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(name))]);
            assert_eq!(super::compression(&headers), compression, "{name}");
        }
    }
}
