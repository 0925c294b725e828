//! Tries to break: what can be serialized has the fingerprint of the text that `serde_json` writes
//! of it, in both modes, and is refused where that text is, or where there is none.

use arbitrary::Unstructured;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use unstuck_json::{
    Exact, Fingerprinter, Fnv, Hash64, JsonErrorKind, Numbers, Rfc8785, ValueError, fingerprint,
    fingerprint_value,
};

use crate::nodes::{Node, REFUSED};

/// Takes the bytes for a document that is parsed, and then for what a value is made from.
///
/// # Panics
///
/// If a value has another fingerprint than its text.
pub fn check(bytes: &[u8]) {
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        agree(&value);
    }
    if let Ok(raw) = serde_json::from_slice::<&RawValue>(bytes) {
        agree(&raw);
        agree(&[raw]);
    }
    if let Ok(node) = Node::new(&mut Unstructured::new(bytes)) {
        make(&node);
    }
}

fn make(node: &Node) {
    if node.has_float_key() {
        // Theirs has a text for it, ours refuses; if not something else before.
        assert!(fingerprint_value(node).is_err(), "{node:?}");
    } else {
        agree(node);
    }
}

/// Asserts that `value` has the fingerprint of its text, by different fingerprinters.
fn agree(value: &impl Serialize) {
    let text = serde_json::to_string(value);
    compare(&Fingerprinter::<Exact>::new(0), value, &text);
    compare(&Fingerprinter::<Rfc8785>::new(1), value, &text);
    compare(&Fingerprinter::<Exact, Fnv, 3>::with_hash(Fnv::new(2), 3), value, &text);
    if let Ok(json) = text {
        assert_eq!(fingerprint_value(value).ok(), fingerprint(json.as_bytes()).ok(), "{json}");
    }
}

fn compare<N: Numbers, H: Hash64, const DEPTH: usize>(
    print: &Fingerprinter<N, H, DEPTH>,
    value: &impl Serialize,
    text: &serde_json::Result<String>,
) {
    let ours = print.value(value);
    match text {
        Ok(json) => {
            let theirs = print.fingerprint(json.as_bytes()).map_err(|error| Some(error.kind));
            assert_eq!(ours.map_err(limit), theirs, "{json}");
        }
        Err(error) => {
            let reason =
                if error.to_string() == REFUSED { ValueError::Refused } else { ValueError::Key };
            let is_limit = ours.is_err_and(|error| limit(error).is_some());
            assert!(is_limit || ours == Err(reason), "{ours:?}, where theirs is {error}");
        }
    }
}

/// What is said of the text where a value goes beyond a limit.
fn limit(error: ValueError) -> Option<JsonErrorKind> {
    match error {
        ValueError::DepthLimit(depth_max) => Some(JsonErrorKind::DepthLimit(depth_max)),
        ValueError::Raw(error) => Some(error.kind),
        _ => None,
    }
}
