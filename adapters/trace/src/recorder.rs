//! Numbers and counts the events that a format's reader finds, and delivers them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::costs::Answers;
use crate::event::{Args, Begin, Call, Event, Message, Outcome, Role, Tokens, Usage};
use crate::format::{Failures, Format};
use crate::notes;
use crate::pairing::{Pairing, digest};
use crate::problem::{Done, LINE_BYTES_MAX, Problem, ProblemKind};
use crate::trace::{NOTES_MAX, PROBLEMS_MAX, Trace};

/// The most workers of an input that are followed at a time. A swarm in one file has fewer.
///
/// If there are more, the one that was idle for longest is forgotten, and counts as another worker if
/// it returns. [`Trace::forgotten`] counts them.
pub const WORKERS_MAX: usize = 100_000;

/// The worker of a record without a worker's name.
pub(crate) const MAIN: &str = "main";

/// The bytes of text, over all workers, that are held back until it is known whether a call follows.
pub(crate) const HELD_BYTES_MAX: usize = LINE_BYTES_MAX;

/// Numbers the events of one input and delivers them.
pub(crate) struct Recorder<'s> {
    sink: &'s mut dyn FnMut(Event<'_>),
    /// The summary so far. Its failures and notes are filled in at the end.
    trace: Trace,
    workers: Vec<Worker>,
    /// The index of each worker in `workers`, by the digest of its name.
    slots: HashMap<u64, usize>,
    /// The index of each worker in `workers`, by its latest lookup: the one that was idle for longest
    /// comes first.
    idle: BTreeMap<u64, usize>,
    /// Counts the lookups of workers that are not the same as before.
    clock: u64,
    held_bytes: usize,
    pub(crate) pairing: Pairing,
    messages: usize,
    steps: u64,
    errors: usize,
    /// `true` if a result without a flag succeeded.
    flags: bool,
    answers: Answers,
    /// The time that was delivered last.
    time: Option<u64>,
    recognised: bool,
    /// The calls with a message of this project.
    notes: BTreeSet<usize>,
}

/// Delivers all of some records. One that cannot be read is reported after the others are delivered.
pub(crate) fn all<T>(records: impl IntoIterator<Item = T>, deliver: impl FnMut(T) -> Done) -> Done {
    records.into_iter().map(deliver).fold(Ok(()), Result::and)
}

/// The state of a worker's turn, kept for the format's reader.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Turn {
    /// The turn's number in the file, or a digest of its id.
    pub(crate) key: Option<u64>,
    /// `true` if the turn has issued a call.
    pub(crate) called: bool,
    /// `true` if the agent received a result since.
    pub(crate) answered: bool,
}

struct Worker {
    digest: u64,
    name: String,
    seen: u64,
    /// The step of the latest call.
    step: Option<u64>,
    turn: Turn,
    held: Option<Held>,
}

/// An assistant's message that is held back until it is known whether a call follows.
struct Held {
    index: usize,
    text: String,
}

impl<'s> Recorder<'s> {
    pub(crate) fn new(format: Format, sink: &'s mut dyn FnMut(Event<'_>)) -> Self {
        let trace = Trace {
            format,
            reason: "",
            session: None,
            runs: 1,
            calls: 0,
            without_args: 0,
            workers: 0,
            forgotten: 0,
            errors: None,
            tokens: None,
            begin: None,
            end: None,
            notes: Vec::new(),
            skipped: 0,
            problems: Vec::new(),
        };
        Self {
            sink,
            trace,
            workers: Vec::new(),
            slots: HashMap::new(),
            idle: BTreeMap::new(),
            clock: 0,
            held_bytes: 0,
            pairing: Pairing::default(),
            messages: 0,
            steps: 0,
            errors: 0,
            flags: format.0.failures == Failures::Flagged,
            answers: Answers::default(),
            time: None,
            recognised: false,
            notes: BTreeSet::new(),
        }
    }

    /// Notes that the input has at least one record of the format. No message, time or tokens are delivered before; a
    /// call is such a record.
    pub(crate) fn recognise(&mut self) {
        self.recognised = true;
    }

    /// Notes the session's name. The first one counts.
    pub(crate) fn session(&mut self, name: &str) {
        self.trace.session.get_or_insert_with(|| name.to_owned());
    }

    /// Notes the session's name, if the record has one.
    pub(crate) fn session_of(&mut self, name: Option<Cow<'_, str>>) {
        if let Some(name) = name {
            self.session(&name);
        }
    }

    /// Returns whether a call or a message has been read.
    pub(crate) const fn has_begun(&self) -> bool {
        self.trace.calls > 0 || self.messages > 0
    }

    /// Begins another run. No later event belongs to the runs before.
    pub(crate) fn begin(&mut self, session: Option<&str>) {
        self.release_all();
        self.workers.clear();
        self.slots.clear();
        self.idle.clear();
        self.pairing = Pairing::default();
        self.trace.runs += 1;
        (self.sink)(Event::Begin(Begin { session }));
    }

    /// Notes a line or an element that could not be read.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.trace.skipped += 1;
        if self.trace.problems.len() < PROBLEMS_MAX {
            self.trace.problems.push(problem);
        }
    }

    /// Returns the turn of a worker, to be read and changed.
    pub(crate) fn turn(&mut self, worker: &str) -> &mut Turn {
        let slot = self.slot(worker);
        &mut self.workers[slot].turn
    }

    /// Delivers a call and returns its index. All calls of a turn share its step.
    pub(crate) fn call_in_turn(&mut self, worker: &str, tool: &str, args: Args<'_>) -> usize {
        self.call(worker, tool, args, |turn| turn.called)
    }

    /// Delivers a call and returns its index. The calls of a turn with no result between them share a step.
    pub(crate) fn call_together(&mut self, worker: &str, tool: &str, args: Args<'_>) -> usize {
        self.call(worker, tool, args, |turn| turn.called && !turn.answered)
    }

    /// Delivers a call and returns its index. Calls with the same key in a row share a step. A call without a key has
    /// its own.
    pub(crate) fn call_of_turn(
        &mut self,
        worker: &str,
        key: Option<u64>,
        tool: &str,
        args: Args<'_>,
    ) -> usize {
        self.call(worker, tool, args, |turn| {
            let is_known = core::mem::replace(&mut turn.key, key) == key;
            turn.called && key.is_some() && is_known
        })
    }

    /// Delivers a call, and the worker's message just before, which belongs to it. The call shares the step of the
    /// worker's previous call if `shares` says so of the turn.
    fn call(
        &mut self,
        worker: &str,
        tool: &str,
        args: Args<'_>,
        shares: impl FnOnce(&mut Turn) -> bool,
    ) -> usize {
        let slot = self.slot(worker);
        self.release(slot, false);
        let Worker { turn, step: last, .. } = &mut self.workers[slot];
        let shares = shares(turn);
        (turn.called, turn.answered) = (true, false);
        self.trace.workers += usize::from(last.is_none());
        let step = last.filter(|_| shares).unwrap_or_else(|| {
            self.steps += 1;
            self.steps
        });
        *last = Some(step);
        let index = self.trace.calls;
        self.recognise();
        self.trace.calls += 1;
        self.trace.without_args += usize::from(args.known().is_none());
        (self.sink)(Event::Call(Call { index, worker, step, tool, args }));
        index
    }

    /// Delivers the result of a call, without notes of this project. A call that this project
    /// [refused](Outcome::without_notes) did not run, and so did not fail.
    pub(crate) fn outcome(&mut self, outcome: Outcome<'_>) {
        let whole = outcome.text.len();
        outcome.without_notes(|outcome| {
            let is_refused = outcome.refused && notes::is_refusal(outcome.text, true);
            if is_refused || outcome.text.len() < whole {
                self.noted(outcome.call);
            }
            self.errors += usize::from(outcome.failed);
            self.flags |= outcome.failed;
            (self.sink)(Event::Outcome(outcome));
        });
    }

    /// Remembers that a message of this project stands at a call.
    fn noted(&mut self, call: usize) {
        if self.notes.len() < NOTES_MAX {
            self.notes.insert(call);
        }
    }

    /// Remembers that a note stands behind the latest call.
    pub(crate) fn noted_latest(&mut self) {
        if let Some(latest) = self.trace.calls.checked_sub(1) {
            self.noted(latest);
        }
    }

    /// Remembers a note behind the latest call, if `text` was read from `json` without one.
    pub(crate) fn noted_within(&mut self, json: &str, text: &str) {
        if notes::is_left_out(json, text) {
            self.noted_latest();
        }
    }

    /// Delivers the result of the open call with this id, and returns whether there is one. Without an id, the
    /// result answers no call.
    pub(crate) fn answer(
        &mut self,
        worker: &str,
        id: Option<&str>,
        text: &str,
        failed: bool,
    ) -> bool {
        let call = id.and_then(|id| self.pairing.answer(worker, id));
        if let Some(call) = call {
            self.outcome(Outcome { failed, ..Outcome::new(call, worker, text) });
        }
        call.is_some()
    }

    /// Notes that the file reports failures, which its format need not do.
    pub(crate) fn flags_failures(&mut self) {
        self.flags = true;
    }

    /// Counts a failure that the file reports after the result was delivered.
    pub(crate) fn failed_late(&mut self) {
        self.flags = true;
        self.errors += 1;
    }

    /// Delivers the time of a record, if it is another one. A record that may be of another format has no
    /// time.
    pub(crate) fn time(&mut self, time: Option<u64>) {
        let Some(time) = time.filter(|time| self.recognised && self.time != Some(*time)) else {
            return;
        };
        self.time = Some(time);
        self.trace.begin = Some(self.trace.begin.map_or(time, |earliest| earliest.min(time)));
        self.trace.end = self.trace.end.max(Some(time));
        (self.sink)(Event::Time(time));
    }

    /// Delivers the tokens of an answer. Some writers have the fields and leave them at 0, which says
    /// nothing.
    pub(crate) fn usage(&mut self, worker: &str, tokens: Option<Tokens>) {
        let Some(tokens) = tokens.filter(|tokens| self.recognised && tokens.total() > 0) else {
            return;
        };
        *self.trace.tokens.get_or_insert_default() += tokens;
        (self.sink)(Event::Usage(Usage { worker, tokens }));
    }

    /// Delivers the tokens of an answer that may be written several times, with its largest figures.
    /// Records without an id are answers of their own.
    pub(crate) fn usage_of(&mut self, worker: &str, id: Option<&str>, tokens: Option<Tokens>) {
        let more = |tokens| id.map_or(tokens, |id| self.answers.count(id, tokens));
        let tokens = tokens.map(more);
        self.usage(worker, tokens);
    }

    /// Delivers the part of a running total that has not been delivered yet.
    pub(crate) fn usage_up_to(&mut self, worker: &str, total: Option<Tokens>) {
        let known = self.trace.tokens.unwrap_or_default();
        self.usage(worker, total.map(|total| total.without(known)));
    }

    /// Holds back an agent's message until it is known whether a call follows. Further text of the
    /// same turn is added to the message, in a new line.
    pub(crate) fn say(&mut self, worker: &str, text: &str) {
        self.hold(worker, "\n", text);
    }

    /// Holds back an agent's message like [`Recorder::say`]. The text goes on with that held back.
    pub(crate) fn say_on(&mut self, worker: &str, text: &str) {
        self.hold(worker, "", text);
    }

    /// Returns the message that is held back.
    pub(crate) fn held(&mut self, worker: &str) -> Option<&str> {
        let slot = self.slot(worker);
        self.workers[slot].held.as_ref().map(|held| &*held.text)
    }

    fn hold(&mut self, worker: &str, separator: &str, text: &str) {
        if !self.recognised {
            return;
        }
        let slot = self.slot(worker);
        self.held_bytes += text.len();
        if let Some(held) = &mut self.workers[slot].held {
            held.text.push_str(separator);
            held.text.push_str(text);
            self.held_bytes += separator.len();
        } else {
            let index = self.next_message();
            self.workers[slot].held = Some(Held { index, text: text.to_owned() });
        }
        while self.held_bytes > HELD_BYTES_MAX {
            let holding = |slot: &&usize| self.workers[**slot].held.is_some();
            let Some(slot) = self.idle.values().find(holding).copied() else { break };
            self.release(slot, true);
        }
    }

    /// Delivers words of the agent that belong to the calls of its turn, which may come before or behind them.
    pub(crate) fn speak(&mut self, worker: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.turn(worker).called {
            self.message(worker, Role::Assistant, text);
        } else {
            self.say(worker, text);
        }
    }

    /// Expects the result of a call: one with its id, or the next one without an id.
    pub(crate) fn expect(&mut self, worker: &str, id: Option<&str>, call: usize) {
        match id {
            Some(id) => self.pairing.issue(worker, id, 0, call),
            None => self.pairing.issue_unnamed(worker, call),
        }
    }

    /// Expects the result of a call by its id. Without an id, the call has no result.
    pub(crate) fn await_answer(&mut self, worker: &str, id: Option<Cow<'_, str>>, call: usize) {
        if let Some(id) = id {
            self.pairing.issue(worker, &id, 0, call);
        }
    }

    /// Ends a turn. A message that was held back is then a turn without calls.
    pub(crate) fn settle(&mut self, worker: &str) {
        let slot = self.slot(worker);
        self.release(slot, true);
    }

    /// Ends a turn with a message to the agent.
    pub(crate) fn hear(&mut self, worker: &str, role: Role, text: &str) {
        self.settle(worker);
        self.message(worker, role, text);
    }

    /// Ends a turn like [`Recorder::settle`], and begins another.
    pub(crate) fn begin_turn(&mut self, worker: &str) {
        self.settle(worker);
        *self.turn(worker) = Turn::default();
    }

    /// Goes on with a turn that has issued calls and has no result since. Otherwise begins another, like
    /// [`Recorder::begin_turn`].
    pub(crate) fn continue_turn(&mut self, worker: &str) {
        let turn = self.turn(worker);
        if !turn.called || turn.answered {
            self.begin_turn(worker);
        }
    }

    /// Delivers a message that is not a turn of its own: one to the agent, or the agent's in a turn
    /// that has issued calls. A note of this project in somebody else's name is no message.
    pub(crate) fn message(&mut self, worker: &str, role: Role, text: &str) {
        if !self.recognised {
            return;
        }
        if role != Role::Assistant && notes::is_note(text) {
            self.noted_latest();
            return;
        }
        let index = self.next_message();
        (self.sink)(Event::Message(Message { index, worker, role, text, text_only: false }));
    }

    /// Delivers the messages that are still held back, and returns the summary.
    ///
    /// # Errors
    ///
    /// If the input had no record of the format, returns the first problem, or else that fact.
    pub(crate) fn finish(mut self, reason: &'static str) -> Result<Trace, Problem> {
        self.release_all();
        if !self.recognised {
            let no_record = ProblemKind::NoRecord { format: self.trace.format };
            let first = self.trace.problems.into_iter().next();
            return Err(first.unwrap_or(no_record.of_input()));
        }
        let errors = self.flags.then_some(self.errors);
        Ok(Trace { reason, errors, notes: self.notes.into_iter().collect(), ..self.trace })
    }

    fn next_message(&mut self) -> usize {
        let index = self.messages;
        self.messages += 1;
        index
    }

    /// Delivers all messages that are held back, in their order. No call follows them.
    fn release_all(&mut self) {
        let held = self.workers.iter().enumerate();
        let held = held.filter_map(|(slot, worker)| Some((worker.held.as_ref()?.index, slot)));
        let mut held: Vec<_> = held.collect();
        held.sort_unstable();
        for (_, slot) in held {
            self.release(slot, true);
        }
    }

    fn release(&mut self, slot: usize, text_only: bool) {
        let worker = &mut self.workers[slot];
        if let Some(held) = worker.held.take() {
            self.held_bytes -= held.text.len();
            (self.sink)(Event::Message(Message {
                index: held.index,
                worker: &worker.name,
                role: Role::Assistant,
                text: &held.text,
                text_only,
            }));
        }
    }

    /// Returns the slot of a worker in the table, and adds the worker if it is new.
    fn slot(&mut self, name: &str) -> usize {
        // Mostly, the same worker goes on.
        if let Some((_, slot)) = self.idle.last_key_value()
            && self.workers[*slot].name == name
        {
            return *slot;
        }
        self.clock += 1;
        let digest = digest(name);
        let known = self.slots.get(&digest).copied();
        let slot = known.unwrap_or_else(|| self.add(digest, name));
        let seen = core::mem::replace(&mut self.workers[slot].seen, self.clock);
        self.idle.remove(&seen);
        self.idle.insert(self.clock, slot);
        slot
    }

    fn add(&mut self, digest: u64, name: &str) -> usize {
        if self.workers.len() == WORKERS_MAX {
            self.forget_stalest();
        }
        let slot = self.workers.len();
        self.slots.insert(digest, slot);
        self.workers.push(Worker {
            digest,
            name: name.to_owned(),
            seen: 0,
            step: None,
            turn: Turn::default(),
            held: None,
        });
        slot
    }

    fn forget_stalest(&mut self) {
        let Some((_, slot)) = self.idle.pop_first() else { return };
        self.release(slot, true);
        self.trace.forgotten += 1;
        let forgotten = self.workers.swap_remove(slot);
        self.slots.remove(&forgotten.digest);
        if let Some(moved) = self.workers.get(slot) {
            self.slots.insert(moved.digest, slot);
            self.idle.insert(moved.seen, slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the events that a recorder delivered, in words.
    fn record(run: impl FnOnce(&mut Recorder<'_>)) -> (Vec<String>, Option<Trace>) {
        let mut events = Vec::new();
        let mut sink = |event: Event<'_>| {
            events.push(match event {
                Event::Call(call) => {
                    format!("call {} {} step {}", call.index, call.worker, call.step)
                }
                Event::Outcome(outcome) => format!("outcome {}", outcome.call),
                Event::Message(message) => format!(
                    "message {} {}{}",
                    message.index,
                    message.text.len(),
                    if message.text_only { " text only" } else { "" }
                ),
                Event::Begin(begin) => format!("begin {:?}", begin.session),
                Event::Usage(usage) => format!("usage {} {:?}", usage.worker, usage.tokens),
                Event::Time(time) => format!("time {time}"),
            });
        };
        let mut recorder = Recorder::new(Format::NATIVE, &mut sink);
        recorder.recognise();
        run(&mut recorder);
        let trace = recorder.finish("a test").ok();
        (events, trace)
    }

    #[test]
    fn a_message_waits_for_the_workers_next_event() {
        let (events, _) = record(|recorder| {
            recorder.say("a", "1");
            recorder.say("b", "22");
            recorder.call_in_turn("b", "ls", Args::Json("{}"));
            recorder.call_in_turn("b", "ls", Args::Json("{}"));
            recorder.settle("a");
            recorder.call_in_turn("a", "ls", Args::Json("{}"));
            recorder.say("b", "4444");
            recorder.say("a", "333");
        });
        let expected = [
            "message 1 2",
            "call 0 b step 1",
            "call 1 b step 1",
            "message 0 1 text only",
            "call 2 a step 2",
            "message 2 4 text only",
            "message 3 3 text only",
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn another_run_has_other_workers() {
        let (events, trace) = record(|recorder| {
            recorder.call_in_turn("a", "ls", Args::Json("{}"));
            recorder.pairing.issue("a", "1", 0, 0);
            recorder.say("b", "22");
            recorder.say("a", "1");
            recorder.begin(Some("next"));
            assert!(!recorder.pairing.is_open("a", "1"));
            recorder.call_in_turn("a", "ls", Args::Json("{}"));
        });
        let expected = [
            "call 0 a step 1",
            "message 0 2 text only",
            "message 1 1 text only",
            "begin Some(\"next\")",
            "call 1 a step 2",
        ];
        assert_eq!(events, expected);
        let trace = trace.expect("a trace");
        assert_eq!((trace.runs, trace.workers, trace.session), (2, 2, None));
    }

    #[test]
    fn workers_beyond_the_limit_are_forgotten_and_their_messages_delivered() {
        let (events, trace) = record(|recorder| {
            for number in 0..=WORKERS_MAX {
                recorder.say(&number.to_string(), "x");
            }
            assert_eq!(recorder.workers.len(), WORKERS_MAX);
            recorder.call_in_turn("1", "ls", Args::Json("{}"));
        });
        assert_eq!(events.first().map(String::as_str), Some("message 0 1 text only"));
        assert_eq!(events.len(), WORKERS_MAX + 2);
        let counts = trace.map(|trace| (trace.workers, trace.forgotten));
        assert_eq!(counts, Some((1, 1)));
    }

    #[test]
    fn a_worker_is_known_among_as_many_as_are_followed() {
        let (_, trace) = record(|recorder| {
            for round in 0..3 {
                for number in 0..WORKERS_MAX {
                    let name = number.to_string();
                    recorder.call_of_turn(&name, Some(round), "ls", Args::Json("{}"));
                }
            }
            assert_eq!(recorder.workers.len(), WORKERS_MAX);
            // One more, and the first one is forgotten. It then takes the place of the second.
            recorder.call_in_turn("more", "ls", Args::Json("{}"));
            assert_eq!(recorder.turn("2").key, Some(2));
            assert_eq!(recorder.turn("0").key, None);
            assert_eq!(recorder.turn("1").key, None);
            assert_eq!(recorder.turn("2").key, Some(2));
            let in_place =
                |(digest, slot): (&u64, &usize)| recorder.workers[*slot].digest == *digest;
            assert!(recorder.slots.iter().all(in_place));
            let in_order = |(seen, slot): (&u64, &usize)| recorder.workers[*slot].seen == *seen;
            assert!(recorder.idle.iter().all(in_order));
            assert_eq!(recorder.idle.len(), WORKERS_MAX);
        });
        let trace = trace.expect("a trace");
        assert_eq!((trace.workers, trace.forgotten), (WORKERS_MAX + 1, 3));
    }

    #[test]
    fn held_text_is_bounded() {
        let part = "x".repeat(HELD_BYTES_MAX / 2);
        let (events, _) = record(|recorder| {
            for _ in 0..3 {
                recorder.say("a", &part);
            }
            assert!(recorder.held_bytes <= HELD_BYTES_MAX);
        });
        assert_eq!(events.len(), 2);
    }
}
