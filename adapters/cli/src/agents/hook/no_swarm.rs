//! The swarm of a hook in a program that is built without servers: the agent is judged alone.

use std::fmt;
use std::sync::Arc;

use unstuck::SwarmStore;

use crate::agents::state::Folder;
use crate::lacking::how;

/// The beginning of a log line that is only about the swarm. The agent is still watched.
pub(crate) const LINE: &str = "swarm: ";

/// A swarm that can be asked. This program knows none.
pub(super) enum Swarm {}

impl Swarm {
    pub(super) fn open(_: &str, _: &Folder, _: u64) -> Result<Option<Self>, Alone> {
        Err(Alone)
    }

    pub(super) fn board(&self) -> Arc<dyn SwarmStore> {
        match *self {}
    }

    pub(super) fn end(self, _: &Folder, _: u64) -> Result<(), Alone> {
        match self {}
    }
}

/// The reason why an agent is judged without its swarm: this program cannot ask one.
#[derive(Debug)]
pub(super) struct Alone;

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LINE}{}", how("--swarm"))
    }
}
