//! Replays a trace through the engine, a detector for each worker.

use std::collections::{HashMap, VecDeque};

use unstuck_core::{Action, CallId, Detector, Finding, Kind, LoopId, Verdict};
use unstuck_text::Preset;
use unstuck_trace::{Args, Call, Event, Message, Outcome, Role};

/// How many calls of a worker are kept to be shown and to be answered: more than the engine's
/// window and its open calls together.
const KEPT_MAX: usize = 128;

/// How much of a call's arguments is kept to be shown, in bytes; a line of a terminal shows less.
const ARGS_SHOWN: usize = 512;

/// The largest window of any preset: all detectors have room for it.
type Engine = Detector<'static, 64>;

/// One finding: a loop reached a rung of its ladder.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) rule: &'static str,
    pub(crate) finding: Finding,
    pub(crate) action: Action,
    pub(crate) tool: String,
    pub(crate) worker: String,
    /// Where it stands: calls, or messages for a finding about text.
    pub(crate) place: Place,
    pub(crate) message: String,
    /// The calls that prove it, as far back as they are still known.
    pub(crate) proof: Vec<Shown>,
}

impl Found {
    pub(crate) fn loop_id(&self) -> LoopId {
        self.finding.loop_id
    }
}

/// First, at, and last, counted from 0 among all calls or all messages of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Calls { first: usize, at: usize, last: usize },
    Messages { first: usize, at: usize },
}

/// What is kept of a call.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) index: usize,
    id: CallId,
    pub(crate) tool: String,
    pub(crate) args: String,
}

/// The detectors of one trace, and what they found.
pub(crate) struct Replay {
    preset: &'static Preset,
    workers: Vec<Worker>,
    /// Where each worker stands, by name.
    places: HashMap<String, usize>,
    /// In the order of the calls and messages at which they were found.
    pub(crate) found: Vec<Found>,
    /// How far each loop went on after its last rung: worker, loop, laps and last call.
    pub(crate) extent: HashMap<(String, LoopId), (u16, Place)>,
}

struct Worker {
    name: String,
    engine: Engine,
    /// The latest calls, oldest first.
    calls: VecDeque<Shown>,
    numbering: Numbering,
    /// The messages that were text-only turns, by turn.
    turns: Numbering,
    turn: u64,
}

impl Replay {
    pub(crate) fn new(preset: &'static Preset) -> Self {
        let (workers, places) = (Vec::new(), HashMap::new());
        Self { preset, workers, places, found: Vec::new(), extent: HashMap::new() }
    }

    /// Takes in one event of the trace.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Call(call) => self.call(call),
            Event::Outcome(outcome) => self.outcome(outcome),
            Event::Message(message) => self.message(message),
        }
    }

    /// The trace is over: what is still open will not be answered.
    pub(crate) fn finish(&mut self) {
        for place in 0..self.workers.len() {
            let worker = &mut self.workers[place];
            let verdict = worker.engine.finish();
            let at = worker.calls.back().map_or(0, |call| call.index);
            self.note(place, &verdict, at);
        }
        self.found.sort_by_key(|found| match found.place {
            Place::Calls { at, .. } | Place::Messages { at, .. } => at,
        });
    }

    /// The place of the worker called `name`, which may be new.
    fn place_of(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.workers.len();
        self.workers.push(Worker::new(name, self.preset));
        self.places.insert(name.to_owned(), place);
        place
    }

    fn call(&mut self, call: &Call<'_>) {
        let recipe = &self.preset.recipe;
        let (Args::Json(args) | Args::Text(args)) = call.args;
        let digests = recipe.call(call.tool, args).step(call.step);
        let place = self.place_of(call.worker);
        let worker = &mut self.workers[place];
        let announced = worker.engine.announce(digests);
        if let Some(seq) = announced.id.seq() {
            worker.numbering.set(seq, call.index);
        }
        if worker.calls.len() == KEPT_MAX {
            worker.calls.pop_front();
        }
        worker.calls.push_back(Shown {
            index: call.index,
            id: announced.id,
            tool: call.tool.to_owned(),
            args: beginning(args, ARGS_SHOWN).to_owned(),
        });
        self.note(place, &announced.settled, call.index);
        self.note(place, &announced.verdict, call.index);
    }

    fn outcome(&mut self, outcome: &Outcome<'_>) {
        let recipe = &self.preset.recipe;
        let digests = recipe.cut_outcome(outcome.text, outcome.cut, outcome.failed);
        let place = self.place_of(outcome.worker);
        let worker = &mut self.workers[place];
        let Ok(call) = worker.calls.binary_search_by_key(&outcome.call, |call| call.index) else {
            return;
        };
        let verdict = worker.engine.outcome(worker.calls[call].id, digests);
        let judged = verdict.finding.map(|finding| worker.numbering.index(finding.last));
        self.note(place, &verdict, judged.unwrap_or(outcome.call));
    }

    fn message(&mut self, message: &Message<'_>) {
        let text = self.preset.recipe.text(message.text);
        let place = self.place_of(message.worker);
        let worker = &mut self.workers[place];
        if message.role == Role::User {
            worker.engine.user_message(text);
        } else if message.text_only {
            worker.turns.set(worker.turn, message.index);
            worker.turn += 1;
            let verdict = worker.engine.text_turn(text);
            self.note(place, &verdict, message.index);
        }
    }

    /// Keeps a verdict that asks for something, at the call or message `at`: as a finding if its
    /// rung is a new one, else as the further course of its loop.
    fn note(&mut self, place: usize, verdict: &Verdict, at: usize) {
        let Some(finding) = verdict.finding.filter(|_| verdict.action > Action::Proceed) else {
            return;
        };
        let worker = &self.workers[place];
        let place = worker.place(&finding, at);
        let key = (worker.name.clone(), finding.loop_id);
        self.extent.insert(key, (finding.laps, place));
        if !verdict.fresh {
            return;
        }
        let proof = worker.proof(&finding);
        let tool = proof.last().map_or_else(String::new, |call| call.tool.clone());
        self.found.push(Found {
            rule: finding.rule_name(self.preset.policy),
            message: finding.nudge(verdict.action, &tool).to_string(),
            finding,
            action: verdict.action,
            tool,
            worker: worker.name.clone(),
            place,
            proof,
        });
    }
}

impl Worker {
    fn new(name: &str, preset: &'static Preset) -> Self {
        Self {
            name: name.to_owned(),
            // Every preset's window fits, as a test of this module shows.
            engine: Engine::new(preset.policy).expect("a window of at most 64"),
            calls: VecDeque::new(),
            numbering: Numbering::default(),
            turns: Numbering::default(),
            turn: 0,
        }
    }

    fn place(&self, finding: &Finding, at: usize) -> Place {
        if finding.kind == Kind::Text {
            return Place::Messages { first: self.turns.index(finding.first), at };
        }
        let (first, last) = (finding.first, finding.last);
        Place::Calls { first: self.numbering.index(first), at, last: self.numbering.index(last) }
    }

    fn proof(&self, finding: &Finding) -> Vec<Shown> {
        let calls = finding.calls().map(|seq| self.numbering.index(seq));
        let places = calls
            .filter_map(|index| self.calls.binary_search_by_key(&index, |call| call.index).ok());
        places.map(|place| self.calls[place].clone()).collect()
    }
}

/// As much of `text` as `bytes` hold, cut between characters.
fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    end.and_then(|end| text.get(..end)).unwrap_or("")
}

/// Which index each sequence number has: they run in step until another worker comes between.
#[derive(Default)]
struct Numbering {
    /// Where each stretch in step begins, rising.
    stretches: Vec<(u64, usize)>,
}

impl Numbering {
    /// `seq` has `index`; both rise from one call to the next.
    fn set(&mut self, seq: u64, index: usize) {
        if self.stretches.is_empty() || self.index(seq) != index {
            self.stretches.push((seq, index));
        }
    }

    fn index(&self, seq: u64) -> usize {
        let after = self.stretches.partition_point(|&(start, _)| start <= seq);
        let Some(&(start, index)) = after.checked_sub(1).and_then(|n| self.stretches.get(n)) else {
            return 0;
        };
        index + usize::try_from(seq - start).unwrap_or(usize::MAX - index)
    }
}

#[cfg(test)]
mod tests {
    use unstuck_text::PRESETS;

    use super::{Numbering, Worker};

    #[test]
    fn every_preset_fits_into_the_detector() {
        for preset in &PRESETS {
            assert_eq!(Worker::new("main", preset).engine.policy(), preset.policy);
        }
    }

    #[test]
    fn numbering_follows_interleaved_workers() {
        let indexes = [0, 1, 4, 5, 9, 10, 11];
        let mut numbering = Numbering::default();
        for (seq, index) in (0..).zip(indexes) {
            numbering.set(seq, index);
        }
        assert!((0..).zip(indexes).all(|(seq, index)| numbering.index(seq) == index));
        assert_eq!(numbering.stretches.len(), 3);
    }
}
