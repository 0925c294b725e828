//! Replays a trace through the engine, a detector for each worker.
//!
//! What a trace of any length takes is bounded, but for what was found in it, and for the steps of
//! a loop that is to be explained.

mod early_warning;
mod findings;
#[cfg(test)]
mod guarded;
mod history;
mod nearest;
mod numbering;
mod open_loops;
mod worker;

use std::collections::{HashMap, VecDeque};

use unstuck_core::{Action, Verdict};
use unstuck_text::Preset;
use unstuck_trace::{Call, Event, Message, Outcome};

use early_warning::Judged;
pub(crate) use findings::{Excerpt, Findings, Location, ReplayFinding, Warning};
pub(crate) use history::{CallResult, Explained, LoopPrefix, Step};
pub(crate) use nearest::Nearest;
use open_loops::{Elapsed, OpenLoops};
use worker::{VerdictAt, Worker};

/// How many workers are followed at a time; the one unseen for longest is finished first. More than
/// a swarm has, and as many as the trace tells apart.
const WORKERS_MAX: usize = 1024;

/// How many findings have their proof kept: a hundred times as many as a person is shown.
const PROVEN_MAX: usize = 1000;

/// The detectors of one trace, and what they found.
pub(crate) struct Replay {
    preset: &'static Preset,
    wanted: Option<LoopPrefix>,
    workers: Vec<Worker>,
    /// Where each worker stands, by name.
    places: HashMap<String, usize>,
    /// How many workers there have been.
    workers_ever: u64,
    findings: Vec<ReplayFinding>,
    open_loops: OpenLoops,
    explained: Vec<Explained>,
    measuring: Measuring,
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
            findings: Vec::new(),
            open_loops: OpenLoops::default(),
            explained: Vec::new(),
            measuring: Measuring::Off,
            calls: 0,
            clock: 0,
        }
    }

    /// Keeps what is needed to explain the loop that is `wanted`, if there is one.
    pub(crate) fn explaining(self, wanted: Option<LoopPrefix>) -> Self {
        Self { wanted, ..self }
    }

    /// Keeps which rule comes nearest to a finding.
    pub(crate) fn measuring(self) -> Self {
        Self { measuring: Measuring::On(None), ..self }
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
        self.findings.sort_by_key(|found| found.calls_before);
        self.explained.sort_by_key(|one| one.steps.first().map(|step| step.excerpt.index));
        let nearest = match self.measuring {
            Measuring::Off => None,
            Measuring::On(nearest) => nearest,
        };
        Findings {
            list: self.findings,
            ends: self.open_loops.ends,
            explained: self.explained,
            nearest,
        }
    }

    /// The run is over: what follows has nothing to do with it.
    fn end_run(&mut self) {
        for place in 0..self.workers.len() {
            self.end(place);
        }
        self.workers.clear();
        self.places.clear();
        self.open_loops.end_run();
    }

    /// A worker's run is over.
    fn end(&mut self, place: usize) {
        let verdicts = self.workers[place].finish();
        self.note_each(place, verdicts);
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
        let verdicts = self.workers[place].call(call);
        self.calls = call.index + 1;
        self.note_each(place, verdicts);
        self.measure(place, call.index);
    }

    fn outcome(&mut self, outcome: &Outcome<'_>) {
        let Some(&place) = self.places.get(outcome.worker) else { return };
        let verdicts = self.workers[place].outcome(outcome);
        self.note_each(place, verdicts);
        self.measure(place, outcome.call);
    }

    fn message(&mut self, message: &Message<'_>) {
        let place = self.place_of(message.worker);
        let verdicts = self.workers[place].message(message);
        self.note_each(place, verdicts);
        self.measure(place, message.index);
    }

    /// Asks, where that is wanted, how near the rules are after the call or message `at`; once
    /// something was found, there is no need.
    fn measure(&mut self, place: usize, at: usize) {
        let Measuring::On(nearest) = &mut self.measuring else { return };
        if self.findings.is_empty() {
            let near = self.workers[place].engine.detector.nearness();
            *nearest = Nearest::of(*nearest, near, self.preset.policy, at);
        }
    }

    fn note_each(&mut self, place: usize, verdicts: impl IntoIterator<Item = VerdictAt>) {
        let mut judged = Judged::Quiet;
        for (verdict, at) in verdicts {
            if verdict.action > Action::Proceed {
                judged = Judged::Loop;
            }
            self.note(place, &verdict, at);
        }
        self.workers[place].watch(judged);
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
        let elapsed = Elapsed { calls: self.calls, longest };
        let id = (worker.number, finding.loop_id);
        let first_key = self.open_loops.ends.len();
        let Some(key) = self.open_loops.follow(id, verdict, at, elapsed) else { return };
        let mut proof = worker.proof(&finding);
        let tool = proof.last().and_then(|call| call.tool.clone()).unwrap_or_default();
        if self.findings.len() >= PROVEN_MAX {
            proof = Vec::new();
        }
        let location = worker.location(&finding, at);
        self.findings.push(ReplayFinding {
            rule: finding.rule_name(self.preset.policy),
            message: finding.nudge(verdict.action, &tool).to_string(),
            finding,
            action: verdict.action,
            tool,
            worker: worker.name.clone(),
            location,
            // Of a loop that was told before, everybody is warned.
            warning: if key == first_key { worker.warning(&finding) } else { None },
            proof,
            key,
            calls_before: match location {
                Location::Calls { at, .. } => at,
                Location::Messages { .. } => self.calls,
            },
        });
    }
}

/// Whether it is kept which rule came nearest to a finding, and which that is.
enum Measuring {
    Off,
    On(Option<Nearest>),
}

/// Adds `new`; of more than `most` the oldest leaves, and is returned.
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
        let found = replay.finish().list;
        let rules = found.iter().map(|found| (found.rule, found.calls_before));
        assert_eq!(rules.collect::<Vec<_>>(), [("same-effect", 4), ("ragged-repeat", 5)]);
    }

    #[test]
    fn every_preset_fits_into_the_detector() {
        for preset in &PRESETS {
            assert_eq!(Worker::new("main", 0, 0, preset).engine.detector.policy(), preset.policy);
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
        let found = replay.finish().list;
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
        assert_eq!(findings.list.len(), loops);
        let proven = findings.list.iter().filter(|found| !found.proof.is_empty());
        assert_eq!(proven.count(), PROVEN_MAX);
        let last = |found: &ReplayFinding| findings.ends[found.key];
        assert!(findings.list.iter().map(last).eq((0..loops).map(|n| 3 * n + 2)));
    }
}
