//! The numbers of steps, for hosts that do not number them.
//!
//! Few hosts know which calls a model issued together. Calls that are announced without an outcome in between
//! belong to one step, so a call that never comes back keeps no step open. If an outcome arrives after a
//! later step began, the host runs calls concurrently. From then on, a step lasts until all its calls are
//! answered, or until 32 later calls.
//!
//! A blocked call ends its step, because the model has read the refusal before it asks again. Otherwise
//! repeated attempts would be one step and one action.

use serde::{Deserialize, Serialize};
use unstuck_core::CallId;

use crate::builder::Outcomes;
use crate::calls::Calls;

/// The step of the next call.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Steps {
    now: u64,
    /// Whether the step is over, so that the next call begins another.
    is_over: bool,
    /// Whether an outcome ever came after a later step had begun. An answer to one call then does not
    /// end the step, and the guard waits for the outcomes of the others.
    overlaps: bool,
}

impl Steps {
    /// Returns the step of the next call.
    pub(crate) fn next(&mut self, outcomes: Outcomes, calls: &Calls) -> u64 {
        let is_awaited = self.overlaps && calls.is_awaited(self.now);
        if (self.is_over && !is_awaited) || outcomes == Outcomes::Never {
            self.now = self.now.wrapping_add(1);
            self.is_over = false;
        }
        self.now
    }

    /// Returns the step of the next call, without beginning it.
    pub(crate) fn upcoming(&self, outcomes: Outcomes, calls: &Calls) -> u64 {
        self.clone().next(outcomes, calls)
    }

    /// Records that a call has ended, and that the model may know its result.
    pub(crate) fn answered(&mut self, calls: &mut Calls, id: CallId) {
        self.is_over = true;
        if let Some(step) = calls.take_awaited(id) {
            self.overlaps |= step != self.now;
        }
    }

    /// Ends the step, even if some of its calls were not answered.
    pub(crate) fn end(&mut self, calls: &mut Calls) {
        self.is_over = true;
        calls.await_none();
    }
}
