//! The calls of a worker that have an event: before they run, and when they have ended.

use std::path::Path;

use serde::{Deserialize, Serialize};
use unstuck::{Action, Asked, Decision, Payload};
use unstuck_core::{Args, Digest, Finding, Kind};

use super::{Position, Worker};
use crate::agents::hook::read::{End, ReadCall};
use crate::agents::host::Steps;
use crate::agents::reply::Reply;
use crate::agents::state::{FindingRecord, Said};

/// The largest number of calls whose replies are stored: more than an agent has open at a time.
pub(super) const REPLIES_MAX: usize = 32;

/// The longest pause between calls that were issued together, in milliseconds. A model that reads a
/// result before it asks for the next call takes longer.
pub(super) const TOGETHER: u64 = 1000;

/// A call that continues a loop of which the model was told, and after which the agent lets only one more
/// equal call pass.
#[derive(Serialize, Deserialize)]
pub(super) struct LastEqual {
    call: Digest,
    /// The reply to the next such call.
    reply: Reply,
    /// The finding at the next such call.
    finding: FindingRecord,
}

/// The replies to one call, which are given again if its event comes again.
#[derive(Serialize, Deserialize)]
pub(super) struct CallReplies {
    pub(super) id: String,
    pub(super) before: Option<Reply>,
    pub(super) after: Option<Reply>,
}

impl CallReplies {
    /// Returns whether the end of the call is known: it was reported, or the call was refused.
    pub(super) fn is_closed(&self) -> bool {
        self.after.is_some() || self.before.as_ref().is_some_and(Reply::is_refusal)
    }
}

impl Worker {
    /// Takes in a call that is about to run.
    pub(super) fn before(
        &mut self,
        call: &ReadCall<'_>,
        transcript: Option<&Path>,
        ends_turn: bool,
    ) -> Reply {
        let id = call.call.id.as_deref();
        let given = id.and_then(|id| self.position.replies_to(id)?.before.clone());
        if let Some(given) = given {
            return given;
        }
        let asked = self.begin(call, transcript);
        let limit = self.spending.as_mut().and_then(|spending| spending.before(ends_turn));
        if let Some(refusal) = limit.as_ref().filter(|limit| limit.is_refusal()) {
            return self.replied(id, refusal.clone());
        }
        let question = limit.or_else(|| self.question(&asked));
        let decision = self.guard.announce(&asked);
        let reply = question.unwrap_or_else(|| {
            self.note(&decision, Said::before);
            if decision.evidence().is_none() && decision.action() >= Action::Block {
                self.session.refused_again += 1;
            }
            let refusal = self.refuse_last(call, &decision, ends_turn);
            refusal.unwrap_or_else(|| Reply::before(&decision, ends_turn))
        });
        self.replied(id, reply)
    }

    /// Stores the reply to the call with this id, which is about to run.
    fn replied(&mut self, id: Option<&str>, reply: Reply) -> Reply {
        self.session.refused += u64::from(reply.is_refusal());
        if let Some(id) = id {
            self.position.store(id).before = Some(reply.clone());
        }
        reply
    }

    /// Returns the question to the person about a call that would be refused, if one is asked. The loop is silenced:
    /// whatever the person says, it is in good hands.
    fn question(&mut self, asked: &Asked<'_>) -> Option<Reply> {
        if !self.asks {
            return None;
        }
        let decision = self.guard.peek(asked);
        let evidence = decision.evidence().filter(|_| decision.action() >= Action::Block)?;
        self.session.note(self.record(evidence, &decision, Said::Question));
        self.guard.silence(evidence.finding.loop_id);
        Some(Reply::question(evidence))
    }

    /// Refuses `call` if the model has a note about its loop, and the agent itself would end the run at this call.
    /// `decision` is that of the guard.
    fn refuse_last(
        &mut self,
        call: &ReadCall<'_>,
        decision: &Decision,
        ends_turn: bool,
    ) -> Option<Reply> {
        let last = self.position.last_equal.take()?;
        if last.call != call.digest() || decision.is_blocked() {
            return None;
        }
        let mut finding = last.finding.clone();
        (finding.call, finding.at) = (self.session.calls, self.now);
        if finding.observed {
            self.session.note(finding);
            return None;
        }
        let refused = self.guard.refused(decision.ticket());
        if refused.ends_the_run() {
            self.note(&refused, Said::before);
            return Some(Reply::before(&refused, ends_turn));
        }
        // The refusal counts as an attempt, which may have reached a rung of its own.
        let finding = match refused.evidence() {
            Some(evidence) if refused.judged() >= Action::Block => {
                self.record(evidence, &refused, Said::Refusal)
            }
            _ => finding,
        };
        self.session.note(finding);
        let reply = last.reply.clone();
        // The same call may have been issued twice at once.
        self.position.last_equal = self.next_equal(call, &refused).or(Some(last));
        Some(reply)
    }

    /// Returns what refuses the next call like `call`, whose end led to `decision`, if that is the last which
    /// the agent lets pass. Only a streak of the same call with the same result counts, and only if the policy
    /// refuses calls for it.
    fn next_equal(&self, call: &ReadCall<'_>, decision: &Decision) -> Option<LastEqual> {
        let max = self.equal_calls_max?;
        let mut evidence = decision.evidence()?.clone();
        let Finding { kind, args, most, laps, .. } = evidence.finding;
        let is_streak = kind == Kind::Streak && args == Args::Same && most >= Action::Block;
        let is_told = decision.judged() > Action::Proceed;
        evidence.finding.laps = laps.saturating_add(1);
        let is_last = is_streak && is_told && evidence.finding.laps >= max;
        is_last.then(|| LastEqual {
            call: call.digest(),
            reply: Reply::refused(&evidence, self.wording),
            // The action stays the guard's own, as a scan of the transcript finds it.
            finding: self.record(&evidence, decision, Said::Refusal),
        })
    }

    /// Begins a new call. Returns it as the guard takes it.
    fn begin<'c>(&mut self, call: &ReadCall<'c>, transcript: Option<&Path>) -> Asked<'c> {
        self.session.calls += 1;
        self.position.has_called = true;
        let (id, asked) = (call.call.id.as_deref().unwrap_or_default(), call.asked.clone());
        if self.position.is_step_over || !self.joins_step(id, &asked, transcript) {
            self.position.step += 1;
        }
        self.position.is_step_over = false;
        asked.step(self.position.step)
    }

    /// Returns whether the model issued a call together with the calls before it, whose step is not known to
    /// be over.
    fn joins_step(&self, id: &str, asked: &Asked<'_>, transcript: Option<&Path>) -> bool {
        // A call without an answer must not draw all later ones into its step.
        let is_soon = self.now.abs_diff(self.session.last_seen) < TOGETHER;
        let may_join = || self.guard.may_join_step(self.position.step, asked);
        match self.steps {
            Steps::Reported(_) if self.position.reports_steps => true,
            Steps::Guessed => is_soon && may_join(),
            Steps::Transcribed(goes_on) | Steps::Reported(goes_on) => {
                let told = || transcript.and_then(|path| goes_on(path, id));
                is_soon && told().unwrap_or_else(may_join)
            }
        }
    }

    /// Takes in a call that has ended.
    pub(super) fn after(&mut self, call: &ReadCall<'_>, end: &End<'_>) -> Reply {
        let id = call.call.id.as_deref();
        let given = id.and_then(|id| self.position.replies_to(id)?.after.clone());
        if let Some(given) = given {
            return given;
        }
        let ticket = match id {
            Some(id) => self.guard.ticket(id),
            None => self.guard.open_call(&call.asked),
        };
        let decision = match (end, ticket) {
            (End::Answered(text, failed), Some(ticket)) => {
                self.session.errors += u64::from(*failed);
                self.guard.after(ticket, text.clone(), *failed)
            }
            (End::Answered(text, failed), None) => return self.finished(call, text, *failed),
            (End::Cancelled, Some(ticket)) => self.guard.cancelled(ticket),
            (End::Refused, Some(ticket)) => self.guard.refused(ticket),
            // The next step ends the wait for its result.
            (End::Untold, _) | (_, None) => return Reply::Nothing,
        };
        self.close(call, &decision, Reply::after(&decision))
    }

    /// Takes in a call that was not announced.
    fn finished(&mut self, call: &ReadCall<'_>, text: &Payload<'_>, failed: bool) -> Reply {
        let asked = self.begin(call, None);
        self.session.errors += u64::from(failed);
        let decision = self.guard.finished(&asked, text.clone(), failed);
        self.close(call, &decision, Reply::unannounced(&decision, self.wording))
    }

    fn close(&mut self, call: &ReadCall<'_>, decision: &Decision, reply: Reply) -> Reply {
        self.note(decision, Said::after);
        self.position.last_equal = self.next_equal(call, decision);
        let reply = match &mut self.spending {
            Some(spending) => spending.after(reply),
            None => reply,
        };
        if let Some(id) = &call.call.id {
            self.position.store(id).after = Some(reply.clone());
        }
        reply
    }
}

impl Position {
    pub(super) fn replies_to(&self, id: &str) -> Option<&CallReplies> {
        self.replies.iter().rev().find(|one| one.id == id)
    }

    /// Returns the place for the replies to the call `id`. The oldest replies make room for it.
    pub(super) fn store(&mut self, id: &str) -> &mut CallReplies {
        let place = self.replies.iter().rposition(|one| one.id == id);
        let place = place.unwrap_or_else(|| {
            if self.replies.len() >= REPLIES_MAX {
                self.replies.remove(0);
            }
            self.replies.push(CallReplies { id: id.to_owned(), before: None, after: None });
            self.replies.len() - 1
        });
        &mut self.replies[place]
    }
}
