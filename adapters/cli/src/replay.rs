//! Replays a trace through the engine, a detector for each worker.
//!
//! What a trace of any length takes is bounded, but for what was found in it.

mod numbering;

use std::collections::{HashMap, VecDeque};

use unstuck_core::{Action, CallId, Detector, Finding, LoopId, RuleIndex, Verdict};
use unstuck_text::Preset;
use unstuck_trace::{Args, Call, Event, Message, Outcome, Role};

use numbering::Numbering;

/// How many calls of a worker are kept to be shown and to be answered: more than the engine's
/// window and its open calls together.
const KEPT_MAX: usize = 128;

/// How many workers are followed at a time; the one unseen for longest is finished first. More than
/// a swarm has, and as many as the trace tells apart.
const WORKERS_MAX: usize = 1024;

/// How many loops may be open before those are looked for that are over.
const COURSES_MIN: usize = 1024;

/// How many findings have their proof kept: a hundred times as many as a person is shown.
const PROVEN_MAX: usize = 1000;

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

/// One loop of one worker, numbered in the order of the first findings; the same loop a long time
/// after is another.
pub(crate) type LoopKey = usize;

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
    pub(crate) ends: Vec<usize>,
}

/// The detectors of one trace, and what they found.
pub(crate) struct Replay {
    preset: &'static Preset,
    workers: Vec<Worker>,
    /// Where each worker stands, by name.
    places: HashMap<String, usize>,
    /// How many workers there have been.
    workers_ever: u64,
    found: Vec<Found>,
    ends: Vec<usize>,
    /// The loops that may go on, by worker.
    courses: HashMap<(u64, LoopId), Course>,
    /// At how many of them those are looked for that are over.
    courses_max: usize,
    calls: usize,
    /// Counts the events, to tell which worker was unseen for longest.
    clock: u64,
}

/// How far a loop has got.
struct Course {
    key: LoopKey,
    /// How many calls there were when it was last found.
    last: usize,
    /// The rungs that were reached, a bit each: once a history is cleared, loops are found again.
    reached: u32,
}

struct Worker {
    name: String,
    /// Which one it is of all that there have been: names come again.
    number: u64,
    seen: u64,
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
            workers_ever: 0,
            found: Vec::new(),
            ends: Vec::new(),
            courses: HashMap::new(),
            courses_max: COURSES_MIN,
            calls: 0,
            clock: 0,
        }
    }

    /// Takes in one event of the trace.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        self.clock += 1;
        match event {
            Event::Call(call) => self.call(call),
            Event::Outcome(outcome) => self.outcome(outcome),
            Event::Message(message) => self.message(message),
            Event::Begin(_) => self.end_run(),
        }
    }

    /// The trace is over.
    pub(crate) fn finish(mut self) -> Findings {
        self.end_run();
        self.found.sort_by_key(|found| found.calls_before);
        Findings { found: self.found, ends: self.ends }
    }

    /// The run is over: what follows has nothing to do with it.
    fn end_run(&mut self) {
        for place in 0..self.workers.len() {
            self.end(place);
        }
        self.workers.clear();
        self.places.clear();
        self.courses.clear();
    }

    /// A worker's run is over: what is still open will not be answered.
    fn end(&mut self, place: usize) {
        let worker = &mut self.workers[place];
        let verdict = worker.engine.finish();
        let at = worker.calls.back().map_or(0, |call| call.shown.index);
        self.note(place, &verdict, at);
    }

    /// The place of the worker called `name`, which may be new.
    fn place_of(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            self.workers[place].seen = self.clock;
            return place;
        }
        if self.workers.len() == WORKERS_MAX {
            self.forget_stalest();
        }
        let place = self.workers.len();
        self.workers.push(Worker::new(name, self.workers_ever, self.clock, self.preset));
        self.workers_ever += 1;
        self.places.insert(name.to_owned(), place);
        place
    }

    fn forget_stalest(&mut self) {
        let stalest = (0..self.workers.len()).min_by_key(|&place| self.workers[place].seen);
        let Some(place) = stalest else { return };
        self.end(place);
        let forgotten = self.workers.swap_remove(place);
        self.places.remove(&forgotten.name);
        if let Some(moved) = self.workers.get(place) {
            self.places.insert(moved.name.clone(), place);
        }
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
        let Some(&place) = self.places.get(outcome.worker) else { return };
        let worker = &mut self.workers[place];
        let Some(call) = worker.kept(outcome.call) else { return };
        let verdict = worker.engine.outcome(call.id, digests);
        let judged = verdict.finding.map(|finding| worker.numbering.index(finding.last));
        self.note(place, &verdict, judged.unwrap_or(outcome.call));
    }

    fn message(&mut self, message: &Message<'_>) {
        let recipe = self.preset.recipe;
        let place = self.place_of(message.worker);
        let worker = &mut self.workers[place];
        if message.role == Role::User {
            worker.engine.user_message(recipe.message(message.text));
        } else if message.text_only && !message.text.trim().is_empty() {
            worker.turns.set(worker.turn, message.index);
            worker.turn += 1;
            push(&mut worker.texts, Shown::new(message.index, None, message.text), TEXTS_MAX);
            let verdict = worker.engine.text_turn(recipe.turn(message.text));
            self.note(place, &verdict, message.index);
        }
    }

    /// After how many calls a loop that was not found again is over: they have filled the window
    /// of each worker.
    fn course_calls(&self) -> usize {
        usize::from(self.preset.policy.window()) * self.workers.len()
    }

    /// Keeps the course of the loop that was found at `at`. Its key, if it has reached a rung for
    /// the first time.
    fn follow(
        &mut self,
        worker: u64,
        loop_id: LoopId,
        verdict: &Verdict,
        at: usize,
    ) -> Option<LoopKey> {
        let (calls, longest) = (self.calls, self.course_calls());
        self.forget_courses();
        let fresh = || Course { key: self.ends.len(), last: calls, reached: 0 };
        let course = self.courses.entry((worker, loop_id)).or_insert_with(fresh);
        if verdict.fresh && calls.saturating_sub(course.last) > longest {
            *course = fresh();
        }
        course.last = calls;
        let rung = 1_u32 << verdict.rung.min(31);
        let first = verdict.fresh && course.reached & rung == 0;
        if first {
            course.reached |= rung;
        }
        let key = course.key;
        match self.ends.get_mut(key) {
            Some(end) => *end = at,
            None => self.ends.push(at),
        }
        first.then_some(key)
    }

    /// Forgets the loops that are over, where there are many.
    fn forget_courses(&mut self) {
        if self.courses.len() >= self.courses_max {
            let (calls, longest) = (self.calls, self.course_calls());
            self.courses.retain(|_, course| calls.saturating_sub(course.last) <= longest);
            self.courses_max = COURSES_MIN.max(2 * self.courses.len());
        }
    }

    /// Keeps a verdict that asks for something, at the call or message `at`: as a finding if its
    /// rung is a new one, else as the further course of its loop.
    fn note(&mut self, place: usize, verdict: &Verdict, at: usize) {
        let Some(finding) = verdict.finding.filter(|_| verdict.action > Action::Proceed) else {
            return;
        };
        let number = self.workers[place].number;
        let Some(key) = self.follow(number, finding.loop_id, verdict, at) else { return };
        let worker = &self.workers[place];
        let mut proof = worker.proof(&finding);
        let tool = proof.last().and_then(|call| call.tool.clone()).unwrap_or_default();
        if self.found.len() >= PROVEN_MAX {
            proof = Vec::new();
        }
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
    fn new(name: &str, number: u64, seen: u64, preset: &'static Preset) -> Self {
        Self {
            name: name.to_owned(),
            number,
            seen,
            // No policy has a longer window, those from files included.
            engine: Engine::new(preset.policy).expect("a window of at most 64"),
            calls: VecDeque::new(),
            numbering: Numbering::default(),
            texts: VecDeque::new(),
            turns: Numbering::default(),
            turn: 0,
        }
    }

    fn place(&self, finding: &Finding, at: usize) -> Place {
        if matches!(finding.rule, RuleIndex::Text(_)) {
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
        if matches!(finding.rule, RuleIndex::Text(_)) {
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

#[cfg(test)]
mod tests {
    use unstuck_text::PRESETS;

    use super::*;

    /// Shows `replay` the call numbered `index`, and that it came back.
    fn show(replay: &mut Replay, worker: &str, index: usize, args: &str) {
        let (step, tool, args) = (index as u64, "bash", Args::Json(args));
        replay.take(&Event::Call(Call { index, worker, step, tool, args }));
        let (call, text, failed, cut) = (index, "no", false, None);
        replay.take(&Event::Outcome(Outcome { call, worker, text, failed, cut }));
    }

    #[test]
    fn every_preset_fits_into_the_detector() {
        for preset in &PRESETS {
            assert_eq!(Worker::new("main", 0, 0, preset).engine.policy(), preset.policy);
        }
    }

    #[test]
    fn of_many_workers_the_one_unseen_for_longest_is_finished() {
        let mut replay = Replay::new(&PRESETS[0]);
        for n in 0..3 * WORKERS_MAX {
            // One goes round and round among others that come and go.
            let others = format!("w{n}");
            let (worker, args) = if n % 2 == 0 { ("main", "1") } else { (&*others, "2") };
            show(&mut replay, worker, n, args);
            assert!(replay.workers.len() <= WORKERS_MAX);
            let places = replay.places.iter();
            assert!(
                n % 97 > 0 || places.clone().all(|(name, &at)| replay.workers[at].name == *name)
            );
        }
        assert_eq!(replay.places.len(), WORKERS_MAX);
        let found = replay.finish().found;
        assert!(!found.is_empty() && found.iter().all(|found| found.worker == "main"));
    }

    #[test]
    fn loops_that_are_over_are_forgotten() {
        let mut replay = Replay::new(&PRESETS[0]);
        for n in 0..3 * 3 * COURSES_MIN {
            show(&mut replay, "main", n, &(n / 3).to_string());
            assert!(replay.courses.len() <= COURSES_MIN);
        }
        let findings = replay.finish();
        assert_eq!(findings.found.len(), 3 * COURSES_MIN);
        let proven = findings.found.iter().filter(|found| !found.proof.is_empty());
        assert_eq!(proven.count(), PROVEN_MAX);
        let last = |found: &Found| findings.ends[found.key];
        assert!(findings.found.iter().map(last).eq((0..3 * COURSES_MIN).map(|n| 3 * n + 2)));
    }
}
