//! Reads the body of a request, with limits on its length before and after decompression, and on time.
//!
//! The limits of `http-body-util` and `tower-http` stop to read at the limit. A client then sees a broken connection
//! and not the answer, and sends the same again.

use std::io::Read as _;
use std::time::Duration;

use flate2::bufread::GzDecoder;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use unstuck_trace::otlp::{Span, spans_of_json};

use super::journal::Encoding;
use super::protobuf::spans_of_protobuf;

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

/// Reads a body of at most `most` bytes. `room` has a permit for each byte that all bodies may still take: a body is
/// decompressed at once, so only one decompressed body is in memory beside them. The permits of this body are returned
/// with it.
pub(super) async fn read(
    body: Incoming,
    compression: Compression,
    most: usize,
    room: &Semaphore,
) -> Result<(Vec<u8>, SemaphorePermit<'_>), Unread> {
    let collected = timeout(BODY_TIME, collected(body, most, room)).await;
    let (bytes, taken) = collected.map_err(|_| Unread::TooSlow)??;
    match compression {
        Compression::None => Ok((bytes, taken)),
        Compression::Gzip => Ok((unzipped(&bytes, most)?, taken)),
    }
}

/// Collects a body. It takes room as its bytes arrive, so a client that only announces a body keeps nobody out. A body
/// that is too long, or for which there is no room, is still read to its end and dropped, because a client does not
/// see the answer while it is writing.
async fn collected(
    mut body: Incoming,
    most: usize,
    room: &Semaphore,
) -> Result<(Vec<u8>, SemaphorePermit<'_>), Unread> {
    let take = |bytes| room.try_acquire_many(u32::try_from(bytes).unwrap_or(u32::MAX));
    let (mut length, mut bytes) = (0_usize, Vec::new());
    let mut taken = take(0).map_err(|_| Unread::NoRoom);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Unread::BrokenOff)?;
        let Some(data) = frame.data_ref() else { continue };
        length = length.saturating_add(data.len());
        if length > most {
            taken = Err(Unread::TooLong);
        }
        if let Ok(permits) = &mut taken {
            match take(data.len()) {
                Ok(more) => {
                    permits.merge(more);
                    bytes.extend_from_slice(data);
                }
                Err(_) => taken = Err(Unread::NoRoom),
            }
        }
        if taken.is_err() {
            bytes = Vec::new();
        }
        if length > most.saturating_add(DROPPED_MAX) {
            break;
        }
    }
    taken.map(|permits| (bytes, permits))
}

/// Reads a body and drops it.
pub(super) async fn discard(body: Incoming) {
    // The answer does not depend on the body.
    let _ = timeout(BODY_TIME, collected(body, 0, &Semaphore::const_new(0))).await;
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

/// The most spans of a request. Collectors send some thousand.
const SPANS_MAX: usize = 100_000;

/// The spans of a request.
pub(super) struct Decoded {
    pub(super) spans: Vec<Span>,
    /// The spans without an id, and those beyond the limit.
    pub(super) broken: usize,
    pub(super) beyond: usize,
}

/// Decodes the body of a request. Returns why it cannot be read.
pub(super) fn decode(encoding: Encoding, body: &[u8]) -> Result<Decoded, String> {
    let (mut spans, mut beyond) = (Vec::new(), 0);
    let mut each = |span| {
        if spans.len() < SPANS_MAX {
            spans.push(span);
        } else {
            beyond += 1;
        }
    };
    let broken = match encoding {
        Encoding::Protobuf => spans_of_protobuf(body, &mut each)
            .map_err(|_| "the body is not ExportTraceServiceRequest in protobuf".to_owned()),
        // The protocol allows an empty request.
        Encoding::Json if body.trim_ascii() == b"{}" => Ok(0),
        Encoding::Json => spans_of_json(body, &mut each)
            .map_err(|why| format!("the body is not ExportTraceServiceRequest in JSON: {why}")),
    }?;
    Ok(Decoded { spans, broken, beyond })
}

/// Describes the spans that were rejected.
pub(super) fn why(broken: usize, beyond: usize) -> String {
    let parts = [
        (broken, "have no trace id of 16 bytes and span id of 8".to_owned()),
        (beyond, format!("are beyond the limit of {SPANS_MAX} spans a request")),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    parts.map(|(count, why)| format!("{count} spans {why}")).collect::<Vec<_>>().join("; ")
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
