//! A run as digests: read once, and judged by many policies with the same recipe.
//!
//! The first finding of a policy equals the first finding of a [replay](crate::replay). No text is
//! kept. Trying a policy takes a hundredth of the time of reading.

use std::collections::HashMap;

use unstuck_core::{Action, Call, Detector, Digest, Outcome, Policy, Tag, Turn, Verdict};
use unstuck_text::{Answer, Digester, Recipe, is_placeholder};
use unstuck_trace::{Event, Message, Role, read};

use crate::calibrate::labels::Count;
use crate::read::inputs::{self, Input};
use crate::read::progress::Progress;

/// The same size as the engine of a replay.
type Engine<'p> = Detector<'p, 64, 32>;

/// A run as digests.
#[derive(Debug)]
pub(crate) struct Digested {
    /// The steps of each worker. Workers of different runs in the same file are separate.
    workers: Vec<Vec<Step>>,
    count: Count,
}

/// An event for a detector.
#[derive(Debug)]
enum Step {
    /// The call with this index in the file.
    Call { call: Call, index: usize },
    /// The outcome of the worker's call at `place` among its calls.
    Outcome { place: usize, outcome: Outcome },
    /// The refusal of the worker's call at `place`.
    Refused { place: usize },
    /// A user message, after `calls_before` calls of the file.
    User { text: Digest, message: usize, calls_before: usize },
    /// A turn without a call, after `calls_before` calls of the file.
    Turn { turn: Turn, message: usize, calls_before: usize },
}

impl Digested {
    /// Reads `input`. The error says what is wrong with it.
    pub(crate) fn of(input: &Input, recipe: &Recipe, progress: &Progress) -> Result<Self, String> {
        let mut writer = Writer::new(*recipe);
        write_down(input, std::slice::from_mut(&mut writer), progress)?;
        Ok(writer.finish())
    }

    /// Reads `input` once and makes digests by each of the `recipes`.
    pub(crate) fn by_each(
        recipes: &[Recipe],
        input: &Input,
        progress: &Progress,
    ) -> Result<Vec<Self>, String> {
        let mut writers: Vec<Writer> = recipes.iter().copied().map(Writer::new).collect();
        write_down(input, &mut writers, progress)?;
        Ok(writers.into_iter().map(Writer::finish).collect())
    }

    /// Returns the number of calls, or of messages if there are no calls.
    pub(crate) fn count(&self) -> Count {
        self.count
    }

    /// Returns whether the agent did nothing that can be judged.
    pub(crate) fn is_empty(&self) -> bool {
        self.workers.iter().flatten().all(|step| matches!(step, Step::User { .. }))
    }

    /// Returns the first finding of `policy` that asks for a nudge or more: the index of its call,
    /// or of its message if there are no calls.
    pub(crate) fn first(&self, policy: &Policy<'_>) -> Option<usize> {
        self.workers.iter().filter_map(|steps| self.first_of(steps, policy)).min()
    }

    /// Returns the first finding in the steps of one worker.
    fn first_of(&self, steps: &[Step], policy: &Policy<'_>) -> Option<usize> {
        // No policy has a longer window, not even one from a file.
        let mut engine = Engine::new(policy).expect("a window of at most 64");
        let (mut ids, mut recorded, mut last) = (Vec::new(), Vec::new(), 0);
        let mut first: Option<usize> = None;
        let mut note = |verdict: &Verdict, at: usize| {
            if verdict.fresh && verdict.action >= Action::Nudge {
                first = Some(first.map_or(at, |first| first.min(at)));
            }
        };
        for step in steps {
            match *step {
                Step::Call { call, index } => {
                    let (id, verdict) = engine.announce_each(call, |verdict| note(&verdict, index));
                    note(&verdict, index);
                    ids.push(id);
                    // Sequence numbers count recorded calls only.
                    recorded.extend(id.seq().map(|_| index));
                    last = index;
                }
                Step::Outcome { place, outcome } => {
                    engine.outcome_each(ids[place], outcome, |verdict| {
                        note(&verdict, judged(&verdict, &recorded).unwrap_or(last));
                    });
                }
                Step::Refused { place } => engine.vetoed_each(ids[place], |verdict| {
                    note(&verdict, judged(&verdict, &recorded).unwrap_or(last));
                }),
                Step::User { text, message, calls_before } => {
                    let at = self.count.index(calls_before, Some(message));
                    note(&engine.user_message(text), at);
                }
                Step::Turn { turn, message, calls_before } => {
                    let at = self.count.index(calls_before, Some(message));
                    note(&engine.text_turn(turn), at);
                }
            }
        }
        engine.finish_each(|verdict| note(&verdict, last));
        first
    }
}

fn write_down(input: &Input, writers: &mut [Writer], progress: &Progress) -> Result<(), String> {
    let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
    let mut take = |event: Event<'_>| writers.iter_mut().for_each(|writer| writer.take(&event));
    read(reader, None, &mut take).map(|_| ()).map_err(|problem| problem.to_string())
}

/// Returns the index of the call that the verdict is about.
fn judged(verdict: &Verdict, recorded: &[usize]) -> Option<usize> {
    let seq = usize::try_from(verdict.finding?.last).ok()?;
    recorded.get(seq).copied()
}

/// Collects the steps of each worker.
struct Writer {
    recipe: Recipe,
    workers: HashMap<String, WorkerSteps>,
    ended: Vec<Vec<Step>>,
    calls: usize,
    messages: usize,
}

/// The steps of one worker so far.
struct WorkerSteps {
    steps: Vec<Step>,
    digester: Box<Digester>,
    calls: usize,
    /// The calls without an outcome, by index: their places, kinds and tools.
    open: HashMap<usize, (usize, Tag, String)>,
}

impl Writer {
    fn new(recipe: Recipe) -> Self {
        Self { recipe, workers: HashMap::new(), ended: Vec::new(), calls: 0, messages: 0 }
    }

    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Call(call) => {
                self.calls = call.index + 1;
                self.worker(call.worker).call(call);
            }
            Event::Outcome(outcome) => {
                if let Some(worker) = self.workers.get_mut(outcome.worker) {
                    worker.outcome(outcome);
                }
            }
            Event::Message(message) => {
                self.messages = message.index + 1;
                let calls = self.calls;
                self.worker(message.worker).message(message, calls);
            }
            Event::Begin(_) => self.end_run(),
            Event::Usage(_) | Event::Time(_) => {}
        }
    }

    fn worker(&mut self, name: &str) -> &mut WorkerSteps {
        let recipe = self.recipe;
        self.workers.entry(name.to_owned()).or_insert_with(|| WorkerSteps::new(recipe))
    }

    fn end_run(&mut self) {
        self.ended.extend(self.workers.drain().map(|(_, worker)| worker.steps));
    }

    fn finish(mut self) -> Digested {
        self.end_run();
        Digested { workers: self.ended, count: Count::of(self.calls, self.messages) }
    }
}

impl WorkerSteps {
    fn new(recipe: Recipe) -> Self {
        let digester = Box::new(Digester::new(recipe));
        Self { steps: Vec::new(), digester, calls: 0, open: HashMap::new() }
    }

    fn call(&mut self, call: &unstuck_trace::Call<'_>) {
        let digests = self.digester.call(call.tool, &call.lasting_args()).step(call.step);
        self.steps.push(Step::Call { call: digests, index: call.index });
        self.open.insert(call.index, (self.calls, digests.kind(), call.tool.to_owned()));
        self.calls += 1;
    }

    fn outcome(&mut self, outcome: &unstuck_trace::Outcome<'_>) {
        let Some((place, kind, tool)) = self.open.remove(&outcome.call) else { return };
        // A placeholder stands for a result that the model no longer sees. A replay skips it, too.
        if is_placeholder(outcome.text) {
            return;
        }
        if outcome.refused {
            self.steps.push(Step::Refused { place });
            return;
        }
        let answer =
            Answer { cut: outcome.cut, kind, ..Answer::new(&tool, outcome.text, outcome.failed) };
        let outcome = self.digester.outcome(&answer);
        self.steps.push(Step::Outcome { place, outcome });
    }

    fn message(&mut self, message: &Message<'_>, calls_before: usize) {
        if message.role == Role::User {
            let text = self.digester.message(message.text);
            self.steps.push(Step::User { text, message: message.index, calls_before });
        } else if message.text_only && !message.text.trim().is_empty() {
            let turn = self.digester.turn(message.text);
            self.steps.push(Step::Turn { turn, message: message.index, calls_before });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use unstuck_text::{PRESETS, Preset};
    use unstuck_trace::{Args, Begin, Call, Outcome};
    use walkdir::WalkDir;

    use super::*;
    use crate::replay::{Location, Replay};

    /// Returns the first finding of a replay, as [`Digested::first`] does.
    fn replayed(
        preset: &'static Preset,
        count: Count,
        events: impl FnOnce(&mut Replay),
    ) -> Option<usize> {
        let mut replay = Replay::new(preset);
        events(&mut replay);
        let found = replay.finish().list.into_iter();
        let first = found.filter(|found| found.action >= Action::Nudge).map(|found| {
            let message = match found.location {
                Location::Messages { at, .. } => Some(at),
                Location::Calls { .. } => None,
            };
            count.index(found.calls_before, message)
        });
        first.min()
    }

    #[test]
    fn a_recorded_run_is_judged_as_a_replay_judges_it() {
        let runs = WalkDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs"));
        let mut found = 0;
        for entry in runs.into_iter().map(|entry| entry.expect("a folder that can be listed")) {
            let input = Input::File(entry.path().to_owned());
            for preset in PRESETS.iter().filter(|_| entry.file_type().is_file()) {
                let progress = Progress::of([]);
                let Ok(run) = Digested::of(&input, &preset.recipe, &progress) else { continue };
                let expected = replayed(preset, run.count(), |replay| {
                    let reader = input.open(&progress).expect("a file");
                    read(reader, None, &mut |event| replay.take(&event)).expect("a trace");
                });
                assert_eq!(run.first(preset.policy), expected, "{}", input.name());
                found += usize::from(expected.is_some());
            }
        }
        assert!(found > 20, "only {found} findings");
    }

    /// An event: the worker is one of two, then the kind and a variation.
    type TestEvent = (bool, u8, u8);

    /// Passes a run with these events to `sink`. The calls of a step are answered in any order,
    /// some never.
    fn emit(events: &[TestEvent], mut sink: impl FnMut(Event<'_>)) {
        let (mut calls, mut messages, mut step) = (Vec::new(), 0, 0);
        for &(second, what, how) in events {
            let worker = if second { "second" } else { "main" };
            let texts = ["no", "ok", "", "5 failed", "[output truncated to save context]"];
            let text = texts[usize::from(how) % texts.len()];
            let tool = ["bash", "read"][usize::from(how / 4 % 2)];
            match what {
                0..=9 => {
                    step += u64::from(what > 2);
                    let index = calls.len();
                    calls.push((worker, true));
                    let (args, reworded) = (Args::Json("[1]"), &[]);
                    sink(Event::Call(Call { index, worker, step, tool, args, reworded }));
                }
                10..=18 => {
                    let open = calls.iter().enumerate().filter(|(_, (_, open))| *open);
                    let open: Vec<usize> = open.map(|(index, _)| index).collect();
                    let Some(&call) = open.get(usize::from(how) % open.len().max(1)) else {
                        continue;
                    };
                    calls[call].1 = false;
                    let failed = how % 2 == 0;
                    let worker = calls[call].0;
                    let (cut, refused) = (None, how == 7);
                    sink(Event::Outcome(Outcome { call, worker, text, failed, cut, refused }));
                }
                19..=22 => {
                    let role = if what == 19 && how == 0 { Role::User } else { Role::Assistant };
                    let (index, text_only) = (messages, true);
                    messages += 1;
                    sink(Event::Message(Message { index, worker, role, text, text_only }));
                }
                _ => sink(Event::Begin(Begin { session: None })),
            }
        }
    }

    proptest! {
        #[test]
        fn any_run_is_judged_as_a_replay_judges_it(
            events in vec((prop::bool::weighted(0.2), 0..24_u8, 0..8_u8), 0..80),
        ) {
            for preset in &PRESETS {
                let mut writer = Writer::new(preset.recipe);
                emit(&events, |event| writer.take(&event));
                let run = writer.finish();
                let expected = replayed(preset, run.count(), |replay| {
                    emit(&events, |event| replay.take(&event));
                });
                prop_assert_eq!(run.first(preset.policy), expected, "{}", preset.policy.name());
            }
        }
    }
}
