//! The shape of hooks that most agents have taken over from Claude Code, and the ways in which they differ.

use std::borrow::Cow;

use serde_json::{Value, json};
use unstuck_trace::ToolResult;

use crate::agents::event::{BadPayload, Call, Ending, Event, EventKind, shown};
use crate::agents::payload::HookPayload;
use crate::agents::reply::{Encoded, Reply, Words};

/// An agent whose payloads and answers have the shape of Claude Code's.
pub(crate) trait Dialect {
    /// The agent's own names of events, each with Claude Code's name of the same event.
    const NAMES: &'static [(&'static str, &'static str)] = &[];
    /// The events whose answer may carry a note to the model, by their own names.
    const NOTED: &'static [&'static str];
    /// Returns whether the answer to an event ends the turn. It is `None` if no answer does.
    const ENDS: Option<fn(&Event<'_>) -> bool> = None;
    /// The user reads the `systemMessage` beside a refusal.
    const SHOWS: bool = false;

    /// Returns the event's own name.
    fn name<'a>(payload: &HookPayload<'a>) -> Result<Cow<'a, str>, BadPayload> {
        payload.name()
    }

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

    /// Returns the event with what the agent tells in other members than Claude Code, for example the turn.
    fn adapted<'a>(_: &HookPayload<'a>, event: Event<'a>) -> Event<'a> {
        event
    }

    /// Writes a note to the model.
    fn note(event: &Event<'_>, text: &str) -> Value {
        note(event, text)
    }

    /// Writes the refusal of a call.
    fn refusal(words: &Words) -> Value {
        decision("deny", &words.model, Self::SHOWS.then_some(&words.person))
    }
}

/// Reads a payload.
pub(crate) fn decode<D: Dialect>(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    let payload: HookPayload<'_> = serde_json::from_slice(payload)?;
    let name = D::name(&payload)?;
    let common = D::NAMES.iter().find(|(own, _)| *own == name).map(|(_, common)| *common);
    let kind = match common.unwrap_or(&name) {
        "PreToolUse" => EventKind::Before(D::call(&payload)?),
        "PostToolUse" => EventKind::After(D::call(&payload)?, D::result(&payload)),
        "PostToolUseFailure" if payload.was_interrupted() => {
            EventKind::After(D::call(&payload)?, Ending::Cancelled)
        }
        "PostToolUseFailure" => EventKind::After(D::call(&payload)?, D::failure(&payload)),
        name => D::kind(&payload, name)?,
    };
    let event = payload.event(name, kind)?;
    Ok(D::adapted(&payload, event))
}

/// Writes a reply. Where no answer ends a turn, a stop is a refusal before a call, and a note after it.
pub(crate) fn encode<D: Dialect>(reply: &Reply, event: &Event<'_>) -> Encoded {
    let is_noted = D::NOTED.contains(&event.name.as_ref());
    let ends = D::ENDS.map(|ends| ends(event));
    let answer = match (reply, &event.kind) {
        (Reply::Stop(words), _) if ends == Some(true) => {
            json!({ "continue": false, "stopReason": words.person })
        }
        // At the end of a turn there is nothing left to stop.
        (Reply::Nothing, _) | (Reply::Stop(_), EventKind::HandedBack(_)) => {
            return Encoded::Whole(String::new());
        }
        (Reply::Ask(question), EventKind::Before(_)) => decision("ask", question, None),
        // The turn goes on after a refused call; the answer to a later event ends it.
        (Reply::Stop(words), EventKind::Before(_)) if ends.is_some() => {
            return Encoded::Partial(decision("deny", &words.model, None).to_string());
        }
        (Reply::Refuse(words) | Reply::Stop(words), EventKind::Before(_)) => D::refusal(words),
        (Reply::Tell(text), _) if is_noted => D::note(event, text),
        (Reply::Stop(words), EventKind::After(..)) if is_noted && ends.is_none() => {
            D::note(event, &words.model)
        }
        _ => return Encoded::Partial(String::new()),
    };
    Encoded::Whole(answer.to_string())
}

/// Writes a note to the model as Claude Code reads it.
pub(crate) fn note(event: &Event<'_>, text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": event.name, "additionalContext": text } })
}

/// Writes the decision on a call as Claude Code reads it, for this reason, with a line for the user.
pub(crate) fn decision(what: &str, reason: &str, line: Option<&String>) -> Value {
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
    decision
}
