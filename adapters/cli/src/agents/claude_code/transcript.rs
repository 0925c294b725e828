//! The transcript of Claude Code, whose end shows the calls of an answer before they run.
//!
//! Commands that may change files run one after the other, even if the model issued them together. The
//! event at the end of a batch tells that too late for the first batch of a session.

use std::path::Path;

use serde::Deserialize;

use crate::agents::answers::Answer;
use crate::agents::event::Raw;
use crate::agents::transcript;

/// Returns whether the call with this id stands behind another call of the same answer, or `None` if the transcript does
/// not show the call. Each line has one block of an answer, and the lines of an answer have the id of its message.
pub(super) fn is_behind_another(path: &Path, id: &str) -> Option<bool> {
    transcript::is_behind_another(path, id, "tool_use", |line| {
        let Message { id, content, .. } = serde_json::from_str::<Line<'_>>(line).ok()?.message?;
        let blocks: Vec<Block> = serde_json::from_str(content?.get()).ok()?;
        let calls = blocks.into_iter().filter(|block| block.r#type == "tool_use");
        Some((Some(id?), calls.filter_map(|call| call.id).collect()))
    })
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
