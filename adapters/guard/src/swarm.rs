//! What the swarm has to say: the board is told of the calls that came to their end, and its answers go
//! the way of all verdicts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{SystemTime, UNIX_EPOCH};

use unstuck_core::{Action, Call, Digest, Finding, Outcome, Results, Tag, ToolRule};
use unstuck_swarm::{Observation, Verdict, Worker};

use crate::builder::Outcomes;
use crate::decision::{Decision, Found, Ticket};
use crate::guard::Guard;
use crate::heard::{Known, Open};

/// The calls that say nothing of a loop: those that only think, that ask for what is on its way, and
/// that all workers end with.
const UNTOLD: [Tag; 4] = [Tag::Think, Tag::Poll, Tag::Finish, Tag::StartOver];

impl Guard {
    /// A call was announced: at its end the board is told of it, if it says anything.
    pub(crate) fn open_for_swarm(&mut self, ticket: Ticket, call: &Call) {
        let id = ticket.call;
        // A call without a number is of an exempt tool.
        if self.setup.board.is_none() || id.seq().is_none() {
            return;
        }
        let is_poll = |rule: &ToolRule| rule.tool == ticket.tool && rule.poll;
        let is_poll = self.setup.preset.policy.tools().iter().any(is_poll);
        if !is_poll && !UNTOLD.iter().any(|tag| call.has_tag(*tag)) {
            let writes = call.has_tag(Tag::Write);
            self.seen.heard.open(Open { id, call: call.digest(), writes });
        }
    }

    /// What is known of the swarm before the call runs, beside what was decided.
    pub(crate) fn ask_swarm_ahead(&mut self, ticket: Ticket, own: Decision) -> Decision {
        let heard = &mut self.seen.heard;
        let (Some(board), Some(open)) = (&self.setup.board, heard.find(ticket.call)) else {
            return own;
        };
        if own.is_blocked() {
            return own;
        }
        let looked = shielded(|| board.look(open.call));
        let decision = match heard.blocked(open.call, looked, now()) {
            // Whoever has not made the call yet is not to end for it.
            Some((known, rung)) => {
                self.joined(own, self.found(ticket, Action::Block, &known, rung), rung)
            }
            None => own,
        };
        if decision.is_blocked() || self.setup.outcomes == Outcomes::Reported {
            return decision;
        }
        self.seen.heard.close(ticket.call);
        self.tell_swarm(ticket, decision, open, None)
    }

    /// The call came to its end with `outcome`; what was decided, joined with what the swarm says.
    pub(crate) fn tell_swarm(
        &mut self,
        ticket: Ticket,
        own: Decision,
        open: Open,
        outcome: Option<Outcome>,
    ) -> Decision {
        let Some(board) = &self.setup.board else { return own };
        let worked = outcome.is_some_and(|outcome| !outcome.has_failed());
        if self.seen.heard.made(open, outcome) && worked {
            return own;
        }
        let observation = Observation::new(self.name(), ticket.tool, open.call);
        let observation = match outcome {
            None => observation,
            Some(outcome) if worked => observation.ok(outcome.digest()),
            Some(outcome) => observation.failed(outcome.digest()),
        };
        let tool = self.seen.names.of(ticket.tool);
        let verdict = shielded(|| board.record_named(&observation, tool));
        // Whose run ends anyway has nothing more to hear.
        if own.judged >= Action::StartOver {
            return own;
        }
        let known = self.seen.heard.take_in(open.call, verdict, now());
        let Some(known) = known else { return own };
        self.joined(own, self.found(ticket, verdict.action, &known, verdict.rung), verdict.rung)
    }

    /// What comes of both, once the host was asked. A rung that another word went before was not heard.
    fn joined(&mut self, own: Decision, found: Found, rung: u8) -> Decision {
        let loop_id = found.finding.loop_id;
        let swarm = self.ruled(own.ticket, found);
        let decision = own.or_stronger(swarm);
        if decision.found.as_ref().is_some_and(Found::is_of_swarm) {
            self.seen.heard.said(loop_id, rung);
        }
        decision
    }

    fn found(&self, ticket: Ticket, action: Action, known: &Known, rung: u8) -> Found {
        let seq = ticket.call.seq().unwrap_or_default();
        let mut finding = Finding::elsewhere(known.loop_id, known.tool, seq);
        finding.laps = u16::try_from(known.calls).unwrap_or(u16::MAX);
        finding.results = if known.failed.is_some() { Results::Same } else { Results::Ignored };
        finding.failed = known.failed == Some(true);
        finding.confidence = known.confidence;
        Found {
            rule: unstuck_swarm::Finding::RULE,
            tool: self.seen.names.of(ticket.tool).to_owned(),
            lap: Vec::new(),
            action,
            fresh: rung > known.rung,
            finding,
            workers: known.workers,
            swarm: Some(known.evidence()),
        }
    }

    /// The worker, as its swarm knows it.
    fn name(&self) -> Worker {
        let [session, worker] = [self.session(), self.worker()].map(str::as_bytes).map(Digest::of);
        Worker::new(session.mix(worker).bits())
    }
}

/// What a board says; nothing if it panics, for which its worker is not to fall.
fn shielded(ask: impl FnOnce() -> Verdict) -> Verdict {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or(Verdict::PROCEED)
}

/// The time in milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
