//! The public part of a state: the worker, its counts and its findings.

use serde::{Deserialize, Serialize};

use crate::agents::Agent;

/// The worker that a state belongs to. Subagents share the session of the agent that started them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    pub(crate) agent: Agent,
    pub(crate) session: &'a str,
    pub(crate) worker: &'a str,
}

/// The number of findings that are kept of each worker.
pub(crate) const FINDINGS_MAX: usize = 16;

/// The first part of a state, which `unstuck status` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "agents call it so, too")]
pub(crate) struct Session {
    pub(crate) agent: Agent,
    /// The agent's id of the session.
    pub(crate) session: String,
    /// The agent's id of the subagent, or `main`.
    pub(crate) worker: String,
    /// The folder that the agent works in, if a payload names it.
    pub(crate) cwd: Option<String>,
    /// The number of events of this worker. An event that is delivered twice counts twice.
    pub(crate) events: u64,
    /// The number of calls, each counted once.
    pub(crate) calls: u64,
    /// The time of the first event, in milliseconds since 1970.
    pub(crate) begun: u64,
    /// The time of the latest event, in milliseconds since 1970.
    pub(crate) last_seen: u64,
    /// The latest findings, in their order.
    pub(crate) findings: Vec<FindingRecord>,
}

/// A finding, without arguments and results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FindingRecord {
    pub(crate) rule: String,
    pub(crate) kind: String,
    pub(crate) action: String,
    pub(crate) tool: String,
    /// A description for people of what recurs.
    pub(crate) what: String,
    /// The number of calls in a lap.
    pub(crate) period: u64,
    pub(crate) laps: u64,
    /// The loop's id as a number.
    pub(crate) loop_id: u64,
    /// The time of the finding, in milliseconds since 1970.
    pub(crate) at: u64,
}

impl Session {
    /// The session of a new worker at the time `now`.
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

    /// Returns whether the state belongs to `key`. File names are short digests, which may collide.
    pub(crate) fn is_of(&self, key: &Key<'_>) -> bool {
        self.agent == key.agent && self.session == key.session && self.worker == key.worker
    }

    /// Adds a finding. Drops the oldest one if there are [`FINDINGS_MAX`] already.
    pub(crate) fn note(&mut self, record: FindingRecord) {
        if self.findings.len() >= FINDINGS_MAX {
            self.findings.remove(0);
        }
        self.findings.push(record);
    }
}
