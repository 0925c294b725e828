//! The swarm of a hook in a program that is built without servers: the agent is judged alone.

use std::sync::Arc;

use unstuck::SwarmStore;

use crate::agents::state::Folder;
use crate::lacking::how;

/// The beginning of a log line that is only about the swarm. The agent is still watched.
pub(crate) const LINE: &str = "swarm: ";

/// A swarm that can be asked. This program knows none.
pub(super) enum Swarm {}

impl Swarm {
    pub(super) fn open(_: &str, _: &Folder, _: u64) -> Result<Option<Self>, String> {
        Err(format!("{LINE}{}", how("--swarm")))
    }

    pub(super) fn board(&self) -> Arc<dyn SwarmStore> {
        match *self {}
    }

    pub(super) fn end(self, _: &Folder, _: u64) -> Result<(), String> {
        match self {}
    }
}
