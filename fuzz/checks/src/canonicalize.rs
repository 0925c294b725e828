//! Tries to break: bytes have the canonical text that `serde_json_canonicalizer` writes of what
//! `serde_json` reads, wherever no name is repeated and nesting is not too deep; that text is its
//! own canonical text, has the fingerprint of the document, and is that of any other spelling.

use arbitrary::Unstructured;
use serde_json::Value;
use unstuck_json::{JsonErrorKind, fingerprint};

use crate::canonical::{PRINT, text_of};
use crate::documents::Document;
use crate::members;

/// Takes the bytes for a document, and then for what documents are made from.
///
/// # Panics
///
/// If a text is another, or there is one where there should be none.
pub fn check(bytes: &[u8]) {
    read(bytes);
    spell(bytes);
}

/// The canonical text, if there is one.
fn read(json: &[u8]) -> Option<String> {
    let ours = text_of(json);
    match (&ours, serde_json::from_slice::<Value>(json)) {
        (Ok(text), Ok(value)) => compare(json, text, &value),
        (Ok(text), Err(error)) => panic!("{text}, though not JSON: {error}"),
        (Err(error), Ok(value)) => match error.kind {
            // Theirs keeps one member of each name.
            JsonErrorKind::RepeatedName => assert!(is_less(&value, json), "{error}: {value}"),
            kind => {
                let limit = matches!(kind, JsonErrorKind::DepthLimit(_));
                assert!(limit, "refused, though JSON: {error}");
            }
        },
        (Err(_), Err(_)) => {}
    }
    ours.ok()
}

/// Asserts that `text` is all that it should be.
fn compare(json: &[u8], text: &String, value: &Value) {
    let expected = serde_json_canonicalizer::to_string(value).expect("numbers that are finite");
    assert_eq!(text, &expected, "{}", json.escape_ascii());
    assert!(!is_less(value, json), "a name is repeated, though not in {text}");
    assert_eq!(text_of(text.as_bytes()).as_ref(), Ok(text));
    assert_eq!(PRINT.fingerprint(text.as_bytes()), PRINT.fingerprint(json), "{text}");
    assert!(fingerprint(text.as_bytes()).is_ok(), "{text}");
}

/// Whether members of `json` were lost as it was read.
fn is_less(value: &Value, json: &[u8]) -> bool {
    members::count(value.to_string().as_bytes()) < members::count(json)
}

/// Makes a document with two spellings; what it may have no text for is a number.
fn spell(bytes: &[u8]) {
    let Ok(Document { spellings, .. }) = Document::new(&mut Unstructured::new(bytes)) else {
        return;
    };
    let [one, other] = spellings.each_ref().map(|json| read(json.as_bytes()));
    assert_eq!(one, other, "{spellings:?}");
    let kind = text_of(spellings[0].as_bytes()).err().map(|error| error.kind);
    assert!(matches!(kind, None | Some(JsonErrorKind::NumberRange)), "{kind:?}: {spellings:?}");
}
