//! Claims:
//!
//! - Bytes have a fingerprint exactly if they are JSON to `serde_json`, too, except for the documented
//!   limits of both. The fingerprint stays the same if `serde_json` writes the document again.
//! - Two trees have the same fingerprint, in any spelling, exactly if they mean the same.
//! - If numbers are doubles, two documents have the same fingerprint exactly if their canonical texts are
//!   equal.
//! - The primary part of a shape has the fingerprint of the object with only the primary members.

use arbitrary::Unstructured;
use serde_json::Value;
use unstuck_core::Digest;
use unstuck_json::{Exact, Fingerprinter, JsonError, JsonErrorKind, fingerprint};

use crate::documents::Document;
use crate::tree::Choices;
use crate::{canonical, members};

/// The maximum number of documents that are compared, and of places at which one is damaged.
const DOCUMENTS_MAX: usize = 6;
const PLACES: usize = 4;

/// The byte between two documents. No document has it.
const BETWEEN: u8 = 0xFF;

/// Reads the bytes as a document, as many documents, and as the source of two documents.
///
/// # Panics
///
/// Panics if a claim does not hold.
pub fn check(bytes: &[u8]) {
    read(bytes);
    canonical::agree(bytes.split(|byte| *byte == BETWEEN).take(DOCUMENTS_MAX));
    spell(bytes);
}

/// Compares the fingerprint with the result of `serde_json`.
fn read(json: &[u8]) {
    let ours = fingerprint(json);
    let theirs = serde_json::from_slice::<Value>(json);
    if let Err(error) = ours {
        assert!(error.offset <= json.len(), "{error}");
        assert_eq!(kept(json, &["a"]), Err(error));
    }
    read_doubles(json, ours.err());
    match (ours, theirs) {
        (Ok(_), Ok(value)) => {
            spell_again(json, &value);
            members::part(json);
            look_up(json, &value);
        }
        (Err(error), Ok(_)) => assert!(is_limit(error.kind), "refused, though JSON: {error}"),
        (Ok(_), Err(error)) => {
            // `serde_json` has the limit of a double, and this crate has none.
            let limit = error.to_string().starts_with("number out of range");
            assert!(limit, "accepted, though not JSON: {error}");
        }
        (Err(_), Err(_)) => {}
    }
}

/// Reads a document that is refused with exact numbers by its doubles. Both modes refuse the same
/// documents, except for numbers and repeated names.
fn read_doubles(json: &[u8], refused: Option<JsonError>) {
    let doubles = canonical::text_of(json).err();
    let by = |error: Option<JsonError>, kinds: &[JsonErrorKind]| {
        error.is_some_and(|error| kinds.contains(&error.kind))
    };
    let alike = refused == doubles
        || by(refused, &[JsonErrorKind::ExponentLimit])
        || by(doubles, &[JsonErrorKind::NumberRange, JsonErrorKind::RepeatedName]);
    assert!(alike, "{refused:?}, and {doubles:?} as doubles");
}

/// Returns the digest of the members whose name is in `keep`.
fn kept(json: &[u8], keep: &[&str]) -> Result<Option<Digest>, JsonError> {
    static PRINT: Fingerprinter<Exact> = Fingerprinter::new(0);
    PRINT.shape(json, keep).map(|shape| shape.primary)
}

/// Returns whether a document with this error may be JSON.
fn is_limit(kind: JsonErrorKind) -> bool {
    matches!(kind, JsonErrorKind::DepthLimit(_) | JsonErrorKind::ExponentLimit)
}

/// Writes the document twice more, with its members in another order. If no meaning was lost, the
/// fingerprint is the same.
fn spell_again(json: &[u8], value: &Value) {
    let dense = value.to_string();
    let airy = format!("{value:#}");
    let expected = fingerprint(dense.as_bytes());
    assert_eq!(fingerprint(airy.as_bytes()), expected, "{dense}");
    if is_exact(value) && members::count(dense.as_bytes()) == members::count(json) {
        assert_eq!(fingerprint(json), expected, "{dense}");
    }
}

/// Returns whether `serde_json` keeps no number in `value` as a double.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_f64(),
        Value::Array(elements) => elements.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// Looks up each member of the outermost object by its name.
fn look_up(json: &[u8], value: &Value) {
    for (name, _) in value.as_object().into_iter().flatten().take(8) {
        let kept = kept(json, &[name]);
        assert!(kept.is_ok_and(|digest| digest.is_some()), "{name:?} in {value}");
    }
    let all: Vec<&str> = value.as_object().into_iter().flatten().map(|(name, _)| &**name).collect();
    let expected = if all.is_empty() { Ok(None) } else { fingerprint(json).map(Some) };
    assert_eq!(kept(json, &all), expected, "{value}");
}

/// Makes two documents, each with two spellings.
fn spell(bytes: &[u8]) {
    let mut bytes = Unstructured::new(bytes);
    let documents = [Document::new(&mut bytes), Document::new(&mut bytes)];
    let [Ok(one), Ok(other)] = documents else { return };
    let [of_one, of_other] = [&one, &other].map(|document| {
        let [digest, again] =
            document.spellings.each_ref().map(|json| fingerprint(json.as_bytes()));
        assert!(digest.is_ok() && digest == again, "{:?}", document.spellings);
        digest
    });
    let same = one.tree.canonical() == other.tree.canonical();
    assert_eq!(of_one == of_other, same, "{:?} and {:?}", one.spellings, other.spellings);
    let [first, again] = one.spellings.each_ref().map(String::as_bytes);
    canonical::agree(
        [first, again].into_iter().chain(other.spellings.iter().map(String::as_bytes)),
    );
    members::part(first);
    damage(first, &mut Choices(bytes.arbitrary().unwrap_or_default()));
}

/// Cuts the document off, and puts another byte into it, in some places.
fn damage(json: &[u8], choices: &mut Choices) {
    const BYTES: &[u8] = b"{}[]\",:\\/un-+.eE019 \n\0\x1F\x7F\x80\xC3\xED\xF4\xFF";
    for _ in 0..PLACES {
        let at = choices.below(json.len());
        let mut altered = json.to_vec();
        altered[at] = choices.pick(BYTES);
        read(&altered);
        altered.truncate(at);
        read(&altered);
    }
}
