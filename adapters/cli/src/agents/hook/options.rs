//! The options of `unstuck hook`.

use std::ffi::OsString;

use clap::Args;

use crate::agents::Agent;
use crate::agents::notify::Notify;
use crate::lacking::marked;
use crate::policy::options::PolicyOptions;

const HOOK: &str = "Reads an event as JSON on standard input, and prints the answer for the agent, or \
                    nothing. A failure never stops the agent: the exit code is 0, and hook.log in \
                    the state folder gets a line. That folder is $UNSTUCK_STATE_DIR, else unstuck in \
                    $XDG_STATE_HOME or in ~/.local/state. UNSTUCK=off in the environment turns the \
                    hook off.\n\n\
                    Try it by hand; no output means that the call may run:\n  \
                    echo '{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\",\
                    \"tool_name\":\"Bash\",\n  \
                    \"tool_input\":{\"command\":\"ls\"},\"tool_use_id\":\"1\"}' \
                    | unstuck hook claude-code";

const SWARM: &str = "The swarm that the agent belongs to, as redis://host:port?swarm=name. Without the swarm's \
                     secret in the environment the agent is judged alone: see unstuck swarm --help";

#[derive(Args, Debug, PartialEq, Eq)]
#[command(after_help = HOOK)]
pub(crate) struct Hook {
    /// The agent that runs the hook
    #[arg(value_name = "AGENT", value_enum)]
    pub(crate) agent: Agent,
    /// Only record findings, and never answer the agent
    #[arg(long)]
    pub(crate) observe: bool,
    /// Ask the person at the agent before a loop's first refusal
    #[arg(long, conflicts_with = "observe")]
    pub(crate) ask: bool,
    /// Save the work tree of git at the first prompt of a session, and go back to it where the policy starts over
    #[arg(long, conflicts_with = "observe")]
    pub(crate) start_over: bool,
    #[command(flatten)]
    pub(crate) notify: Notify,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    #[arg(long, value_name = "URL", help = marked(SWARM))]
    pub(crate) swarm: Option<String>,
}

impl Hook {
    /// Reads the command lines that agents run, without clap: parsing with it takes as long as all the
    /// other work. Returns `None` for any other command line, which clap then reads.
    pub(crate) fn plain(words: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut words = words.into_iter().skip(1);
        let agent = match (words.next()?.to_str()?, words.next()?.to_str()?) {
            ("hook", name) => Agent::named(name)?,
            _ => return None,
        };
        let policy = PolicyOptions::default();
        let (notify, swarm) = (Notify::default(), None);
        let (observe, ask, start_over) = (false, false, false);
        let mut hook = Self { agent, observe, ask, start_over, notify, policy, swarm };
        while let Some(word) = words.next() {
            match word.to_str()? {
                "--observe" if !hook.observe && !hook.ask => hook.observe = true,
                "--ask" if !hook.observe && !hook.ask => hook.ask = true,
                "--swarm" if hook.swarm.is_none() => hook.swarm = Some(value(words.next()?)?),
                option => hook.notify.take(option, value(words.next()?)?)?,
            }
        }
        Some(hook)
    }
}

/// Returns the value of an option, or `None` if the word may be another option.
fn value(word: OsString) -> Option<String> {
    word.into_string().ok().filter(|word| !word.is_empty() && !word.starts_with('-'))
}
