//! Replays a trace through the engine, a detector for each worker.

use std::collections::{HashMap, HashSet, VecDeque};

use unstuck_core::{Action, CallId, Detector, Finding, Kind, LoopId, Verdict};
use unstuck_text::Preset;
use unstuck_trace::{Args, Call, Event, Message, Outcome, Role};

/// How many calls of a worker are kept to be shown and to be answered: more than the engine's
/// window and its open calls together.
const KEPT_MAX: usize = 128;

/// How many text-only turns of a worker are kept to be shown.
const TEXTS_MAX: usize = 8;

/// How much of arguments or a text is kept to be shown, in bytes; a line of a terminal shows less.
const TEXT_SHOWN: usize = 512;

/// Room for the largest window, and for more calls issued together than any agent was seen to.
type Engine = Detector<'static, 64, 32>;

/// One finding: a loop reached a rung of its ladder for the first time.
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
    /// The calls or turns that prove it, as far back as they are still known.
    pub(crate) proof: Vec<Shown>,
    /// Which loop of which worker it is.
    pub(crate) key: LoopKey,
    /// How many calls of the file came before it, to put findings in order.
    pub(crate) calls_before: usize,
}

/// One loop of one worker, by the worker's place; the same loop a long time after is another.
pub(crate) type LoopKey = (usize, LoopId, u32);

/// First, at, and last, counted from 0 among all calls or all messages of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Calls { first: usize, at: usize, last: usize },
    Messages { first: usize, at: usize },
}

/// What is shown of a call, or of a turn of text.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) index: usize,
    /// None for a turn.
    pub(crate) tool: Option<String>,
    /// The beginning of the arguments, or of the text.
    pub(crate) text: String,
}

/// What is kept of a call.
struct Kept {
    id: CallId,
    shown: Shown,
}

/// What was found in one trace.
#[derive(Debug)]
pub(crate) struct Findings {
    /// In the order of the calls and messages at which they were found.
    pub(crate) found: Vec<Found>,
    /// The last call or message at which each loop was found.
    pub(crate) ends: HashMap<LoopKey, usize>,
}

/// The detectors of one trace, and what they found.
pub(crate) struct Replay {
    preset: &'static Preset,
    workers: Vec<Worker>,
    /// Where each worker stands, by name.
    places: HashMap<String, usize>,
    found: Vec<Found>,
    ends: HashMap<LoopKey, usize>,
    /// How often each loop has begun, and how many calls there were when it was last found.
    stretches: HashMap<(usize, LoopId), (u32, usize)>,
    /// The rungs that were reached: once a history is cleared, loops are found again.
    reached: HashSet<(LoopKey, u8)>,
    calls: usize,
}

struct Worker {
    name: String,
    engine: Engine,
    /// The latest calls, oldest first.
    calls: VecDeque<Kept>,
    numbering: Numbering,
    /// The latest text-only turns, oldest first.
    texts: VecDeque<Shown>,
    /// The messages that were text-only turns, by turn.
    turns: Numbering,
    turn: u64,
}

impl Replay {
    pub(crate) fn new(preset: &'static Preset) -> Self {
        Self {
            preset,
            workers: Vec::new(),
            places: HashMap::new(),
            found: Vec::new(),
            ends: HashMap::new(),
            stretches: HashMap::new(),
            reached: HashSet::new(),
            calls: 0,
        }
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
    pub(crate) fn finish(mut self) -> Findings {
        for place in 0..self.workers.len() {
            let worker = &mut self.workers[place];
            let verdict = worker.engine.finish();
            let at = worker.calls.back().map_or(0, |call| call.shown.index);
            self.note(place, &verdict, at);
        }
        self.found.sort_by_key(|found| found.calls_before);
        Findings { found: self.found, ends: self.ends }
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
        let shown = Shown::new(call.index, Some(call.tool), args);
        push(&mut worker.calls, Kept { id: announced.id, shown }, KEPT_MAX);
        self.calls = call.index + 1;
        self.note(place, &announced.settled, call.index);
        self.note(place, &announced.verdict, call.index);
    }

    fn outcome(&mut self, outcome: &Outcome<'_>) {
        let recipe = &self.preset.recipe;
        let digests = recipe.cut_outcome(outcome.text, outcome.cut, outcome.failed);
        let place = self.place_of(outcome.worker);
        let worker = &mut self.workers[place];
        let Some(call) = worker.kept(outcome.call) else { return };
        let verdict = worker.engine.outcome(call.id, digests);
        let judged = verdict.finding.map(|finding| worker.numbering.index(finding.last));
        self.note(place, &verdict, judged.unwrap_or(outcome.call));
    }

    fn message(&mut self, message: &Message<'_>) {
        let text = self.preset.recipe.text(message.text);
        let place = self.place_of(message.worker);
        let worker = &mut self.workers[place];
        if message.role == Role::User {
            worker.engine.user_message(text);
        } else if message.text_only && !message.text.trim().is_empty() {
            worker.turns.set(worker.turn, message.index);
            worker.turn += 1;
            push(&mut worker.texts, Shown::new(message.index, None, message.text), TEXTS_MAX);
            let verdict = worker.engine.text_turn(text);
            self.note(place, &verdict, message.index);
        }
    }

    /// The loop that was found, begun anew if more calls than fit into a window have passed.
    fn key(&mut self, place: usize, finding: &Finding) -> LoopKey {
        let window = usize::from(self.preset.policy.window());
        let calls = self.calls;
        let (stretch, last) = self.stretches.entry((place, finding.loop_id)).or_insert((0, calls));
        if calls.saturating_sub(*last) > window * self.workers.len() {
            *stretch += 1;
        }
        *last = calls;
        (place, finding.loop_id, *stretch)
    }

    /// Keeps a verdict that asks for something, at the call or message `at`: as a finding if its
    /// rung is a new one, else as the further course of its loop.
    fn note(&mut self, place: usize, verdict: &Verdict, at: usize) {
        let Some(finding) = verdict.finding.filter(|_| verdict.action > Action::Proceed) else {
            return;
        };
        let key = self.key(place, &finding);
        let worker = &self.workers[place];
        self.ends.insert(key, at);
        if !verdict.fresh || !self.reached.insert((key, verdict.rung)) {
            return;
        }
        let proof = worker.proof(&finding);
        let tool = proof.last().and_then(|call| call.tool.clone()).unwrap_or_default();
        let place = worker.place(&finding, at);
        self.found.push(Found {
            rule: finding.rule_name(self.preset.policy),
            message: finding.nudge(verdict.action, &tool).to_string(),
            finding,
            action: verdict.action,
            tool,
            worker: worker.name.clone(),
            place,
            proof,
            key,
            calls_before: match place {
                Place::Calls { at, .. } => at,
                Place::Messages { .. } => self.calls,
            },
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
            texts: VecDeque::new(),
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

    fn kept(&self, index: usize) -> Option<&Kept> {
        let place = self.calls.binary_search_by_key(&index, |call| call.shown.index).ok()?;
        self.calls.get(place)
    }

    fn proof(&self, finding: &Finding) -> Vec<Shown> {
        if finding.kind == Kind::Text {
            let turns = usize::from(finding.laps).min(self.texts.len());
            return self.texts.iter().skip(self.texts.len() - turns).cloned().collect();
        }
        let calls = finding.calls().map(|seq| self.numbering.index(seq));
        calls.filter_map(|index| Some(self.kept(index)?.shown.clone())).collect()
    }
}

impl Shown {
    fn new(index: usize, tool: Option<&str>, text: &str) -> Self {
        let text = beginning(text, TEXT_SHOWN).to_owned();
        Self { index, tool: tool.map(str::to_owned), text }
    }
}

/// Adds `new`; of more than `most` the oldest leaves.
fn push<T>(queue: &mut VecDeque<T>, new: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(new);
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
