//! Canonical texts, and their relation to fingerprints of documents whose numbers are doubles.

use unstuck_json::{CanonicalError, Fingerprinter, JsonError, JsonErrorKind, Rfc8785};

/// The fingerprinter that agrees with canonical texts.
pub(crate) static PRINT: Fingerprinter<Rfc8785> = Fingerprinter::new(0);

/// Returns the canonical text of `json`. A document has one if it has a fingerprint and repeats no name. The
/// error is the same as for the fingerprint.
///
/// # Errors
///
/// Returns the errors of the document. Writing to a string never fails.
///
/// # Panics
///
/// Panics if the two differ, or if a document without a text is written in part.
pub(crate) fn text_of(json: &[u8]) -> Result<String, JsonError> {
    let mut text = String::new();
    let error = match unstuck_json::canonicalize(json, &mut text) {
        Ok(()) => None,
        Err(CanonicalError::Json(error)) => Some(error),
        Err(CanonicalError::Write(error)) => panic!("a string refused {text:?}: {error}"),
    };
    match error {
        Some(error) if error.kind == JsonErrorKind::RepeatedName => {
            assert_eq!(json.get(error.offset), Some(&b'"'), "{error}");
        }
        _ => assert_eq!(PRINT.fingerprint(json).err(), error, "{}", json.escape_ascii()),
    }
    let Some(error) = error else { return Ok(text) };
    assert_eq!(text, "", "written, though {error}");
    Err(error)
}

/// Asserts that two documents have the same fingerprint exactly if they have the same canonical text.
///
/// # Panics
///
/// Panics if a pair does not.
pub(crate) fn agree<'a>(documents: impl IntoIterator<Item = &'a [u8]>) {
    let read = |json| Some((text_of(json).ok()?, PRINT.fingerprint(json)));
    let documents: Vec<_> = documents.into_iter().filter_map(read).collect();
    for (n, (text, digest)) in documents.iter().enumerate() {
        for (other, other_digest) in &documents[n + 1..] {
            assert_eq!(digest == other_digest, text == other, "{text} and {other}");
        }
    }
}
