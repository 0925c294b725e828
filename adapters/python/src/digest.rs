//! Digests and the text that two results are compared by.

use pyo3::prelude::*;
use unstuck_core::Digest;
use unstuck_text::PRESETS;

use crate::text::Text;

/// Returns the digest of a value: 16 hexadecimal digits. Equal arguments have equal digests, however they
/// are spelled. Text that is no JSON is digested byte by byte.
#[pyfunction]
pub(crate) fn fingerprint(py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = Text::of(value)?;
    let text = text.as_str().as_bytes();
    let digest = py.detach(|| unstuck_json::fingerprint(text).unwrap_or_else(|_| Digest::of(text)));
    Ok(format!("{:016x}", digest.bits()))
}

/// Returns a result as results are compared: with a word such as `<times>` in place of each volatile part.
#[pyfunction]
pub(crate) fn normalize(py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = Text::of(text)?;
    let text = text.as_str();
    Ok(py.detach(|| PRESETS[0].recipe.masks.show(text).to_string()))
}
