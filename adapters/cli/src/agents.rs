//! The coding agents that call `unstuck hook`.

mod claude_code;
mod codex;
pub(crate) mod doctor;
mod event;
mod gemini;
pub(crate) mod hook;
mod host;
pub(crate) mod install;
pub(crate) mod options;
mod place;
mod process;
mod reply;
pub(crate) mod sessions;
mod settings;
mod state;
pub(crate) mod status;
mod version;

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A coding agent whose hooks are known. The order is that of their numbers in state files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code
    ClaudeCode,
    /// Codex CLI
    Codex,
    /// Gemini CLI
    Gemini,
}

impl Agent {
    /// Every agent.
    pub(crate) const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Gemini];

    /// What it is called on a command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::Agent;

    #[test]
    fn an_agent_has_one_name() {
        for agent in Agent::ALL {
            let value = agent.to_possible_value().expect("a value");
            assert_eq!(value.get_name(), agent.name());
        }
    }
}
