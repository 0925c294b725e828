//! The payload of a hook. Most agents have taken over the names that Claude Code gives to events and members.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::agents::event::{
    BadPayload, Call, Ending, Event, EventKind, Listed, Raw, json, needed, text,
};

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
        let tool = self.tool()?;
        let args = Cow::Borrowed(json(self.tool_input));
        // Where there are two ids, the model gave this one, and lists of calls have no other.
        let id = full(self.tool_call_id).or_else(|| full(self.tool_use_id));
        Ok(Call { id, tool, args })
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
        json(self.is_interrupt) == "true"
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
