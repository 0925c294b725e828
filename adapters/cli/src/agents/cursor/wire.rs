//! The wire of Cursor's hooks, by its documentation.
//!
//! Every answer is an object, and silence is the empty one. No answer ends a turn.

use serde::Deserialize;
use serde_json::json;

use crate::agents::event::{BadPayload, Ending, Event, EventKind, Object, Raw, shown, text};
use crate::agents::payload::HookPayload;
use crate::agents::reply::{Encoded, Reply};

/// Reads a payload.
pub(crate) fn decode(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    let mut payload: HookPayload<'_> = serde_json::from_slice(payload)?;
    payload.session_id = payload.conversation_id.or(payload.session_id);
    let call = || payload.call();
    let name = payload.name()?;
    let kind = match name.as_ref() {
        "preToolUse" => EventKind::Before(call()?),
        "postToolUse" => EventKind::After(call()?, result(payload.tool_output)),
        "postToolUseFailure" => EventKind::After(call()?, failure(&payload)),
        "beforeSubmitPrompt" => EventKind::Prompt(payload.said()),
        "afterAgentResponse" => EventKind::HandedBack(text(payload.text).unwrap_or_default()),
        "sessionStart" | "sessionEnd" => payload.kind(&name),
        _ => EventKind::Other,
    };
    let turn = payload.generation_id;
    Ok(Event { subagent: None, ..payload.into_event(name, kind, turn)? })
}

fn failure<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
    match text(payload.failure_type).as_deref() {
        _ if payload.was_interrupted() => Ending::Cancelled,
        Some("permission_denied") => Ending::Refused,
        _ => Ending::Answered { text: shown(payload.error_message), failed: true },
    }
}

/// Reads a result. That of a command is an object in a string, with its exit code.
fn result(raw: Raw<'_>) -> Ending<'_> {
    #[derive(Deserialize)]
    struct Exit {
        #[serde(rename = "exitCode")]
        code: i64,
    }
    if raw.is_none() {
        return Ending::Untold;
    }
    let text = shown(raw);
    let exit = serde_json::from_str::<Object<Exit>>(&text);
    let failed = exit.is_ok_and(|Object(exit)| exit.code != 0);
    Ending::Answered { text, failed }
}

/// Writes a reply as Cursor reads it. No answer ends a turn. A stop is written as a refusal before a call, and
/// as a note after it.
pub(crate) fn encode(reply: &Reply, event: &Event<'_>) -> Encoded {
    let context = |text: &str| json!({ "additional_context": text }).to_string();
    Encoded::Whole(match (reply, &event.kind) {
        // At the end of a turn there is nothing left to stop.
        (Reply::Nothing, _) | (Reply::Stop(_), EventKind::HandedBack(_)) => String::new(),
        (Reply::Tell(text), EventKind::After(..)) => context(text),
        (Reply::Refuse(words) | Reply::Stop(words), EventKind::Before(_)) => json!({
            "permission": "deny", "agent_message": words.model, "user_message": words.person
        })
        .to_string(),
        (Reply::Stop(words), EventKind::After(..)) => context(&words.model),
        _ => return Encoded::Partial(String::new()),
    })
}
