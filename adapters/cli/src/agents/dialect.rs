//! The shape of hooks that most agents have taken over from Claude Code, and the ways in which they differ.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use unstuck_trace::ToolResult;

use crate::agents::event::{
    self, BadPayload, Call, Ending, Event, EventKind, Listed, Raw, needed, shown, text,
};
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

    /// Returns the name of the tool, as the model knows it.
    fn tool<'a>(payload: &HookPayload<'a>) -> Result<Cow<'a, str>, BadPayload> {
        payload.tool()
    }

    fn call<'a>(payload: &HookPayload<'a>) -> Result<Call<'a>, BadPayload> {
        Ok(payload.call_of(Self::tool(payload)?))
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

/// The members of payloads, most of which are absent from each, with the result of a call read as `R`. A text is read
/// where it is used, so that one agent's other use of a name does not matter to the others.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a, R: Deserialize<'de>"))]
pub(crate) struct HookPayload<'a, R = &'a RawValue> {
    pub(crate) event: Raw<'a>,
    hook_event_name: Raw<'a>,
    session_id: Raw<'a>,
    pub(crate) conversation_id: Raw<'a>,
    /// The id of a subagent. In an event of a subagent, Copilot sends this id as `session_id` and the session's own id as
    /// `parent_agent_id`.
    agent_id: Raw<'a>,
    pub(crate) parent_agent_id: Raw<'a>,
    /// The id of a turn, as one of three agents calls it.
    prompt_id: Raw<'a>,
    pub(crate) turn_id: Raw<'a>,
    pub(crate) generation_id: Raw<'a>,
    transcript_path: Raw<'a>,
    cwd: Raw<'a>,
    working_dir: Raw<'a>,
    workspace_roots: Raw<'a>,
    model: Raw<'a>,
    source: Raw<'a>,
    tool_name: Raw<'a>,
    tool_use_id: Raw<'a>,
    tool_call_id: Raw<'a>,
    pub(crate) tool_input: Raw<'a>,
    pub(crate) tool_response: Option<R>,
    pub(crate) tool_result: Raw<'a>,
    pub(crate) tool_output: Raw<'a>,
    pub(crate) tool_error: Raw<'a>,
    tool_calls: Raw<'a>,
    is_interrupt: Raw<'a>,
    pub(crate) failure_type: Raw<'a>,
    pub(crate) error: Raw<'a>,
    pub(crate) error_message: Raw<'a>,
    prompt: Raw<'a>,
    user_prompt: Raw<'a>,
    message: Raw<'a>,
    text: Raw<'a>,
    prompt_response: Raw<'a>,
    last_assistant_message: Raw<'a>,
}

impl<'a, R> HookPayload<'a, R> {
    /// Returns the name of the event.
    pub(crate) fn name(&self) -> Result<Cow<'a, str>, BadPayload> {
        needed(text(self.hook_event_name), "hook_event_name")
    }

    pub(crate) fn tool(&self) -> Result<Cow<'a, str>, BadPayload> {
        needed(text(self.tool_name), "tool_name")
    }

    /// Returns the call.
    pub(crate) fn call(&self) -> Result<Call<'a>, BadPayload> {
        Ok(self.call_of(self.tool()?))
    }

    /// Returns the call of this tool.
    pub(crate) fn call_of(&self, tool: Cow<'a, str>) -> Call<'a> {
        let args = Cow::Borrowed(event::json(self.tool_input));
        // Where there are two ids, the model gave this one, and lists of calls have no other.
        let id = full(self.tool_call_id).or_else(|| full(self.tool_use_id));
        Call { id, tool, args }
    }

    /// Returns the calls that the payload lists, each with its entry in the list, from which `read` takes its end.
    /// Entries of an unknown shape are left out.
    pub(crate) fn listed(&self, read: fn(Raw<'_>) -> Ending<'_>) -> Vec<Listed<'a>> {
        let list = self.tool_calls.map(RawValue::get);
        let entries = list.and_then(|list| serde_json::from_str::<Vec<Raw<'a>>>(list).ok());
        let calls = entries.unwrap_or_default().into_iter().filter_map(|entry| {
            // `serde` would also read a struct from an array.
            let object = entry.map(RawValue::get).filter(|entry| entry.starts_with('{'))?;
            let call = serde_json::from_str::<HookPayload<'a>>(object).ok()?.call().ok()?;
            Some(Listed { call, result: entry, read })
        });
        calls.collect()
    }

    /// Returns whether the user interrupted the call.
    pub(crate) fn was_interrupted(&self) -> bool {
        event::json(self.is_interrupt) == "true"
    }

    /// Returns what the user said.
    pub(crate) fn said(&self) -> Cow<'a, str> {
        text(self.prompt.or(self.user_prompt).or(self.message)).unwrap_or_default()
    }

    /// Returns the text with which a turn ends.
    fn last_words(&self) -> Cow<'a, str> {
        let words = self.last_assistant_message.or(self.prompt_response).or(self.text);
        text(words).unwrap_or_default()
    }

    /// Returns the kind of an event with this name that is no event of a call.
    pub(crate) fn kind(&self, name: &str) -> EventKind<'a> {
        match name {
            "UserPromptSubmit" | "PromptSubmit" => EventKind::Prompt(self.said()),
            // Without the id of the subagent its calls cannot be found.
            "SubagentStop" if self.agent_id.is_none() => EventKind::Other,
            "Stop" | "SubagentStop" => EventKind::HandedBack(self.last_words()),
            "Interrupt" => EventKind::Interrupted,
            // Only the model's memory is compacted; the calls were made.
            "SessionStart" => match text(self.source).as_deref() {
                Some("compact" | "compress") => EventKind::Compacted,
                _ => EventKind::Began,
            },
            "SessionEnd" => EventKind::Ended,
            _ => EventKind::Other,
        }
    }

    /// Returns the event with this name, of this kind. A new prompt of the main agent begins its turn, but not a turn of a
    /// subagent, which goes on: the prompt may be the news that another subagent has finished.
    pub(crate) fn event(
        &self,
        name: Cow<'a, str>,
        kind: EventKind<'a>,
    ) -> Result<Event<'a>, BadPayload> {
        let root = || {
            let roots: Vec<Cow<'a, str>> =
                serde_json::from_str(self.workspace_roots?.get()).ok()?;
            roots.into_iter().next()
        };
        let subagent = full(self.agent_id);
        Ok(Event {
            name,
            session: needed(text(self.session_id.or(self.conversation_id)), "session_id")?,
            cwd: text(self.cwd).or_else(|| text(self.working_dir)).or_else(root),
            model: full(self.model),
            transcript: text(self.transcript_path),
            turn: text(self.prompt_id.filter(|_| subagent.is_none())),
            subagent,
            kind,
        })
    }
}

/// Returns an id that is not empty.
fn full(id: Raw<'_>) -> Option<Cow<'_, str>> {
    text(id).filter(|id| !id.is_empty())
}
