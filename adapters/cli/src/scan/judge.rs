//! Judges the inputs of the program, and counts them.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::Deref;

use unstuck_core::{Action, LoopId};
use unstuck_report::cost::Price;
use unstuck_report::loops::Observer;
use unstuck_report::replay::{Replay, ReplayFinding};
use unstuck_report::shown::counted;
use unstuck_report::{Report, Settings};
use unstuck_text::Preset;
use unstuck_trace::{Event, Format};

use crate::exit::Exit;
use crate::output::remark;
use crate::read::inputs::{self, Input};
use crate::read::progress::Progress;
use crate::read::reading::read_in_order;
use crate::scan::baseline::{Baseline, Difference};
use crate::scan::feedback::{self, Feedback};
use crate::scan::options::Scan;
use crate::scan::parts::{FeedbackFound, Needs, Parts};

/// The settings for reading and judging inputs.
#[derive(Clone, Copy)]
pub(crate) struct Judge {
    /// The format of the inputs, or `None` to detect it for each.
    from: Option<Format>,
    pub(crate) preset: &'static Preset,
    /// The preset without the feedback, if silenced loops have to be reported.
    pub(crate) unsilenced: Option<&'static Preset>,
    /// The parts of the findings to keep.
    needs: Needs,
    price: Option<Price>,
    pub(super) baseline: Option<&'static Baseline>,
}

impl Judge {
    /// Returns the judge of `inputs` that the command line asks for, for outputs with these `needs`.
    pub(crate) fn of(
        scan: &Scan,
        preset: &'static Preset,
        needs: Needs,
        inputs: &[Input],
    ) -> Result<Self, Exit> {
        let mut judge = Self::new(scan.from(), preset, needs, scan.price);
        if let Some(path) = &scan.feedback {
            let found = || loops_in(inputs, scan.from(), preset, scan.jobs());
            let Feedback { loops, unknown } = feedback::load(path, found)?;
            judge.preset = feedback::silencing(preset, loops);
            judge.unsilenced = scan.verbose.then_some(preset);
            for digits in unknown.iter().filter(|_| scan.verbose) {
                let what = format!("no input contains a loop that begins with {digits}");
                remark(&path.display().to_string(), &what);
            }
        }
        if let Some(path) = &scan.baseline {
            let baseline = Baseline::load(path)?;
            baseline.forget(judge.preset.policy.silenced());
            judge.baseline = Some(baseline);
        }
        Ok(judge)
    }

    /// Returns a judge of inputs in the format `from`, for outputs with these `needs`.
    pub(crate) fn new(
        from: Option<Format>,
        preset: &'static Preset,
        needs: Needs,
        price: Option<Price>,
    ) -> Self {
        Self { from, preset, unsilenced: None, needs, price, baseline: None }
    }

    fn settings(&self) -> Settings {
        let Self { from, preset, price, needs, .. } = *self;
        let Needs { loops, picture, .. } = needs;
        Settings { from, preset, price, loops, wanted: needs.wanted(), picture }
    }
}

/// Returns the loops that `preset` finds in `inputs`. The error says why they cannot be read twice.
pub(crate) fn loops_in(
    inputs: &[Input],
    from: Option<Format>,
    preset: &'static Preset,
    jobs: usize,
) -> Result<BTreeSet<LoopId>, String> {
    if let Some(input) = inputs.iter().find(|input| !input.can_be_read_again()) {
        let name = input.name();
        return Err(format!(
            "give all 16 digits: {name} can be read only once, and is judged then"
        ));
    }
    let settings = Judge::new(from, preset, Needs::default(), None).settings();
    let work = move |input: &Input, (): &(), progress: &Progress| {
        let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
        let mut loops = FoundLoops::default();
        let report = Report::read(input.name(), reader, &settings, &mut loops);
        report.map(|_| loops.0).map_err(|problem| problem.to_string())
    };
    let inputs = inputs.iter().map(|input| (input.clone(), ())).collect();
    let mut all = BTreeSet::new();
    let taken = read_in_order(inputs, jobs, work, |_, (), loops| {
        // An input that cannot be read is reported when it is judged.
        all.extend(loops.unwrap_or_default());
        Ok::<(), Infallible>(())
    });
    match taken {
        Ok(()) => Ok(all),
    }
}

/// The loops of a run.
#[derive(Default)]
struct FoundLoops(BTreeSet<LoopId>);

impl Observer for FoundLoops {
    fn found(&mut self, found: &ReplayFinding) -> Option<bool> {
        self.0.insert(found.finding.loop_id);
        None
    }
}

/// Keeps the parts of a report parts the run while the run is judged.
struct Watching {
    parts: Parts,
    /// The run without the feedback, if silenced loops have to be reported.
    unsilenced: Option<(Replay, FeedbackFound)>,
}

impl Observer for Watching {
    fn event(&mut self, event: &Event<'_>) {
        if let Some((replay, seen)) = &mut self.unsilenced {
            replay.take(event);
            seen.take_from(replay);
        }
    }

    fn found(&mut self, found: &ReplayFinding) -> Option<bool> {
        self.parts.found(found)
    }
}

impl Watching {
    fn finish(self) -> Parts {
        let unsilenced = self.unsilenced.map(|(replay, mut seen)| {
            for found in &replay.finish().list {
                seen.take(found);
            }
            seen.seen
        });
        Parts { unsilenced, ..self.parts }
    }
}

/// A report with the parts that only some outputs need.
pub(crate) struct FullReport {
    pub(crate) report: Report,
    pub(crate) parts: Parts,
}

impl Deref for FullReport {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.report
    }
}

impl FullReport {
    /// Reads `input` and judges it. The error says why it cannot be read.
    pub(crate) fn of(input: &Input, judge: &Judge, progress: &Progress) -> Result<Self, String> {
        let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
        let unsilenced = judge.unsilenced.map(|preset| {
            let of = judge.preset.policy.silenced();
            (Replay::new(preset), FeedbackFound::new(of))
        });
        let parts = Parts::new(judge.needs, judge.baseline);
        let mut watching = Watching { parts, unsilenced };
        let report = Report::read(input.name(), reader, &judge.settings(), &mut watching);
        let report = report.map_err(|problem| problem.to_string())?;
        Ok(Self { report, parts: watching.finish() })
    }

    /// Returns whether a loop is not in the baseline, or whether there is no baseline and a loop.
    pub(super) fn has_new_loop(&self) -> bool {
        let all = self.judged.worst;
        self.parts.compared.as_ref().map_or(all, |it| it.worst_new) > Action::Proceed
    }
}

/// The number of inputs by result, for the last line.
#[derive(Default)]
pub(crate) struct Tally {
    pub(super) stuck: usize,
    pub(super) clean: usize,
    /// The runs without calls.
    pub(super) empty: usize,
    pub(super) unread: usize,
    pub(super) partly: usize,
    pub(super) left_out: usize,
    /// The files that were left out because of `--since`.
    pub(super) older: usize,
    /// The difference to the baseline, if there is one.
    pub(super) difference: Option<Difference>,
}

impl Tally {
    /// Returns the numbers in one line, for example `2 stuck, 3 clean, 1 input could not be read`.
    pub(super) fn counts(&self) -> String {
        let mut parts = vec![format!("{} stuck", self.stuck), format!("{} clean", self.clean)];
        if self.empty > 0 {
            parts.push(format!("{} empty", self.empty));
        }
        if self.unread > 0 {
            parts.push(format!("{} could not be read", counted(self.unread, "input")));
        }
        if self.partly > 0 {
            parts.push(format!("{} only in part", self.partly));
        }
        if let Some(difference) = &self.difference {
            parts.push(format!("loops: {}", difference.counts()));
        }
        parts.join(", ")
    }
}

#[cfg(test)]
impl FullReport {
    /// Reads and judges the native trace `text`, and keeps this many loops.
    pub(super) fn of_text(text: &str, loops: usize) -> Self {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), text).expect("a file that can be written");
        let needs = Needs { loops, ..Needs::default() };
        let preset = &unstuck_text::PRESETS[0];
        let (from, unsilenced, price, baseline) = (None, None, None, None);
        let judge = Judge { from, preset, unsilenced, needs, price, baseline };
        let progress = Progress::of([]);
        Self::of(&Input::File(file.path().to_owned()), &judge, &progress).expect("a trace")
    }

    /// Judges a trace with a new loop every three calls.
    pub(super) fn of_loops(calls: usize, loops: usize) -> Self {
        let call = |n: usize| {
            let n = n / 3;
            format!(r#"{{"type":"call","tool":"t{n}","args":{n},"result":"r{n}"}}"#)
        };
        let lines: Vec<_> = (0..calls).map(call).collect();
        Self::of_text(&lines.join("\n"), loops)
    }
}
