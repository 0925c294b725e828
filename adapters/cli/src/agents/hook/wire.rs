//! Which wire is which agent's.

use super::event::{BadPayload, Event};
use super::reply::{Reply, Written};
use super::{claude_code, codex, gemini};
use crate::agents::Agent;

/// The event that `agent` tells of by `payload`.
pub(super) fn decode(agent: Agent, payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    match agent {
        Agent::ClaudeCode => claude_code::decode(payload),
        Agent::Codex => codex::decode(payload),
        Agent::Gemini => gemini::decode(payload),
    }
}

/// What `agent` is answered, as it reads it.
pub(super) fn encode(agent: Agent, reply: &Reply, event: &Event<'_>) -> Written {
    match agent {
        Agent::ClaudeCode => claude_code::encode(reply, event),
        Agent::Codex => codex::encode(reply, event),
        Agent::Gemini => gemini::encode(reply, event),
    }
}
