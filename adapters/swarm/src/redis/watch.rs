//! What a person sees of a swarm: its hottest calls.

use core::cmp::Reverse;
use core::fmt;
use std::string::String;
use std::vec::Vec;

use ::redis::Value;
use unstuck_core::{Action, LoopId};

use crate::redis::desk::{PATIENCE, nonsense};
use crate::redis::error::RedisError;
use crate::redis::keys::Keys;
use crate::redis::link::Link;
use crate::redis::request::{self, Label, Reply, counted};
use crate::redis::settings::Settings;
use crate::rule::Rule;
use crate::verdict::Outcome;

/// A call that a swarm makes often.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hot {
    /// Which loop it is: the same id as in a worker's verdict.
    pub loop_id: LoopId,
    /// The tool, as one plain word; empty if no worker said its name.
    pub tool: String,
    /// How many calls were made, those that are free included.
    pub calls: u32,
    /// How many workers made them: exact up to 64, and beyond with a standard error of one in eight.
    pub workers: u32,
    /// What came back from all of them.
    pub outcome: Outcome,
    /// The rung of the rule's ladder that is reached, counted from 1; 0 below the first.
    pub rung: u8,
    /// What workers are told to do.
    pub action: Action,
    /// How many milliseconds ago it was made last.
    pub last_seen_ms_ago: u64,
}

/// Someone who watches a swarm and tells it nothing.
///
/// Shown are calls that were made half as often as the rule asks for, by as many workers as it does: the 256 of them that
/// were counted there latest. The rung is by the rule of the settings, which should be that of the workers.
pub struct Watch {
    link: Link,
    keys: Keys,
    rule: Rule,
}

impl Watch {
    /// Connects to the server that `settings` name. Where a server takes connections and says nothing, that
    /// takes some seconds for each of those that are named before it is an error.
    ///
    /// # Errors
    ///
    /// [`RedisError`] if it cannot be asked.
    pub fn open(settings: &Settings) -> Result<Self, RedisError> {
        let mut link = Link::new(settings.nodes.clone(), PATIENCE);
        link.connect()?;
        let keys = Keys::new(&settings.swarm, &settings.secret);
        Ok(Self { link, keys, rule: settings.rule.clone() })
    }

    /// The hottest calls of the swarm, the one with most calls first, `limit` at most.
    ///
    /// # Errors
    ///
    /// [`RedisError`] if the server cannot be asked, or answers nonsense. Asked again, it connects anew.
    pub fn hottest(&mut self, limit: usize) -> Result<Vec<Hot>, RedisError> {
        let labels = self.labels()?;
        if labels.is_empty() {
            return Ok(Vec::new());
        }
        let Value::Array(counts) = self.link.ask_one(&request::look(&labels, &self.keys))? else {
            return Err(nonsense(&self.link.server()));
        };
        let seen = labels.into_iter().zip(&counts);
        let mut hot: Vec<_> = seen.filter_map(|(label, count)| self.hot(label, count)).collect();
        hot.sort_by_key(|hot| (Reverse(hot.calls), hot.loop_id));
        hot.truncate(limit);
        Ok(hot)
    }

    /// Forgets all that was counted for the swarm. What its workers were told before, they know for half
    /// the span of the rule's window at most.
    ///
    /// # Errors
    ///
    /// [`RedisError`] if the server cannot be told.
    pub fn clear(&mut self) -> Result<(), RedisError> {
        match self.link.ask_one(&request::clear(&self.keys))? {
            Value::Okay => Ok(()),
            _ => Err(nonsense(&self.link.server())),
        }
    }

    /// The calls that are hot, or were of late.
    fn labels(&mut self) -> Result<Vec<Label>, RedisError> {
        let members = match self.link.ask_one(&request::hot(&self.keys)) {
            Ok(Value::Array(members)) => members,
            // Something else has this name; the next hot call clears it away.
            Err(RedisError::Refused { why, .. }) if why.starts_with("WRONGTYPE") => Vec::new(),
            Ok(_) => return Err(nonsense(&self.link.server())),
            Err(error) => return Err(error),
        };
        let label = |member: &Value| match member {
            Value::BulkString(bytes) => Label::of(bytes),
            _ => None,
        };
        let mut labels: Vec<_> = members.iter().filter_map(label).collect();
        // One call by two names of its tool is shown once, by the later.
        let mut ids = Vec::new();
        labels.retain(|label| {
            !ids.contains(&label.id) && {
                ids.push(label.id);
                true
            }
        });
        Ok(labels)
    }

    /// Nothing if it is no longer counted.
    fn hot(&self, label: Label, count: &Value) -> Option<Hot> {
        let Reply::Counted { calls, workers, ago } = Reply::of(count) else { return None };
        let Label { id, outcome, allowance, tool } = label;
        let (rung, action) = self.rule.rung(counted(calls, workers, allowance), workers);
        let last_seen_ms_ago = ago;
        Some(Hot { loop_id: id, tool, calls, workers, outcome, rung, action, last_seen_ms_ago })
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("server", &self.link.server()).finish_non_exhaustive()
    }
}
