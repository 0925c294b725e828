//! The transcript of Claude Code, whose end shows the calls of an answer before they run.
//!
//! Commands that may change files run one after the other, even if the model issued them together. The
//! event at the end of a batch tells that too late for the first batch of a session.

use std::path::Path;

use serde::Deserialize;

use crate::agents::answers::Answer;
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

/// Returns the answer whose tokens a line tells. Several lines may tell the tokens of one answer.
pub(super) fn answer(line: &str) -> Option<Answer> {
    if !line.contains("\"usage\"") {
        return None;
    }
    let Message { id, model, .. } = serde_json::from_str::<Line<'_>>(line).ok()?.message?;
    Some(Answer { id, model })
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<String>,
    model: Option<String>,
    #[serde(borrow)]
    content: Raw<'a>,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    id: Option<String>,
}

/// Each line has one block of an answer, and the lines of an answer have the id of its message.
fn is_behind(tail: &str, id: &str) -> Option<bool> {
    let lines = tail.lines().rev().filter(|line| line.contains("tool_use"));
    let mut answers = lines.filter_map(|line| {
        let Message { id: message, content, .. } =
            serde_json::from_str::<Line<'_>>(line).ok()?.message?;
        let blocks: Vec<Block> = serde_json::from_str(content?.get()).ok()?;
        let calls = blocks.into_iter().filter(|block| block.r#type == "tool_use");
        let calls: Vec<_> = calls.filter_map(|call| call.id).collect();
        (!calls.is_empty()).then_some((message?, calls))
    });
    let (message, place) = answers.find_map(|(message, calls)| {
        let place = calls.iter().position(|call| call == id)?;
        Some((message, place))
    })?;
    Some(place > 0 || answers.next().is_some_and(|(before, _)| before == message))
}

#[cfg(test)]
mod tests {
    use super::{is_behind, is_behind_another};

    fn call(message: &str, ids: &[&str]) -> String {
        let block =
            |id: &&str| format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}"#);
        let blocks = ids.iter().map(block).collect::<Vec<_>>().join(",");
        format!(r#"{{"type":"assistant","message":{{"id":"{message}","content":[{blocks}]}}}}"#)
    }

    #[test]
    fn a_call_belongs_to_the_answer_of_the_one_before() {
        let result = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}}"#;
        let text = r#"{"type":"user","message":{"role":"user","content":"run the tool_use"}}"#;
        let lines = [
            "cut off tool_use\"}}".to_owned(),
            call("m1", &["a"]),
            call("m1", &["b"]),
            result.to_owned(),
            call("m1", &["c"]),
            text.to_owned(),
            call("m2", &["d"]),
            call("m3", &["e", "f"]),
        ];
        let text = lines.join("\n");
        for (id, expected) in [
            ("a", Some(false)),
            ("b", Some(true)),
            ("c", Some(true)),
            ("d", Some(false)),
            ("e", Some(false)),
            ("f", Some(true)),
            ("g", None),
        ] {
            assert_eq!(is_behind(&text, id), expected, "{id}");
        }
        assert_eq!(is_behind_another("/no/such/file".as_ref(), "b"), None);
    }
}
