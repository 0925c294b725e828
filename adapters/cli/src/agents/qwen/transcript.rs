//! The end of a Qwen Code transcript, where the calls of an answer are one record before they run.
//!
//! Commands that may change files run one after the other, even if the model issued them together.

use std::path::Path;

use serde::Deserialize;

use crate::agents::event::Raw;
use crate::agents::transcript::tail;

/// Returns whether the call with this id stands behind another call of the same answer, or `None` if the
/// transcript does not show the call.
pub(super) fn is_behind_another(path: &Path, id: &str) -> Option<bool> {
    is_behind(&tail(path).ok()?, id)
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

fn is_behind(tail: &str, id: &str) -> Option<bool> {
    let mut lines = tail.lines().rev().filter(|line| line.contains("functionCall"));
    let place = lines.find_map(|line| {
        let parts = serde_json::from_str::<Line<'_>>(line).ok()?.message?.parts?;
        let parts: Vec<Part> = serde_json::from_str(parts.get()).ok()?;
        let mut calls = parts.into_iter().filter_map(|part| part.function_call);
        calls.position(|call| call.id.as_deref() == Some(id))
    });
    place.map(|place| place > 0)
}

#[cfg(test)]
mod tests {
    use super::{is_behind, is_behind_another};

    #[test]
    fn a_call_belongs_to_the_answer_of_the_one_before() {
        let answer = |ids: &[&str]| {
            let part = |id: &&str| {
                format!(r#"{{"functionCall":{{"id":"{id}","name":"ls","args":{{}}}}}}"#)
            };
            let parts = ids.iter().map(part).collect::<Vec<_>>().join(",");
            format!(
                r#"{{"type":"assistant","message":{{"role":"model","parts":[{{"text":"Look."}},{parts}]}}}}"#
            )
        };
        let lines = [
            "cut off functionCall\"}}".to_owned(),
            answer(&["a", "b"]),
            r#"{"type":"system","message":null}"#.to_owned(),
            answer(&["c"]),
        ];
        let text = lines.join("\n");
        assert_eq!(
            ["a", "b", "c", "d"].map(|id| is_behind(&text, id)),
            [Some(false), Some(true), Some(false), None]
        );
        assert_eq!(is_behind_another("/no/such/file".as_ref(), "b"), None);
    }
}
