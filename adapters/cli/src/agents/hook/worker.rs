//! One worker of a session: takes events, returns replies.

mod calls;
#[cfg(test)]
mod tests;
mod unreported;

use std::path::Path;

use serde::{Deserialize, Serialize};
use unstuck::{Action, BuildError, Builder, Decision, Evidence, Guard, Wording};
use unstuck_core::Digest;

use self::calls::{CallReplies, LastEqual};
use super::clue::clue;
use super::read::ReadEvent;
use super::spending::Spending;
use super::start_over::StartOver;
use crate::agents::event::{Event, EventKind};
use crate::agents::host::{Ends, Host, Steps};
use crate::agents::notify::Notify;
use crate::agents::reply::{Encoded, Reply};
use crate::agents::state::{Entry, FindingRecord, Key, Said, Session, Trouble};

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

/// One worker under watch.
pub(super) struct Worker {
    session: Session,
    position: Position,
    guard: Guard,
    steps: Steps,
    /// The number of equal calls in a row that the agent lets pass.
    equal_calls_max: Option<u16>,
    /// Whether a person is asked before the first refusal in a loop.
    pub(super) asks: bool,
    /// The wording of messages.
    pub(super) wording: Wording,
    /// The time of the event that is answered, in milliseconds since 1970.
    now: u64,
    /// The evidence of which the model is told at this event.
    shown: Option<Evidence>,
    /// What was spent, if there is a budget.
    pub(super) spending: Option<Spending>,
    /// The way back, if the user has allowed it.
    pub(super) start_over: Option<StartOver>,
}

impl Worker {
    /// Restores a worker for an event at the time `now`. A worker without a stored state, or with one of another policy,
    /// begins anew.
    pub(super) fn from(
        saved: Option<SavedWorker>,
        builder: impl Fn() -> Builder,
        key: &Key<'_>,
        now: u64,
    ) -> Result<Self, BuildError> {
        let builder = || builder().session(key.session).worker(key.worker);
        let Host { steps, equal_calls_max, .. } = *key.agent.host();
        let worker = |session, position, guard| Self {
            session,
            position,
            guard,
            steps,
            equal_calls_max,
            asks: false,
            wording: Wording::Named,
            now,
            shown: None,
            spending: None,
            start_over: None,
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

    /// Returns whether this event is the first prompt of the session.
    pub(super) fn is_first_prompt(&self, event: &Event<'_>) -> bool {
        matches!(event.kind, EventKind::Prompt(_)) && self.position.prompt.is_none()
    }

    /// Stores what was spent.
    pub(super) fn keep_spending(&mut self) -> Result<(), Trouble> {
        self.spending.as_mut().map_or(Ok(()), Spending::keep)
    }

    /// Returns the state to store.
    pub(super) fn save(self) -> SavedWorker {
        let Self { session, position, guard, .. } = self;
        SavedWorker { session, position, guard: guard.save() }
    }

    /// Returns the lines for the journal on the event that was answered.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let new = self.session.new_findings().iter();
        new.map(|finding| Entry::found(&self.session, finding).worded(self.wording)).collect()
    }

    /// Returns the findings on the event that was answered of which a person is to be told, and notes that it was told.
    pub(super) fn news(&mut self, notify: &Notify) -> Vec<Entry> {
        let mut news = self.session.new_findings().to_vec();
        news.retain(|found| notify.wants(found) && self.session.told.add(found.loop_id));
        news.iter().map(|found| Entry::found(&self.session, found)).collect()
    }

    /// Takes in an event. Returns the text for the agent.
    pub(super) fn answer(&mut self, read: &ReadEvent<'_>) -> String {
        let event = read.event;
        self.session.events += 1;
        if self.session.cwd.is_none() {
            self.session.cwd = event.cwd.as_deref().map(str::to_owned);
        }
        if let Some(model) = event.model.as_deref() {
            self.session.model = Some(model.to_owned());
        }
        self.notice_turn(event);
        if let Some(spending) = &mut self.spending {
            if matches!(event.kind, EventKind::Prompt(_)) {
                spending.user_spoke(read.prompt != self.position.prompt);
            }
            spending.tell_time(self.now);
            spending.read(event, self.session.agent.host());
        }
        let unreported = self.settle_unreported(event);
        let silent = self.settle_silent(&event.kind);
        self.shown = None;
        let reply = self.reply(read);
        let told = self.shown.as_ref().filter(|_| reply != Reply::Nothing);
        let clue = told.and_then(|evidence| clue(self.session.agent, read, evidence));
        let reply = reply.with(clue.as_deref()).or(silent).or(unreported);
        self.session.last_seen = self.now;
        let reply = self.start_over(reply, event);
        self.write(reply, event)
    }

    /// Starts over before a call, if that is due. Until then nothing is undone: the agent may end its turn, or the user
    /// may say something new.
    fn start_over(&mut self, own: Reply, event: &Event<'_>) -> Reply {
        let pending = std::mem::take(&mut self.position.pending);
        let (what, own) = match (own, pending) {
            (Reply::StartOver(what), _) => (what, Reply::Nothing),
            (own, Reply::StartOver(what)) => (what, own),
            (own, pending) => {
                self.position.pending = pending;
                return own;
            }
        };
        let (EventKind::Before(call), Some(start_over)) = (&event.kind, &self.start_over) else {
            self.position.pending = Reply::StartOver(what);
            return own;
        };
        let reply = start_over.now(&what);
        self.session.refused += 1;
        if let Some(id) = call.id.as_deref() {
            // The call does not run, which is no sign of a loop.
            let _: Decision = self.guard.cancelled(self.guard.ticket(id));
            self.position.store(id).before = Some(reply.clone());
        }
        reply
    }

    fn reply(&mut self, read: &ReadEvent<'_>) -> Reply {
        let event = read.event;
        let ends_turn = self.host().ends_turn_of(event);
        match (&event.kind, &read.call, &read.end) {
            (EventKind::Before(_), Some(call), _) => {
                let transcript = event.transcript.as_deref().map(Path::new);
                let reply = self.before(call, transcript, ends_turn);
                self.notice_silent(call.call);
                // The proxy does not know how many such calls the agent lets pass.
                let is_last = self.position.last_equal.is_some();
                return if is_last { reply } else { self.beside_proxy(call, ends_turn, reply) };
            }
            (EventKind::After(_, ending), Some(call), Some(end)) => {
                self.notice_proxy(call.call, ending);
                return match self.after(call, end) {
                    // Its model has just read one.
                    Reply::Tell(_) if read.is_told => Reply::Nothing,
                    reply => self.beside_proxy(call, ends_turn, reply),
                };
            }
            (EventKind::CallsEnded(calls), ..) => return self.calls_ended(calls),
            (EventKind::StepEnded(calls), ..) => return self.step_ended(calls),
            (EventKind::Prompt(text), ..) => return self.prompt(text, read.prompt),
            (EventKind::HandedBack(text), ..) => return self.handed_back(text),
            (EventKind::Compacted, ..) => self.guard.compacted(),
            (EventKind::Interrupted, ..) => self.cancel_open(),
            (EventKind::Began, ..) => self.begin_anew(),
            _ => {}
        }
        Reply::Nothing
    }

    /// Encodes `own`, or the pending reply if that is more severe and the event has a place for it.
    fn write(&mut self, own: Reply, event: &Event<'_>) -> String {
        let encode = self.host().encode;
        let pending = std::mem::take(&mut self.position.pending);
        if pending.severity() > own.severity() {
            match encode(&pending, event) {
                Encoded::Whole(text) => return text,
                Encoded::Partial(_) => self.position.pending = pending,
            }
        }
        match encode(&own, event) {
            Encoded::Whole(text) => text,
            Encoded::Partial(text) => {
                if own.severity() > self.position.pending.severity() {
                    self.position.pending = own;
                }
                text
            }
        }
    }

    fn host(&self) -> &'static Host {
        self.session.agent.host()
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

    fn prompt(&mut self, text: &str, digest: Option<Digest>) -> Reply {
        let is_new = std::mem::replace(&mut self.position.prompt, digest) != digest;
        let decision = self.guard.user_message(text);
        self.position.has_called = false;
        self.position.is_step_over = true;
        self.position.last_equal = None;
        if is_new {
            self.position.pending = Reply::Nothing;
        }
        self.reply_after(&decision)
    }

    /// Takes in the last words of a turn. Only a turn without a call is a turn of mere text.
    fn handed_back(&mut self, text: &str) -> Reply {
        self.position.is_step_over = true;
        // An agent that tells no words may have said some.
        if std::mem::take(&mut self.position.has_called) || text.trim().is_empty() {
            return Reply::Nothing;
        }
        let decision = self.guard.text_turn(text);
        self.reply_after(&decision)
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
        if let Some(spending) = &mut self.spending {
            spending.user_spoke(true);
        }
        self.position.pending = Reply::Nothing;
        self.position.last_equal = None;
        self.position.has_called = false;
        self.position.is_step_over = true;
    }

    /// Stores the evidence on something that has happened, and returns the reply.
    fn reply_after(&mut self, decision: &Decision) -> Reply {
        self.note(decision, Said::after);
        Reply::after(decision)
    }

    /// Stores the evidence for `unstuck status` and the journal, unless it says nothing new.
    fn note(&mut self, decision: &Decision, said: fn(Action, Ends) -> Said) {
        if decision.message().is_some() {
            self.shown = decision.evidence().cloned();
        }
        let said = said(decision.judged(), self.host().ends);
        let new = FindingRecord::news(decision, said, self.session.calls, self.now);
        match (new, decision.evidence()) {
            (Some(finding), _) => self.session.note(finding),
            (None, Some(evidence)) => self.session.goes_on(evidence.finding.loop_id),
            (None, None) => {}
        }
    }

    fn record(&self, evidence: &Evidence, decision: &Decision, said: Said) -> FindingRecord {
        FindingRecord::of(evidence, decision, said, self.session.calls, self.now)
    }
}
