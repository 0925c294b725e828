//! The worker of a session: its state, and its reply to each event.

use serde::{Deserialize, Serialize};
use unstuck::{Action, Asked, BuildError, Builder, Decision, Guard};
use unstuck_core::Digest;

use crate::agents::Agent;
use crate::agents::event::{Call, Ending, Event, EventKind};
use crate::agents::reply::{Encoded, Reply};
use crate::agents::state::{FindingRecord, Key, Session};
use crate::output::recurring::what_was_found;

/// The number of calls whose replies are remembered: more than an agent has open at a time.
const CALLS_MAX: usize = 32;

/// The longest time, in milliseconds, between calls that were issued together. A model that reads a
/// result before it asks for the next call takes longer.
const TOGETHER: u64 = 1000;

/// The stored state of a worker. The part that `unstuck status` reads comes first.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedWorker {
    session: Session,
    progress: Progress,
    guard: Vec<u8>,
}

/// The position of a worker in its session.
#[derive(Default, Serialize, Deserialize)]
struct Progress {
    /// The latest calls, the oldest first.
    calls: Vec<CallRecord>,
    /// The number of calls that were given an id here, because the agent has none for them.
    named: u64,
    step: u64,
    /// The next call begins another step in any case.
    is_step_over: bool,
    /// A reply that is still to be given, because no event had a place for it.
    pending: Reply,
    /// There was a call since the last prompt.
    has_called: bool,
    /// The latest prompt.
    prompt: Option<Digest>,
    /// The id that the events since that prompt share.
    turn: Option<Digest>,
}

/// A call and the replies to it.
#[derive(Serialize, Deserialize)]
struct CallRecord {
    id: String,
    /// The tool and its arguments.
    what: Digest,
    step: u64,
    is_open: bool,
    before: Option<Reply>,
    after: Option<Reply>,
}

/// One worker under watch.
pub(super) struct Worker {
    session: Session,
    progress: Progress,
    guard: Guard,
}

impl Worker {
    /// Restores a worker. Without a stored state, or if another policy judged it, the worker begins anew.
    pub(super) fn from(
        saved: Option<SavedWorker>,
        builder: impl Fn() -> Builder,
        key: &Key<'_>,
        now: u64,
    ) -> Result<Self, BuildError> {
        let builder = || builder().session(key.session).worker(key.worker);
        let Some(SavedWorker { session, progress, guard }) =
            saved.filter(|saved| saved.session.is_of(key))
        else {
            let (session, progress) = (Session::new(key, now), Progress::default());
            return Ok(Self { session, progress, guard: builder().build()? });
        };
        match builder().restore(&guard) {
            Ok(guard) => Ok(Self { session, progress, guard }),
            Err(_) => {
                Ok(Self { session, progress: Progress::default(), guard: builder().build()? })
            }
        }
    }

    /// Returns the state to store.
    pub(super) fn save(self) -> SavedWorker {
        let Self { session, progress, guard } = self;
        SavedWorker { session, progress, guard: guard.save() }
    }

    /// Handles an event at the time `now`, and returns the text that `agent` reads.
    pub(super) fn answer(&mut self, agent: Agent, event: &Event<'_>, now: u64) -> String {
        self.session.events += 1;
        if self.session.cwd.is_none() {
            self.session.cwd = event.cwd.as_deref().map(str::to_owned);
        }
        self.notice_turn(event);
        let own = self.reply(&event.kind, now);
        // After the clock was set back, the time stands still.
        self.session.last_seen = self.session.last_seen.max(now);
        self.write(agent, own, event)
    }

    /// Writes the pending reply if it is stronger than `own` and the event has a place for it, and `own`
    /// otherwise.
    fn write(&mut self, agent: Agent, own: Reply, event: &Event<'_>) -> String {
        let pending = std::mem::take(&mut self.progress.pending);
        if pending.severity() > own.severity() {
            match (agent.host().wire.encode)(&pending, event) {
                Encoded::Whole(text) => return text,
                Encoded::Partial(_) => self.progress.pending = pending,
            }
        }
        match (agent.host().wire.encode)(&own, event) {
            Encoded::Whole(text) => text,
            Encoded::Partial(text) => {
                if own.severity() > self.progress.pending.severity() {
                    self.progress.pending = own;
                }
                text
            }
        }
    }

    /// Treats a new turn as a new prompt, for agents that report turns but no prompts.
    fn notice_turn(&mut self, event: &Event<'_>) {
        let turn = event.turn.as_deref().map(|turn| Digest::of(turn.as_bytes()));
        if turn.is_some() && turn != self.progress.turn {
            let is_first = self.progress.turn.is_none();
            self.progress.turn = turn;
            if !is_first && self.progress.prompt.is_none() {
                self.begin_anew();
            }
        }
    }

    fn reply(&mut self, kind: &EventKind<'_>, now: u64) -> Reply {
        match kind {
            EventKind::Before(call) => self.before(call, now),
            EventKind::After(call, ending) => self.after(call, ending, now),
            EventKind::StepEnded => {
                self.progress.is_step_over = true;
                Reply::Nothing
            }
            EventKind::Prompt(text) => self.prompt(text, now),
            EventKind::Compacted => {
                self.guard.compacted();
                Reply::Nothing
            }
            EventKind::HandedBack(text) => self.handed_back(text, now),
            EventKind::Interrupted => {
                self.cancel_open();
                Reply::Nothing
            }
            EventKind::Began => {
                self.begin_anew();
                Reply::Nothing
            }
            EventKind::Ended | EventKind::Other => Reply::Nothing,
        }
    }

    fn before(&mut self, call: &Call<'_>, now: u64) -> Reply {
        let known = call.id.as_deref().and_then(|id| self.progress.known(id));
        if let Some(given) = known.and_then(|known| known.before.clone()) {
            return given;
        }
        self.session.calls += 1;
        let (id, step) = self.progress.begin(call, self.session.last_seen, now);
        let asked = Asked::new(&call.tool, &*call.args).id(&id).step(step);
        let decision = self.guard.announce(&asked);
        self.note(&decision, now);
        let reply = Reply::before(&decision);
        self.progress.say_before(&id, &reply);
        reply
    }

    fn after(&mut self, call: &Call<'_>, ending: &Ending<'_>, now: u64) -> Reply {
        let id = self.progress.answered(call);
        let known = id.as_deref().and_then(|id| self.progress.known(id));
        if let Some(given) = known.and_then(|known| known.after.clone()) {
            return given;
        }
        let ticket = id.as_deref().and_then(|id| self.guard.ticket(id));
        let decision = match (ending, ticket) {
            (Ending::Answered { text, failed }, Some(ticket)) => {
                self.guard.after(ticket, &**text, *failed)
            }
            (Ending::Answered { text, failed }, None) => {
                return self.finished(call, text, *failed, now);
            }
            (Ending::Cancelled, Some(ticket)) => self.guard.cancelled(ticket),
            (Ending::Refused, Some(ticket)) => self.guard.refused(ticket),
            (_, None) => return Reply::Nothing,
        };
        self.close(id.as_deref(), &decision, now)
    }

    /// Handles the end of a call that was never announced.
    fn finished(&mut self, call: &Call<'_>, text: &str, failed: bool, now: u64) -> Reply {
        self.session.calls += 1;
        let (id, step) = self.progress.begin(call, self.session.last_seen, now);
        let asked = Asked::new(&call.tool, &*call.args).id(&id).step(step);
        let decision = self.guard.finished(&asked, text, failed);
        self.close(Some(&id), &decision, now)
    }

    fn close(&mut self, id: Option<&str>, decision: &Decision, now: u64) -> Reply {
        self.note(decision, now);
        let reply = Reply::after(decision);
        if let Some(id) = id {
            self.progress.say_after(id, &reply);
        }
        reply
    }

    fn prompt(&mut self, text: &str, now: u64) -> Reply {
        let prompt = Digest::of(text.as_bytes());
        let is_new = self.progress.prompt.replace(prompt) != Some(prompt);
        let decision = self.guard.user_message(text);
        self.note(&decision, now);
        self.progress.has_called = false;
        self.progress.is_step_over = true;
        if is_new {
            self.progress.pending = Reply::Nothing;
        }
        Reply::after(&decision)
    }

    /// Handles the end of a turn. Only a turn without calls is judged as talk.
    fn handed_back(&mut self, text: &str, now: u64) -> Reply {
        self.progress.is_step_over = true;
        if std::mem::take(&mut self.progress.has_called) {
            return Reply::Nothing;
        }
        let decision = self.guard.text_turn(text);
        self.note(&decision, now);
        Reply::after(&decision)
    }

    fn cancel_open(&mut self) {
        let open = self.progress.calls.iter_mut().filter(|known| known.is_open);
        for known in open {
            known.is_open = false;
            if let Some(ticket) = self.guard.ticket(&known.id) {
                // Cancelling a call never gives a message.
                let _: Decision = self.guard.cancelled(ticket);
            }
        }
        self.progress.is_step_over = true;
    }

    fn begin_anew(&mut self) {
        self.guard.clear();
        self.progress.pending = Reply::Nothing;
        self.progress.has_called = false;
        self.progress.is_step_over = true;
    }

    /// Records a finding for `unstuck status`.
    fn note(&mut self, decision: &Decision, now: u64) {
        let judged = decision.judged();
        let Some(found) = decision.found().filter(|found| found.fresh || judged >= Action::Block)
        else {
            return;
        };
        self.session.note(FindingRecord {
            rule: found.rule.to_owned(),
            kind: found.finding.kind.name().to_owned(),
            action: judged.name().to_owned(),
            tool: found.tool.clone(),
            what: what_was_found(found),
            period: u64::from(found.finding.period),
            laps: u64::from(found.finding.laps),
            loop_id: found.finding.loop_id.bits(),
            at: now,
        });
    }
}

impl Progress {
    fn known(&self, id: &str) -> Option<&CallRecord> {
        self.calls.iter().rev().find(|known| known.id == id)
    }

    fn known_mut(&mut self, id: &str) -> Option<&mut CallRecord> {
        self.calls.iter_mut().rev().find(|known| known.id == id)
    }

    /// Remembers a new call. Returns its id and its step.
    fn begin(&mut self, call: &Call<'_>, last_seen: u64, now: u64) -> (String, u64) {
        self.has_called = true;
        let what = digest(call);
        if !self.is_issued_together(what, now.saturating_sub(last_seen)) {
            self.step += 1;
        }
        self.is_step_over = false;
        let id = call.id.as_deref().map_or_else(|| self.name(), str::to_owned);
        if self.calls.len() >= CALLS_MAX {
            self.calls.remove(0);
        }
        let step = self.step;
        let known =
            CallRecord { id: id.clone(), what, step, is_open: true, before: None, after: None };
        self.calls.push(known);
        (id, step)
    }

    /// Returns whether a new call was issued together with the open ones, `since` milliseconds after the
    /// last event. A call that never ends must not draw all later calls into its step.
    fn is_issued_together(&self, what: Digest, since: u64) -> bool {
        let step = || self.calls.iter().filter(|known| known.step == self.step);
        let is_again = || step().any(|known| known.what == what && !known.is_open);
        !self.is_step_over && since < TOGETHER && step().any(|known| known.is_open) && !is_again()
    }

    /// Returns an id for a call that has none.
    fn name(&mut self) -> String {
        self.named += 1;
        format!("#{}", self.named)
    }

    /// Returns the id of the call that has ended. If the agent has no ids, this is the earliest open call
    /// with the same tool and arguments.
    fn answered(&self, call: &Call<'_>) -> Option<String> {
        if let Some(id) = &call.id {
            return Some(id.as_ref().to_owned());
        }
        let what = digest(call);
        let mut open = self.calls.iter().filter(|known| known.is_open && known.what == what);
        open.next().map(|known| known.id.clone())
    }

    fn say_before(&mut self, id: &str, reply: &Reply) {
        if let Some(known) = self.known_mut(id) {
            // A refused call does not run.
            known.is_open = matches!(reply, Reply::Nothing | Reply::Tell(_));
            known.before = Some(reply.clone());
        }
    }

    fn say_after(&mut self, id: &str, reply: &Reply) {
        if let Some(known) = self.known_mut(id) {
            known.is_open = false;
            known.after = Some(reply.clone());
        }
    }
}

/// Returns a digest of a tool and its arguments.
fn digest(call: &Call<'_>) -> Digest {
    Digest::of(call.tool.as_bytes()).mix(Digest::of(call.args.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key<'static> {
        Key { agent: Agent::ALL[0], session: "s", worker: "main" }
    }

    fn worker() -> Worker {
        Worker::from(None, Guard::builder, &key(), 0).expect("a guard")
    }

    fn call(id: &'static str, args: &'static str) -> Call<'static> {
        Call { id: Some(id.into()), tool: "read".into(), args: args.into() }
    }

    fn event(kind: EventKind<'static>) -> Event<'static> {
        let (name, session) = ("PreToolUse".into(), "s".into());
        Event { name, session, subagent: None, cwd: None, turn: None, kind }
    }

    /// Announces calls at these times, and returns their steps.
    fn steps(calls: &[(&'static str, u64)]) -> Vec<u64> {
        let mut worker = worker();
        for &(id, at) in calls {
            worker.answer(Agent::ALL[0], &event(EventKind::Before(call(id, "{}"))), at);
        }
        worker.progress.calls.iter().map(|known| known.step).collect()
    }

    #[test]
    fn pitfall_08_calls_that_come_at_once_share_a_step() {
        assert_eq!(steps(&[("a", 5000), ("b", 5001), ("c", 5500)]), [1, 1, 1]);
        // The first has no result, and the pause is long enough for a model to think.
        assert_eq!(steps(&[("a", 5000), ("b", 5000 + TOGETHER), ("c", 9000)]), [1, 2, 3]);
    }

    #[test]
    fn pitfall_07_a_call_that_is_never_answered_hides_no_repetition() {
        let mut worker = worker();
        worker.answer(Agent::ALL[0], &event(EventKind::Before(call("lost", "{}"))), 1);
        let answers = ["a", "b", "c"].map(|id| {
            let asked = || call(id, r#"{"path":"a"}"#);
            worker.answer(Agent::ALL[0], &event(EventKind::Before(asked())), 2);
            let ending = Ending::Answered { text: "no such file".into(), failed: true };
            worker.answer(Agent::ALL[0], &event(EventKind::After(asked(), ending)), 3)
        });
        assert_eq!(answers.map(|answer| answer.contains("3 times")), [false, false, true]);
    }

    #[test]
    fn a_worker_is_restored_for_its_own_key_only() {
        let mut worker = worker();
        worker.answer(Agent::ALL[0], &event(EventKind::Before(call("a", "{}"))), 7);
        let saved = worker.save();
        let bytes = postcard::to_stdvec(&saved).expect("a state");
        let saved = || postcard::from_bytes::<SavedWorker>(&bytes).ok();
        let same = Worker::from(saved(), Guard::builder, &key(), 8).expect("a guard");
        assert_eq!((same.session.events, same.progress.calls.len()), (1, 1));
        assert!(same.guard.ticket("a").is_some());
        let other = Key { worker: "a1", ..key() };
        let other = Worker::from(saved(), Guard::builder, &other, 8).expect("a guard");
        assert_eq!((other.session.events, other.session.worker.as_str()), (0, "a1"));
    }

    #[test]
    fn the_number_of_remembered_calls_is_limited() {
        let mut worker = worker();
        for n in 0..CALLS_MAX + 3 {
            let mut asked = call("", "{}");
            asked.id = Some(n.to_string().into());
            worker.answer(Agent::ALL[0], &event(EventKind::Before(asked)), 0);
        }
        assert_eq!(worker.progress.calls.len(), CALLS_MAX);
        assert_eq!(worker.progress.calls[0].id, "3");
    }
}
