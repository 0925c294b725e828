//! One input, read and judged: its numbers, and its first loops, which are collected meanwhile.

use std::io::BufRead;

use unstuck_core::Action;
use unstuck_text::Preset;
use unstuck_trace::{Event, Format, Problem, Trace, WORKERS_MAX, read};

use crate::baseline::Baseline;
use crate::cost::{Cost, Meter, Price};
use crate::effect::{Course, NoteEffect};
use crate::parts::Needs;
use crate::replay::{Explained, Findings, LoopKey, Picture, Replay, ReplayFinding};
use crate::shown::{counted, plain};
use crate::spool::OpenDisk;

/// The settings for reading and judging an input, and the parts of it that the report keeps.
#[derive(Clone, Copy)]
pub struct Settings {
    /// The format of the input, or `None` to detect it.
    pub from: Option<Format>,
    /// The policy to judge by.
    pub preset: &'static Preset,
    /// The same policy without silenced loops, if those that are found have to be reported.
    pub unsilenced: Option<&'static Preset>,
    /// The price of tokens, for the cost in dollars.
    pub price: Option<Price>,
    /// The parts of the findings to keep.
    pub needs: Needs,
    /// The former scan to compare with.
    pub baseline: Option<&'static Baseline>,
    /// Opens a file for findings that would take too much memory. Without it, all stay in memory.
    pub disk: Option<OpenDisk>,
}

impl Settings {
    /// Returns the settings for runs whose format is detected, and which are judged by `preset`.
    pub const fn new(preset: &'static Preset, needs: Needs) -> Self {
        let (from, unsilenced, price, baseline, disk) = (None, None, None, None, None);
        Self { from, preset, unsilenced, price, needs, baseline, disk }
    }
}

/// One input, read and judged.
pub struct Report {
    /// The name of the input.
    pub path: String,
    /// The summary of the input.
    pub trace: Trace,
    /// The findings.
    pub judged: JudgedInput,
    /// The steps of the wanted loops.
    pub explained: Vec<Explained>,
    /// The calls as they are drawn, if [`Needs::picture`] asks for it.
    pub picture: Option<Picture>,
    /// The cost of the run.
    pub cost: Cost,
    /// What the agent did after each finding of the loops that are kept. It is empty unless [`Needs::effects`] asks for it,
    /// or the calls are drawn and the file has a message of this project.
    pub effects: Vec<NoteEffect>,
    /// Whether [`Needs::effects`] asks for the effects.
    pub(crate) needs_effects: bool,
    /// The number of workers that were not followed to their end, because there were too many.
    pub forgotten: usize,
}

impl Report {
    /// Reads the input called `path` and judges it.
    ///
    /// # Errors
    ///
    /// The input cannot be read, is empty or of another format, or fails before its first record.
    pub fn read(
        path: String,
        input: impl BufRead,
        settings: &Settings,
        observer: &mut impl Observer,
    ) -> Result<Self, Problem> {
        let needs = settings.needs;
        let mut replay = Replay::new(settings.preset).explaining(needs.wanted());
        if needs.picture {
            replay = replay.drawing();
        }
        let mut judged = JudgedInput::new(needs.loops);
        let mut meter = Meter::new(settings.price);
        let mut course = (needs.effects || needs.picture).then(Course::default);
        let mut take = |event: Event<'_>| {
            if let Some(course) = &mut course {
                course.take(&event);
            }
            meter.take(&event);
            replay.take(&event);
            judged.take_from(&mut replay, observer);
            if judged.worst > Action::Proceed {
                meter.found();
            }
            observer.event(&event);
        };
        let trace = read(input, settings.from, &mut take)?;
        let Findings { list, ends, explained, forgotten, picture, .. } = replay.finish();
        judged.finish(list, |key| ends.get(&key).copied(), observer);
        if judged.worst > Action::Proceed {
            meter.found();
        }
        let effects = course.map(|course| course.effects(&judged.loops.shown, &trace.notes));
        let mut effects = effects.unwrap_or_default();
        if !needs.effects && !effects.iter().any(|one| one.told) {
            effects.clear();
        }
        Ok(Self {
            path,
            effects,
            needs_effects: needs.effects,
            judged,
            explained,
            picture,
            cost: meter.finish(),
            forgotten: forgotten.max(trace.forgotten),
            trace,
        })
    }

    /// Returns the result in one word.
    pub fn status(&self) -> &'static str {
        match self.judged.worst {
            Action::Proceed if self.incomplete().is_some() => "partly",
            Action::Proceed if self.is_empty() => "empty",
            Action::Proceed => "clean",
            _ => "stuck",
        }
    }

    /// Returns the reason why loops may be missing, in one line. `None` if the whole input was read.
    pub fn incomplete(&self) -> Option<String> {
        let Trace { skipped, problems, .. } = &self.trace;
        if self.forgotten > 0 {
            return Some(too_many_workers(self.forgotten));
        }
        let first = problems.first().map_or_else(String::new, |first| format!(": {first}"));
        let first = plain(&first);
        (*skipped > 0).then(|| format!("{} could not be read{first}", counted(*skipped, "record")))
    }

    /// Returns a remark on the calls whose arguments the recording left out, if there are any.
    pub fn without_content(&self) -> Option<String> {
        let Trace { without_args, calls, .. } = self.trace;
        let which = match without_args {
            0 => return None,
            n if n == calls => "no arguments recorded".to_owned(),
            n => format!("{} without arguments", counted(n, "call")),
        };
        Some(format!("{which}: judged by tool names and failures alone"))
    }

    /// Returns the remark that the input has no call, if that is so. It may be of another format.
    pub fn without_calls(&self) -> Option<String> {
        let format = self.trace.format;
        self.is_empty().then(|| {
            format!("no call was found, reading it as {format}; `--from` names another format")
        })
    }

    /// Returns whether there was nothing to judge: no call, and no finding about text.
    pub fn is_empty(&self) -> bool {
        self.trace.calls == 0 && self.judged.worst == Action::Proceed
    }
}

/// Returns the message that `forgotten` workers were not followed to their end.
pub fn too_many_workers(forgotten: usize) -> String {
    let workers = counted(forgotten, "worker");
    format!(
        "{workers} had to be forgotten: at most {WORKERS_MAX} are followed at a time, or fewer with long \
         histories. Loops may be missing, and a worker that returned is counted again. Split the file by \
         worker"
    )
}

/// The findings of one input.
pub struct JudgedInput {
    /// The strongest action of all findings.
    pub worst: Action,
    /// The first loops.
    pub loops: Loops,
}

/// The first loops of an input.
#[derive(Default)]
pub struct Loops {
    /// The most loops to keep.
    most: usize,
    /// In the order of their first findings.
    pub shown: Vec<Loop>,
    /// The number of all loops.
    pub count: usize,
}

/// The findings of one loop, at least one: one for each rung that it reached.
pub struct Loop {
    /// The findings, in order.
    pub rungs: Vec<ReplayFinding>,
    /// The last call or message at which it was found.
    pub(crate) end: Option<usize>,
    /// Whether the baseline has the loop, if there is a baseline.
    pub novelty: Option<Novelty>,
}

/// Whether a baseline has a loop that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// The baseline does not have the loop.
    New,
    /// The baseline has it.
    Again,
}

/// Looks at a run while it is judged.
pub trait Observer {
    /// Looks at an event, after the run has taken it in.
    fn event(&mut self, _event: &Event<'_>) {}

    /// Looks at a finding. Returns whether the baseline has its loop, if there is a baseline.
    fn found(&mut self, found: &ReplayFinding) -> Option<bool>;
}

impl JudgedInput {
    /// Keeps at most this many loops.
    pub fn new(most: usize) -> Self {
        Self { worst: Action::Proceed, loops: Loops { most, ..Loops::default() } }
    }

    /// Takes the findings that `replay` made since the last time, and shows them to `observer`.
    pub fn take_from(&mut self, replay: &mut Replay, observer: &mut impl Observer) {
        let mut left = Vec::new();
        for found in replay.take_findings() {
            left.extend(self.take(found, observer));
        }
        for key in left {
            replay.leave(key);
        }
    }

    /// Takes a finding. Returns a loop whose end does not matter.
    fn take(&mut self, found: ReplayFinding, observer: &mut impl Observer) -> Option<LoopKey> {
        self.worst = self.worst.max(found.action);
        let novelty = observer.found(&found).map(Novelty::of);
        self.loops.take(found, novelty)
    }

    /// Takes the last findings and the ends of the loops.
    pub fn finish(
        &mut self,
        findings: Vec<ReplayFinding>,
        end: impl Fn(LoopKey) -> Option<usize>,
        observer: &mut impl Observer,
    ) {
        for found in findings {
            self.take(found, observer);
        }
        for one in &mut self.loops.shown {
            one.end = one.rungs.first().and_then(|found| end(found.key));
        }
    }
}

impl Loops {
    fn take(&mut self, found: ReplayFinding, novelty: Option<Novelty>) -> Option<LoopKey> {
        let is_of = |one: &&mut Loop| one.rungs[0].key == found.key;
        if let Some(one) = self.shown.iter_mut().find(is_of) {
            let place = one.rungs.partition_point(|rung| rung.calls_before <= found.calls_before);
            one.rungs.insert(place, found);
            return None;
        }
        if !found.is_first {
            return None;
        }
        self.count += 1;
        let before = |one: &Loop| one.rungs[0].calls_before <= found.calls_before;
        let place = self.shown.partition_point(before);
        if place == self.most {
            return Some(found.key);
        }
        self.shown.insert(place, Loop { rungs: vec![found], end: None, novelty });
        let last = if self.shown.len() > self.most { self.shown.pop() } else { None };
        last.map(|last| last.rungs[0].key)
    }
}

impl Novelty {
    /// Returns the novelty of a loop that the baseline has, or has not.
    pub const fn of(is_known: bool) -> Self {
        if is_known { Self::Again } else { Self::New }
    }

    /// Returns the name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Again => "again",
        }
    }
}
