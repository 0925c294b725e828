//! Judges the runs of an input by several candidates while it is read once.

use std::mem;

use unstuck_core::Action;
use unstuck_report::cost::{Meter, Price, Reading, Spent};
use unstuck_report::replay::Replay;
use unstuck_report::shown::counted;
use unstuck_trace::{Begin, Event, Format, read};

use super::candidate::{Candidate, Judge};
use super::ending::Ending;
use crate::calibrate::runs::is_deed;
use crate::read::inputs::{self, Input};
use crate::read::progress::Progress;

/// The runs of an input.
#[derive(Default)]
pub(super) struct TriedInput {
    pub(super) runs: Vec<TriedRun>,
    /// The number of runs that are left out, because the agent did nothing.
    pub(super) empty: usize,
    /// The number of records that could not be read.
    pub(super) skipped: usize,
}

/// A run that was judged.
pub(super) struct TriedRun {
    /// The cost of the whole run.
    pub(super) total: Spent,
    /// What each candidate would have done.
    pub(super) deeds: Vec<Deed>,
    /// Whether the run ended with passing tests or a commit.
    pub(super) ended_well: bool,
}

/// What a candidate would have done in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Deed {
    /// The cost of the run after the candidate first spoke, refused or ended. `None` if it did nothing.
    pub(super) after: Option<Spent>,
    pub(super) refused: bool,
    pub(super) ended: bool,
}

/// Reads `input` and judges its runs. The error says what is wrong with the input.
pub(super) fn tried(
    input: &Input,
    progress: &Progress,
    (from, price): (Option<Format>, Option<Price>),
    candidates: &[Candidate],
) -> Result<TriedInput, String> {
    let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
    let mut trial = Trial::new(candidates, price);
    let trace = read(reader, from, &mut |event| trial.take(&event));
    let skipped = trace.map_err(|problem| problem.to_string())?.skipped;
    // The last run ends as the others do.
    trial.take(&Event::Begin(Begin { session: None }));
    Ok(TriedInput { skipped, ..trial.tried })
}

/// Returns what each run of `input` spent, in which the agent did something. The error says what is wrong with the
/// input, also if only a part of it cannot be read.
pub(in crate::calibrate) fn spent(
    input: &Input,
    progress: &Progress,
    price: Option<Price>,
) -> Result<Vec<Spent>, String> {
    let TriedInput { runs, skipped, .. } = tried(input, progress, (None, price), &[])?;
    if skipped > 0 {
        return Err(format!("{} could not be read", counted(skipped, "record")));
    }
    Ok(runs.into_iter().map(|run| run.total).collect())
}

/// A run that is being read, and the runs before it.
struct Trial {
    price: Option<Price>,
    meter: Meter,
    arms: Vec<Arm>,
    ending: Ending,
    is_empty: bool,
    tried: TriedInput,
}

impl Trial {
    fn new(candidates: &[Candidate], price: Option<Price>) -> Self {
        Self {
            price,
            meter: Meter::new(price),
            arms: candidates.iter().map(Arm::new).collect(),
            ending: Ending::default(),
            is_empty: true,
            tried: TriedInput::default(),
        }
    }

    fn take(&mut self, event: &Event<'_>) {
        // A limit ends the run before the call that it does not allow.
        let before = self.meter.now();
        self.meter.take(event);
        self.ending.take(event);
        self.is_empty &= !is_deed(event);
        for arm in &mut self.arms {
            arm.take(event, before, self.meter.now());
        }
        if let Event::Begin(_) = event {
            self.end_run();
        }
    }

    fn end_run(&mut self) {
        let meter = mem::replace(&mut self.meter, Meter::new(self.price));
        let deeds = self.arms.iter_mut().map(|arm| mem::take(&mut arm.done).deed(&meter)).collect();
        let ended_well = mem::take(&mut self.ending).is_good();
        if mem::replace(&mut self.is_empty, true) {
            self.tried.empty += 1;
        } else {
            self.tried.runs.push(TriedRun { total: meter.total(), deeds, ended_well });
        }
    }
}

/// A candidate at work.
struct Arm {
    judging: Judging,
    done: Done,
}

enum Judging {
    Policy(Box<Replay>),
    Steps(usize),
}

/// What a candidate has done in a run so far.
#[derive(Default)]
struct Done {
    /// What the run had spent when the candidate first did something.
    first: Option<Reading>,
    refused: bool,
    ended: bool,
}

impl Arm {
    fn new(candidate: &Candidate) -> Self {
        let judging = match candidate.judge {
            Judge::Policy(preset) => Judging::Policy(Box::new(Replay::new(preset))),
            Judge::Steps(most) => Judging::Steps(most),
        };
        Self { judging, done: Done::default() }
    }

    /// Takes in an event, with the readings before and after it.
    fn take(&mut self, event: &Event<'_>, before: Reading, after: Reading) {
        match &mut self.judging {
            Judging::Policy(replay) => {
                replay.take(event);
                let found: Vec<_> = replay.take_findings().map(|it| (it.key, it.action)).collect();
                for (key, action) in found {
                    self.done.act(action, after);
                    // The end of the loop does not matter.
                    replay.leave(key);
                }
            }
            Judging::Steps(most) => {
                if after.calls > *most {
                    self.done.act(Action::Stop, before);
                }
            }
        }
    }
}

impl Done {
    /// Takes in an action. Nobody knows what comes after the end of a run, so nothing is counted there.
    fn act(&mut self, action: Action, now: Reading) {
        if self.ended || action == Action::Proceed {
            return;
        }
        self.first.get_or_insert(now);
        self.refused |= action == Action::Block;
        self.ended |= action > Action::Block;
    }

    fn deed(self, meter: &Meter) -> Deed {
        let after = self.first.map(|first| meter.since(first));
        Deed { after, refused: self.refused, ended: self.ended }
    }
}
