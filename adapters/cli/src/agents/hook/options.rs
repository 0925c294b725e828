//! The options of `unstuck hook`.

use std::ffi::OsString;

use clap::Args;

use crate::agents::Agent;
use crate::config::options::PolicyOptions;

const HOOK: &str = "Reads the event as JSON on standard input. Prints what the agent is to know, or \
                    nothing. Whatever goes wrong, the agent goes on: the exit code is 0, and \
                    hook.log in the state folder has a line. That folder is $UNSTUCK_STATE_DIR, else \
                    unstuck in $XDG_STATE_HOME or in ~/.local/state. UNSTUCK=off in the environment \
                    turns it off.\n\n\
                    To try it out by hand, where silence means: go on:\n  \
                    echo '{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\",\
                    \"tool_name\":\"Bash\",\n  \
                    \"tool_input\":{\"command\":\"ls\"},\"tool_use_id\":\"1\"}' \
                    | unstuck hook claude-code";

#[derive(Args, Debug, PartialEq, Eq)]
#[command(after_help = HOOK)]
pub(crate) struct Hook {
    /// The agent that calls
    #[arg(value_name = "AGENT", value_enum)]
    pub(crate) agent: Agent,
    /// Only keep what is found, and say nothing to the agent
    #[arg(long)]
    pub(crate) observe: bool,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    /// The swarm that the agent is one of, as redis://host:port?swarm=name. Without the secret
    /// of the swarm in the environment it is judged alone: see unstuck swarm --help
    #[arg(long, value_name = "URL")]
    pub(crate) swarm: Option<String>,
}

impl Hook {
    /// What agents call, read without the parser: that takes as long as all that is done then. Any
    /// other command line is the parser's.
    pub(crate) fn plain(words: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut words = words.into_iter().skip(1);
        let agent = match (words.next()?.to_str()?, words.next()?.to_str()?) {
            ("hook", name) => Agent::named(name)?,
            _ => return None,
        };
        let policy = PolicyOptions::default();
        let mut hook = Self { agent, observe: false, policy, swarm: None };
        while let Some(word) = words.next() {
            match word.to_str()? {
                "--observe" if !hook.observe => hook.observe = true,
                "--swarm" if hook.swarm.is_none() => hook.swarm = Some(value(words.next()?)?),
                _ => return None,
            }
        }
        Some(hook)
    }
}

/// The value of an option; what begins with a dash may be another.
fn value(word: OsString) -> Option<String> {
    word.into_string().ok().filter(|word| !word.is_empty() && !word.starts_with('-'))
}
