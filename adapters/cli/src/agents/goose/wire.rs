//! The wire of goose's hooks, by its documentation and source.
//!
//! The answer to `PreToolUse` can refuse the call, and no other answer is read: a note has no place, and no
//! answer ends a turn. Some versions send no results, so that a loop of calls that work is not seen.

use serde_json::json;
use unstuck_trace::ToolResult;

use crate::agents::event::{BadPayload, Ending, Event, EventKind, needed, text};
use crate::agents::payload::HookPayload;
use crate::agents::reply::{Encoded, Reply};

/// Reads a payload.
pub(crate) fn decode(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    let payload: HookPayload<'_> = serde_json::from_slice(payload)?;
    let call = || payload.call();
    // Some versions send no results.
    let ending = |failed: bool| match payload.tool_output.map(|raw| ToolResult::plain(raw).text) {
        None if !failed => Ending::Untold,
        output => Ending::Answered { text: output.unwrap_or_default(), failed },
    };
    let name = needed(text(payload.event), "event")?;
    let kind = match name.as_ref() {
        "PreToolUse" => EventKind::Before(call()?),
        "PostToolUse" => EventKind::After(call()?, ending(false)),
        "PostToolUseFailure" => EventKind::After(call()?, ending(true)),
        "UserPromptSubmit" => EventKind::Prompt(text(payload.message).unwrap_or_default()),
        name => payload.kind(name),
    };
    Ok(Event { subagent: None, ..payload.into_event(name, kind, None)? })
}

/// Writes a reply as goose reads it. A note, which has no place, is not kept for a later event.
pub(crate) fn encode(reply: &Reply, event: &Event<'_>) -> Encoded {
    match (reply, &event.kind) {
        (Reply::Refuse(words) | Reply::Stop(words), EventKind::Before(_)) => Encoded::Whole(
            json!({ "decision": "block", "reason": words.model.trim_end_matches('.') }).to_string(),
        ),
        (Reply::Ask(_) | Reply::Refuse(_), _) => Encoded::Partial(String::new()),
        (Reply::Nothing | Reply::Tell(_) | Reply::Stop(_) | Reply::StartOver(_), _) => {
            Encoded::Whole(String::new())
        }
    }
}
