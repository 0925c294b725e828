//! The layer between a guard and the store of its swarm.
//!
//! The store hears of the calls that end. Its answers become evidence and take the way of all verdicts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use unstuck_core::{Action, Call, Digest, Failure, Finding, Outcome, Results, Tag, ToolRule};
use unstuck_swarm::{Observation, Verdict, Worker};

use crate::builder::Outcomes;
use crate::calls::SharedCall;
use crate::decision::{Decision, Evidence, Ticket};
use crate::guard::Guard;
use crate::swarm_memory::SwarmLoop;

/// The kinds of calls that are not shared, because they are no sign of a loop: thinking, waiting, and what
/// all workers end with.
const UNSHARED: [Tag; 4] = [Tag::Think, Tag::Poll, Tag::Finish, Tag::StartOver];

impl Guard {
    /// Marks a call that was announced, if the store is to hear of its end.
    pub(crate) fn share(&mut self, ticket: Ticket, call: &Call) {
        // A call without a number is of an exempt tool.
        if self.setup.store.is_none() || ticket.call.id.seq().is_none() {
            return;
        }
        let is_poll = |rule: &ToolRule| rule.tool == ticket.tool && rule.poll;
        let is_poll = self.setup.preset.policy.tools().iter().any(is_poll);
        if !is_poll && !UNSHARED.iter().any(|tag| call.has_tag(*tag)) {
            let writes = call.has_tag(Tag::Write);
            self.state.calls.share(ticket, SharedCall { digest: call.digest(), writes });
        }
    }

    /// Joins `of_worker`, the decision on a call before it runs, with the store's verdict on the call.
    pub(crate) fn ask_swarm(&mut self, ticket: Ticket, of_worker: Decision) -> Decision {
        let (Some(store), Some(call)) = (&self.setup.store, self.state.calls.shared(ticket)) else {
            return of_worker;
        };
        if of_worker.is_blocked() {
            return of_worker;
        }
        let looked = shielded(|| store.look(call.digest));
        let decision = match self.state.swarm.blocked(call.digest, looked, now()) {
            // A worker that has not made the call yet is blocked at most.
            Some((one, rung)) => {
                self.joined(of_worker, self.swarm_evidence(ticket, Action::Block, &one, rung), rung)
            }
            None => of_worker,
        };
        if decision.is_blocked() || self.setup.outcomes == Outcomes::Reported {
            return decision;
        }
        self.state.calls.take_shared(ticket);
        self.report_to_swarm(ticket, decision, call, None)
    }

    /// Reports to the store that the call has ended with `outcome`. Returns `of_worker`, the decision on that,
    /// joined with the store's answer.
    pub(crate) fn report_to_swarm(
        &mut self,
        ticket: Ticket,
        of_worker: Decision,
        call: SharedCall,
        outcome: Option<Outcome>,
    ) -> Decision {
        let Some(store) = &self.setup.store else { return of_worker };
        let worked = outcome.is_some_and(|outcome| !outcome.has_failed());
        if self.state.swarm.end_call(call, outcome) && worked {
            return of_worker;
        }
        let observation = Observation::new(self.swarm_name(), ticket.tool, call.digest);
        let observation = match outcome {
            None => observation,
            Some(outcome) if worked => observation.ok(outcome.digest()),
            Some(outcome) => observation.failed(outcome.digest()),
        };
        let tool = self.state.names.of(ticket.tool);
        let verdict = shielded(|| store.record_named(&observation, tool));
        // The run ends in any case.
        if of_worker.judged >= Action::StartOver {
            return of_worker;
        }
        let one = self.state.swarm.take_in(call.digest, verdict, now());
        let Some(one) = one else { return of_worker };
        let evidence = self.swarm_evidence(ticket, verdict.action, &one, verdict.rung);
        self.joined(of_worker, evidence, verdict.rung)
    }

    /// Joins both decisions, after the host has ruled on `evidence`. The rung counts as announced only if
    /// its message is the one that the model reads.
    fn joined(&mut self, of_worker: Decision, evidence: Evidence, rung: u8) -> Decision {
        let loop_id = evidence.finding.loop_id;
        let swarm = self.ruled(of_worker.ticket, evidence);
        let decision = of_worker.or_stronger(swarm);
        if decision.evidence.as_ref().is_some_and(Evidence::is_of_swarm) {
            self.state.swarm.announced(loop_id, rung);
        }
        decision
    }

    fn swarm_evidence(
        &self,
        ticket: Ticket,
        action: Action,
        one: &SwarmLoop,
        rung: u8,
    ) -> Evidence {
        let seq = ticket.call.id.seq().unwrap_or_default();
        let mut finding = Finding::elsewhere(one.loop_id, one.tool, seq);
        finding.laps = u16::try_from(one.calls).unwrap_or(u16::MAX);
        finding.results = if one.failed.is_some() { Results::Same } else { Results::Ignored };
        finding = finding.with_failure((one.failed == Some(true)).then_some(Failure::Lasting));
        finding.confidence = one.confidence;
        Evidence {
            rule: unstuck_swarm::Finding::RULE,
            tool: self.state.names.shared(ticket.tool),
            lap: Vec::new(),
            failing: Arc::default(),
            cause: None,
            action,
            fresh: rung > one.rung(),
            finding,
            workers: one.workers,
            swarm: Some(one.finding()),
        }
    }

    /// Returns the identifier of the worker in its swarm.
    fn swarm_name(&self) -> Worker {
        let [session, worker] = [self.session(), self.worker()].map(str::as_bytes).map(Digest::of);
        Worker::new(session.mix(worker).bits())
    }
}

/// Returns the verdict of a store, or the empty one if the store panics: its worker goes on.
fn shielded(ask: impl FnOnce() -> Verdict) -> Verdict {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or(Verdict::PROCEED)
}

/// Returns the time in milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
