//! Replays a trace through the engine, with one detector for each worker.
//!
//! The memory for a trace of any length is bounded, except for its findings and for the steps of a
//! loop that is to be explained.

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

/// The most workers that are followed at a time. Beyond it, the worker that was idle longest is
/// finished. A swarm has fewer workers than this.
const WORKERS_MAX: usize = 1024;

/// The most findings whose proof is kept: a hundred times as many as `scan` shows.
const PROVEN_MAX: usize = 1000;

/// The detectors of one trace, and their findings.
pub(crate) struct Replay {
    preset: &'static Preset,
    wanted: Option<LoopPrefix>,
    workers: Vec<Worker>,
    /// The index of each worker in `workers`, by name.
    places: HashMap<String, usize>,
    /// The number of workers so far.
    workers_ever: u64,
    findings: Vec<ReplayFinding>,
    open_loops: OpenLoops,
    explained: Vec<Explained>,
    measuring: Measuring,
    calls: usize,
    /// The number of events so far, which shows which worker was idle longest.
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

    /// Keeps the steps of the loop that is `wanted`, if there is one.
    pub(crate) fn explaining(self, wanted: Option<LoopPrefix>) -> Self {
        Self { wanted, ..self }
    }

    /// Keeps the rule that came nearest to a finding.
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

    /// Ends the trace and returns what was found.
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

    /// Ends the run. Later events belong to another run.
    fn end_run(&mut self) {
        for place in 0..self.workers.len() {
            self.end(place);
        }
        self.workers.clear();
        self.places.clear();
        self.open_loops.end_run();
    }

    /// Ends the run of one worker.
    fn end(&mut self, place: usize) {
        let verdicts = self.workers[place].finish();
        self.note_each(place, verdicts);
        self.explained.extend(self.workers[place].explained());
    }

    /// Returns the index of the worker called `name`, and adds it if it is new.
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

    /// Measures how near the rules are after the call or message `at`, if [`Replay::measuring`]
    /// asked for it and nothing was found so far.
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

    /// Keeps a verdict that asks for an action, at the call or message `at`. A new rung is a
    /// finding; any other verdict moves the end of its loop.
    fn note(&mut self, place: usize, verdict: &Verdict, at: usize) {
        let Some(finding) = verdict.finding.filter(|_| verdict.action > Action::Proceed) else {
            return;
        };
        // A loop is over after as many calls as fill the windows of all workers.
        let longest = usize::from(self.preset.policy.window()) * self.workers.len();
        let worker = &self.workers[place];
        let elapsed = Elapsed { calls: self.calls, longest };
        let id = (worker.number, finding.loop_id);
        let first_key = self.open_loops.ends.len();
        let Some(key) = self.open_loops.follow(id, verdict, at, elapsed) else { return };
        let mut proof = worker.proof(&finding);
        let tool = proof.last().and_then(|call| call.tool.clone()).unwrap_or_default();
        let lap = worker.lap(&finding);
        let lap: Vec<&str> = lap.iter().map(String::as_str).collect();
        let message = finding.nudge(verdict.action, &tool).lap(&lap).to_string();
        if self.findings.len() >= PROVEN_MAX {
            proof = Vec::new();
        }
        let location = worker.location(&finding, at);
        self.findings.push(ReplayFinding {
            rule: finding.rule_name(self.preset.policy),
            message,
            finding,
            action: verdict.action,
            tool,
            worker: worker.name.clone(),
            location,
            // Only the first finding of a loop has an early warning.
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

/// The nearest rule so far, if it is measured.
enum Measuring {
    Off,
    On(Option<Nearest>),
}

/// Adds `new` to a queue of at most `most` elements. Returns the oldest one if it had to leave.
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

    /// Announces the call `index`, in the step `step`.
    fn ask(replay: &mut Replay, worker: &str, index: usize, step: u64, args: &str) {
        let (tool, args, reworded) = ("bash", Args::Json(args), &[]);
        replay.take(&Event::Call(Call { index, worker, step, tool, args, reworded }));
    }

    /// Reports an outcome for the call `call`.
    fn answer(replay: &mut Replay, worker: &str, call: usize) {
        let (text, failed, cut, refused) = ("no", false, None, false);
        replay.take(&Event::Outcome(Outcome { call, worker, text, failed, cut, refused }));
    }

    /// Announces the call `index` and reports its outcome.
    fn show(replay: &mut Replay, worker: &str, index: usize, args: &str) {
        ask(replay, worker, index, index as u64, args);
        answer(replay, worker, index);
    }

    #[test]
    fn several_loops_in_one_event_are_all_found() {
        let mut replay = Replay::new(&PRESETS[0]);
        for (index, args) in ["1", "1", "2", "2"].into_iter().enumerate() {
            show(&mut replay, "main", index, args);
        }
        ask(&mut replay, "main", 4, 4, "2");
        ask(&mut replay, "main", 5, 4, "1");
        // The later call waits for the earlier one, and both settle together.
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
    fn beyond_the_limit_the_longest_idle_worker_is_finished() {
        let mut replay = Replay::new(&PRESETS[0]);
        for n in 0..3 * WORKERS_MAX {
            // One worker loops among others that come and go.
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
    fn every_loop_has_an_end_and_a_limited_number_has_a_proof() {
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
