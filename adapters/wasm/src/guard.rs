//! The guard of one agent.

use std::collections::VecDeque;
#[cfg(feature = "full")]
use std::time::Duration;

use unstuck::{Action, Asked, BuildError, Decision, Evidence, Kind, LoopId, SIGN, Ticket};
use unstuck_core::Digest;
use unstuck_text::{PRESETS, Preset};
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

/// The most tickets that are kept. The guard tracks at most this many open calls.
const TICKETS_MAX: usize = 64;

/// The most findings whose evidence is kept, for false positives.
const FINDINGS_MAX: usize = 16;

/// The bits of a decision. `adapters/js/src/guard.ts` reads them.
mod bits {
    /// The shift of the judged action. The action itself is in the lowest three bits.
    pub(super) const JUDGED: u32 = 3;
    pub(super) const BLOCKED: u32 = 1 << 6;
    pub(super) const ENDS_RUN: u32 = 1 << 7;
    pub(super) const MESSAGE: u32 = 1 << 8;
    pub(super) const FINDING: u32 = 1 << 9;
    pub(super) const TICKET: u32 = 1 << 10;
    pub(super) const NOTE: u32 = 1 << 11;
    pub(super) const ESCALATES: u32 = 1 << 12;
}

/// The answers of somebody who looks at a loop. `adapters/js/src/guard.ts` has them, too.
mod answers {
    pub(super) const STOP: u32 = 0;
    pub(super) const GO_ON: u32 = 1;
}

/// Watches the calls of one agent.
#[wasm_bindgen]
pub struct Guard {
    engine: unstuck::Guard,
    /// The last decision.
    decision: Decision,
    /// The text for the model instead of the decision's own.
    warning: Option<String>,
    /// The tickets of the open calls, with their numbers.
    tickets: VecDeque<(u32, Ticket)>,
    /// The number of the ticket of the last call, and of the last new ticket.
    ticket: u32,
    issued: u32,
    findings: VecDeque<Evidence>,
}

impl Guard {
    /// Creates a guard. `state` is what `save` returned, or is empty.
    pub(crate) fn made(
        preset: &Preset,
        #[cfg(feature = "full")] budget: Option<unstuck::Budget>,
        observe: bool,
        off: bool,
        escalate: u8,
        session: &str,
        worker: &str,
        state: &[u8],
    ) -> Result<Self, BuildError> {
        let mut builder = unstuck::Guard::builder().preset(preset).session(session).worker(worker);
        builder = builder.escalate(escalate);
        #[cfg(feature = "full")]
        if let Some(budget) = budget {
            builder = builder.budget(budget);
        }
        if observe {
            builder = builder.observe_only();
        }
        if off {
            builder = builder.off();
        }
        let guard = if state.is_empty() { builder.build() } else { builder.restore(state) };
        guard.map(Self::of)
    }

    fn of(mut engine: unstuck::Guard) -> Self {
        // No call is taken back.
        let decision = engine.cancelled(None);
        let (tickets, findings) = (VecDeque::new(), VecDeque::new());
        Self { engine, decision, warning: None, tickets, ticket: 0, issued: 0, findings }
    }

    /// Keeps a decision, and returns its bits.
    fn decided(&mut self, decision: Decision) -> u32 {
        let mut word = decision.action() as u32 | (decision.judged() as u32) << bits::JUDGED;
        let mut set = |bit: u32, is_set: bool| word |= if is_set { bit } else { 0 };
        set(bits::BLOCKED, decision.is_blocked());
        set(bits::ENDS_RUN, decision.ends_the_run());
        set(bits::MESSAGE, decision.is_blocked() || decision.message().is_some());
        set(bits::FINDING, decision.evidence().is_some());
        set(bits::NOTE, decision.message().is_some());
        set(bits::ESCALATES, decision.escalates());
        if let Some(evidence) = decision.evidence() {
            self.findings.retain(|kept| kept.finding.loop_id != evidence.finding.loop_id);
            push(&mut self.findings, evidence.clone(), FINDINGS_MAX);
        }
        (self.decision, self.warning) = (decision, None);
        word
    }

    /// Keeps the ticket of the last decision, and returns its bit.
    fn ticketed(&mut self) -> u32 {
        let Some(ticket) = self.decision.ticket() else { return 0 };
        let known = self.tickets.iter().find(|(_, kept)| *kept == ticket);
        if let Some((number, _)) = known {
            self.ticket = *number;
        } else {
            self.issued = self.issued.wrapping_add(1);
            self.ticket = self.issued;
            push(&mut self.tickets, (self.ticket, ticket), TICKETS_MAX);
        }
        bits::TICKET
    }

    /// Takes the ticket of this number, or of the call with this id, if the call is open.
    fn taken(&mut self, number: u32, id: Option<&str>) -> Option<Ticket> {
        let ticket = match id {
            Some(id) => self.engine.ticket(id)?,
            None => self.tickets.iter().find(|(kept, _)| *kept == number)?.1,
        };
        self.tickets.retain(|(_, kept)| *kept != ticket);
        self.engine.open_calls().any(|open| open == ticket).then_some(ticket)
    }
}

/// Returns the call of these parts.
fn asked<'a>(tool: &'a str, args: &'a str, id: Option<&'a str>, step: Option<&str>) -> Asked<'a> {
    let mut asked = Asked::new(tool, args);
    if let Some(id) = id {
        asked = asked.id(id);
    }
    match step {
        Some(step) => asked.step(Digest::of(step.as_bytes()).bits()),
        None => asked,
    }
}

/// Appends `item`, and forgets the first if there are too many.
fn push<T>(items: &mut VecDeque<T>, item: T, most: usize) {
    if items.len() >= most {
        items.pop_front();
    }
    items.push_back(item);
}

#[wasm_bindgen]
impl Guard {
    /// Creates a guard with the policy of this name. `state` is what `save` returned, or is empty.
    #[wasm_bindgen(constructor)]
    pub fn new(
        preset: &str,
        observe: bool,
        off: bool,
        escalate: u8,
        session: &str,
        worker: &str,
        state: &[u8],
    ) -> Result<Self, JsError> {
        let Some(found) = Preset::named(preset) else {
            return Err(JsError::new("there is no such preset"));
        };
        Self::made(
            found,
            #[cfg(feature = "full")]
            None,
            observe,
            off,
            escalate,
            session,
            worker,
            state,
        )
        .map_err(|why| match why {
            BuildError::Restore(why) => JsError::new(&why.to_string()),
            // The words for other errors are in the engine that reads policies: a preset has none of them.
            _ => JsError::new("the preset is wrong"),
        })
    }

    /// Judges a call before it runs.
    pub fn before(
        &mut self,
        tool: &str,
        args: &str,
        id: Option<String>,
        step: Option<String>,
    ) -> u32 {
        let asked = asked(tool, args, id.as_deref(), step.as_deref());
        let decision = self.engine.announce(&asked);
        self.decided(decision) | self.ticketed()
    }

    /// Judges a call that has run, for a host that sees calls only then.
    pub fn finished(
        &mut self,
        tool: &str,
        args: &str,
        id: Option<String>,
        step: Option<String>,
        result: &str,
        error: bool,
    ) -> u32 {
        let asked = asked(tool, args, id.as_deref(), step.as_deref());
        let decision = self.engine.finished(&asked, result, error);
        let bits = self.decided(decision);
        let evidence = self.decision.evidence().filter(|evidence| !evidence.is_of_swarm());
        if let (Action::Block, Some(evidence)) = (self.decision.action(), evidence) {
            // The next such call will not be announced either, so no refusal is promised.
            let warning = evidence.finding.nudge(Action::Warn, &evidence.tool);
            self.warning = self.decision.message().map(|_| format!("{SIGN} {warning}"));
        }
        bits
    }

    /// Reports the result of a call, by the number of its ticket or by its id.
    pub fn after(&mut self, ticket: u32, id: Option<String>, result: &str, error: bool) -> u32 {
        let ticket = self.taken(ticket, id.as_deref());
        let decision = self.engine.after(ticket, result, error);
        self.decided(decision)
    }

    /// Reports that somebody else refused the call.
    pub fn refused(&mut self, ticket: u32, id: Option<String>) -> u32 {
        let ticket = self.taken(ticket, id.as_deref());
        let decision = self.engine.refused(ticket);
        self.decided(decision)
    }

    /// Takes a call back that never ran or was broken off.
    pub fn cancelled(&mut self, ticket: u32, id: Option<String>) -> u32 {
        let ticket = self.taken(ticket, id.as_deref());
        let decision = self.engine.cancelled(ticket);
        self.decided(decision)
    }

    /// Reports a message of the user. Without a text, it starts everything afresh.
    pub fn user_message(&mut self, text: Option<String>) -> u32 {
        let decision = if let Some(text) = text {
            self.engine.user_message(&text)
        } else {
            self.engine.clear();
            self.engine.cancelled(None)
        };
        self.decided(decision)
    }

    /// Returns whether the guard has a budget, and has to know the time.
    #[cfg(feature = "full")]
    pub fn has_budget(&self) -> bool {
        self.engine.account().is_some()
    }

    /// Tells the time in milliseconds since 1970.
    #[cfg(feature = "full")]
    pub fn tell_time(&mut self, now: f64) {
        self.engine.tell_time(Duration::try_from_secs_f64(now / 1e3).unwrap_or_default());
    }

    /// Reports tokens and dollars that were spent of the budget.
    #[cfg(feature = "full")]
    pub fn spend(&mut self, tokens: u32, dollars: f64) {
        let spent = unstuck::Spent { tokens: tokens.into(), dollars, ..Default::default() };
        self.engine.spend(&spent);
    }

    /// Reports a turn of the agent without a call.
    pub fn text_turn(&mut self, text: &str) -> u32 {
        let decision = self.engine.text_turn(text);
        self.decided(decision)
    }

    /// Reports that the host compacted the context.
    pub fn compacted(&mut self) {
        self.engine.compacted();
    }

    /// Ends the step, because all calls that were issued together are announced.
    pub fn end_step(&mut self) {
        self.engine.end_step();
    }

    /// Forgets all calls and turns, because a new run begins.
    pub fn clear(&mut self) {
        self.engine.clear();
    }

    /// Returns the number of the ticket of the last decision.
    pub fn ticket(&self) -> u32 {
        self.ticket
    }

    /// Returns the text for the model of the last decision.
    pub fn message(&self) -> String {
        if let Some(warning) = &self.warning {
            return warning.clone();
        }
        if self.decision.is_blocked() {
            return self.decision.refusal();
        }
        self.decision.message().map(unstuck::Message::note).unwrap_or_default()
    }

    /// Returns the words of the finding of the last decision: id, rule, kind, action, tool, message, one line
    /// for a log, and the kind and the text of the cause, if there is one.
    pub fn finding(&self) -> Vec<String> {
        let Some(evidence) = self.decision.evidence() else { return Vec::new() };
        let message = self.decision.message().map(unstuck::Message::text).unwrap_or_default();
        let mut words = vec![
            evidence.finding.loop_id.to_string(),
            evidence.rule.to_owned(),
            evidence.finding.kind.name().to_owned(),
            evidence.action.name().to_owned(),
            evidence.tool.to_string(),
            message.to_owned(),
            evidence.to_string(),
        ];
        let cause = evidence.cause.as_ref();
        words.extend(cause.into_iter().flat_map(|it| [it.kind.name().to_owned(), it.to_string()]));
        words
    }

    /// Returns the numbers of the finding of the last decision: period, laps, confidence, the first and the
    /// last call, and the calls that prove it.
    pub fn numbers(&self) -> Vec<f64> {
        let Some(evidence) = self.decision.evidence() else { return Vec::new() };
        let found = evidence.finding;
        let head = [f64::from(found.period), f64::from(found.laps), f64::from(found.confidence)];
        let calls = [found.first, found.last].into_iter().chain(found.calls());
        head.into_iter().chain(calls.map(number)).collect()
    }

    /// Takes in what somebody says about the loop with this id: that it ends the run, that it is none, or, for any other
    /// number, that it is a false positive.
    pub fn answered(&mut self, id: &str, answer: u32) -> u32 {
        let Ok(id) = id.parse::<LoopId>() else { return 0 };
        let known = self.findings.iter().find(|kept| kept.finding.loop_id == id);
        match (answer, known) {
            (answers::STOP, Some(evidence)) => {
                let decision = self.engine.stop(evidence);
                return self.decided(decision);
            }
            (answers::STOP, None) => {}
            (answers::GO_ON, _) | (_, None) => self.engine.silence(id),
            (_, Some(evidence)) => self.engine.false_positive(evidence),
        }
        0
    }

    /// Returns whether the call with this id only repeats.
    pub fn is_repeated(&self, id: &str) -> bool {
        self.engine.is_repeated(id)
    }

    /// Returns the counts: judgements, loops, refusals and false positives, then the findings of each kind,
    /// then the judgements that asked for each action but the first.
    pub fn statistics(&self) -> Vec<u32> {
        let counts = self.engine.statistics();
        let head = [
            counts.checks(),
            self.engine.loops(),
            self.engine.blocked_calls(),
            counts.false_positives(),
        ];
        let kinds = Kind::ALL.map(|kind| counts.findings(kind));
        let actions = Action::ALL.map(|action| counts.actions(action));
        head.into_iter().chain(kinds).chain(actions.into_iter().skip(1)).collect()
    }

    /// Returns the state as bytes.
    pub fn save(&mut self) -> Vec<u8> {
        self.engine.save()
    }
}

/// Returns the number of a call as JavaScript has it. It is exact up to 2⁵³.
#[expect(clippy::cast_precision_loss, reason = "no run has so many calls")]
fn number(call: u64) -> f64 {
    call as f64
}

/// Returns the names of the presets, the default first.
#[wasm_bindgen]
pub fn presets() -> Vec<String> {
    PRESETS.iter().map(|preset| preset.policy.name().to_owned()).collect()
}
