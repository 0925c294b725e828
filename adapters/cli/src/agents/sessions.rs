//! Where the agents of this machine keep their sessions.
//!
//! `OpenHands` is none of them: it keeps a file for each event, and no file holds a run.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use unstuck_trace::Format;

use crate::output::remark;
use crate::output::shown::{counted, plain};
use crate::read::inputs::Inputs;

/// An agent, and what tells its sessions from its other files.
struct Agent {
    name: &'static str,
    format: Format,
    /// The variable that names the agent's folder, if there is one.
    variable: Option<&'static str>,
    /// The agent's folder in the user's, where no variable names it.
    folder: &'static str,
    /// Where its sessions are in that.
    sessions: &'static str,
    /// The folder that each session is in, further down.
    within: Option<&'static str>,
    endings: &'static [&'static str],
}

const AGENTS: [Agent; 3] = [
    Agent {
        name: "Claude Code",
        format: Format::CLAUDE_CODE,
        variable: Some("CLAUDE_CONFIG_DIR"),
        folder: ".claude",
        sessions: "projects",
        within: None,
        endings: &["jsonl"],
    },
    Agent {
        name: "Codex",
        format: Format::CODEX,
        variable: Some("CODEX_HOME"),
        folder: ".codex",
        sessions: "sessions",
        within: None,
        endings: &["jsonl"],
    },
    Agent {
        name: "Gemini CLI",
        format: Format::GEMINI,
        variable: None,
        folder: ".gemini",
        sessions: "tmp",
        within: Some("chats"),
        endings: &["jsonl", "json"],
    },
];

impl Agent {
    /// Where its sessions are, or would be.
    fn place(&self) -> PathBuf {
        let named = self.variable.and_then(env::var_os).filter(|folder| !folder.is_empty());
        let home = || env::home_dir().unwrap_or_else(|| "~".into()).join(self.folder);
        named.map_or_else(home, PathBuf::from).join(self.sessions)
    }

    /// Whether the file `path` below its folder is one of its sessions.
    fn keeps(&self, path: &Path) -> bool {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| self.endings.contains(&ending))
            && self.within.is_none_or(|folder| path.iter().any(|part| part == folder))
    }
}

/// The sessions of every agent of this machine, or of those that write the format `from`. Says on
/// standard error which they are. The error says where no session was found.
pub(crate) fn find(from: Option<Format>) -> Result<Inputs, String> {
    let mut inputs = Inputs::default();
    let mut looked = String::new();
    for agent in AGENTS.iter().filter(|agent| from.is_none_or(|from| from == agent.format)) {
        let place = agent.place();
        let shown = plain(&place.display().to_string());
        // Writing to a string cannot fail.
        let _ = write!(looked, "\n  {shown} ({})", agent.name);
        let before = inputs.found.len();
        if place.is_dir() {
            inputs.walk(&place, |path| agent.keeps(path));
        }
        if let Some(sessions @ 1..) = inputs.found.len().checked_sub(before) {
            remark(agent.name, &format!("{} in {shown}", counted(sessions, "session")));
        }
    }
    if inputs.found.is_empty() && inputs.errors.is_empty() {
        Err(none(&looked))
    } else {
        Ok(inputs)
    }
}

/// Says that there is no session in the places that were `looked` at.
fn none(looked: &str) -> String {
    let looked = match looked {
        "" => "that format is of no agent whose folder is known".to_owned(),
        looked => format!("there is no session in{looked}"),
    };
    format!("no path is given, and {looked}\n\nName a file or a folder, or - for standard input.")
}
