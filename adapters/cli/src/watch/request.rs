//! The spans of a request, in each of its encodings.

use unstuck_trace::otlp::{Span, spans_of_json};

use super::journal::Encoding;
use super::protobuf::spans_of_protobuf;

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
