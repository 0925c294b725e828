//! Replays a trace through the engine, with one detector for each worker.
//!
//! The memory for a trace of any length is bounded, if its findings are taken as they come, and except
//! for the steps of a loop that is to be explained.

mod checkpoint;
mod early_warning;
mod findings;
mod history;
mod picture;
mod worker;

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use unstuck_core::{Action, Verdict};
use unstuck_text::Preset;
use unstuck_trace::{Call, Event, Message, Outcome, WORKERS_MAX};

use checkpoint::Elapsed;
pub use checkpoint::ReplayCheckpoint;
use early_warning::Judged;
pub use early_warning::Nearest;
pub use findings::{Cause, Clue, Excerpt, Location, ReplayFinding, ResultLine};
pub use findings::{Findings, LoopKey, Warning};
pub use history::LoopPrefix;
pub use history::{CallResult, Explained, Step, Wanted};
use picture::Drawing;
pub use picture::{CALLS_MAX, Drawn, Ending, Picture};
use worker::{IdleWorker, VerdictAt, Worker};

/// The most workers whose engines are ready, at some 30 KB each. The others are idle, in less than 1 KB
/// if their runs are short. To make a worker idle and ready again takes ten times as long as a call.
const ACTIVE_MAX: usize = 1024;

/// The part of the active workers that become idle at once, so that they are seldom sorted.
const IDLE_PART: usize = 16;

/// The most bytes of idle workers. Beyond it, and beyond
/// [`WORKERS_MAX`], the worker that was idle longest is finished.
const IDLE_BYTES_MAX: usize = 256 << 20;

/// The most findings whose proof is kept: a hundred times as many as `scan` shows.
const PROVEN_MAX: usize = 1000;

/// The detectors of one trace, and their findings.
pub struct Replay {
    preset: &'static Preset,
    wanted: Option<Wanted>,
    /// The active workers. The first is active all the time if it is the only one.
    workers: Vec<Worker>,
    /// The idle workers, and what else a checkpoint has.
    state: ReplayCheckpoint,
    idle_bytes: usize,
    places: HashMap<Arc<str>, Place>,
    limits: Limits,
    findings: Vec<ReplayFinding>,
    explained: Vec<Explained>,
    measuring: Measuring,
    /// Nobody acts on the findings, so that their messages name no consequence.
    observes: bool,
    /// The drawing, if one is wanted.
    drawing: Option<Box<Drawing>>,
}

/// The place of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The index in the list of active workers.
    Active(usize),
    /// The key among the idle workers.
    Idle(u64),
}

/// The most workers of each kind.
#[derive(Clone, Copy)]
struct Limits {
    active: usize,
    workers: usize,
    idle_bytes: usize,
}

impl Replay {
    /// Begins to judge a run by `preset`.
    pub fn new(preset: &'static Preset) -> Self {
        Self {
            preset,
            wanted: None,
            workers: Vec::new(),
            state: ReplayCheckpoint::default(),
            idle_bytes: 0,
            places: HashMap::new(),
            limits: Limits { active: ACTIVE_MAX, workers: WORKERS_MAX, idle_bytes: IDLE_BYTES_MAX },
            findings: Vec::new(),
            explained: Vec::new(),
            measuring: Measuring::Off,
            observes: false,
            drawing: None,
        }
    }

    /// Keeps the steps of the loops that are `wanted`, if there are any.
    pub(crate) fn explaining(self, wanted: Option<Wanted>) -> Self {
        Self { wanted, ..self }
    }

    /// Keeps the rule that came nearest to a finding.
    #[must_use]
    pub fn measuring(self) -> Self {
        Self { measuring: Measuring::On(None), ..self }
    }

    /// Draws the calls.
    pub(crate) fn drawing(self) -> Self {
        Self { drawing: Some(Box::default()), ..self }
    }

    /// Takes in one event of the trace.
    pub fn take(&mut self, event: &Event<'_>) {
        self.state.clock += 1;
        match event {
            Event::Call(call) => self.call(call),
            Event::Outcome(outcome) => self.outcome(outcome),
            Event::Message(message) => self.message(message),
            Event::Begin(_) => self.end_run(),
            Event::Usage(_) | Event::Time(_) => {}
        }
    }

    /// Ends the trace and returns what was found.
    pub fn finish(mut self) -> Findings {
        self.end_run();
        self.findings.sort_by_key(|found| found.calls_before);
        self.explained.sort_by_key(|one| one.steps.first().map(|step| step.excerpt.index));
        let nearest = match self.measuring {
            Measuring::Off => None,
            Measuring::On(nearest) => nearest,
        };
        Findings {
            list: self.findings,
            ends: self.state.open_loops.ends,
            forgotten: self.state.forgotten,
            explained: self.explained,
            picture: self.drawing.map(|drawing| drawing.finish()),
            nearest,
        }
    }

    /// Returns the findings since the last time, in the order in which they were made. They are not
    /// among those of [`Replay::finish`].
    pub fn take_findings(&mut self) -> std::vec::Drain<'_, ReplayFinding> {
        self.findings.drain(..)
    }

    /// Forgets where a loop was found last.
    pub fn leave(&mut self, key: LoopKey) {
        self.state.open_loops.ends.remove(&key);
    }

    /// Ends the run. Later events belong to another run.
    fn end_run(&mut self) {
        while let Some((_, worker)) = self.state.idle.pop_first() {
            self.end_idle(worker);
        }
        for index in 0..self.workers.len() {
            self.end(index);
        }
        self.workers.clear();
        self.idle_bytes = 0;
        self.places.clear();
        self.state.open_loops.end_run();
    }

    /// Ends the run of one active worker.
    fn end(&mut self, index: usize) {
        let verdicts = self.workers[index].finish();
        self.note_each(index, verdicts);
        self.explained.extend(self.workers[index].explained());
    }

    /// Ends the run of a worker that was idle.
    fn end_idle(&mut self, worker: IdleWorker) {
        self.workers.push(worker.resume(self.preset));
        self.end(self.workers.len() - 1);
        self.workers.pop();
    }

    /// Returns the index of the active worker called `name`. Resumes it if it is idle, and adds it if it
    /// is new.
    fn place_of(&mut self, name: &str) -> usize {
        match self.places.get(name) {
            Some(&Place::Active(index)) => {
                self.workers[index].seen = self.state.clock;
                index
            }
            Some(&Place::Idle(key)) => {
                self.make_room();
                // The worker that made room may have been one too many.
                match self.state.idle.remove(&key) {
                    Some(worker) => {
                        self.idle_bytes -= worker.size();
                        self.activate(worker.resume(self.preset))
                    }
                    None => self.add(name),
                }
            }
            None => {
                if self.places.len() == self.limits.workers {
                    self.forget_stalest();
                }
                self.make_room();
                self.add(name)
            }
        }
    }

    fn add(&mut self, name: &str) -> usize {
        let worker = Worker::new(name.into(), self.state.workers_ever, self.preset);
        self.state.workers_ever += 1;
        self.activate(worker.explaining(self.wanted))
    }

    fn activate(&mut self, mut worker: Worker) -> usize {
        let index = self.workers.len();
        worker.seen = self.state.clock;
        self.places.insert(Arc::clone(&worker.name), Place::Active(index));
        self.workers.push(worker);
        index
    }

    /// Makes the active workers idle that had no event for longest, if there is no room for another.
    fn make_room(&mut self) {
        let room = self.workers.len();
        if room >= self.limits.active {
            self.idle_stalest((room / IDLE_PART).max(1));
        }
    }

    /// Makes the `count` active workers with the oldest latest events idle.
    fn idle_stalest(&mut self, count: usize) {
        self.workers.sort_unstable_by_key(|worker| Reverse(worker.seen));
        let stalest = self.workers.split_off(self.workers.len().saturating_sub(count));
        for (index, worker) in self.workers.iter().enumerate() {
            self.places.insert(Arc::clone(&worker.name), Place::Active(index));
        }
        for worker in stalest.into_iter().rev() {
            self.make_idle(worker);
        }
    }

    /// Keeps a worker that was active in little memory.
    fn make_idle(&mut self, worker: Worker) {
        let (key, worker) = (worker.seen, worker.idle());
        self.places.insert(Arc::clone(&worker.name), Place::Idle(key));
        self.idle_bytes += worker.size();
        self.state.idle.insert(key, worker);
        while self.idle_bytes > self.limits.idle_bytes && self.state.idle.len() > 1 {
            self.forget_stalest();
        }
    }

    /// Finishes the worker that had no event for longest.
    fn forget_stalest(&mut self) {
        let Some((_, worker)) = self.state.idle.pop_first() else { return };
        self.idle_bytes -= worker.size();
        self.places.remove(&worker.name);
        self.state.forgotten += 1;
        self.end_idle(worker);
    }

    fn call(&mut self, call: &Call<'_>) {
        let place = self.place_of(call.worker);
        let judged = self.workers[place].call(call);
        self.state.calls = call.index + 1;
        if let Some(drawing) = &mut self.drawing {
            drawing.call(&self.workers[place].name, call, judged.digests.digest());
        }
        self.note_each(place, judged.verdicts);
        self.measure(place, call.index);
    }

    fn outcome(&mut self, outcome: &Outcome<'_>) {
        if !self.places.contains_key(outcome.worker) {
            return;
        }
        let place = self.place_of(outcome.worker);
        let judged = self.workers[place].outcome(outcome);
        if let Some(drawing) = &mut self.drawing {
            drawing.outcome(outcome, judged.digests);
        }
        self.note_each(place, judged.verdicts);
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
        let longest = usize::from(self.preset.policy.window()) * self.places.len();
        let worker = &self.workers[place];
        let elapsed = Elapsed { calls: self.state.calls, longest };
        let id = (worker.number, finding.loop_id);
        let first_key = self.state.open_loops.count;
        let (key, rung) = self.state.open_loops.follow(id, verdict, at, elapsed);
        if let Some(drawing) = &mut self.drawing {
            drawing.evidence(key, worker.evidence(&finding));
        }
        let Some(is_first) = rung else { return };
        let mut proof = worker.proof(&finding);
        let tool = proof.last().and_then(|call| call.tool.clone()).unwrap_or_default();
        let lap = worker.lap(&finding);
        let lap: Vec<&str> = lap.iter().map(String::as_str).collect();
        let failing = worker.failing(&finding).unwrap_or_default();
        let cause = worker.cause(&finding);
        let told = if self.observes { Action::Nudge } else { verdict.action };
        let nudge = finding.nudge(told, &tool).lap(&lap).failing(&failing);
        let message = match &cause {
            // A run that ends leaves nothing to mend.
            Some(cause) if told < Action::StartOver => format!("{nudge} {}", cause.text),
            _ => nudge.to_string(),
        };
        if self.findings.len() >= PROVEN_MAX {
            proof = Vec::new();
        }
        let location = worker.location(&finding, at);
        if let (Some(drawing), Location::Calls { at, .. }) = (&mut self.drawing, location) {
            drawing.acted(at, verdict.action);
        }
        self.findings.push(ReplayFinding {
            rule: finding.rule_name(self.preset.policy),
            message,
            cause,
            finding,
            action: verdict.action,
            tool,
            worker: Arc::clone(&worker.name),
            location,
            // Only the first finding of a loop has an early warning.
            warning: if key == first_key { worker.warning(&finding) } else { None },
            proof,
            key,
            is_first,
            calls_before: match location {
                Location::Calls { at, .. } => at,
                Location::Messages { .. } => self.state.calls,
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
pub fn push<T>(queue: &mut VecDeque<T>, new: T, most: usize) -> Option<T> {
    let oldest = if queue.len() == most { queue.pop_front() } else { None };
    queue.push_back(new);
    oldest
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::BufReader;
    use std::path::Path;

    use unstuck_text::PRESETS;
    use unstuck_trace::{Args, Role, read};
    use walkdir::WalkDir;

    use super::*;

    /// Announces the call `index`, in the step `step`.
    fn ask(replay: &mut Replay, worker: &str, index: usize, step: u64, args: &str) {
        let (tool, args) = ("bash", Args::Json(args));
        replay.take(&Event::Call(Call { index, worker, step, tool, args }));
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

    /// Passes each recorded run and each preset to `each`.
    pub(super) fn each_run(mut each: impl FnMut(&Path, &'static Preset)) {
        let runs = WalkDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs"));
        for entry in runs.into_iter().map(|entry| entry.expect("a folder that can be listed")) {
            for preset in PRESETS.iter().filter(|_| entry.file_type().is_file()) {
                each(entry.path(), preset);
            }
        }
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

    /// Checks that every worker is where its place says.
    fn check_places(replay: &Replay) {
        let is_there = |(name, place): (&Arc<str>, &Place)| match place {
            Place::Active(index) => replay.workers[*index].name == *name,
            Place::Idle(key) => replay.state.idle[key].name == *name,
        };
        assert!(replay.places.iter().all(is_there));
        assert_eq!(replay.places.len(), replay.workers.len() + replay.state.idle.len());
        let bytes = replay.state.idle.values().map(IdleWorker::size).sum::<usize>();
        assert_eq!(replay.idle_bytes, bytes);
    }

    #[test]
    fn beyond_the_limit_the_longest_idle_worker_is_finished() {
        let mut replay = Replay::new(&PRESETS[0]);
        replay.limits = Limits { active: 5, workers: 50, ..replay.limits };
        for n in 0..200 {
            // One worker loops among others that come and go.
            let others = format!("w{n}");
            let (worker, args) = if n % 2 == 0 { ("main", "1") } else { (&*others, "2") };
            show(&mut replay, worker, n, args);
            check_places(&replay);
        }
        assert_eq!((replay.places.len(), replay.workers.len()), (50, 5));
        let findings = replay.finish();
        let found = findings.list;
        assert!(!found.is_empty() && found.iter().all(|found| &*found.worker == "main"));
        assert_eq!(findings.forgotten, 100 + 1 - 50);
    }

    #[test]
    fn hundreds_of_workers_in_turn_stay_ready() {
        let mut replay = Replay::new(&PRESETS[0]);
        (0..900).for_each(|n| show(&mut replay, &format!("w{}", n % 300), n, "1"));
        assert_eq!((replay.workers.len(), replay.state.idle.len()), (300, 0));
    }

    #[test]
    fn a_part_of_the_workers_becomes_idle_at_once() {
        let mut replay = Replay::new(&PRESETS[0]);
        replay.limits.active = 4 * IDLE_PART;
        for n in 0..1000 {
            show(&mut replay, &format!("w{}", n * n % 211), n, "1");
            check_places(&replay);
            let oldest = replay.workers.iter().map(|worker| worker.seen).min();
            assert!(replay.state.idle.last_key_value().map(|(seen, _)| *seen) < oldest);
        }
        assert!(!replay.state.idle.is_empty());
    }

    #[test]
    fn idle_workers_have_limited_memory() {
        let mut replay = Replay::new(&PRESETS[0]);
        replay.limits = Limits { active: 2, idle_bytes: 20_000, ..replay.limits };
        for n in 0..400 {
            show(&mut replay, &format!("w{}", n % 100), n, &"1".repeat(400));
            check_places(&replay);
            assert!(replay.idle_bytes <= 20_000);
        }
        assert!(replay.state.idle.len() > 5);
        assert!(replay.finish().forgotten > 300);
    }

    #[test]
    fn a_worker_that_was_idle_goes_on_as_if_it_had_not_been() {
        let (mut found, mut resumed) = (0, 0);
        each_run(|path, preset| {
            let mut replays = [Replay::new(preset), Replay::new(preset)];
            replays[1].limits.active = 1;
            let open = BufReader::new(File::open(path).expect("a file"));
            let mut interleaved = 0;
            read(open, None, &mut |event| {
                // Another worker comes between any two events.
                interleaved += 1;
                let (index, role, text) = (interleaved, Role::Assistant, "");
                let between = Message { index, worker: "between", role, text, text_only: false };
                for replay in &mut replays {
                    replay.take(&event);
                    replay.take(&Event::Message(between));
                }
                resumed += replays[1].state.idle.len();
            })
            .expect("a trace");
            let [active, idle] = replays.map(Replay::finish);
            assert_eq!(format!("{active:?}"), format!("{idle:?}"), "{}", path.display());
            found += active.list.len();
        });
        assert!(found > 40 && resumed > 1000, "{found} findings, {resumed} times idle");
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
        let last = |found: &ReplayFinding| findings.ends[&found.key];
        assert!(findings.list.iter().map(last).eq((0..loops).map(|n| 3 * n + 2)));
    }
}
