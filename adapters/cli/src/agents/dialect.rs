//! The shape of hooks that most agents have taken over from Claude Code, and the ways in which they differ.

use serde_json::json;
use unstuck_trace::ToolResult;

use crate::agents::event::{BadPayload, Call, Ending, Event, EventKind, Raw, shown};
use crate::agents::payload::HookPayload;
use crate::agents::reply::{Encoded, Reply, Words};

/// An agent whose payloads and answers have the shape of Claude Code's.
pub(crate) trait Dialect {
    /// The events whose answer may carry a note to the model.
    const NOTED: &'static [&'static str];
    /// Returns whether the answer to an event ends the turn. It is `None` if no answer does.
    const ENDS: Option<fn(&Event<'_>) -> bool> = None;
    /// The user reads the `systemMessage` beside a refusal.
    const SHOWS: bool = false;

    /// Returns the end of a call from the payload of `PostToolUse`.
    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        payload.tool_response.map_or(Ending::Untold, |raw| Ending::Answered {
            text: ToolResult::plain(raw).text,
            failed: false,
        })
    }

    /// Returns the end of a call from the payload of `PostToolUseFailure`.
    fn failure<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        Ending::Answered { text: shown(payload.error), failed: true }
    }

    fn call<'a>(payload: &HookPayload<'a>) -> Result<Call<'a>, BadPayload> {
        payload.call()
    }

    /// Returns the kind of an event with another name.
    fn kind<'a>(payload: &HookPayload<'a>, name: &str) -> Result<EventKind<'a>, BadPayload> {
        Ok(payload.kind(name))
    }

    /// Returns the id of the turn, if the agent has one.
    fn turn<'a>(payload: &HookPayload<'a>) -> Raw<'a> {
        payload.prompt_id()
    }

    /// Returns the text that the model reads in place of the result of a refused call.
    fn reason(words: &Words) -> &str {
        &words.model
    }
}

/// Reads a payload.
pub(crate) fn decode<D: Dialect>(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    let payload: HookPayload<'_> = serde_json::from_slice(payload)?;
    let name = payload.name()?;
    let kind = match name.as_ref() {
        "PreToolUse" => EventKind::Before(D::call(&payload)?),
        "PostToolUse" => EventKind::After(D::call(&payload)?, D::result(&payload)),
        "PostToolUseFailure" if payload.was_interrupted() => {
            EventKind::After(D::call(&payload)?, Ending::Cancelled)
        }
        "PostToolUseFailure" => EventKind::After(D::call(&payload)?, D::failure(&payload)),
        name => D::kind(&payload, name)?,
    };
    let turn = D::turn(&payload);
    payload.into_event(name, kind, turn)
}

/// Writes a reply. Where no answer ends a turn, a stop is a refusal before a call, and a note after it.
pub(crate) fn encode<D: Dialect>(reply: &Reply, event: &Event<'_>) -> Encoded {
    let name = event.name.as_ref();
    let is_noted = D::NOTED.contains(&name);
    let ends = D::ENDS.map(|ends| ends(event));
    Encoded::Whole(match (reply, &event.kind) {
        (Reply::Stop(words), _) if ends == Some(true) => {
            json!({ "continue": false, "stopReason": words.person }).to_string()
        }
        // At the end of a turn there is nothing left to stop.
        (Reply::Nothing, _) | (Reply::Stop(_), EventKind::HandedBack(_)) => String::new(),
        (Reply::Ask(question), EventKind::Before(_)) => decision("ask", question, None),
        // The turn goes on after a refused call; the answer to a later event ends it.
        (Reply::Stop(words), EventKind::Before(_)) if ends.is_some() => {
            return Encoded::Partial(decision("deny", D::reason(words), None));
        }
        (Reply::Refuse(words) | Reply::Stop(words), EventKind::Before(_)) => {
            decision("deny", D::reason(words), D::SHOWS.then_some(&words.person))
        }
        (Reply::Tell(text), _) if is_noted => note(name, text),
        (Reply::Stop(words), EventKind::After(..)) if is_noted && ends.is_none() => {
            note(name, &words.model)
        }
        _ => return Encoded::Partial(String::new()),
    })
}

fn note(event: &str, text: &str) -> String {
    json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } })
        .to_string()
}

/// Returns the decision on a call, for this reason, with a line for the user.
fn decision(what: &str, reason: &str, line: Option<&String>) -> String {
    let mut decision = json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": what,
            "permissionDecisionReason": reason
        }
    });
    if let Some(line) = line {
        decision["systemMessage"] = line.as_str().into();
    }
    decision.to_string()
}
