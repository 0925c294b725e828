//! The wire of Gemini CLI's hooks.
//!
//! Calls have no ids: a result belongs to the earliest open call with the same tool and arguments. The
//! answer to `BeforeTool` has no place for a note to the model, so a warning comes with the result.

use serde::Deserialize;
use serde_json::json;
use unstuck_trace::ToolResult;

use crate::agents::event::{BadPayload, Call, Ending, Event, EventKind, Raw, members, text};
use crate::agents::payload::HookPayload;
use crate::agents::reply::{Encoded, Reply};

/// The beginning of the result of a command that the user cancelled.
const CANCELLED: &str = "Command was cancelled by user";

/// Reads a payload.
pub(crate) fn decode(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    let payload: HookPayload<'_> = serde_json::from_slice(payload)?;
    let call = || {
        let call = payload.call();
        call.map(|call| Call { id: None, ..call })
    };
    let name = payload.name()?;
    let kind = match name.as_ref() {
        "BeforeTool" => EventKind::Before(call()?),
        "AfterTool" => EventKind::After(call()?, result(payload.tool_response)),
        "BeforeAgent" => EventKind::Prompt(payload.said()),
        "AfterAgent" => EventKind::HandedBack(text(payload.prompt_response).unwrap_or_default()),
        name => payload.kind(name),
    };
    Ok(Event { subagent: None, ..payload.into_event(name, kind, None)? })
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Response<'a> {
    #[serde(rename = "llmContent")]
    content: Raw<'a>,
    error: Raw<'a>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow)]
    message: Raw<'a>,
}

fn result(raw: Raw<'_>) -> Ending<'_> {
    let response = members::<Response<'_>>(raw);
    let failed = response.as_ref().is_some_and(|response| response.error.is_some());
    // Of a failed call, the model reads the message of the error.
    let shown = response.and_then(|response| {
        let message = members::<Failure<'_>>(response.error).and_then(|failure| failure.message);
        message.or(response.content).or(response.error)
    });
    let Some(shown) = shown.or(raw) else { return Ending::Untold };
    let text = ToolResult::gemini(shown).text;
    if text.starts_with(CANCELLED) {
        return Ending::Cancelled;
    }
    Ending::Answered { text, failed }
}

/// Writes a reply as Gemini CLI reads it.
pub(crate) fn encode(reply: &Reply, event: &Event<'_>) -> Encoded {
    Encoded::Whole(match (reply, &event.kind) {
        (Reply::Nothing, _) => String::new(),
        // Gemini CLI drops the context of a result with an error, but takes a reason in place of the error.
        (Reply::Tell(note), EventKind::After(_, Ending::Answered { text, failed: true })) => {
            json!({ "decision": "deny", "reason": format!("{text}\n\n{note}") }).to_string()
        }
        (Reply::Tell(note), EventKind::After(..)) => json!({
            "hookSpecificOutput": { "hookEventName": event.name, "additionalContext": note }
        })
        .to_string(),
        (Reply::Refuse(words), EventKind::Before(_)) => json!({
            "decision": "deny", "reason": words.model, "systemMessage": words.person
        })
        .to_string(),
        (
            Reply::Stop(words),
            EventKind::Before(_) | EventKind::After(..) | EventKind::HandedBack(_),
        ) => json!({ "continue": false, "stopReason": words.person }).to_string(),
        _ => return Encoded::Partial(String::new()),
    })
}
