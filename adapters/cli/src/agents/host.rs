//! What is particular to an agent that runs hooks: where it is set up, at which events, and how.

use super::version::Needs;
use super::{claude_code, codex, gemini};
use crate::agents::Agent;

/// How an agent is told to run this program.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) agent: Agent,
    /// What people call it.
    pub(crate) name: &'static str,
    /// The variable that names the folder of its user's settings, if there is one.
    pub(crate) home: Home,
    /// The folder of its settings, in the user's folder and in a project's.
    pub(crate) folder: &'static str,
    /// The file there that lists hooks.
    pub(crate) file: &'static str,
    /// The version that understands all this; none if any that has hooks does.
    pub(crate) needs: Option<Needs>,
    pub(crate) events: &'static [Event],
    pub(crate) form: Form,
    /// How long the program may take, in the agent's unit.
    pub(crate) timeout: Timeout,
    /// What the agent calls the hook, where it has names for hooks.
    pub(crate) label: Option<&'static str>,
    /// What is left for the user to do, or to know, once the hook is installed.
    pub(crate) advice: &'static str,
    /// What it says of a call that is about to be made, in a session that there is not.
    pub(crate) sample: &'static str,
}

/// The variable by which a user moves an agent's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// It names the agent's folder itself.
    Folder(&'static str),
    /// It names the folder that the agent's is in.
    Parent(&'static str),
}

/// A moment at which an agent runs hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    pub(crate) matcher: Matcher,
}

/// Whether hooks of an event can be confined to some of its occasions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matcher {
    /// They can, and this one is for every occasion.
    Every,
    /// They cannot: the agent ignores what is said of it, or warns.
    Absent,
}

/// How an agent starts a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// By itself: a program, and its arguments one by one.
    Exec,
    /// As a line for the user's login shell.
    LoginShell,
    /// As a line for `bash`.
    Bash,
}

/// A time limit as an agent writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timeout {
    Seconds(u32),
    Milliseconds(u32),
}

impl Timeout {
    /// The number in the agent's unit.
    pub(crate) fn figure(self) -> u32 {
        match self {
            Self::Seconds(figure) | Self::Milliseconds(figure) => figure,
        }
    }
}

impl Host {
    /// The host that the agent is.
    pub(crate) fn of(agent: Agent) -> &'static Self {
        match agent {
            Agent::ClaudeCode => &claude_code::HOST,
            Agent::Codex => &codex::HOST,
            Agent::Gemini => &gemini::HOST,
        }
    }

    /// The names of its events.
    pub(crate) fn events(&self) -> impl Iterator<Item = &'static str> {
        self.events.iter().map(|event| event.name)
    }
}

impl Event {
    /// An event whose hooks can be confined.
    pub(crate) const fn matched(name: &'static str) -> Self {
        Self { name, matcher: Matcher::Every }
    }

    /// An event whose hooks cannot.
    pub(crate) const fn plain(name: &'static str) -> Self {
        Self { name, matcher: Matcher::Absent }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_agent_has_its_host() {
        for agent in Agent::ALL {
            let host = Host::of(agent);
            assert_eq!(host.agent, agent);
            let names: BTreeSet<_> = host.events.iter().map(|event| event.name).collect();
            assert_eq!(names.len(), host.events.len(), "{}: an event twice", host.name);
        }
    }

    #[test]
    fn five_seconds_are_written_in_the_agents_unit() {
        let figures = Agent::ALL.map(|agent| Host::of(agent).timeout);
        let (seconds, milliseconds) = (Timeout::Seconds(5), Timeout::Milliseconds(5000));
        assert_eq!(figures, [seconds, seconds, milliseconds]);
        assert_eq!((seconds.figure(), milliseconds.figure()), (5, 5000));
    }
}
