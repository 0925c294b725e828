//! One worker of a session: takes events, returns replies.

use std::path::Path;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use unstuck::{
    Action, Asked, BuildError, Builder, Decision, Evidence, Guard, Payload, Recipe, SIGN,
};
use unstuck_core::{Args, Digest, Finding, Kind};
use unstuck_text::is_refusal;
use unstuck_trace::error_without_notes;

use crate::agents::Agent;
use crate::agents::event::{Call, Ending, Event, EventKind, Listed};
use crate::agents::host::{Host, Quirks, Steps};
use crate::agents::notify::Notify;
use crate::agents::reply::{Encoded, Reply};
use crate::agents::state::{Entry, FindingRecord, Key, Said, Session};

/// The largest number of calls whose replies are stored: more than an agent has open at a time.
const REPLIES_MAX: usize = 32;

/// The largest number of tools that are stored as the proxy's.
const PROXIED_MAX: usize = 32;

/// The longest pause between calls that were issued together, in milliseconds. A model that reads a
/// result before it asks for the next call takes longer.
const TOGETHER: u64 = 1000;

/// The stored state of a worker. The part that `unstuck status` reads stands first.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedWorker {
    session: Session,
    position: Position,
    #[serde(with = "serde_bytes")]
    guard: Vec<u8>,
}

/// The position of a worker in its session.
#[derive(Default, Serialize, Deserialize)]
struct Position {
    /// The replies to the latest calls, the oldest first.
    replies: Vec<CallReplies>,
    step: u64,
    /// Whether the next call begins another step in any case.
    is_step_over: bool,
    /// Whether the end of a step was reported in this session.
    reports_steps: bool,
    /// A reply that no event had a place for yet.
    pending: Reply,
    /// The latest call, if the next equal one is refused.
    last_equal: Option<LastEqual>,
    /// The id of the latest call, if its failure would have no event.
    silent: Option<String>,
    /// Whether there was a call since the agent was asked last.
    has_called: bool,
    /// The prompt that came last.
    prompt: Option<Digest>,
    /// The agent's name of the current turn.
    turn: Option<Digest>,
    /// The tools that this program's proxy answers for.
    proxied: Vec<Digest>,
}

/// A call that continues a loop of which the model was told, and after which the agent lets only one more
/// equal call pass.
#[derive(Serialize, Deserialize)]
struct LastEqual {
    call: Digest,
    /// The reply to the next such call.
    reply: Reply,
    /// The finding at the next such call.
    finding: FindingRecord,
}

/// The replies to one call, which are given again if its event comes again.
#[derive(Serialize, Deserialize)]
struct CallReplies {
    id: String,
    before: Option<Reply>,
    after: Option<Reply>,
}

impl CallReplies {
    /// Returns whether the end of the call is known: it was reported, or the call was refused.
    fn is_closed(&self) -> bool {
        self.after.is_some() || matches!(self.before, Some(Reply::Refuse(_) | Reply::Stop(_)))
    }
}

/// An event whose texts are read, as far as that needs no state.
pub(super) struct ReadEvent<'e> {
    event: &'e Event<'e>,
    /// The call that is about to run or has ended.
    call: Option<ReadCall<'e>>,
    /// The end of that call.
    end: Option<End<'e>>,
    /// The digest of the user's message.
    prompt: Option<Digest>,
    /// Whether the result has a note of this program: the call went through its proxy.
    is_told: bool,
}

impl<'e> ReadEvent<'e> {
    /// Reads the texts of an event of `agent`, which came as `payload`, for a guard with this recipe.
    pub(super) fn of(agent: Agent, event: &'e Event<'e>, payload: &[u8], recipe: &Recipe) -> Self {
        let mut read = Self { event, call: None, end: None, prompt: None, is_told: false };
        match &event.kind {
            EventKind::Before(call) => read.call = Some(ReadCall::of(call).ahead(recipe)),
            EventKind::After(call, ending) => {
                let call = ReadCall::of(call).ahead(recipe);
                let mut end = End::of(ending);
                if let End::Answered(text, failed) = &mut end {
                    *failed = *failed || agent.host().has_failed(event, call.call);
                    *text = text.clone().read_ahead(recipe, &call.asked, *failed);
                }
                (read.call, read.end) = (Some(call), Some(end));
                read.is_told = NOTES.iter().any(|note| memmem::find(payload, note).is_some());
            }
            EventKind::Prompt(text) => read.prompt = Some(Digest::of(text.as_bytes())),
            _ => {}
        }
        read
    }
}

/// A note behind a result, as a block of its own, and in a structured result: in JSON.
const NOTES: [&[u8]; 2] = [br"\n\n[unstuck] You", br#""[unstuck] "#];

/// A call with its digests.
struct ReadCall<'e> {
    call: &'e Call<'e>,
    /// The call as the guard takes it.
    asked: Asked<'e>,
}

impl<'e> ReadCall<'e> {
    fn of(call: &'e Call<'e>) -> Self {
        let asked = Asked::new(&call.tool, &*call.args);
        let asked = match &call.id {
            Some(id) => asked.id(id),
            None => asked,
        };
        Self { call, asked }
    }

    /// Makes the digests of the guard, too.
    fn ahead(self, recipe: &Recipe) -> Self {
        Self { asked: self.asked.read_ahead(recipe), ..self }
    }

    /// Returns the digest of the call without the arguments that only describe it.
    fn digest(&self) -> Digest {
        Recipe::BALANCED.call(&self.call.tool, &self.call.args).digest()
    }
}

/// The end of a call, as the guard takes it.
enum End<'e> {
    /// The result, and whether the call failed.
    Answered(Payload<'e>, bool),
    Untold,
    Cancelled,
    Refused,
}

impl<'e> End<'e> {
    fn of(ending: &'e Ending<'e>) -> Self {
        match ending {
            // The proxy has refused it.
            Ending::Answered { text, failed: true } if is_refused(text) => Self::Refused,
            Ending::Answered { text, failed } => {
                Self::Answered(error_without_notes(text).into(), *failed)
            }
            Ending::Untold => Self::Untold,
            Ending::Cancelled => Self::Cancelled,
            Ending::Refused => Self::Refused,
        }
    }
}

/// Returns whether the proxy of this program has refused the call. Some agents write their own words before its own.
fn is_refused(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.starts_with(SIGN) || line.contains("[unstuck] This call was not run.")
}

/// Returns whether the proxy of this program answers for `tool`: it has named it in this result. The proxy knows the
/// tools of its server by their own names, which agents lengthen: `order` is `mcp__desk__order` for the model.
fn is_by_proxy(tool: &str, ending: &Ending<'_>) -> bool {
    let Ending::Answered { text, .. } = ending else { return false };
    let words = text.find(SIGN).and_then(|at| text[at..].split('`').nth(1));
    words.and_then(|name| tool.strip_suffix(name)).is_some_and(|before| !before.is_empty())
}

/// One worker under watch.
pub(super) struct Worker {
    session: Session,
    position: Position,
    guard: Guard,
    steps: Steps,
    /// The number of equal calls in a row that the agent lets pass.
    equal_calls_max: Option<u16>,
    /// Whether a person is asked before the first refusal in a loop.
    asks: bool,
}

impl Worker {
    /// Restores a worker. A worker without a stored state, or with one of another policy, begins anew.
    pub(super) fn from(
        saved: Option<SavedWorker>,
        builder: impl Fn() -> Builder,
        key: &Key<'_>,
        now: u64,
    ) -> Result<Self, BuildError> {
        let builder = || builder().session(key.session).worker(key.worker);
        let Quirks { steps, equal_calls_max, .. } = key.agent.host().quirks;
        let worker = |session, position, guard| Self {
            session,
            position,
            guard,
            steps,
            equal_calls_max,
            asks: false,
        };
        let Some(SavedWorker { session, position, guard }) =
            saved.filter(|saved| saved.session.is_of(key))
        else {
            let (session, position) = (Session::new(key, now), Position::default());
            return Ok(worker(session, position, builder().build()?));
        };
        match builder().restore(&guard) {
            Ok(guard) => Ok(worker(session, position, guard)),
            Err(_) => Ok(worker(session, Position::default(), builder().build()?)),
        }
    }

    /// Sets whether a person is asked before the first refusal in a loop.
    pub(super) fn asking(self, asks: bool) -> Self {
        Self { asks, ..self }
    }

    /// Returns the state to store.
    pub(super) fn save(self) -> SavedWorker {
        let Self { session, position, guard, .. } = self;
        SavedWorker { session, position, guard: guard.save() }
    }

    /// Returns the lines for the journal on the event that was answered.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let new = self.session.new_findings().iter();
        new.map(|finding| Entry::found(&self.session, finding)).collect()
    }

    /// Returns the findings on the event that was answered of which a person is to be told, and notes that it was told.
    pub(super) fn news(&mut self, notify: &Notify) -> Vec<Entry> {
        let mut news = self.session.new_findings().to_vec();
        news.retain(|found| notify.wants(found) && self.session.told.add(found.loop_id));
        news.iter().map(|found| Entry::found(&self.session, found)).collect()
    }

    /// Takes in an event at the time `now`. Returns the text for `agent`.
    pub(super) fn answer(&mut self, agent: Agent, read: &ReadEvent<'_>, now: u64) -> String {
        let event = read.event;
        self.session.events += 1;
        if self.session.cwd.is_none() {
            self.session.cwd = event.cwd.as_deref().map(str::to_owned);
        }
        self.notice_turn(event);
        let unreported = self.settle_unreported(agent.host(), event, now);
        let silent = self.settle_silent(&event.kind, now);
        if let EventKind::After(call, ending) = &event.kind {
            self.notice_proxy(call, ending);
        }
        let own = match self.reply(agent.host(), read, now) {
            // Its model has just read one.
            Reply::Tell(_) if read.is_told => Reply::Nothing,
            own => match &event.kind {
                // The proxy does not know how many such calls the agent lets pass.
                EventKind::Before(_) if self.position.last_equal.is_some() => own,
                EventKind::Before(call) | EventKind::After(call, _) => {
                    self.beside_proxy(call, agent.host().ends_turn_of(event), own)
                }
                _ => own,
            },
        };
        self.notice_silent(agent, &event.kind);
        let own = own.or(silent).or(unreported);
        self.session.last_seen = now;
        self.write(agent, own, event)
    }

    /// Encodes `own`, or the pending reply if that is more severe and the event has a place for it.
    fn write(&mut self, agent: Agent, own: Reply, event: &Event<'_>) -> String {
        let pending = std::mem::take(&mut self.position.pending);
        if pending.severity() > own.severity() {
            match (agent.host().wire.encode)(&pending, event) {
                Encoded::Whole(text) => return text,
                Encoded::Partial(_) => self.position.pending = pending,
            }
        }
        match (agent.host().wire.encode)(&own, event) {
            Encoded::Whole(text) => text,
            Encoded::Partial(text) => {
                if own.severity() > self.position.pending.severity() {
                    self.position.pending = own;
                }
                text
            }
        }
    }

    /// Takes in the calls that have ended without an event. The call of this event is not among them.
    fn settle_unreported(&mut self, host: &Host, event: &Event<'_>, now: u64) -> Reply {
        let own = match &event.kind {
            EventKind::Before(call) | EventKind::After(call, _) => call.id.as_deref(),
            EventKind::HandedBack(_) => None,
            // When a session is resumed, the calls before the message of the user were counted already.
            _ => return Reply::Nothing,
        };
        let is_closed = |id: &str| self.position.replies_to(id).is_some_and(CallReplies::is_closed);
        let place = host.quirks.unreported.zip(event.transcript.as_deref());
        let ended = place.map_or_else(Vec::new, |(read, path)| read(Path::new(path), &is_closed));
        let others = ended.iter().filter(|(call, _)| call.id.as_deref() != own);
        others.fold(Reply::Nothing, |reply, (call, ending)| self.ended(call, ending, now).or(reply))
    }

    /// Remembers the call that is about to run if the agent does not report its failure.
    fn notice_silent(&mut self, agent: Agent, kind: &EventKind<'_>) {
        if let EventKind::Before(Call { id: Some(id), tool, .. }) = kind
            && agent.host().quirks.silent.contains(&tool.as_ref())
        {
            self.position.silent = Some(id.clone().into_owned());
        }
    }

    /// Counts the remembered call as failed if `kind` is an event that comes after its end.
    fn settle_silent(&mut self, kind: &EventKind<'_>, now: u64) -> Reply {
        let is_other = match kind {
            EventKind::Before(call) => call.id != self.position.silent.as_deref().map(Into::into),
            EventKind::HandedBack(_) | EventKind::Prompt(_) => true,
            _ => false,
        };
        let Some(id) = self.position.silent.take_if(|_| is_other) else { return Reply::Nothing };
        let is_closed = self.position.replies_to(&id).is_some_and(CallReplies::is_closed);
        let Some(ticket) = self.guard.ticket(&id).filter(|_| !is_closed) else {
            return Reply::Nothing;
        };
        let decision = self.guard.after(ticket, "", true);
        self.session.errors += 1;
        self.note(&decision, now);
        let reply = Reply::after(&decision);
        self.position.store(&id).after = Some(reply.clone());
        reply
    }

    /// Begins anew at a new turn, for an agent that reports turns instead of prompts.
    fn notice_turn(&mut self, event: &Event<'_>) {
        let turn = event.turn.as_deref().map(|turn| Digest::of(turn.as_bytes()));
        if turn.is_some() && turn != self.position.turn {
            let is_first = self.position.turn.is_none();
            self.position.turn = turn;
            if !is_first && self.position.prompt.is_none() {
                self.begin_anew();
            }
        }
    }

    fn reply(&mut self, host: &Host, read: &ReadEvent<'_>, now: u64) -> Reply {
        let event = read.event;
        match (&event.kind, &read.call, &read.end) {
            (EventKind::Before(_), Some(call), _) => {
                let transcript = event.transcript.as_deref().map(Path::new);
                self.before(call, transcript, host.ends_turn_of(event), now)
            }
            (EventKind::After(..), Some(call), Some(end)) => self.after(call, end, now),
            (EventKind::CallsEnded(calls), ..) => self.calls_ended(calls, now),
            (EventKind::StepEnded(calls), ..) => self.step_ended(calls, now),
            (EventKind::Prompt(text), ..) => self.prompt(text, read.prompt, now),
            (EventKind::Compacted, ..) => {
                self.guard.compacted();
                Reply::Nothing
            }
            (EventKind::HandedBack(text), ..) => self.handed_back(text, now),
            (EventKind::Interrupted, ..) => {
                self.cancel_open();
                Reply::Nothing
            }
            (EventKind::Began, ..) => {
                self.begin_anew();
                Reply::Nothing
            }
            _ => Reply::Nothing,
        }
    }

    fn before(
        &mut self,
        call: &ReadCall<'_>,
        transcript: Option<&Path>,
        ends_turn: bool,
        now: u64,
    ) -> Reply {
        let id = call.call.id.as_deref();
        let given = id.and_then(|id| self.position.replies_to(id)?.before.clone());
        if let Some(given) = given {
            return given;
        }
        let asked = self.begin(call, transcript, now);
        let question = self.question(&asked, now);
        let decision = self.guard.announce(&asked);
        if let Some(question) = question {
            if let Some(id) = id {
                self.position.store(id).before = Some(question.clone());
            }
            return question;
        }
        self.note_as(&decision, Said::before, now);
        if decision.evidence().is_none() && decision.action() >= Action::Block {
            self.session.refused_again += 1;
        }
        let refusal = self.refuse_last(call, &decision, ends_turn, now);
        let reply = refusal.unwrap_or_else(|| Reply::before(&decision, ends_turn));
        self.session.refused += u64::from(matches!(reply, Reply::Refuse(_) | Reply::Stop(_)));
        if let Some(id) = id {
            self.position.store(id).before = Some(reply.clone());
        }
        reply
    }

    /// Returns the question to the person about a call that would be refused, if one is asked. The loop is silenced:
    /// whatever the person says, it is in good hands.
    fn question(&mut self, asked: &Asked<'_>, now: u64) -> Option<Reply> {
        if !self.asks {
            return None;
        }
        let decision = self.guard.peek(asked);
        let evidence = decision.evidence().filter(|_| decision.action() >= Action::Block)?;
        let record = self.record(evidence, &decision, now);
        self.session.note(FindingRecord { said: Said::Question, ..record });
        self.guard.silence(evidence.finding.loop_id);
        Some(Reply::question(evidence))
    }

    /// Refuses `call` if the model was told of its loop and the agent ends the run at one more. `decision` is
    /// the guard's own decision on the call.
    fn refuse_last(
        &mut self,
        call: &ReadCall<'_>,
        decision: &Decision,
        ends_turn: bool,
        now: u64,
    ) -> Option<Reply> {
        let last = self.position.last_equal.take()?;
        if last.call != call.digest() || decision.is_blocked() {
            return None;
        }
        let finding = FindingRecord { call: self.session.calls, at: now, ..last.finding.clone() };
        if finding.observed {
            self.session.note(finding);
            return None;
        }
        let refused = self.guard.refused(decision.ticket());
        if refused.ends_the_run() {
            self.note_as(&refused, Said::before, now);
            return Some(Reply::before(&refused, ends_turn));
        }
        // The refusal counts as an attempt, which may have reached a rung of its own.
        let finding = match refused.evidence() {
            Some(evidence) if refused.judged() >= Action::Block => {
                FindingRecord { said: Said::Refusal, ..self.record(evidence, &refused, now) }
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
            reply: Reply::refused(&evidence),
            finding: FindingRecord {
                // The action stays the guard's own, as a scan of the transcript finds it.
                said: Said::Refusal,
                ..self.record(&evidence, decision, 0)
            },
        })
    }

    /// Begins a new call. Returns it as the guard takes it.
    fn begin<'c>(&mut self, call: &ReadCall<'c>, transcript: Option<&Path>, now: u64) -> Asked<'c> {
        self.session.calls += 1;
        self.position.has_called = true;
        let (id, asked) = (call.call.id.as_deref().unwrap_or_default(), call.asked.clone());
        if self.position.is_step_over || !self.joins_step((id, &asked), transcript, now) {
            self.position.step += 1;
        }
        self.position.is_step_over = false;
        asked.step(self.position.step)
    }

    /// Returns whether the model issued a call together with the calls before it, whose step is not known to
    /// be over.
    fn joins_step(
        &self,
        (id, asked): (&str, &Asked<'_>),
        transcript: Option<&Path>,
        now: u64,
    ) -> bool {
        // A call without an answer must not draw all later ones into its step.
        let is_soon = now.abs_diff(self.session.last_seen) < TOGETHER;
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

    fn after(&mut self, call: &ReadCall<'_>, end: &End<'_>, now: u64) -> Reply {
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
            (End::Answered(text, failed), None) => return self.finished(call, text, *failed, now),
            (End::Cancelled, Some(ticket)) => self.guard.cancelled(ticket),
            (End::Refused, Some(ticket)) => self.guard.refused(ticket),
            // The next step ends the wait for its result.
            (End::Untold, _) | (_, None) => return Reply::Nothing,
        };
        self.close(call, &decision, now, Reply::after(&decision))
    }

    /// Takes in a call whose end has no event of its own.
    fn ended(&mut self, call: &Call<'_>, ending: &Ending<'_>, now: u64) -> Reply {
        self.notice_proxy(call, ending);
        let reply = self.after(&ReadCall::of(call), &End::of(ending), now);
        self.beside_proxy(call, false, reply)
    }

    /// Remembers the tool of a call for which the proxy of this program answers.
    fn notice_proxy(&mut self, call: &Call<'_>, ending: &Ending<'_>) {
        let tool = Digest::of(call.tool.as_bytes());
        let proxied = &mut self.position.proxied;
        if proxied.len() < PROXIED_MAX
            && !proxied.contains(&tool)
            && is_by_proxy(&call.tool, ending)
        {
            proxied.push(tool);
        }
    }

    /// Leaves out of `reply` what the proxy says itself. It cannot end a turn, which some hooks can.
    fn beside_proxy(&self, call: &Call<'_>, ends_turn: bool, reply: Reply) -> Reply {
        let is_proxied = || self.position.proxied.contains(&Digest::of(call.tool.as_bytes()));
        match reply {
            Reply::Tell(_) | Reply::Refuse(_) if is_proxied() => Reply::Nothing,
            Reply::Stop(_) if !ends_turn && is_proxied() => Reply::Nothing,
            reply => reply,
        }
    }

    /// Takes in a call that was not announced.
    fn finished(
        &mut self,
        call: &ReadCall<'_>,
        text: &Payload<'_>,
        failed: bool,
        now: u64,
    ) -> Reply {
        let asked = self.begin(call, None, now);
        self.session.errors += u64::from(failed);
        let decision = self.guard.finished(&asked, text.clone(), failed);
        self.close(call, &decision, now, Reply::unannounced(&decision))
    }

    /// Takes in the end of a step, and the calls that the agent lists.
    fn step_ended(&mut self, calls: &[Listed<'_>], now: u64) -> Reply {
        let reply = self.calls_ended(calls, now);
        self.position.reports_steps = true;
        self.position.is_step_over = true;
        reply
    }

    /// Takes in calls that have ended. Most of them had events of their own. Returns the most severe of the
    /// replies to the others.
    fn calls_ended(&mut self, calls: &[Listed<'_>], now: u64) -> Reply {
        let mut reply = Reply::Nothing;
        for listed in calls {
            let call = &listed.call;
            let Some(id) = call.id.as_deref() else { continue };
            let known = self.position.replies_to(id);
            if known.is_some_and(CallReplies::is_closed) {
                continue;
            }
            let ending = match listed.ending() {
                // A call that has run has an event of its own. This one was refused: by a rule of the agent, if
                // it says so, or by another hook.
                Ending::Answered { text, failed: false } if known.is_some() => {
                    if is_refusal(&text) {
                        Ending::Answered { text, failed: true }
                    } else {
                        Ending::Refused
                    }
                }
                ending => ending,
            };
            reply = reply.or(self.ended(call, &ending, now));
        }
        reply
    }

    fn close(&mut self, call: &ReadCall<'_>, decision: &Decision, now: u64, reply: Reply) -> Reply {
        self.note(decision, now);
        self.position.last_equal = self.next_equal(call, decision);
        if let Some(id) = &call.call.id {
            self.position.store(id).after = Some(reply.clone());
        }
        reply
    }

    fn prompt(&mut self, text: &str, digest: Option<Digest>, now: u64) -> Reply {
        let is_new = std::mem::replace(&mut self.position.prompt, digest) != digest;
        let decision = self.guard.user_message(text);
        self.note(&decision, now);
        self.position.has_called = false;
        self.position.is_step_over = true;
        self.position.last_equal = None;
        if is_new {
            self.position.pending = Reply::Nothing;
        }
        Reply::after(&decision)
    }

    /// Takes in the last words of a turn. Only a turn without a call is a turn of mere text.
    fn handed_back(&mut self, text: &str, now: u64) -> Reply {
        self.position.is_step_over = true;
        // An agent that tells no words may have said some.
        if std::mem::take(&mut self.position.has_called) || text.trim().is_empty() {
            return Reply::Nothing;
        }
        let decision = self.guard.text_turn(text);
        self.note(&decision, now);
        Reply::after(&decision)
    }

    fn cancel_open(&mut self) {
        let open: Vec<_> = self.guard.open_calls().collect();
        for ticket in open {
            // A cancelled call gives no reason for a message.
            let _: Decision = self.guard.cancelled(ticket);
        }
        self.position.is_step_over = true;
    }

    fn begin_anew(&mut self) {
        self.guard.clear();
        self.position.pending = Reply::Nothing;
        self.position.last_equal = None;
        self.position.has_called = false;
        self.position.is_step_over = true;
    }

    /// Stores the evidence on something that has happened, for `unstuck status` and the journal.
    fn note(&mut self, decision: &Decision, now: u64) {
        self.note_as(decision, Said::after, now);
    }

    fn note_as(&mut self, decision: &Decision, said: fn(Action, Agent) -> Said, now: u64) {
        let judged = decision.judged();
        let is_new = |evidence: &&Evidence| evidence.fresh || judged >= Action::Block;
        let Some(evidence) = decision.evidence().filter(is_new) else { return };
        let said = said(judged, self.session.agent);
        let finding = FindingRecord { said, ..self.record(evidence, decision, now) };
        self.session.note(finding);
    }

    /// Returns the record of `evidence` for `decision`, as of a note to the model.
    fn record(&self, evidence: &Evidence, decision: &Decision, now: u64) -> FindingRecord {
        FindingRecord::of(evidence, decision, self.session.calls, now)
    }
}

impl Position {
    fn replies_to(&self, id: &str) -> Option<&CallReplies> {
        self.replies.iter().rev().find(|one| one.id == id)
    }

    /// Returns the place for the replies to the call `id`. The oldest replies make room for it.
    fn store(&mut self, id: &str) -> &mut CallReplies {
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

#[cfg(test)]
mod tests {
    use unstuck::Preset;

    use super::*;
    use crate::agents::event::Raw;

    impl Worker {
        /// Reads an event and takes it in.
        fn take(&mut self, event: &Event<'_>, now: u64) -> String {
            let agent = Agent::ALL[0];
            self.answer(agent, &ReadEvent::of(agent, event, b"", &Preset::BALANCED.recipe), now)
        }
    }

    fn key() -> Key<'static> {
        Key { agent: Agent::ALL[0], session: "s", worker: "main" }
    }

    /// A worker of an agent that does not tell which calls were issued together.
    fn worker() -> Worker {
        let worker = Worker::from(None, Guard::builder, &key(), 0).expect("a guard");
        Worker { steps: Steps::Guessed, ..worker }
    }

    fn call(id: &'static str, args: &'static str) -> Call<'static> {
        Call { id: Some(id.into()), tool: "read".into(), args: args.into() }
    }

    fn event(kind: EventKind<'static>) -> Event<'static> {
        let (name, session) = ("PreToolUse".into(), "s".into());
        Event { name, session, subagent: None, cwd: None, transcript: None, turn: None, kind }
    }

    /// Announces these calls at these times. Returns their steps.
    fn steps(calls: &[(&'static str, u64)]) -> Vec<u64> {
        let mut worker = worker();
        let step = |&(id, at): &(&'static str, u64)| {
            worker.take(&event(EventKind::Before(call(id, "{}"))), at);
            worker.position.step
        };
        calls.iter().map(step).collect()
    }

    #[test]
    fn pitfall_08_calls_that_come_at_once_share_a_step() {
        assert_eq!(steps(&[("a", 5000), ("b", 5001), ("c", 5500)]), [1, 1, 1]);
        // Nothing came back of the first, and a model has thought since.
        assert_eq!(steps(&[("a", 5000), ("b", 5000 + TOGETHER), ("c", 9000)]), [1, 2, 3]);
        // Nor do they share one after the clock was set back.
        assert_eq!(steps(&[("a", 9000), ("b", 5000), ("c", 6000), ("d", 6001)]), [1, 2, 3, 3]);
    }

    #[test]
    fn pitfall_08_calls_that_run_one_after_the_other_may_share_a_step() {
        let numbers = |steps: Steps, transcript: &str| {
            let mut worker = Worker { steps, ..worker() };
            worker.step_ended(&[], 1);
            let mut one = |id| {
                let asked = || call(id, r#"{"path":"a"}"#);
                worker.before(&ReadCall::of(&asked()), Some(Path::new(transcript)), true, 1);
                let ending = Ending::Answered { text: "no such file".into(), failed: true };
                worker.after(&ReadCall::of(&asked()), &End::of(&ending), 1);
                worker.position.step
            };
            ["a", "b", "c"].map(&mut one)
        };
        let shown = Steps::Transcribed(|path, _| Some(path == Path::new("open")));
        assert_eq!(numbers(Steps::Guessed, "open"), [1, 2, 3]);
        assert_eq!(numbers(Steps::Reported(|_, _| None), "closed"), [1, 1, 1]);
        assert_eq!(numbers(shown, "closed"), [1, 2, 3]);
        assert_eq!(numbers(shown, "open"), [1, 1, 1]);
    }

    #[test]
    fn pitfall_07_a_call_that_is_never_answered_hides_no_repetition() {
        let mut worker = worker();
        worker.take(&event(EventKind::Before(call("lost", "{}"))), 1);
        let told = ["a", "b", "c"].map(|id| {
            let asked = || call(id, r#"{"path":"a"}"#);
            worker.take(&event(EventKind::Before(asked())), 2);
            let ending = Ending::Answered { text: "no such file".into(), failed: true };
            worker.take(&event(EventKind::After(asked(), ending)), 3)
        });
        assert_eq!(told.map(|said| said.contains("3 times")), [false, false, true]);
    }

    #[test]
    fn a_batch_tells_of_calls_without_an_event_of_their_own() {
        fn failed(_: Raw<'_>) -> Ending<'_> {
            Ending::Answered { text: "no match".into(), failed: true }
        }
        fn answered(_: Raw<'_>) -> Ending<'_> {
            Ending::Answered { text: "not today".into(), failed: false }
        }
        fn unread(_: Raw<'_>) -> Ending<'_> {
            unreachable!("the call had an event of its own")
        }
        let mut worker = worker();
        let batch = |calls| event(EventKind::StepEnded(calls));
        let list = |call, read| Listed { call, result: None, read };
        let mut said = Vec::new();
        for [reported, rejected, refused] in [["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]] {
            let [one, other] = [r#"{"path":"a"}"#, r#"{"path":"b"}"#];
            worker.take(&event(EventKind::Before(call(reported, one))), 1);
            let after = EventKind::After(call(reported, one), failed(None));
            said.push(worker.take(&event(after), 1));
            worker.take(&event(EventKind::Before(call(refused, "{}"))), 1);
            let calls = vec![
                list(call(reported, one), unread as fn(Raw<'_>) -> Ending<'_>),
                list(call(rejected, other), failed),
                list(call(refused, "{}"), answered),
            ];
            said.push(worker.take(&batch(calls), 1));
        }
        assert_eq!(worker.session.calls, 9, "no call counts twice");
        assert_eq!(worker.guard.open_calls().count(), 0);
        assert!(said[..3].iter().all(String::is_empty), "{said:?}");
        assert!(said[3].contains("in circles"), "{said:?}");
    }

    #[test]
    fn a_state_is_restored_only_for_its_own_worker() {
        let mut worker = worker();
        worker.take(&event(EventKind::Before(call("a", "{}"))), 7);
        let kept = worker.save();
        let bytes = postcard::to_stdvec(&kept).expect("a state");
        let kept = || postcard::from_bytes::<SavedWorker>(&bytes).ok();
        let same = Worker::from(kept(), Guard::builder, &key(), 8).expect("a guard");
        assert_eq!((same.session.events, same.position.replies.len()), (1, 1));
        assert!(same.guard.ticket("a").is_some());
        let other = Key { worker: "a1", ..key() };
        let other = Worker::from(kept(), Guard::builder, &other, 8).expect("a guard");
        assert_eq!((other.session.events, other.session.worker.as_str()), (0, "a1"));
    }

    #[test]
    fn a_call_without_an_id_is_found_by_its_tool_and_arguments() {
        let mut worker = worker();
        let nameless = |args| Call { id: None, ..call("", args) };
        let mut answer = |what| worker.take(&event(what), 1);
        let mut last = String::new();
        for _ in 0..3 {
            answer(EventKind::Before(nameless(r#"{"path":"a"}"#)));
            let ending = Ending::Answered { text: "no such file".into(), failed: true };
            last = answer(EventKind::After(nameless(r#"{"path":"a"}"#), ending));
        }
        assert!(last.contains("3 times"), "{last}");
        assert_eq!((worker.session.calls, worker.position.replies.len()), (3, 0));
    }

    /// Sends calls with these arguments and results to a hook whose agent ends the run after four equal calls.
    /// Returns which of them it refuses.
    fn refused(builder: fn() -> Builder, calls: &[(&'static str, &'static str)]) -> Vec<bool> {
        let mut worker = Worker::from(None, builder, &key(), 0).expect("a guard");
        (worker.steps, worker.equal_calls_max) = (Steps::Guessed, Some(4));
        let mut at = 0;
        let mut one = |&(args, result): &(&'static str, &'static str)| {
            at += 2000;
            let asked = || Call { id: None, tool: "run".into(), args: args.into() };
            let before = worker.take(&event(EventKind::Before(asked())), at);
            let ending = Ending::Answered { text: result.into(), failed: result == "no" };
            if !before.contains("deny") {
                worker.take(&event(EventKind::After(asked(), ending)), at + 1);
            }
            before.contains("deny")
        };
        calls.iter().map(&mut one).collect()
    }

    #[test]
    fn the_last_call_that_an_agent_lets_pass_is_refused_in_a_loop_only() {
        let (test, edit) = (r#"{"command":"make test"}"#, r#"{"command":"sed -i s/a/b/ a"}"#);
        let read = r#"{"command":"cat a.rs"}"#;
        for (calls, expected) in [
            (&[("{}", "no"); 6][..], &[false, false, false, true, true, true][..]),
            (&[(read, "fn a() {}"); 5], &[false, false, false, true, true]),
            // A call that works may have changed something.
            (&[("{}", "yes"); 5], &[false; 5]),
            // The result changes, or another call is between.
            (&[("{}", "1"), ("{}", "2"), ("{}", "3"), ("{}", "4"), ("{}", "5")], &[false; 5]),
            (
                &[("{}", "no"), ("{}", "no"), ("{}", "no"), (edit, "done"), ("{}", "no")],
                &[false; 5],
            ),
            (
                &[(test, "ok"), (edit, "done"), (test, "ok"), (edit, "done"), (test, "ok")],
                &[false; 5],
            ),
            (&[("{}", "no"), ("{}", "no"), ("{}", "yes"), ("{}", "no")], &[false; 4]),
            // A wait.
            (&[(r#"{"command":"sleep 5 && cat state"}"#, "running"); 5], &[false; 5]),
        ] {
            assert_eq!(refused(Guard::builder, calls), expected, "{calls:?}");
        }
        // A hook that only observes and a policy that only notes refuse nothing.
        assert_eq!(refused(|| Guard::builder().observe_only(), &[("{}", "no"); 5]), [false; 5]);
        let nudge = || Guard::builder().named("nudge").expect("a preset");
        assert_eq!(refused(nudge, &[("{}", "no"); 5]), [false; 5]);
    }

    #[test]
    fn only_so_many_replies_are_stored() {
        let mut worker = worker();
        for n in 0..REPLIES_MAX + 3 {
            let mut asked = call("", "{}");
            asked.id = Some(n.to_string().into());
            worker.take(&event(EventKind::Before(asked)), 0);
        }
        assert_eq!(worker.position.replies.len(), REPLIES_MAX);
        assert_eq!(worker.position.replies[0].id, "3");
    }
}
