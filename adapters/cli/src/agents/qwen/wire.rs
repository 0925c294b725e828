//! The wire of Qwen Code's hooks.
//!
//! `PostToolUse` has the result of a call, and `PostToolUseFailure` the error of a failed one.
//! `PostToolBatch` lists the calls that have ended, and with them the calls that were rejected before they
//! ran, which have no other event. Before the results go to the model, `UserPromptSubmit` comes again, with
//! an empty prompt. Only the answer to that event ends the turn.

use std::borrow::Cow;

use serde::Deserialize;
use unstuck_trace::ToolResult;

use crate::agents::dialect::Dialect;
use crate::agents::event::{BadPayload, Ending, Event, EventKind, Raw, members, text};
use crate::agents::payload::HookPayload;

/// The type of error of a call that the user or a hook refused.
const DENIED: &str = "execution_denied";

/// Qwen Code's dialect.
pub(crate) struct Qwen;

impl Dialect for Qwen {
    const NOTED: &'static [&'static str] =
        &["PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit"];
    // The answer to the event before the next request ends the turn.
    const ENDS: Option<fn(&Event<'_>) -> bool> = Some(|event| {
        event.name == "UserPromptSubmit" && matches!(event.kind, EventKind::CallsEnded(_))
    });

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        result(payload.tool_response)
    }

    fn failure<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        Ending::Answered { text: shown(payload.error), failed: true }
    }

    fn kind<'a>(payload: &HookPayload<'a>, name: &str) -> Result<EventKind<'a>, BadPayload> {
        Ok(match name {
            // It follows each call, and not only the last one of an answer.
            "PostToolBatch" => EventKind::CallsEnded(payload.listed(entry_ending)),
            // The results go to the model, and no user has said anything.
            "UserPromptSubmit" if payload.said().is_empty() => EventKind::CallsEnded(Vec::new()),
            name => payload.kind(name),
        })
    }
}

/// Returns the text that the model reads.
fn shown(raw: Raw<'_>) -> Cow<'_, str> {
    raw.map_or(Cow::Borrowed(""), |raw| ToolResult::gemini(raw).text)
}

/// The result of a call.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Response<'a> {
    #[serde(rename = "llmContent")]
    content: Raw<'a>,
    error: Raw<'a>,
    error_type: Raw<'a>,
    #[serde(rename = "response_parts")]
    parts: Raw<'a>,
}

fn result(raw: Raw<'_>) -> Ending<'_> {
    let content = members::<Response<'_>>(raw).and_then(|response| response.content);
    let Some(answer) = content.or(raw) else { return Ending::Untold };
    Ending::Answered { text: ToolResult::gemini(answer).text, failed: false }
}

/// Reads the end of a call in a batch.
fn entry_ending(raw: Raw<'_>) -> Ending<'_> {
    let Some(HookPayload { status, tool_response, .. }) = members(raw) else {
        return Ending::Cancelled;
    };
    let response = members::<Response<'_>>(tool_response);
    let kind = response.as_ref().and_then(|response| text(response.error_type));
    let shape = response.and_then(|response| response.error.or(response.parts));
    match text(status).as_deref() {
        Some("cancelled") => Ending::Cancelled,
        Some("error") if kind.as_deref() == Some(DENIED) => Ending::Refused,
        status => Ending::Answered {
            text: shown(shape.or(tool_response)),
            failed: status == Some("error"),
        },
    }
}
