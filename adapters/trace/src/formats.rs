//! The names of the formats that are read.

pub(crate) mod anthropic;
pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod gemini;
pub(crate) mod mini_swe_agent;
pub(crate) mod native;
pub(crate) mod openai;
pub(crate) mod openhands;
pub(crate) mod swe_agent;

use core::fmt;
use core::str::FromStr;

/// A transcript format that [`read`](crate::read) understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// This project's own JSON Lines.
    Native,
    /// Claude Code sessions: JSON Lines, or the web export with `loglines`.
    ClaudeCode,
    /// Codex rollouts: JSON Lines.
    Codex,
    /// OpenAI chat messages: a JSON array, or an object with `messages`.
    OpenAi,
    /// Anthropic messages: the body of a request, or the array of its messages.
    Anthropic,
    /// Gemini CLI chats: JSON Lines, or a JSON document before 2026; and Qwen Code's sessions.
    Gemini,
    /// SWE-agent trajectories: a JSON document.
    SweAgent,
    /// mini-swe-agent trajectories: a JSON document.
    MiniSweAgent,
    /// `OpenHands` events: JSON Lines, an array, or the history of an episode.
    OpenHands,
}

impl Format {
    /// Every format, in the order in which messages list them.
    pub const ALL: [Self; 9] = [
        Self::Native,
        Self::ClaudeCode,
        Self::Codex,
        Self::OpenAi,
        Self::Anthropic,
        Self::Gemini,
        Self::SweAgent,
        Self::MiniSweAgent,
        Self::OpenHands,
    ];

    /// The format's name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::SweAgent => "swe-agent",
            Self::MiniSweAgent => "mini-swe-agent",
            Self::OpenHands => "openhands",
        }
    }

    /// Every name, for a sentence: "native, claude-code, codex, …".
    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// A name that is no [`Format`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFormat(pub String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "unknown format {:?}: expected one of {}", self.0, Format::names())
    }
}

impl core::error::Error for UnknownFormat {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_format() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let told = "cursor".parse::<Format>().map_err(|error| error.to_string());
        assert_eq!(
            told,
            Err("unknown format \"cursor\": expected one of native, claude-code, codex, openai, \
                 anthropic, gemini, swe-agent, mini-swe-agent, openhands"
                .to_owned())
        );
    }
}
