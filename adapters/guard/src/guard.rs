//! The guard, which a host asks before and after each call.
//!
//! The guard judges nothing: one that only observes says exactly what the engine says. It reports a refused
//! attempt as a veto, so that attempts count, and it stops an agent at the fifth refusal of one loop, because
//! such an agent does not get out by itself. Outcomes settle in the order of calls, so an announcement may
//! settle an earlier call and find its loop. The guard adds that finding as a warning, and asks about the
//! announced call separately.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, Detector, Digest, Finding, Kind, LoopId, Outcome, Policy, Verdict};
use unstuck_text::{Answer, LINE_WORDS, Worker, is_notification};

use crate::asked::Asked;
use crate::budget::Account;
use crate::builder::{Builder, Mode, Ruling, Setup};
use crate::calls::{CallEntry, CallState, Calls, Names};
use crate::decision::{BLOCKS_MAX, Cause, Decision, Evidence, Message, Ticket};
use crate::declared::Declared;
use crate::known::{KnownCalls, KnownResults};
use crate::past::Past;
use crate::payload::Payload;
use crate::steps::Steps;
use crate::stopped_calls::{self, StoppedCalls};
use crate::swarm_memory::SwarmMemory;
use crate::telemetry::{self, Identity};

/// The longest window that there is.
const WINDOW: usize = 64;

/// The number of open calls that the engine waits for: more than agents were seen to issue together.
const OPEN: usize = 32;

pub(crate) type Engine = Detector<'static, WINDOW, OPEN>;

/// The largest number of loops of a run that are distinguished when loops are counted.
const LOOPS_MAX: usize = 16;

/// Watches the calls of one worker, and decides what to do about them.
///
/// ```
/// use unstuck::{Action, Guard};
///
/// let mut guard = Guard::new();
/// let run = |command: &str| format!("{command}: No rule to make target");
///
/// let mut actions = Vec::new();
/// for turn in 1.. {
///     let args = r#"{"command":"make all"}"#;
///     let before = guard.before("bash", args);
///     if before.is_blocked() {
///         // The model reads this in place of a result:
///         assert!(before.refusal().contains("do not retry it"));
///         break;
///     }
///     let result = run("make all");
///     let after = guard.after(before.ticket(), &result, true);
///     if let Some(message) = after.message() {
///         assert!(after.annotate(&result).ends_with(&message.note()));
///         actions.push((turn, after.action()));
///     }
/// }
/// assert_eq!(actions, [(3, Action::Nudge), (5, Action::Block)]);
/// ```
///
/// A guard is a plain value of some 12 to 15 KiB on the heap beside a shared setup: cheap to clone, `Send` and
/// `Sync`. Agents that work side by side have a guard each; [`Guard::begin`] makes one with the same
/// setup. A call with 200 bytes of arguments and 500 of a result takes some four microseconds in all, and
/// longer ones in proportion: `cargo xtask bench text`.
///
/// # Streaming hosts
///
/// A guard needs whole arguments and whole results. A host that streams the model's answer calls
/// [`Guard::before`] once a call's arguments are complete, before it runs the tool. It may show the
/// streamed text meanwhile. A host that streams a tool's output collects it, calls [`Guard::after`] at the
/// end, and appends the note to the output: [`Decision::annotate`] only ever adds text behind it. If a
/// stream breaks off, [`Guard::cancelled`] takes the call back.
#[derive(Clone, Debug)]
pub struct Guard {
    pub(crate) setup: Arc<Setup>,
    session: Arc<str>,
    worker: Arc<str>,
    /// The declarations of tools at run time. They belong to the tools and not to the worker.
    pub(crate) declared: Arc<Declared>,
    pub(crate) state: Box<State>,
}

/// The state of a guard: everything that it knows about its worker.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) worker: Worker<'static, WINDOW, OPEN, LINE_WORDS>,
    pub(crate) calls: Calls,
    pub(crate) names: Names,
    pub(crate) steps: Steps,
    pub(crate) blocks: Blocks,
    /// The latest loop whose cause was told, and the cause.
    pub(crate) cause: Option<(LoopId, Cause)>,
    /// The latest calls, which are clues to causes.
    past: Past,
    pub(crate) known_calls: KnownCalls,
    known_results: KnownResults,
    pub(crate) stopped: StoppedCalls,
    pub(crate) swarm: SwarmMemory,
    pub(crate) tally: Tally,
    /// The number of loops about which someone else was asked.
    pub(crate) escalations: u8,
    /// What was spent of the budget, if there is one.
    pub(crate) account: Option<Box<Account>>,
}

/// The verdicts on one event. There is one at most, unless calls ran side by side, so that the others are
/// on the heap.
#[derive(Default)]
struct Verdicts {
    first: Option<Verdict>,
    others: Vec<Verdict>,
}

impl Verdicts {
    fn push(&mut self, verdict: Verdict) {
        match self.first {
            None => self.first = Some(verdict),
            Some(_) => self.others.push(verdict),
        }
    }

    /// Returns the first loop among them of which the model is told, one whose latest call failed before others.
    fn to_tell(&self) -> Option<&Finding> {
        let told = |verdict: &&Verdict| verdict.fresh || verdict.action >= Action::Block;
        let findings = self.first.iter().chain(&self.others).filter(told);
        let mut findings = findings.filter_map(|verdict| verdict.finding.as_ref());
        findings.clone().find(|finding| finding.has_failed()).or_else(|| findings.next())
    }
}

impl IntoIterator for Verdicts {
    type Item = Verdict;
    type IntoIter = std::iter::Chain<std::option::IntoIter<Verdict>, std::vec::IntoIter<Verdict>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.others)
    }
}

/// The blocked calls of the loop that was blocked last.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Blocks {
    pub(crate) of: Option<LoopId>,
    times: u8,
    /// The call that was blocked last, if the host gave its step.
    latest: Option<(u64, Digest)>,
}

/// Counts over the life of a guard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// The latest loops of this run, the oldest first.
    latest: VecDeque<LoopId>,
    pub(crate) loops: u32,
    pub(crate) blocked: u32,
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

impl Guard {
    /// Creates a guard with the default preset, `balanced`.
    pub fn new() -> Self {
        let setup = Builder::new();
        setup.build().unwrap_or_else(|_| unreachable!("the default setup has no rules of its own"))
    }

    /// Sets up a guard that differs from [`Guard::new`].
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn with(setup: Arc<Setup>, session: Arc<str>, worker: Arc<str>) -> Self {
        let state = Box::write(Box::new_uninit(), State::new(&setup));
        Self { setup, session, worker, declared: Arc::default(), state }
    }

    /// Creates a guard with the same setup and an empty history, for another session or worker.
    #[must_use]
    pub fn begin(&self, session: &str, worker: &str) -> Self {
        let declared = Arc::clone(&self.declared);
        let other = Self::with(Arc::clone(&self.setup), session.into(), worker.into());
        Self { declared, ..other }
    }

    /// Returns the name of the session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the name of the worker.
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// Returns the policy by which the guard judges.
    pub fn policy(&self) -> &'static Policy<'static> {
        self.setup.preset.policy
    }

    /// Judges a call before it runs. Like [`Guard::announce`], without an id and a step.
    pub fn before<'a>(&mut self, tool: &'a str, args: impl Into<Payload<'a>>) -> Decision {
        self.announce(&Asked::new(tool, args))
    }

    /// Judges a call before it runs. If [`Decision::is_blocked`], the call must not run: the model gets
    /// [`Decision::refusal`] in place of a result, and the host reports nothing more.
    ///
    /// Calls belong to one step if they are announced one after the other without an outcome between. If
    /// outcomes were seen to come after later calls, as with agents that work side by side, the step lasts
    /// until all its calls are answered. A host that knows better gives [`Asked::step`], for all calls or
    /// not at all, or calls [`Guard::end_step`].
    ///
    /// A call that comes again with the same id is not counted again: it is blocked if it was, and else
    /// may proceed.
    pub fn announce(&mut self, asked: &Asked<'_>) -> Decision {
        if let Some(decision) = self.unjudged(asked) {
            return decision;
        }
        let (begun, mut settled) = (telemetry::now(), Verdicts::default());
        let (ticket, call, verdict) = self.record(asked, &mut settled);
        let is_stopped = self.state.stopped.refuses(call);
        let mut decision = if is_stopped {
            // The engine does not count a call for which a run was stopped.
            let each = |verdict| settled.push(verdict);
            self.state.worker.detector.cancel_each(ticket.call.id, each);
            Decision { ticket: Some(ticket), ..stopped_calls::again() }
        } else {
            let of_worker = self.decide(Some(ticket), [verdict]);
            let decision = self.ask_swarm(ticket, of_worker);
            self.attempted(ticket, decision)
        };
        if settled.first.is_some() {
            // A verdict on an earlier call does not block this one.
            let mut earlier = self.decide(Some(ticket), settled);
            if earlier.action == Action::Block {
                earlier.action = Action::Warn;
            }
            decision = decision.or_stronger(earlier);
        }
        let state = &mut *self.state;
        if decision.is_blocked() {
            // The model reads the refusal before it asks for anything else.
            state.steps.answered(&mut state.calls, ticket.call.id);
            state.calls.end(ticket, CallState::Blocked);
            state.tally.blocked = state.tally.blocked.saturating_add(1);
            // Each such call is told again that its run was stopped, also within one step.
            if !is_stopped {
                state.blocks.latest = asked.step.map(|step| (step, asked.digest()));
            }
        }
        // The id is known even if the call ended the run.
        state.calls.name(ticket, asked.id);
        self.trace(begun, &decision);
        decision
    }

    /// Reports the result of a call. `failed` says whether the host knows that the call failed; the guard
    /// also reads from a command's output whether it failed.
    ///
    /// An outcome that comes late or twice changes nothing. Neither does one without a ticket, from a
    /// guard that is off.
    pub fn after<'a>(
        &mut self,
        ticket: impl Into<Option<Ticket>>,
        result: impl Into<Payload<'a>>,
        failed: bool,
    ) -> Decision {
        let Some(ticket) = ticket.into() else { return Decision::PROCEED };
        let begun = telemetry::now();
        let (result, declared) = (result.into(), Arc::clone(&self.declared));
        self.settle(ticket, begun, Some(&result), |state, each| {
            Some(state.outcome(&declared, ticket, (&result, failed), each))
        })
    }

    /// Reports that somebody else refused the call: the user, or a rule of the host. It counts as an
    /// attempt.
    pub fn refused(&mut self, ticket: impl Into<Option<Ticket>>) -> Decision {
        let Some(ticket) = ticket.into() else { return Decision::PROCEED };
        let begun = telemetry::now();
        self.settle(ticket, begun, None, |state, each| {
            state.worker.detector.vetoed_each(ticket.call.id, each);
            None
        })
    }

    /// Takes a call back that never ran or was broken off, because it is no sign of a loop.
    pub fn cancelled(&mut self, ticket: impl Into<Option<Ticket>>) -> Decision {
        let Some(ticket) = ticket.into() else { return Decision::PROCEED };
        let begun = telemetry::now();
        self.settle(ticket, begun, None, |state, each| {
            state.worker.detector.cancel_each(ticket.call.id, each);
            None
        })
    }

    /// Judges a call that has run, for a host that sees calls only then. [`Action::Block`] asks the host to
    /// keep the next such call from running, if it can.
    pub fn finished<'a>(
        &mut self,
        asked: &Asked<'_>,
        result: impl Into<Payload<'a>>,
        failed: bool,
    ) -> Decision {
        if !self.watches(asked) || self.announced_before(asked).is_some() {
            return Decision::PROCEED;
        }
        self.count_call();
        let begun = telemetry::now();
        if asked.step.is_none() {
            self.end_step();
        }
        let mut verdicts = Verdicts::default();
        let (ticket, _, verdict) = self.record(asked, &mut verdicts);
        verdicts.push(verdict);
        self.state.calls.name(ticket, asked.id);
        let (result, declared) = (result.into(), Arc::clone(&self.declared));
        self.settle(ticket, begun, Some(&result), |state, each| {
            verdicts.into_iter().for_each(&mut *each);
            Some(state.outcome(&declared, ticket, (&result, failed), each))
        })
    }

    /// Returns the ticket of the call with this id in this run, even if the call was answered. The guard
    /// remembers the latest 64 calls.
    pub fn ticket(&self, id: &str) -> Option<Ticket> {
        self.state.calls.by_id(id).map(CallEntry::ticket)
    }

    /// Returns the tickets of the calls that may run and have not ended, the oldest first.
    pub fn open_calls(&self) -> impl Iterator<Item = Ticket> {
        self.state.calls.open().map(CallEntry::ticket)
    }

    /// Returns the ticket of the earliest open call with the same tool and the same arguments, for a host
    /// whose results come without an id.
    ///
    /// ```
    /// use unstuck::{Asked, Guard};
    ///
    /// let mut guard = Guard::new();
    /// let asked = Asked::new("bash", r#"{"command":"make"}"#);
    /// let ticket = guard.announce(&asked).ticket();
    /// assert_eq!(guard.open_call(&asked), ticket);
    /// let _ = guard.after(ticket, "done", false);
    /// assert_eq!(guard.open_call(&asked), None);
    /// ```
    pub fn open_call(&self, asked: &Asked<'_>) -> Option<Ticket> {
        let raw = asked.digest();
        self.state.calls.open().find(|entry| entry.is(raw)).map(CallEntry::ticket)
    }

    /// Returns whether a call may belong to `step`, for a host that numbers the steps itself: a call of
    /// that step is open, and no equal call of it has ended.
    pub fn may_join_step(&self, step: u64, asked: &Asked<'_>) -> bool {
        let (calls, raw) = (&self.state.calls, asked.digest());
        let is_open = |entry: &CallEntry| entry.state() == CallState::Open;
        calls.of_step(step).any(is_open)
            && !calls.of_step(step).any(|entry| entry.is(raw) && !is_open(entry))
    }

    /// Ends the step, because all calls that were issued together are announced.
    pub fn end_step(&mut self) {
        let state = &mut *self.state;
        state.steps.end(&mut state.calls);
    }

    /// Reports a turn of the agent without a call. Turns without text count, too.
    pub fn text_turn(&mut self, text: &str) -> Decision {
        if self.setup.mode == Mode::Off {
            return Decision::PROCEED;
        }
        let begun = telemetry::now();
        let verdict = self.state.worker.text_turn(text);
        let decision = self.decide(None, [verdict]);
        self.trace(begun, &decision);
        decision
    }

    /// Reports a message of the user. A new instruction starts everything afresh, unless the agent then makes a call
    /// that failed before ("please try again"); such calls are found, but not refused. A text that came before,
    /// such as an automatic "please continue", starts nothing afresh, nor does news of a job that the host writes in the
    /// user's name. The decision has evidence if one text comes again
    /// and again without a call between.
    pub fn user_message(&mut self, text: &str) -> Decision {
        if self.setup.mode == Mode::Off {
            return Decision::PROCEED;
        }
        if is_notification(text) {
            self.end_step();
            self.state.worker.detector.notified();
            return Decision::PROCEED;
        }
        let begun = telemetry::now();
        self.end_step();
        let state = &mut *self.state;
        state.blocks = Blocks::default();
        state.calls.unblock();
        state.swarm.lift();
        let message = state.worker.digester.message(text);
        let is_new = !state.worker.detector.has_heard(message);
        if is_new {
            state.stopped.clear();
        }
        if let Some(account) = &mut state.account {
            account.user_spoke(is_new);
        }
        let verdict = state.worker.detector.user_message(message);
        let decision = self.decide(None, [verdict]);
        self.trace(begun, &decision);
        decision
    }

    /// Reports that the host has compacted the model's memory, so that the model may ask again for text
    /// that it was shown. Calls that worked are forgotten, and failures stay.
    pub fn compacted(&mut self) {
        let state = &mut *self.state;
        state.worker.digester.lines.clear();
        state.worker.detector.compacted();
    }

    /// Forgets all calls and turns, because a new run begins. Statistics stay.
    pub fn clear(&mut self) {
        self.begin_anew();
        self.state.stopped.clear();
        self.state.calls.clear();
        if let Some(account) = &mut self.state.account {
            account.user_spoke(true);
        }
    }

    /// Forgets the run, except for the calls for which an earlier one was stopped.
    fn begin_anew(&mut self) {
        self.end_step();
        let state = &mut *self.state;
        (state.blocks, state.cause) = (Blocks::default(), None);
        state.past.clear();
        state.calls.end_run();
        state.swarm.clear();
        state.tally.latest.clear();
        state.worker.clear();
    }

    /// Judges the calls that wait for their outcomes, because no more outcomes will come.
    pub fn finish(&mut self) -> Decision {
        if self.setup.mode == Mode::Off {
            return Decision::PROCEED;
        }
        let (begun, mut verdicts) = (telemetry::now(), Verdicts::default());
        self.state.worker.detector.finish_each(|verdict| verdicts.push(verdict));
        let decision = self.decide(None, verdicts);
        self.trace(begun, &decision);
        decision
    }

    /// Returns the decision on a call that is not judged: the guard does not watch it, it comes again, or it is over
    /// the budget.
    fn unjudged(&mut self, asked: &Asked<'_>) -> Option<Decision> {
        if !self.watches(asked) {
            return Some(Decision::PROCEED);
        }
        if let Some(entry) = self.announced_before(asked) {
            let decision = Decision { ticket: Some(entry.ticket()), ..Decision::PROCEED };
            let is_blocked = entry.state() == CallState::Blocked;
            return Some(if is_blocked { decision.again() } else { decision });
        }
        if asked.step.is_some_and(|step| self.state.blocks.has(step, asked)) {
            return Some(Decision::PROCEED.again());
        }
        self.over_budget()
    }

    /// Returns the call, if it was announced before with the same id.
    fn announced_before(&self, asked: &Asked<'_>) -> Option<&CallEntry> {
        let entry = self.state.calls.by_id(asked.id?)?;
        entry.is(asked.digest()).then_some(entry)
    }

    /// Returns whether the guard watches the call: it is not off, and the tool was not declared exempt.
    pub(crate) fn watches(&self, asked: &Asked<'_>) -> bool {
        self.setup.mode != Mode::Off && !self.declared.exempts(asked.tool, self.policy())
    }

    /// Makes the call of `asked`, compares it with earlier ones, and announces it to the engine. Returns the digest of
    /// the call and the verdict on it, and adds those on earlier calls, which settle with it, to `settled`.
    fn record(&mut self, asked: &Asked<'_>, settled: &mut Verdicts) -> (Ticket, Digest, Verdict) {
        let policy = self.policy();
        let state = &mut *self.state;
        let State { known_calls, worker, .. } = state;
        let raw = asked.digest();
        let call = self.declared.call(policy, known_calls, &mut worker.digester, (asked, raw));
        let numbered = || state.steps.next(self.setup.outcomes, &state.calls);
        let step = asked.step.unwrap_or_else(numbered);
        let each = |verdict| settled.push(verdict);
        let (announced, verdict) = state.worker.announce_each(call.step(step), each);
        let tool = state.names.add(asked.tool);
        telemetry::count_call(&state.names.shared(tool));
        let ticket = Ticket { call: announced, tool };
        let entry = CallEntry::new(ticket, call.digest(), raw, step);
        state.calls.add(if asked.step.is_none() { entry.awaited() } else { entry });
        if let Some(seq) = announced.id.seq() {
            state.past.announce(seq, asked.tool, asked.args.as_str());
        }
        self.share(ticket, &call);
        (ticket, call.digest(), verdict)
    }

    /// Reports to the engine that the call is not run, if `decision` blocks it. That counts as an attempt, and too
    /// many attempts end the run.
    fn attempted(&mut self, ticket: Ticket, decision: Decision) -> Decision {
        let Some(evidence) =
            decision.evidence.as_ref().filter(|_| decision.action == Action::Block)
        else {
            return decision;
        };
        let mut verdicts = Verdicts::default();
        self.state.worker.detector.vetoed_each(ticket.call.id, |verdict| {
            // The block itself is known already.
            if verdict.fresh || verdict.action > Action::Block {
                verdicts.push(verdict);
            }
        });
        let mut end = self.decide(Some(ticket), verdicts);
        if end.action < Action::StartOver {
            if self.state.blocks.add(evidence.finding.loop_id) < BLOCKS_MAX {
                return decision;
            }
            let stop = Evidence { action: Action::Stop, fresh: true, ..evidence.clone() };
            end = self.ruled(Some(ticket), stop);
        }
        decision.or_stronger(end)
    }

    /// Takes in that a call has ended. `event` reports the end to the engine, and returns the outcome if
    /// the call has run, with this `result`.
    fn settle(
        &mut self,
        ticket: Ticket,
        begun: Option<Instant>,
        result: Option<&Payload<'_>>,
        event: impl FnOnce(&mut State, &mut dyn FnMut(Verdict)) -> Option<Outcome>,
    ) -> Decision {
        if self.setup.mode == Mode::Off {
            return Decision::PROCEED;
        }
        let mut verdicts = Verdicts::default();
        let state = &mut *self.state;
        state.steps.answered(&mut state.calls, ticket.call.id);
        let shared = state.calls.end(ticket, CallState::Ended);
        let outcome = event(state, &mut |verdict| verdicts.push(verdict));
        let reported = outcome.as_ref().and_then(|outcome| {
            let call = state.calls.report(ticket.call.id, outcome)?;
            Some(state.stopped.report(call, outcome))
        });
        if let (Some(result), Some(found)) = (result, verdicts.to_tell()) {
            let cause = state.cause_of(ticket, result.as_str(), found);
            state.cause = cause.map(|cause| (found.loop_id, cause));
        }
        let mut decision = self.decide(Some(ticket), verdicts);
        if reported == Some(true) {
            let again = Decision { ticket: Some(ticket), ..stopped_calls::again() };
            decision = decision.or_stronger(again);
        }
        if let (Some(shared), Some(_)) = (shared, outcome) {
            decision = self.report_to_swarm(ticket, decision, shared, outcome);
        }
        decision.has_run = outcome.is_some();
        if decision.has_run {
            decision = self.with_budget_note(decision);
        }
        self.trace(begun, &decision);
        decision
    }

    /// Decides on these verdicts: the strongest decision on any of them.
    fn decide(
        &mut self,
        ticket: Option<Ticket>,
        verdicts: impl IntoIterator<Item = Verdict>,
    ) -> Decision {
        let mut strongest = Decision::proceed(ticket);
        for verdict in verdicts {
            if let Some(evidence) = self.evidence(verdict) {
                strongest = strongest.or_stronger(self.ruled(ticket, evidence));
            }
        }
        strongest
    }

    /// Returns the evidence of a verdict, if it has a finding.
    pub(crate) fn evidence(&self, verdict: Verdict) -> Option<Evidence> {
        let Verdict { action, fresh, finding: Some(finding), .. } = verdict else { return None };
        let tool = self.state.names.shared(finding.tool);
        let rule = finding.rule_name(self.policy());
        let lap = self.lap(&finding);
        let failing = self.state.worker.detector.failing(&finding);
        let failing = failing.and_then(|seq| self.state.worker.detector.tool_of(seq));
        let failing = failing.map_or_else(Arc::default, |tool| self.state.names.shared(tool));
        let cause = self.state.cause.as_ref().filter(|(of, _)| *of == finding.loop_id);
        let cause = cause.map(|(_, cause)| cause.clone());
        let swarm = None;
        Some(Evidence {
            rule,
            tool,
            lap,
            failing,
            cause,
            action,
            fresh,
            finding,
            workers: 1,
            swarm,
        })
    }

    /// Returns the names of the tools of one lap of a cycle, in the order of the calls.
    fn lap(&self, finding: &Finding) -> Vec<Arc<str>> {
        if finding.kind != Kind::Cycle {
            return Vec::new();
        }
        // The engine has forgotten the calls if the verdict ends the run.
        let calls = finding.lap().filter_map(|seq| self.state.calls.by_seq(seq));
        calls.map(|entry| self.state.names.shared(entry.ticket().tool)).collect()
    }

    /// Decides on `evidence`, after the host has ruled on it.
    pub(crate) fn ruled(&mut self, ticket: Option<Ticket>, mut evidence: Evidence) -> Decision {
        // The ladder of a loop that was stopped does not start again with another variant of the call.
        if evidence.action > Action::Proceed && self.state.stopped.holds(evidence.finding.loop_id) {
            evidence = Evidence { action: Action::Stop, fresh: true, ..evidence };
        }
        if evidence.fresh || evidence.action >= Action::Block {
            match self.setup.on_finding.as_ref().map_or(Ruling::Agree, |judge| judge(&evidence)) {
                Ruling::Agree => {}
                Ruling::Instead(action) => evidence.action = action,
                Ruling::FalsePositive if evidence.is_of_swarm() => {
                    self.state.swarm.silence(evidence.finding.loop_id);
                    return Decision::proceed(ticket);
                }
                Ruling::FalsePositive => {
                    self.state.worker.detector.false_positive(&evidence.finding);
                    return Decision::proceed(ticket);
                }
            }
        }
        self.carried_out(ticket, evidence)
    }

    /// Takes the action of `evidence`.
    pub(crate) fn carried_out(&mut self, ticket: Option<Ticket>, evidence: Evidence) -> Decision {
        let (state, acts) = (&mut *self.state, self.setup.mode == Mode::Act);
        if evidence.fresh && state.tally.add(evidence.finding.loop_id) {
            telemetry::count_loop(evidence.finding.kind);
        }
        // Someone else is asked about a loop that is blocked for the first time.
        let is_first = acts && evidence.fresh && evidence.action == Action::Block;
        let escalates = is_first && state.escalations < self.setup.escalations_max;
        state.escalations += u8::from(escalates);
        if acts && evidence.action == Action::Stop {
            state.stopped.add(&evidence.finding, &state.calls);
        }
        if evidence.action >= Action::StartOver {
            self.begin_anew();
        }
        Decision { escalates, ..self.decision(ticket, evidence) }
    }

    /// Returns the decision on `evidence`, with its message.
    pub(crate) fn decision(&self, ticket: Option<Ticket>, evidence: Evidence) -> Decision {
        let judged = evidence.action;
        let has_message = judged >= Action::Block || (evidence.fresh && judged > Action::Proceed);
        let acts = self.setup.mode == Mode::Act;
        let message = (acts && has_message)
            .then(|| Message::of(&evidence, self.setup.end, self.setup.wording));
        let action = if acts { judged } else { Action::Proceed };
        Decision { action, judged, evidence: Some(evidence), message, ..Decision::proceed(ticket) }
    }

    fn trace(&self, begun: Option<Instant>, decision: &Decision) {
        let who = Identity { session: &self.session, worker: &self.worker };
        telemetry::record(begun, who, decision);
    }
}

impl State {
    fn new(setup: &Setup) -> Self {
        let worker = Worker::new(setup.preset.policy, setup.preset.recipe);
        Self {
            worker: worker.unwrap_or_else(|_| unreachable!("no policy has a longer window")),
            calls: Calls::default(),
            names: Names::default(),
            steps: Steps::default(),
            blocks: Blocks::default(),
            cause: None,
            past: Past::default(),
            known_calls: KnownCalls::default(),
            known_results: KnownResults::default(),
            stopped: StoppedCalls::default(),
            swarm: SwarmMemory::default(),
            tally: Tally::default(),
            escalations: 0,
            account: setup.budget.map(|budget| Box::new(Account::of(budget))),
        }
    }

    /// Reports the result of a call to the engine. Returns its outcome.
    fn outcome(
        &mut self,
        declared: &Declared,
        ticket: Ticket,
        (result, failed): (&Payload<'_>, bool),
        each: &mut dyn FnMut(Verdict),
    ) -> Outcome {
        let outcome = self.read(declared, ticket, result, failed);
        if let Some(seq) = ticket.call.id.seq() {
            self.past.answer(seq, result.as_str(), outcome.has_failed());
        }
        self.worker.detector.outcome_each(ticket.call.id, outcome, each);
        outcome
    }

    /// Reads the result of a call.
    fn read(
        &mut self,
        declared: &Declared,
        ticket: Ticket,
        result: &Payload<'_>,
        failed: bool,
    ) -> Outcome {
        let (tool, kind, text) = (self.names.of(ticket.tool), ticket.call.kind, result.as_str());
        let said = declared.of(ticket.tool);
        let answer = Answer { kind, said, ..Answer::new(tool, text, failed) };
        let digester = &mut self.worker.digester;
        let prepared = result.prepared.as_ref();
        let prepared = prepared.and_then(|prepared| prepared.among(digester, &answer));
        if let Some(outcome) = prepared {
            return outcome;
        }
        // A tool whose name was forgotten is no other one.
        if said.is_some() || tool.is_empty() || answer.compares_lines() {
            return digester.outcome(&answer);
        }
        self.known_results.outcome((ticket.tool, kind, failed), text, || digester.outcome(&answer))
    }

    /// Returns the cause of `found`, as the `answer` to the call of `ticket` and the calls before it tell it.
    fn cause_of(&self, ticket: Ticket, answer: &str, found: &Finding) -> Option<Cause> {
        // In turns, one call that finds nothing is not what recurs.
        let is_told = found.has_failed() || found.kind != Kind::Cycle;
        self.past.cause(ticket.call.id.seq().filter(|_| is_told)?, answer, found.has_failed())
    }
}

impl Blocks {
    /// Counts one more blocked call of the loop `id`. Returns the count.
    fn add(&mut self, id: LoopId) -> u8 {
        let times = if self.of == Some(id) { self.times } else { 0 };
        (self.of, self.times) = (Some(id), times.saturating_add(1));
        self.times
    }

    /// Returns whether this call was blocked already in the same step: the model asked for it twice at
    /// once.
    fn has(&self, step: u64, asked: &Asked<'_>) -> bool {
        let in_step = self.latest.is_some_and(|(latest, _)| latest == step);
        in_step && self.latest == Some((step, asked.digest()))
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self { latest: VecDeque::with_capacity(LOOPS_MAX), loops: 0, blocked: 0 }
    }
}

impl Tally {
    /// Counts the loop `id`, unless it was counted in this run. Returns whether it was counted now.
    fn add(&mut self, id: LoopId) -> bool {
        if self.latest.contains(&id) {
            return false;
        }
        if self.latest.len() >= LOOPS_MAX {
            self.latest.pop_front();
        }
        self.latest.push_back(id);
        self.loops = self.loops.saturating_add(1);
        true
    }

    /// Returns whether a guard could have written these counts.
    pub(crate) fn fits(&self) -> bool {
        self.latest.len() <= LOOPS_MAX
    }
}
