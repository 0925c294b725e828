//! The end of a Qwen Code transcript, where the calls of an answer are one record before they run.
//!
//! Commands that may change files run one after the other, even if the model issued them together.

use std::path::Path;

use serde::Deserialize;

use crate::agents::event::Raw;
use crate::agents::transcript;

/// Returns whether the call with this id stands behind another call of the same answer, or `None` if the
/// transcript does not show the call.
pub(super) fn is_behind_another(path: &Path, id: &str) -> Option<bool> {
    transcript::is_behind_another(path, id, "functionCall", |line| {
        let parts = serde_json::from_str::<Line<'_>>(line).ok()?.message?.parts?;
        let parts: Vec<Part> = serde_json::from_str(parts.get()).ok()?;
        let calls = parts.into_iter().filter_map(|part| part.function_call);
        // An answer is one line.
        Some((None, calls.map(|call| call.id.unwrap_or_default()).collect()))
    })
}

/// A line of a transcript.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    parts: Raw<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    function_call: Option<Call>,
}

#[derive(Deserialize)]
struct Call {
    id: Option<String>,
}
