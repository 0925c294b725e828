//! Digests, and the text by which two results are compared.

use unstuck::Payload;
use unstuck_core::Digest;
use unstuck_text::PRESETS;
use wasm_bindgen::prelude::wasm_bindgen;

/// Returns the digest of arguments: 16 hexadecimal digits. Text that is no JSON is digested byte by byte.
#[wasm_bindgen]
pub fn fingerprint(text: &str) -> String {
    let bytes = text.as_bytes();
    let digest = unstuck_json::fingerprint(bytes).unwrap_or_else(|_| Digest::of(bytes));
    format!("{:016x}", digest.bits())
}

/// Returns a result as results are compared, with a word such as `<times>` in place of each volatile part.
#[wasm_bindgen]
pub fn normalize(text: &str) -> String {
    PRESETS[0].recipe.masks.show(text).to_string()
}

/// Returns bytes as text, with `\xNN` for what is no UTF-8.
#[wasm_bindgen]
pub fn text_of_bytes(bytes: &[u8]) -> String {
    Payload::from(bytes).as_str().to_owned()
}
