//! What stands first in every state: whose it is, how much happened, and what was found.

use serde::{Deserialize, Serialize};

use crate::agents::Agent;

/// The worker that a state belongs to. Subagents share the session of the agent that started them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    pub(crate) agent: Agent,
    pub(crate) session: &'a str,
    pub(crate) worker: &'a str,
}

/// How many findings are kept of a worker, the latest.
pub(crate) const FINDINGS_MAX: usize = 16;

/// What a person may ask of one worker of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "agents call it so, too")]
pub(crate) struct Session {
    pub(crate) agent: Agent,
    /// The session as its agent calls it.
    pub(crate) session: String,
    /// The subagent as its agent calls it, or `main`.
    pub(crate) worker: String,
    /// The folder that the agent works in, where it says so.
    pub(crate) cwd: Option<String>,
    /// How many events came of this worker; one that comes twice counts twice.
    pub(crate) events: u64,
    /// How many calls were announced, each once.
    pub(crate) calls: u64,
    /// When the first event came, in milliseconds since 1970.
    pub(crate) begun: u64,
    /// When the latest came.
    pub(crate) last_seen: u64,
    /// What was found, the latest last.
    pub(crate) findings: Vec<Noted>,
}

/// A finding, without arguments and results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Noted {
    pub(crate) rule: String,
    pub(crate) kind: String,
    pub(crate) action: String,
    pub(crate) tool: String,
    /// What recurs, in words for people.
    pub(crate) what: String,
    /// How many calls make a lap.
    pub(crate) period: u64,
    pub(crate) laps: u64,
    /// The bits of the loop's id.
    pub(crate) loop_id: u64,
    /// When, in milliseconds since 1970.
    pub(crate) at: u64,
}

impl Session {
    /// Of a worker of whom nothing is known at the time `now`.
    pub(crate) fn new(key: &Key<'_>, now: u64) -> Self {
        Self {
            agent: key.agent,
            session: key.session.to_owned(),
            worker: key.worker.to_owned(),
            cwd: None,
            events: 0,
            calls: 0,
            begun: now,
            last_seen: now,
            findings: Vec::new(),
        }
    }

    /// Whether it is the state that `key` names: the names of files are short digests.
    pub(crate) fn is_of(&self, key: &Key<'_>) -> bool {
        self.agent == key.agent && self.session == key.session && self.worker == key.worker
    }

    /// Keeps `noted`; of many findings the latest are kept.
    pub(crate) fn note(&mut self, noted: Noted) {
        if self.findings.len() >= FINDINGS_MAX {
            self.findings.remove(0);
        }
        self.findings.push(noted);
    }
}
