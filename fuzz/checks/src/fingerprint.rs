//! Tries to break: bytes have a fingerprint exactly when they are JSON to `serde_json` too, the
//! documented limits of either aside, and keep it however `serde_json` spells them again; two
//! trees have one fingerprint, however they are spelled, exactly when they mean the same; two
//! documents have one where numbers are doubles exactly when their canonical texts are the same;
//! and the primary part of a shape is the object that has only the primary members.

use arbitrary::Unstructured;
use serde_json::Value;
use unstuck_core::Digest;
use unstuck_json::{Exact, Fingerprinter, JsonError, JsonErrorKind, fingerprint};

use crate::documents::Document;
use crate::tree::Choices;
use crate::{canonical, members};

/// The most documents that are compared with each other, and the places where one is damaged.
const DOCUMENTS_MAX: usize = 6;
const PLACES: usize = 4;

/// The byte between two documents: one that neither has.
const BETWEEN: u8 = 0xFF;

/// Takes the bytes for a document, for many documents, and then for what two are made from.
///
/// # Panics
///
/// If one is JSON to one of the two alone, loses its fingerprint, or shares another's.
pub fn check(bytes: &[u8]) {
    read(bytes);
    canonical::agree(bytes.split(|byte| *byte == BETWEEN).take(DOCUMENTS_MAX));
    spell(bytes);
}

/// Reads the document as `serde_json` does.
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
            // Theirs is the limit of a double; ours has none.
            let limit = error.to_string().starts_with("number out of range");
            assert!(limit, "accepted, though not JSON: {error}");
        }
        (Err(_), Err(_)) => {}
    }
}

/// Reads the document, which is refused for that reason where numbers are exact, by its doubles:
/// what there is to refuse is the same but for numbers, and names that occur twice.
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

/// The digest of those members whose name is in `keep`.
fn kept(json: &[u8], keep: &[&str]) -> Result<Option<Digest>, JsonError> {
    static PRINT: Fingerprinter<Exact> = Fingerprinter::new(0);
    PRINT.shape(json, keep).map(|shape| shape.primary)
}

/// Whether what has that error may well be JSON.
fn is_limit(kind: JsonErrorKind) -> bool {
    matches!(kind, JsonErrorKind::DepthLimit(_) | JsonErrorKind::ExponentLimit)
}

/// Spells the document twice more, its members in another order: wherever no meaning was lost on
/// the way, the fingerprint is the same.
fn spell_again(json: &[u8], value: &Value) {
    let dense = value.to_string();
    let airy = format!("{value:#}");
    let expected = fingerprint(dense.as_bytes());
    assert_eq!(fingerprint(airy.as_bytes()), expected, "{dense}");
    if is_exact(value) && members::count(dense.as_bytes()) == members::count(json) {
        assert_eq!(fingerprint(json), expected, "{dense}");
    }
}

/// Whether every number in `value` is one that `serde_json` does not hold as a double.
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
