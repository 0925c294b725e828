//! The guard: what a host asks before and after each call.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use unstuck_core::{
    Action, Call, Detector, Digest, Finding, Kind, LoopId, Outcome, Statistics, Verdict,
};
use unstuck_text::{Answer, Lines, Preset, Recipe, SimilarCalls};

use crate::builder::{Builder, Mode, Setup};
use crate::calls::{Calls, Course, Known, Names};
use crate::decision::{Decision, Found, Message, Ticket};
use crate::declared::Declared;
use crate::ended::{self, Ended};
use crate::heard::Heard;
use crate::payload::Payload;
use crate::ruling::Ruling;
use crate::steps::Steps;
use crate::telemetry::{self, Identity};

/// As large as that of the program `unstuck`: the longest window that there is, and more open calls
/// than agents were seen to issue together.
pub(crate) type Engine = Detector<'static, 64, 32>;

/// How often calls of one loop are blocked; the last time, the run ends. An agent that asks again and
/// again for what it is refused does not get out by itself, and each refusal costs a turn of the
/// model. `balanced` itself ends a streak at the third.
pub const BLOCKS_MAX: u8 = 5;

/// A call that an agent asks for.
///
/// ```
/// use unstuck::{Asked, Guard};
///
/// let mut guard = Guard::new();
/// let asked = Asked::new("bash", r#"{"command":"make"}"#).id("toolu_01").step(3);
/// let decision = guard.announce(&asked);
/// assert_eq!(guard.ticket("toolu_01"), decision.ticket());
/// ```
#[derive(Clone, Debug)]
#[must_use = "a call that is not announced is not watched"]
pub struct Asked<'a> {
    tool: &'a str,
    args: Payload<'a>,
    id: Option<&'a str>,
    step: Option<u64>,
}

impl<'a> Asked<'a> {
    /// A call of `tool` with `args`, which is JSON; what is not JSON is taken as it stands.
    pub fn new(tool: &'a str, args: impl Into<Payload<'a>>) -> Self {
        Self { tool, args: args.into(), id: None, step: None }
    }

    /// The host's id of the call. One that comes twice with the same call, as events from outside do,
    /// counts once; and [`Guard::ticket`] finds the call by it, the latest if it was given again.
    pub fn id(mut self, id: &'a str) -> Self {
        self.id = Some(id);
        self
    }

    /// The step that the call belongs to: a number that calls issued together share, and that is
    /// another for those before and after. A host that gives none leaves it to the guard; see
    /// [`Guard::announce`].
    pub fn step(mut self, step: u64) -> Self {
        self.step = Some(step);
        self
    }

    /// Returns the digest of the raw call.
    fn digest(&self) -> Digest {
        Digest::of(self.tool.as_bytes()).mix(Digest::of(self.args.as_str().as_bytes()))
    }
}

/// Watches the calls of one worker, and says what to do about them.
///
/// ```
/// use unstuck::{Action, Guard};
///
/// let mut guard = Guard::new();
/// let run = |command: &str| format!("{command}: No rule to make target");
///
/// let mut said = Vec::new();
/// for turn in 1.. {
///     let args = r#"{"command":"make all"}"#;
///     let before = guard.before("bash", args);
///     if before.is_blocked() {
///         // What the model reads in place of a result:
///         assert!(before.refusal().contains("do not retry it"));
///         break;
///     }
///     let result = run("make all");
///     let after = guard.after(before.ticket(), &result, true);
///     if let Some(message) = after.message() {
///         said.push((turn, after.action(), message.note()));
///     }
/// }
/// let said: Vec<_> = said.iter().map(|(turn, action, _)| (*turn, *action)).collect();
/// assert_eq!(said, [(3, Action::Nudge), (5, Action::Block)]);
/// ```
///
/// A plain value of some 10 KiB on the heap beside a shared setup: cheap to clone, `Send` and `Sync`.
/// Agents that work side by side have a guard each; [`Guard::begin`] makes one with the same setup.
/// A call with 200 bytes of arguments and 500 of a result takes some four microseconds in all, and longer
/// ones in proportion: `cargo xtask bench text`.
#[derive(Clone, Debug)]
pub struct Guard {
    pub(crate) setup: Arc<Setup>,
    session: Arc<str>,
    worker: Arc<str>,
    /// What tools said of themselves. It is of the tools and not of the worker.
    pub(crate) declared: Arc<Declared>,
    pub(crate) seen: Box<Seen>,
}

/// What a guard knows of its worker.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) engine: Engine,
    pub(crate) groups: SimilarCalls,
    pub(crate) lines: Lines,
    pub(crate) calls: Calls,
    pub(crate) names: Names,
    pub(crate) steps: Steps,
    pub(crate) refusals: Refusals,
    pub(crate) heard: Heard,
    pub(crate) ended: Ended,
}

/// How often calls of the loop that was blocked last were.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Refusals {
    of: Option<LoopId>,
    times: u8,
    /// The call that was blocked last, where the host said which step it belonged to.
    latest: Option<(u64, Digest)>,
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}

impl Guard {
    /// A guard by the default preset, `balanced`.
    pub fn new() -> Self {
        let setup = Builder::new();
        setup.build().unwrap_or_else(|_| unreachable!("nothing was asked for that cannot work"))
    }

    /// Sets up a guard that differs from [`Guard::new`].
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn with(setup: Arc<Setup>, session: Arc<str>, worker: Arc<str>) -> Self {
        let seen = Box::new(Seen::nothing(&setup));
        Self { setup, session, worker, declared: Arc::default(), seen }
    }

    /// A guard with the same setup that has seen nothing, for another session or worker.
    #[must_use]
    pub fn begin(&self, session: &str, worker: &str) -> Self {
        let declared = Arc::clone(&self.declared);
        let other = Self::with(Arc::clone(&self.setup), session.into(), worker.into());
        Self { declared, ..other }
    }

    /// The name of the session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The name of the worker.
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// What was seen and said so far.
    pub fn statistics(&self) -> &Statistics {
        self.seen.engine.statistics()
    }

    /// The agent asks for a call: may it run? As [`Guard::announce`], without an id and a step.
    pub fn before<'a>(&mut self, tool: &'a str, args: impl Into<Payload<'a>>) -> Decision {
        self.announce(&Asked::new(tool, args))
    }

    /// The agent asks for a call: may it run? Not if [`Decision::is_blocked`]; then the model gets
    /// the [`Message`] in place of a result, and nothing is to be reported.
    ///
    /// Calls are taken as issued together that are announced one after the other without an outcome
    /// between; and where outcomes were seen to come after later calls, as of agents that work side by
    /// side, as long as one of them is not answered. A host that knows better says so by
    /// [`Asked::step`], for all calls or for none, or by [`Guard::end_step`].
    ///
    /// A call that comes again with the same id is answered without being counted: that it is blocked
    /// if it was, and else to proceed.
    pub fn announce(&mut self, asked: &Asked<'_>) -> Decision {
        if self.setup.mode == Mode::Off || self.is_exempt(asked) {
            return Decision::PROCEED;
        }
        if let Some(known) = self.known(asked) {
            let decision = Decision { ticket: Some(known.ticket()), ..Decision::PROCEED };
            return if known.state == Course::Blocked { decision.again() } else { decision };
        }
        if asked.step.is_some_and(|step| self.seen.refusals.knows(step, asked)) {
            return Decision::PROCEED.again();
        }
        let begun = telemetry::now();
        if self.is_ended(asked) {
            let decision = self.refuse_again(asked);
            self.told(begun, &decision);
            return decision;
        }
        let (ticket, own, settled) = self.record(asked);
        let decision = self.decide_ahead(ticket, own, settled);
        let is_refused = decision.is_blocked();
        if is_refused {
            // Whatever the model asks for next, it knows of this.
            self.seen.steps.answered(ticket.call);
            self.seen.heard.close(ticket.call);
            self.seen.refusals.latest = asked.step.map(|step| (step, asked.digest()));
        }
        if let Some(id) = asked.id {
            let state = if is_refused { Course::Blocked } else { Course::Open };
            self.seen.calls.add(id, asked.digest(), ticket, state);
        }
        self.told(begun, &decision);
        decision
    }

    /// The call came back. `failed` says whether it did in the eyes of the host; that a command
    /// failed is also read from what it says.
    ///
    /// An outcome that comes late or twice changes nothing; nor does one without a ticket, which a
    /// guard that is off gives none of.
    pub fn after<'a>(
        &mut self,
        ticket: impl Into<Option<Ticket>>,
        result: impl Into<Payload<'a>>,
        failed: bool,
    ) -> Decision {
        let Some(ticket) = ticket.into() else { return Decision::PROCEED };
        let begun = telemetry::now();
        let (result, declared) = (result.into(), Arc::clone(&self.declared));
        self.settle(ticket, begun, |recipe, seen, each| {
            let outcome = seen.outcome(recipe, &declared, ticket, (result.as_str(), failed));
            seen.engine.outcome_each(ticket.call, outcome, each);
            Some(outcome)
        })
    }

    /// The call was refused by somebody else: a person, or a rule of the host. It counts as an
    /// attempt.
    pub fn refused(&mut self, ticket: impl Into<Option<Ticket>>) -> Decision {
        let Some(ticket) = ticket.into() else { return Decision::PROCEED };
        let begun = telemetry::now();
        self.settle(ticket, begun, |_, seen, each| {
            seen.engine.vetoed_each(ticket.call, each);
            None
        })
    }

    /// The call was never run, or was broken off, and says nothing of the agent: as if it had not
    /// been announced.
    pub fn cancelled(&mut self, ticket: impl Into<Option<Ticket>>) -> Decision {
        let Some(ticket) = ticket.into() else { return Decision::PROCEED };
        let begun = telemetry::now();
        self.settle(ticket, begun, |_, seen, each| {
            seen.engine.cancel_each(ticket.call, each);
            None
        })
    }

    /// A call that has run, for a host that sees it only then. [`Action::Block`] asks it to keep the
    /// next such call from running, if it can.
    pub fn finished<'a>(
        &mut self,
        asked: &Asked<'_>,
        result: impl Into<Payload<'a>>,
        failed: bool,
    ) -> Decision {
        let is_off = self.setup.mode == Mode::Off;
        if is_off || self.is_exempt(asked) || self.known(asked).is_some() {
            return Decision::PROCEED;
        }
        let begun = telemetry::now();
        if asked.step.is_none() {
            self.seen.steps.end();
        }
        let (ticket, own, mut verdicts) = self.record(asked);
        verdicts.push(own);
        if let Some(id) = asked.id {
            self.seen.calls.add(id, asked.digest(), ticket, Course::Open);
        }
        let (result, declared) = (result.into(), Arc::clone(&self.declared));
        self.settle(ticket, begun, |recipe, seen, each| {
            verdicts.into_iter().for_each(&mut *each);
            let outcome = seen.outcome(recipe, &declared, ticket, (result.as_str(), failed));
            seen.engine.outcome_each(ticket.call, outcome, each);
            Some(outcome)
        })
    }

    /// The call that was announced with this id in this run, whether or not it was answered, as far
    /// as it is among the latest 64 with one.
    pub fn ticket(&self, id: &str) -> Option<Ticket> {
        self.seen.calls.by_id(id).map(Known::ticket)
    }

    /// The calls that were issued together are all announced: the next begins another step.
    pub fn end_step(&mut self) {
        self.seen.steps.end();
    }

    /// The agent took a turn without a call.
    pub fn text_turn(&mut self, text: &str) -> Decision {
        if self.setup.mode == Mode::Off || text.trim().is_empty() {
            return Decision::PROCEED;
        }
        let begun = telemetry::now();
        let verdict = self.seen.engine.text_turn(self.setup.preset.recipe.turn(text));
        let decision = self.decide(None, vec![verdict]);
        self.told(begun, &decision);
        decision
    }

    /// A person says something: a new instruction starts everything afresh; a text that was seen
    /// before, as an automatic "please continue", does not. The decision speaks where one text comes
    /// again and again without a call between.
    pub fn user_message(&mut self, text: &str) -> Decision {
        if self.setup.mode == Mode::Off {
            return Decision::PROCEED;
        }
        let begun = telemetry::now();
        let seen = &mut *self.seen;
        let message = self.setup.preset.recipe.message(text);
        seen.steps.end();
        seen.refusals = Refusals::default();
        seen.calls.unblock();
        seen.heard.lift();
        seen.lines.clear();
        if !seen.engine.has_heard(message) {
            seen.ended.forget();
        }
        let verdict = seen.engine.user_message(message);
        let decision = self.decide(None, vec![verdict]);
        self.told(begun, &decision);
        decision
    }

    /// The host has compacted the model's memory: what the model was shown may be shown again. The
    /// calls were made all the same, and stay.
    pub fn compacted(&mut self) {
        self.seen.lines.clear();
    }

    /// Forgets all calls and turns: a new run begins. Statistics stay.
    pub fn clear(&mut self) {
        self.seen.ended = Ended::default();
        self.begin_anew();
    }

    /// Forgets all but for which calls the run was ended.
    fn begin_anew(&mut self) {
        let seen = &mut *self.seen;
        seen.steps.end();
        seen.refusals = Refusals::default();
        seen.groups.clear();
        seen.lines.clear();
        seen.calls.clear();
        seen.heard.clear();
        seen.engine.clear();
    }

    /// No more outcomes will come: calls that wait for theirs are judged without.
    pub fn finish(&mut self) -> Decision {
        if self.setup.mode == Mode::Off {
            return Decision::PROCEED;
        }
        let (begun, mut verdicts) = (telemetry::now(), Vec::new());
        self.seen.engine.finish_each(|verdict| verdicts.push(verdict));
        let decision = self.decide(None, verdicts);
        self.told(begun, &decision);
        decision
    }

    /// Whether the run was ended for this call, and nothing has changed since.
    fn is_ended(&self, asked: &Asked<'_>) -> bool {
        let Preset { policy, recipe } = &self.setup.preset;
        let (tool, args) = (asked.tool, asked.args.as_str());
        let call = || self.declared.call((policy, recipe), &mut SimilarCalls::new(), tool, args);
        self.seen.ended.is_any() && self.seen.ended.refuses(call().digest())
    }

    /// Refuses a call for which the run was ended: it counts as nothing.
    fn refuse_again(&mut self, asked: &Asked<'_>) -> Decision {
        let (ticket, _, mut settled) = self.record(asked);
        self.seen.engine.cancel_each(ticket.call, |verdict| settled.push(verdict));
        self.seen.steps.answered(ticket.call);
        self.seen.heard.close(ticket.call);
        if let Some(id) = asked.id {
            self.seen.calls.add(id, asked.digest(), ticket, Course::Blocked);
        }
        // Earlier calls may settle with it.
        let earlier = self.decide(Some(ticket), settled);
        earlier.or_stronger(Decision { ticket: Some(ticket), ..ended::again() })
    }

    /// The call, if it was announced before with the same id.
    fn known(&self, asked: &Asked<'_>) -> Option<&Known> {
        let known = self.seen.calls.by_id(asked.id?)?;
        known.is(asked.digest()).then_some(known)
    }

    /// Whether the tool said of itself that its calls are not to be watched.
    fn is_exempt(&self, asked: &Asked<'_>) -> bool {
        self.declared.exempts(asked.tool, self.setup.preset.policy)
    }

    /// Shows the engine a call; gives its ticket, the verdict on it, and those on earlier calls that
    /// settle with it.
    fn record(&mut self, asked: &Asked<'_>) -> (Ticket, Verdict, Vec<Verdict>) {
        let Preset { policy, recipe } = &self.setup.preset;
        let seen = &mut *self.seen;
        let (groups, args) = (&mut seen.groups, asked.args.as_str());
        let call: Call = self.declared.call((policy, recipe), groups, asked.tool, args);
        let step = asked.step.unwrap_or_else(|| seen.steps.next(self.setup.outcomes));
        let mut settled = Vec::new();
        let (id, own) = seen.engine.announce_each(call.step(step), |verdict| settled.push(verdict));
        if asked.step.is_none() {
            seen.steps.add(id);
        }
        let tool = seen.names.add(asked.tool);
        telemetry::called(seen.names.of(tool));
        let ticket = Ticket { call: id, tool };
        seen.ended.announced(id, &call);
        #[cfg(feature = "swarm")]
        self.open_for_swarm(ticket, &call);
        (ticket, own, settled)
    }

    /// Decides on a call that was announced, and lets the engine know if it is refused.
    fn decide_ahead(&mut self, ticket: Ticket, own: Verdict, settled: Vec<Verdict>) -> Decision {
        let own = self.decide(Some(ticket), vec![own]);
        #[cfg(feature = "swarm")]
        let own = self.ask_swarm_ahead(ticket, own);
        let mut decision = own;
        if self.setup.mode == Mode::Act && decision.judged == Action::Block {
            let refused = self.refuse(ticket, &decision);
            decision = decision.or_stronger(refused);
        }
        // What is said of earlier calls does not block this one.
        let mut earlier = self.decide(Some(ticket), settled);
        if earlier.action == Action::Block {
            earlier.action = Action::Warn;
        }
        decision.or_stronger(earlier)
    }

    /// The call is blocked: it counts as an attempt. Of too many, the run ends.
    fn refuse(&mut self, ticket: Ticket, decision: &Decision) -> Decision {
        let mut verdicts = Vec::new();
        self.seen.engine.vetoed_each(ticket.call, |verdict| {
            // That the call is blocked is known.
            if verdict.fresh || verdict.action > Action::Block {
                verdicts.push(verdict);
            }
        });
        let attempted = self.decide(Some(ticket), verdicts);
        if attempted.action >= Action::StartOver {
            return attempted;
        }
        let Some(found) = &decision.found else { return Decision::PROCEED };
        if self.seen.refusals.add(found.finding.loop_id) < BLOCKS_MAX {
            return Decision::PROCEED;
        }
        self.ruled(Some(ticket), Found { action: Action::Stop, fresh: true, ..found.clone() })
    }

    /// Takes in that a call came to its end, in one way or another.
    fn settle(
        &mut self,
        ticket: Ticket,
        begun: Option<Instant>,
        event: impl FnOnce(&Recipe, &mut Seen, &mut dyn FnMut(Verdict)) -> Option<Outcome>,
    ) -> Decision {
        if self.setup.mode == Mode::Off {
            return Decision::PROCEED;
        }
        let mut verdicts = Vec::new();
        self.seen.steps.answered(ticket.call);
        self.seen.calls.answered(ticket);
        let each = &mut |verdict| verdicts.push(verdict);
        let outcome = event(&self.setup.preset.recipe, &mut self.seen, each);
        // What it decides may make it forget which calls are out.
        let open = self.seen.heard.close(ticket.call);
        let ended = &mut self.seen.ended;
        let is_again = outcome.is_some_and(|outcome| ended.answered(ticket.call, &outcome));
        let mut decision = self.decide(Some(ticket), verdicts);
        if is_again {
            decision = decision.or_stronger(Decision { ticket: Some(ticket), ..ended::again() });
        }
        #[cfg(feature = "swarm")]
        let decision = match open {
            Some(open) if outcome.is_some() => self.tell_swarm(ticket, decision, open, outcome),
            _ => decision,
        };
        let _ = (open, outcome);
        self.told(begun, &decision);
        decision
    }

    /// What comes of these verdicts: the strongest of what each asks for.
    fn decide(&mut self, ticket: Option<Ticket>, verdicts: Vec<Verdict>) -> Decision {
        let nothing = Decision { ticket, ..Decision::PROCEED };
        verdicts
            .into_iter()
            .fold(nothing, |decision, verdict| decision.or_stronger(self.judged(ticket, verdict)))
    }

    /// What comes of one verdict.
    fn judged(&mut self, ticket: Option<Ticket>, verdict: Verdict) -> Decision {
        let Verdict { action, fresh, finding: Some(finding), .. } = verdict else {
            return Decision { ticket, ..Decision::PROCEED };
        };
        let tool = self.seen.names.of(finding.tool).to_owned();
        let rule = finding.rule_name(self.setup.preset.policy);
        let found = Found {
            rule,
            tool,
            lap: self.lap(&finding),
            action,
            fresh,
            finding,
            workers: 1,
            #[cfg(feature = "swarm")]
            swarm: None,
        };
        self.ruled(ticket, found)
    }

    /// Returns the names of the tools of one lap of a cycle, in the order of the calls.
    fn lap(&self, finding: &Finding) -> Vec<String> {
        if finding.kind != Kind::Cycle {
            return Vec::new();
        }
        let tools = finding.lap().filter_map(|seq| self.seen.engine.tool_of(seq));
        tools.map(|tool| self.seen.names.of(tool).to_owned()).collect()
    }

    /// What comes of what was found, once the host was asked.
    pub(crate) fn ruled(&mut self, ticket: Option<Ticket>, mut found: Found) -> Decision {
        if found.fresh || found.action >= Action::Block {
            match self.setup.on_finding.as_ref().map_or(Ruling::Agree, |judge| judge(&found)) {
                Ruling::Agree => {}
                Ruling::Instead(action) => found.action = action,
                Ruling::FalsePositive if found.is_of_swarm() => {
                    self.seen.heard.silence(found.finding.loop_id);
                    return Decision { ticket, ..Decision::PROCEED };
                }
                Ruling::FalsePositive => {
                    self.seen.engine.false_positive(&found.finding);
                    return Decision { ticket, ..Decision::PROCEED };
                }
            }
        }
        if found.action >= Action::StartOver {
            if found.action == Action::Stop && self.setup.mode == Mode::Act {
                self.seen.ended.end(&found.finding);
            }
            self.begin_anew();
        }
        self.decision(ticket, found)
    }

    fn decision(&self, ticket: Option<Ticket>, found: Found) -> Decision {
        let judged = found.action;
        let is_said = judged >= Action::Block || (found.fresh && judged > Action::Proceed);
        let acts = self.setup.mode == Mode::Act;
        let message = (acts && is_said).then(|| Message::of(&found));
        let action = if acts { judged } else { Action::Proceed };
        Decision { action, judged, ticket, found: Some(found), message }
    }

    fn told(&self, begun: Option<Instant>, decision: &Decision) {
        let who = Identity { session: &self.session, worker: &self.worker };
        telemetry::told(begun, who, decision);
    }
}

impl Seen {
    /// What came back from the call of `ticket`.
    fn outcome(
        &mut self,
        recipe: &Recipe,
        declared: &Declared,
        ticket: Ticket,
        (text, failed): (&str, bool),
    ) -> Outcome {
        let tool = self.names.of(ticket.tool);
        let said = declared.of(ticket.tool);
        let kind = self.ended.kind(ticket.call);
        let answer = Answer { kind, said, ..Answer::new(tool, text, failed) };
        recipe.outcome_among(&mut self.lines, &answer)
    }

    fn nothing(setup: &Setup) -> Self {
        let engine = Engine::new(setup.preset.policy);
        Self {
            engine: engine.unwrap_or_else(|_| unreachable!("no policy has a longer window")),
            groups: SimilarCalls::new(),
            lines: Lines::new(),
            calls: Calls::default(),
            names: Names::default(),
            steps: Steps::default(),
            refusals: Refusals::default(),
            heard: Heard::default(),
            ended: Ended::default(),
        }
    }
}

impl Refusals {
    /// Counts one more, of the loop `id`.
    fn add(&mut self, id: LoopId) -> u8 {
        let times = if self.of == Some(id) { self.times } else { 0 };
        (self.of, self.times) = (Some(id), times.saturating_add(1));
        self.times
    }

    /// Whether this call was blocked already in the same step: the model asked for it twice at once.
    fn knows(&self, step: u64, asked: &Asked<'_>) -> bool {
        let in_step = self.latest.is_some_and(|(latest, _)| latest == step);
        in_step && self.latest == Some((step, asked.digest()))
    }
}
