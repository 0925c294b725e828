//! Which wire is which agent's.

use crate::agents::Agent;
use crate::agents::event::{BadPayload, Event};
use crate::agents::reply::{Reply, Written};
use crate::agents::{claude_code, codex, gemini};

/// The event that `agent` tells of by `payload`.
pub(super) fn decode(agent: Agent, payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    match agent {
        Agent::ClaudeCode => claude_code::wire::decode(payload),
        Agent::Codex => codex::wire::decode(payload),
        Agent::Gemini => gemini::wire::decode(payload),
    }
}

/// What `agent` is answered, as it reads it.
pub(super) fn encode(agent: Agent, reply: &Reply, event: &Event<'_>) -> Written {
    match agent {
        Agent::ClaudeCode => claude_code::wire::encode(reply, event),
        Agent::Codex => codex::wire::encode(reply, event),
        Agent::Gemini => gemini::wire::encode(reply, event),
    }
}
