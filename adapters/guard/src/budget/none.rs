//! A guard without the feature `budgets`: there is no budget, and so no account of one.

use serde::{Deserialize, Serialize};

use crate::decision::Decision;
use crate::guard::Guard;

/// No budget exists.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget {}

/// No account exists. A checkpoint says so.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Account {}

impl Account {
    pub(crate) const fn of(budget: Budget) -> Self {
        match budget {}
    }

    pub(crate) fn restored(_: Option<Box<Self>>, _: Option<Budget>) -> Option<Box<Self>> {
        None
    }

    pub(crate) const fn user_spoke(&self, _: bool) {
        match *self {}
    }
}

impl Guard {
    /// Counts a call, which nobody wants to know.
    pub(crate) const fn count_call(&self) {}

    pub(crate) const fn over_budget(&self) -> Option<Decision> {
        None
    }

    pub(crate) const fn with_budget_note(&self, decision: Decision) -> Decision {
        decision
    }
}
