//! The loops about which someone else was asked before their calls were refused.

use serde::{Deserialize, Serialize};
use unstuck_core::LoopId;

/// The loops that were escalated over the life of a guard, each once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Escalations(Vec<LoopId>);

impl Escalations {
    /// Adds the loop `id` if it is new and there are fewer than `most`. Returns whether it was added.
    pub(crate) fn add(&mut self, id: LoopId, most: u8) -> bool {
        let is_added = self.0.len() < usize::from(most) && !self.0.contains(&id);
        if is_added {
            self.0.push(id);
        }
        is_added
    }

    /// Returns whether a guard could have written these loops.
    pub(crate) fn fits(&self) -> bool {
        u8::try_from(self.0.len()).is_ok()
    }
}
