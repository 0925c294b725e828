//! Which calls belong to one step, where the host does not say.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use unstuck_core::CallId;

use crate::builder::Outcomes;

/// How many calls are remembered that were not answered: as many as the engine waits for.
pub(crate) const OPEN_MAX: usize = 32;

/// The step of the calls that come, and the calls that are not answered yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Steps {
    now: u64,
    /// Whether the step is over, so that the next call begins another.
    is_over: bool,
    /// Whether an outcome ever came after a later step had begun. Then an answer to one call says
    /// nothing of the others, and their outcomes are worth waiting for.
    overlaps: bool,
    open: VecDeque<(u64, CallId)>,
}

impl Steps {
    /// The step of the next call.
    pub(crate) fn next(&mut self, outcomes: Outcomes) -> u64 {
        let is_awaited = self.overlaps && self.open.iter().any(|(step, _)| *step == self.now);
        if (self.is_over && !is_awaited) || outcomes == Outcomes::Never {
            self.now = self.now.wrapping_add(1);
            self.is_over = false;
        }
        self.now
    }

    /// A call of this step waits for its outcome.
    pub(crate) fn add(&mut self, call: CallId) {
        if self.open.len() >= OPEN_MAX {
            self.open.pop_front();
        }
        self.open.push_back((self.now, call));
    }

    /// A call came to its end, and the model may know of it.
    pub(crate) fn answered(&mut self, call: CallId) {
        self.is_over = true;
        let place = self.open.iter().position(|(_, open)| *open == call);
        if let Some((step, _)) = place.and_then(|place| self.open.remove(place)) {
            self.overlaps |= step != self.now;
        }
    }

    /// The step is over, whoever was not answered.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
        self.open.clear();
    }

    pub(crate) fn fits(&self) -> bool {
        self.open.len() <= OPEN_MAX
    }
}
