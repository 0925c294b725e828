//! Replays a trace through the engine, a detector for each worker.
//!
//! What a trace of any length takes is bounded, but for what was found in it, and for the steps of
//! a loop that is to be explained.

mod courses;
mod found;
#[cfg(test)]
mod guarded;
mod nearest;
mod numbering;
mod trail;
mod watch;
mod worker;

use std::collections::{HashMap, VecDeque};

use unstuck_core::{Action, Verdict};
use unstuck_text::Preset;
use unstuck_trace::{Call, Event, Message, Outcome};

use courses::{Courses, Now};
pub(crate) use found::{Findings, Found, Place, Shown, Warning};
pub(crate) use nearest::Nearest;
pub(crate) use trail::{Answer, Explained, Step, Wanted};
use watch::Told;
use worker::{Given, Worker};

/// How many workers are followed at a time; the one unseen for longest is finished first. More than
/// a swarm has, and as many as the trace tells apart.
const WORKERS_MAX: usize = 1024;

/// How many findings have their proof kept: a hundred times as many as a person is shown.
const PROVEN_MAX: usize = 1000;

/// The detectors of one trace, and what they found.
pub(crate) struct Replay {
    preset: &'static Preset,
    wanted: Option<Wanted>,
    workers: Vec<Worker>,
    /// Where each worker stands, by name.
    places: HashMap<String, usize>,
    /// How many workers there have been.
    workers_ever: u64,
    found: Vec<Found>,
    courses: Courses,
    explained: Vec<Explained>,
    measured: Measured,
    calls: usize,
    /// Counts the events, to tell which worker was unseen for longest.
    clock: u64,
}

impl Replay {
    pub(crate) fn new(preset: &'static Preset) -> Self {
        Self {
            preset,
            wanted: None,
            workers: Vec::new(),
            places: HashMap::new(),
            workers_ever: 0,
            found: Vec::new(),
            courses: Courses::default(),
            explained: Vec::new(),
            measured: Measured::No,
            calls: 0,
            clock: 0,
        }
    }

    /// Keeps what is needed to explain the loop that is `wanted`, if there is one.
    pub(crate) fn explaining(self, wanted: Option<Wanted>) -> Self {
        Self { wanted, ..self }
    }

    /// Keeps which rule comes nearest to a finding.
    pub(crate) fn measuring(self) -> Self {
        Self { measured: Measured::Yes(None), ..self }
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
        self.explained.sort_by_key(|one| one.steps.first().map(|step| step.shown.index));
        let nearest = match self.measured {
            Measured::No => None,
            Measured::Yes(nearest) => nearest,
        };
        Findings { found: self.found, ends: self.courses.ends, explained: self.explained, nearest }
    }

    /// The run is over: what follows has nothing to do with it.
    fn end_run(&mut self) {
        for place in 0..self.workers.len() {
            self.end(place);
        }
        self.workers.clear();
        self.places.clear();
        self.courses.end_run();
    }

    /// A worker's run is over.
    fn end(&mut self, place: usize) {
        let given = self.workers[place].finish();
        self.note_each(place, given);
        self.explained.extend(self.workers[place].explained());
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
        let worker = Worker::new(name, self.workers_ever, self.clock, self.preset);
        self.workers.push(worker.explaining(self.wanted));
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
        let place = self.place_of(call.worker);
        let given = self.workers[place].call(&self.preset.recipe, call);
        self.calls = call.index + 1;
        self.note_each(place, given);
        self.measure(place, call.index);
    }

    fn outcome(&mut self, outcome: &Outcome<'_>) {
        let Some(&place) = self.places.get(outcome.worker) else { return };
        let given = self.workers[place].outcome(&self.preset.recipe, outcome);
        self.note_each(place, given);
        self.measure(place, outcome.call);
    }

    fn message(&mut self, message: &Message<'_>) {
        let place = self.place_of(message.worker);
        let given = self.workers[place].message(&self.preset.recipe, message);
        self.note_each(place, given);
        self.measure(place, message.index);
    }

    /// Asks, where that is wanted, how near the rules are after the call or message `at`; once
    /// something was found, there is no need.
    fn measure(&mut self, place: usize, at: usize) {
        let Measured::Yes(nearest) = &mut self.measured else { return };
        if self.found.is_empty() {
            let near = self.workers[place].engine.nearness();
            *nearest = Nearest::of(*nearest, near, self.preset.policy, at);
        }
    }

    fn note_each(&mut self, place: usize, given: impl IntoIterator<Item = Given>) {
        let mut told = Told::Nothing;
        for (verdict, at) in given {
            if verdict.action > Action::Proceed {
                told = Told::Loop;
            }
            self.note(place, &verdict, at);
        }
        self.workers[place].watch(told);
    }

    /// Keeps a verdict that asks for something, at the call or message `at`: as a finding if its
    /// rung is a new one, else as the further course of its loop.
    fn note(&mut self, place: usize, verdict: &Verdict, at: usize) {
        let Some(finding) = verdict.finding.filter(|_| verdict.action > Action::Proceed) else {
            return;
        };
        // After as many calls as fill the window of each worker, a loop is over.
        let longest = usize::from(self.preset.policy.window()) * self.workers.len();
        let worker = &self.workers[place];
        let now = Now { calls: self.calls, longest };
        let course = (worker.number, finding.loop_id);
        let first_key = self.courses.ends.len();
        let Some(key) = self.courses.follow(course, verdict, at, now) else { return };
        let mut proof = worker.proof(&finding);
        let tool = proof.last().and_then(|call| call.tool.clone()).unwrap_or_default();
        let lap = worker.lap(&finding);
        let lap: Vec<&str> = lap.iter().map(String::as_str).collect();
        let message = finding.nudge(verdict.action, &tool).lap(&lap).to_string();
        if self.found.len() >= PROVEN_MAX {
            proof = Vec::new();
        }
        let place = worker.place(&finding, at);
        self.found.push(Found {
            rule: finding.rule_name(self.preset.policy),
            message,
            finding,
            action: verdict.action,
            tool,
            worker: worker.name.clone(),
            place,
            // Of a loop that was told before, everybody is warned.
            warning: if key == first_key { worker.warning(&finding) } else { None },
            proof,
            key,
            calls_before: match place {
                Place::Calls { at, .. } => at,
                Place::Messages { .. } => self.calls,
            },
        });
    }
}

/// Whether it is kept which rule came nearest to a finding, and which that is.
enum Measured {
    No,
    Yes(Option<Nearest>),
}

/// Adds `new`; of more than `most` the oldest leaves, and is given.
fn push<T>(queue: &mut VecDeque<T>, new: T, most: usize) -> Option<T> {
    let oldest = if queue.len() == most { queue.pop_front() } else { None };
    queue.push_back(new);
    oldest
}

#[cfg(test)]
mod tests {
    use unstuck_text::PRESETS;
    use unstuck_trace::Args;

    use super::*;

    /// Shows `replay` the call numbered `index`, of the step `step`.
    fn ask(replay: &mut Replay, worker: &str, index: usize, step: u64, args: &str) {
        let (tool, args) = ("bash", Args::Json(args));
        replay.take(&Event::Call(Call { index, worker, step, tool, args }));
    }

    /// Shows `replay` that the call numbered `call` came back.
    fn answer(replay: &mut Replay, worker: &str, call: usize) {
        let (text, failed, cut) = ("no", false, None);
        replay.take(&Event::Outcome(Outcome { call, worker, text, failed, cut }));
    }

    /// Shows `replay` the call numbered `index`, and that it came back.
    fn show(replay: &mut Replay, worker: &str, index: usize, args: &str) {
        ask(replay, worker, index, index as u64, args);
        answer(replay, worker, index);
    }

    #[test]
    fn each_loop_is_found_of_several_in_one_event() {
        let mut replay = Replay::new(&PRESETS[0]);
        for (index, args) in ["1", "1", "2", "2"].into_iter().enumerate() {
            show(&mut replay, "main", index, args);
        }
        ask(&mut replay, "main", 4, 4, "2");
        ask(&mut replay, "main", 5, 4, "1");
        // The later call waits for the earlier one, and both settle at once.
        answer(&mut replay, "main", 5);
        answer(&mut replay, "main", 4);
        let found = replay.finish().found;
        let rules = found.iter().map(|found| (found.rule, found.calls_before));
        assert_eq!(rules.collect::<Vec<_>>(), [("same-effect", 4), ("ragged-repeat", 5)]);
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
    fn every_loop_has_its_end_and_many_have_their_proof() {
        let loops = 3 * PROVEN_MAX;
        let mut replay = Replay::new(&PRESETS[0]);
        for n in 0..3 * loops {
            show(&mut replay, "main", n, &(n / 3).to_string());
        }
        let findings = replay.finish();
        assert_eq!(findings.found.len(), loops);
        let proven = findings.found.iter().filter(|found| !found.proof.is_empty());
        assert_eq!(proven.count(), PROVEN_MAX);
        let last = |found: &Found| findings.ends[found.key];
        assert!(findings.found.iter().map(last).eq((0..loops).map(|n| 3 * n + 2)));
    }
}
