//! Loops for which a run was ended, so that they do not begin again.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, Call, CallId, Digest, Finding, Outcome, Tag};

use crate::decision::{Decision, Message};

/// How many calls are remembered with their outcomes: as many as the longest window holds.
const MADE_MAX: usize = 64;

/// How many calls of ended loops are remembered, the latest: three of the longest laps.
const CALLS_MAX: usize = 30;

/// What a model reads that goes on with a loop for which the run was ended.
const AGAIN: &str = "The run was ended for this call, which keeps coming back as it did before. It \
                     stays refused until the user says something new or a change has worked. Tell \
                     the user what you tried and what blocks you.";

/// The calls that came last, and those for which the run was ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// The latest calls, the oldest first.
    made: VecDeque<Made>,
    /// The calls of loops for which the run was ended, the oldest first.
    calls: VecDeque<Refused>,
}

/// A call, and what it came back with.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Made {
    seq: u64,
    call: Digest,
    kind: Tag,
    outcome: Option<Digest>,
}

/// A call for which the run was ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Refused {
    call: Digest,
    /// What it came back with last.
    outcome: Option<Digest>,
    /// Whether something has changed since: then the call may be made to see whether it helped.
    is_lifted: bool,
}

impl Ended {
    /// Remembers a call that is announced to the engine.
    pub(crate) fn announced(&mut self, id: CallId, call: &Call) {
        let (kind, call) = (call.kind(), call.digest());
        let Some(seq) = id.seq() else { return };
        if self.made.len() >= MADE_MAX {
            self.made.pop_front();
        }
        self.made.push_back(Made { seq, call, kind, outcome: None });
    }

    /// What kind of call it is, as far as it is remembered.
    pub(crate) fn kind(&self, id: CallId) -> Tag {
        let made = self.made.iter().rev().find(|made| Some(made.seq) == id.seq());
        made.map_or(Tag::Other, |made| made.kind)
    }

    /// Records the first outcome of a call. Returns whether the run was ended for this call, and the
    /// outcome is the same as it was then.
    pub(crate) fn answered(&mut self, id: CallId, outcome: &Outcome) -> bool {
        let Some(seq) = id.seq() else { return false };
        let mut open = self.made.iter_mut().rev().filter(|made| made.outcome.is_none());
        let Some(made) = open.find(|made| made.seq == seq) else { return false };
        made.outcome = Some(outcome.digest());
        let (call, has_changed) = (made.call, may_change(made.kind) && !outcome.has_failed());
        let Some(place) = self.calls.iter().position(|refused| refused.call == call) else {
            if has_changed {
                self.lift();
            }
            return false;
        };
        let is_same = self.calls[place].outcome.is_none_or(|before| before == outcome.digest());
        if is_same {
            self.calls[place].is_lifted = false;
        } else {
            // What it says is new: the loop is over.
            self.calls.remove(place);
        }
        is_same
    }

    /// Takes in that the run is ended for `finding`: its calls are refused from here on.
    pub(crate) fn end(&mut self, finding: &Finding) {
        for seq in finding.calls() {
            let Some(made) = self.made.iter().rev().find(|made| made.seq == seq).copied() else {
                continue;
            };
            let before = self.calls.iter().position(|refused| refused.call == made.call);
            let known = before.and_then(|place| self.calls.remove(place));
            if self.calls.len() >= CALLS_MAX {
                self.calls.pop_front();
            }
            // A call that was blocked at last came back with something before.
            let outcome = made.outcome.or(known.and_then(|known| known.outcome));
            self.calls.push_back(Refused { call: made.call, outcome, is_lifted: false });
        }
    }

    /// Whether there is a call that may be refused.
    pub(crate) fn is_any(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Whether `call` is refused.
    pub(crate) fn refuses(&self, call: Digest) -> bool {
        self.calls.iter().any(|refused| refused.call == call && !refused.is_lifted)
    }

    /// Something may have changed: each call may be made once more, to see whether it helped.
    fn lift(&mut self) {
        for refused in &mut self.calls {
            refused.is_lifted = true;
        }
    }

    /// Forgets for which calls the run was ended: the user has spoken, or a new run begins.
    pub(crate) fn forget(&mut self) {
        self.calls.clear();
    }

    pub(crate) fn fits(&self) -> bool {
        self.made.len() <= MADE_MAX && self.calls.len() <= CALLS_MAX
    }
}

/// Whether a call of that kind may change something: it does more than read, wait or think.
fn may_change(kind: Tag) -> bool {
    !matches!(kind, Tag::Read | Tag::Search | Tag::Poll | Tag::Think)
}

/// The decision on a call for which the run was ended.
pub(crate) fn again() -> Decision {
    let (stop, message) = (Action::Stop, Some(Message::new(AGAIN.to_owned())));
    Decision { action: stop, judged: stop, message, ..Decision::PROCEED }
}
