//! One input, read and judged, and the count of all of them.

use unstuck_core::Action;
use unstuck_text::Preset;
use unstuck_trace::{Event, Format, Trace, read};

use crate::exit::Exit;
use crate::read::inputs::{self, Input};
use crate::read::progress::Progress;
use crate::replay::{Findings, LoopPrefix, Replay};
use crate::scan::feedback;
use crate::scan::options::Scan;

/// The settings for reading and judging inputs.
#[derive(Clone, Copy)]
pub(super) struct Judge {
    /// The format of the inputs, or `None` to detect it for each.
    from: Option<Format>,
    pub(super) preset: &'static Preset,
    /// The preset without the feedback, if silenced loops have to be reported.
    pub(super) unsilenced: Option<&'static Preset>,
    /// The loop to explain.
    pub(super) explain: Option<LoopPrefix>,
}

impl Judge {
    /// Returns the judge that the command line asks for.
    pub(super) fn of(scan: &Scan) -> Result<Self, Exit> {
        let preset = scan.policy.preset()?;
        let judge = Self { from: scan.from(), preset, unsilenced: None, explain: scan.explain };
        let Some(path) = &scan.feedback else { return Ok(judge) };
        let silencing = feedback::silencing(preset, feedback::load(path)?);
        Ok(Self { preset: silencing, unsilenced: scan.verbose.then_some(preset), ..judge })
    }
}

/// One input, read and judged.
pub(super) struct Report {
    pub(super) path: String,
    pub(super) trace: Trace,
    pub(super) findings: Findings,
    /// The findings without feedback, if [`Judge::unsilenced`] asks for them.
    pub(super) unsilenced: Option<Findings>,
}

impl Report {
    /// Reads `input` and judges it. The error says why it cannot be read.
    pub(super) fn of(input: &Input, judge: &Judge, progress: &Progress) -> Result<Self, String> {
        let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
        let mut replay = Replay::new(judge.preset).explaining(judge.explain);
        let mut unsilenced = judge.unsilenced.map(Replay::new);
        let mut take = |event: Event<'_>| {
            replay.take(&event);
            if let Some(replay) = &mut unsilenced {
                replay.take(&event);
            }
        };
        let trace = read(reader, judge.from, &mut take).map_err(|problem| problem.to_string())?;
        let (findings, unsilenced) = (replay.finish(), unsilenced.map(Replay::finish));
        Ok(Self { path: input.name(), trace, findings, unsilenced })
    }

    /// Returns the strongest action of all findings.
    pub(super) fn worst(&self) -> Action {
        let actions = self.findings.list.iter().map(|found| found.action);
        actions.max().unwrap_or(Action::Proceed)
    }
}

/// The number of inputs by result, for the last line.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) stuck: usize,
    pub(super) clean: usize,
    pub(super) unread: usize,
    pub(super) partly: usize,
    pub(super) left_out: usize,
}
