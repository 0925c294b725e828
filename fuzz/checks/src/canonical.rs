//! Canonical texts, and what fingerprints have to do with them where numbers are doubles.

use unstuck_json::{CanonicalError, Fingerprinter, JsonError, JsonErrorKind, Rfc8785};

/// The fingerprints that go with canonical texts.
pub(crate) static PRINT: Fingerprinter<Rfc8785> = Fingerprinter::new(0);

/// The canonical text of `json`; a document has one if it has a fingerprint and repeats no name,
/// and fails as its fingerprint does if it has none.
///
/// # Errors
///
/// Those of the document: a string takes any text.
///
/// # Panics
///
/// If the two differ, or something is written of what has no text.
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

/// Two documents have one fingerprint exactly when they have one canonical text.
///
/// # Panics
///
/// If two have not.
pub(crate) fn agree<'a>(documents: impl IntoIterator<Item = &'a [u8]>) {
    let read = |json| Some((text_of(json).ok()?, PRINT.fingerprint(json)));
    let documents: Vec<_> = documents.into_iter().filter_map(read).collect();
    for (n, (text, digest)) in documents.iter().enumerate() {
        for (other, other_digest) in &documents[n + 1..] {
            assert_eq!(digest == other_digest, text == other, "{text} and {other}");
        }
    }
}
