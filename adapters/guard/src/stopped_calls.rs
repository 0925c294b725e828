//! Calls for which a run was stopped: the guard refuses them in the next run, too.
//!
//! A stop after which the same ladder begins again would teach a model that it may go on. After a change that
//! worked, the calls may run once more.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, Digest, Finding, LoopId, Outcome, Tag};

use crate::calls::Calls;
use crate::decision::{Decision, Message};

/// The largest number of such calls: three of the longest laps. The oldest is forgotten first.
const STOPPED_MAX: usize = 30;

/// The message to a model that goes on with a loop for which the run was stopped.
const AGAIN: &str = "This call keeps coming back as it did before. It stays refused until the user \
                     says something new or a change has worked. Tell the user what you tried and \
                     what blocks you.";

/// The calls for which a run was stopped, the oldest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoppedCalls(VecDeque<StoppedCall>);

/// A call for which a run was stopped.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct StoppedCall {
    loop_id: LoopId,
    call: Digest,
    /// The digest of its latest outcome.
    outcome: Option<Digest>,
    /// Whether something has changed since. The call may then run once more, which shows whether the
    /// change helped.
    is_lifted: bool,
}

impl StoppedCalls {
    /// Takes in the first outcome of `call`, which is of this kind. Returns whether a run was stopped for
    /// the call, and the outcome is still the same.
    pub(crate) fn report(&mut self, (call, kind): (Digest, Tag), outcome: &Outcome) -> bool {
        let Some(place) = self.0.iter().position(|stopped| stopped.call == call) else {
            if may_change(kind) && !outcome.has_failed() {
                self.lift();
            }
            return false;
        };
        let is_same = self.0[place].outcome.is_none_or(|before| before == outcome.digest());
        if is_same {
            self.0[place].is_lifted = false;
        } else {
            // The result is new, so the loop is over.
            self.0.remove(place);
        }
        is_same
    }

    /// Refuses the calls of `finding` from here on, because the run is stopped for it.
    pub(crate) fn add(&mut self, finding: &Finding, calls: &Calls) {
        for seq in finding.calls() {
            let Some(entry) = calls.by_seq(seq) else { continue };
            let call = entry.digest();
            let before = self.0.iter().position(|stopped| stopped.call == call);
            let known = before.and_then(|place| self.0.remove(place));
            if self.0.len() >= STOPPED_MAX {
                self.0.pop_front();
            }
            // A call that was blocked at last had an outcome before.
            let outcome = entry.outcome().or(known.and_then(|known| known.outcome));
            let loop_id = finding.loop_id;
            self.0.push_back(StoppedCall { loop_id, call, outcome, is_lifted: false });
        }
    }

    /// Returns whether `call` is refused.
    pub(crate) fn refuses(&self, call: Digest) -> bool {
        self.0.iter().any(|stopped| stopped.call == call && !stopped.is_lifted)
    }

    /// Returns whether a run was stopped for this loop, and nothing has changed since.
    pub(crate) fn holds(&self, id: LoopId) -> bool {
        self.0.iter().any(|stopped| stopped.loop_id == id && !stopped.is_lifted)
    }

    /// Lets each call run once more, because something may have changed.
    fn lift(&mut self) {
        for stopped in &mut self.0 {
            stopped.is_lifted = true;
        }
    }

    /// Forgets the calls of one loop, because the host calls it a false positive.
    pub(crate) fn forget(&mut self, id: LoopId) {
        self.0.retain(|stopped| stopped.loop_id != id);
    }

    /// Forgets all calls, because the user has spoken or a new run begins.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns whether a guard could have written these calls.
    pub(crate) fn fits(&self) -> bool {
        self.0.len() <= STOPPED_MAX
    }
}

/// Returns whether a call of this kind may change something: it does more than read, wait or think.
pub(crate) fn may_change(kind: Tag) -> bool {
    !matches!(kind, Tag::Read | Tag::Search | Tag::Poll | Tag::Think)
}

/// Returns the decision on a call for which a run was stopped.
pub(crate) fn again() -> Decision {
    let (stop, message) = (Action::Stop, Some(Message::new(AGAIN)));
    Decision { action: stop, judged: stop, message, ..Decision::PROCEED }
}
