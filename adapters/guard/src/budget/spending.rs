//! A guard with a budget: it counts what the agent spends, warns near a limit, and refuses calls at it.

use std::time::Duration;

use unstuck_core::Action;

use super::{Account, Spent};
use crate::builder::Mode;
use crate::decision::{Decision, Message};
use crate::guard::Guard;

impl Guard {
    /// Reports tokens and dollars that were spent, for a guard with a [`Budget`](crate::Budget). The guard itself
    /// counts the calls.
    ///
    /// ```
    /// use unstuck::{Budget, Guard, Limits, Spent};
    ///
    /// let session = Limits { tokens: Some(1000), ..Limits::default() };
    /// let mut guard = Guard::builder().budget(Budget { session, ..Budget::default() }).build()?;
    /// let before = guard.before("read_file", "a");
    /// guard.spend(&Spent { tokens: 900, ..Spent::default() });
    /// let after = guard.after(before.ticket(), "text", false);
    /// assert!(after.annotate("text").contains("900 of 1000 tokens of this session are spent."));
    /// # Ok::<(), unstuck::BuildError>(())
    /// ```
    pub fn spend(&mut self, spent: &Spent) {
        if let Some(account) = &mut self.state.account {
            account.spend(spent);
        }
    }

    /// Tells a guard with a [`Budget`](crate::Budget) the time since 1970 in UTC: the guard has no clock. A host calls
    /// it before each call, after each result, and after each message of the user. See [`Account::tell_time`].
    pub fn tell_time(&mut self, now: Duration) {
        if let Some(account) = &mut self.state.account {
            account.tell_time(now);
        }
    }

    /// Returns what was spent, if the guard has a [`Budget`](crate::Budget).
    pub fn account(&self) -> Option<&Account> {
        self.state.account.as_deref()
    }

    /// Counts a call that has run.
    pub(crate) fn count_call(&mut self) {
        self.spend(&Spent::CALL);
    }

    /// Counts a new call, or refuses it because a limit is reached. The engine does not see a refused call: it is no
    /// sign of a loop. A model that insists ends the run.
    pub(crate) fn over_budget(&mut self) -> Option<Decision> {
        let acts = self.setup.mode == Mode::Act;
        let account = self.state.account.as_mut()?;
        let Some(share) = account.reached().filter(|_| acts) else {
            account.spend(&Spent::CALL);
            return None;
        };
        let action = if account.refuse() { Action::Stop } else { Action::Block };
        let message = Some(Message::new(share.refusal()));
        Some(Decision { action, judged: action, message, ..Decision::PROCEED })
    }

    /// Adds the note of the budget, if one is due, to the decision on a call that has run.
    pub(crate) fn with_budget_note(&mut self, mut decision: Decision) -> Decision {
        let Some(account) = self.state.account.as_mut() else { return decision };
        if self.setup.mode != Mode::Act || decision.ends_the_run() {
            return decision;
        }
        let Some(note) = account.note() else { return decision };
        decision.message = Some(match decision.message {
            Some(message) => Message::new(format!("{message} {note}")),
            None => Message::new(note),
        });
        decision.action = decision.action.max(Action::Nudge);
        decision
    }
}
