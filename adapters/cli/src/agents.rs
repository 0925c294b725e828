//! Coding agents: their hooks, their settings and the state of their sessions.
//!
//! Each agent is one module with a value of [`Host`], or one of the values in `plugin`, and [`Agent::ALL`] is the list of
//! them. `agents/README.md` explains how to add one. The modules depend on each other in one direction:
//! the vocabulary (`event`, `reply`, `hooks`, `settings`, `process`, `host`), then the agents, then this
//! list, then the commands.

mod auggie;
mod claude_code;
mod codebuddy;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod goose;
mod plugin;
mod qwen;

mod dialect;
pub(crate) mod doctor;
mod event;
pub(crate) mod hook;
mod hooks;
mod host;
pub(crate) mod install;
pub(crate) mod notify;
#[cfg(test)]
mod payloads;
mod process;
mod published;
mod reply;
mod settings;
pub(crate) mod state;
mod transcript;

use std::fmt;
use std::hash::{Hash, Hasher};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::{Deserialize, Serialize};

pub(crate) use host::Ends;
use host::Host;

/// A coding agent whose hooks are known.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub(crate) struct Agent(&'static Host);

impl Agent {
    /// Every agent.
    ///
    /// State files refer to an agent by its position here, so a new one goes to the end.
    pub(crate) const ALL: &'static [Self] = &[
        Self(&claude_code::HOST),
        Self(&codex::HOST),
        Self(&gemini::HOST),
        Self(&copilot::HOST),
        Self(&qwen::HOST),
        Self(&cursor::HOST),
        Self(&goose::HOST),
        Self(&plugin::OPENCODE),
        Self(&plugin::KILO),
        Self(&plugin::PI),
        Self(&droid::HOST),
        Self(&codebuddy::HOST),
        Self(&auggie::HOST),
    ];

    /// Returns the agent with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|agent| agent.name() == name)
    }

    /// Returns the name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the description of the agent.
    pub(crate) const fn host(self) -> &'static Host {
        self.0
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Agent {}

impl Hash for Agent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl From<Agent> for u32 {
    fn from(agent: Agent) -> Self {
        (0..)
            .zip(Agent::ALL)
            .find(|(_, one)| **one == agent)
            .map_or(Self::MAX, |(number, _)| number)
    }
}

impl TryFrom<u32> for Agent {
    type Error = String;

    fn try_from(number: u32) -> Result<Self, String> {
        let agent = usize::try_from(number).ok().and_then(|number| Self::ALL.get(number));
        agent.copied().ok_or_else(|| format!("no agent has the number {number}"))
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl ValueEnum for Agent {
    fn value_variants<'a>() -> &'a [Self] {
        Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.0.title))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value};

    use super::Agent;

    #[test]
    fn names_and_events_are_unique() {
        let names: BTreeSet<_> = Agent::ALL.iter().map(|agent| agent.name()).collect();
        assert_eq!(names.len(), Agent::ALL.len());
        for agent in Agent::ALL {
            let events = agent.host().hooks.events;
            let names: BTreeSet<_> = events.iter().map(|event| event.name).collect();
            assert_eq!(names.len(), events.len(), "{agent} lists an event twice");
        }
    }

    #[test]
    fn every_agent_allows_a_hook_five_seconds() {
        for agent in Agent::ALL {
            let timeout = agent.host().hooks.timeout;
            assert!([5, 5000].contains(&timeout), "{agent}: {timeout}");
        }
    }

    #[test]
    fn every_agent_decodes_its_sample() {
        for agent in Agent::ALL {
            let event = (agent.host().decode)(agent.host().sample.as_bytes());
            assert!(matches!(event.expect("an event").kind, super::event::EventKind::Before(_)));
        }
    }

    #[test]
    fn a_payload_without_a_needed_field_is_an_error() {
        for agent in Agent::ALL {
            let sample = agent.host().sample;
            let decodes = |payload: &str| (agent.host().decode)(payload.as_bytes()).is_ok();
            let members: Map<String, Value> = serde_json::from_str(sample).expect("an object");
            let without = |name: &str| sample.replace(&format!("\"{name}\":"), "\"other\":");
            let needed: Vec<_> = members.keys().filter(|name| !decodes(&without(name))).collect();
            let what = "the session, the event and the tool are needed, and nothing else";
            assert_eq!(needed.len(), 3, "{agent}: {what}, not {needed:?}");
            assert!(
                needed.iter().any(|name| members[*name] == "unstuck-doctor"),
                "{agent}: {what}"
            );
            let wrong = sample.replace("\"unstuck-doctor\"", "7");
            let payloads = [&wrong, "", "{", "[]", "{}"];
            assert_eq!(payloads.into_iter().find(|payload| decodes(payload)), None, "{agent}");
        }
    }

    /// Most agents share the struct of their payloads, but not what each of them calls a session.
    #[test]
    fn the_session_is_the_one_that_the_agent_names() {
        for agent in Agent::ALL
            .iter()
            .filter(|agent| !["copilot", "cursor", "auggie"].contains(&agent.name()))
        {
            let sample = agent.host().sample;
            let more = r#"{"agent_id":"a","parent_agent_id":"p","conversation_id":"c","#.to_owned();
            let payload = more + &sample[1..];
            let event = (agent.host().decode)(payload.as_bytes()).expect("an event");
            assert_eq!(event.session, "unstuck-doctor", "{agent}");
        }
    }

    /// The numbers of agents in state files never change.
    #[test]
    fn state_files_name_an_agent_by_its_number() {
        let names = "claude-code codex gemini copilot qwen cursor goose opencode kilo pi droid codebuddy auggie";
        for (number, name) in names.split(' ').enumerate() {
            let byte = u8::try_from(number).expect("a few agents");
            let agent = Agent::named(name).expect("an agent");
            assert_eq!(postcard::to_stdvec(&agent), Ok(vec![byte]));
            assert_eq!(postcard::from_bytes(&[byte]), Ok(agent));
        }
        assert!(postcard::from_bytes::<Agent>(&[100]).is_err());
    }
}
