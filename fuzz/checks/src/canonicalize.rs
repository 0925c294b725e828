//! Claim: unless a name is repeated or the nesting is too deep, the canonical text of a document equals
//! the text that `serde_json_canonicalizer` writes. It is its own canonical text, has the fingerprint of the
//! document, and is the same for any other spelling.

use arbitrary::Unstructured;
use serde_json::Value;
use unstuck_json::{JsonErrorKind, fingerprint};

use crate::canonical::{PRINT, text_of};
use crate::documents::Document;
use crate::members;

/// Reads the bytes as a document, and then as the source of documents.
///
/// # Panics
///
/// Panics if a text differs, or exists for a document without one.
pub fn check(bytes: &[u8]) {
    read(bytes);
    spell(bytes);
}

/// Returns the canonical text, if there is one.
fn read(json: &[u8]) -> Option<String> {
    let ours = text_of(json);
    match (&ours, serde_json::from_slice::<Value>(json)) {
        (Ok(text), Ok(value)) => compare(json, text, &value),
        (Ok(text), Err(error)) => panic!("{text}, though not JSON: {error}"),
        (Err(error), Ok(value)) => match error.kind {
            // `serde_json` keeps one member of each name.
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

/// Asserts the claims about a canonical text.
fn compare(json: &[u8], text: &String, value: &Value) {
    let expected = serde_json_canonicalizer::to_string(value).expect("numbers that are finite");
    assert_eq!(text, &expected, "{}", json.escape_ascii());
    assert!(!is_less(value, json), "a name is repeated, though not in {text}");
    assert_eq!(text_of(text.as_bytes()).as_ref(), Ok(text));
    assert_eq!(PRINT.fingerprint(text.as_bytes()), PRINT.fingerprint(json), "{text}");
    assert!(fingerprint(text.as_bytes()).is_ok(), "{text}");
}

/// Returns whether members of `json` were lost when it was read.
fn is_less(value: &Value, json: &[u8]) -> bool {
    members::count(value.to_string().as_bytes()) < members::count(json)
}

/// Makes a document with two spellings. It has no text only because of a number.
fn spell(bytes: &[u8]) {
    let Ok(Document { spellings, .. }) = Document::new(&mut Unstructured::new(bytes)) else {
        return;
    };
    let [one, other] = spellings.each_ref().map(|json| read(json.as_bytes()));
    assert_eq!(one, other, "{spellings:?}");
    let kind = text_of(spellings[0].as_bytes()).err().map(|error| error.kind);
    assert!(matches!(kind, None | Some(JsonErrorKind::NumberRange)), "{kind:?}: {spellings:?}");
}
