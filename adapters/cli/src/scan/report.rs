//! One input, read and judged, and the count of all of them.

use std::collections::BTreeSet;

use unstuck_core::{Action, LoopId};
use unstuck_text::Preset;
use unstuck_trace::{Event, Format, Trace, read};

use crate::exit::Exit;
use crate::read::inputs::{self, Input};
use crate::read::progress::Progress;
use crate::replay::{Explained, Findings, Picture, Replay};
use crate::scan::cost::{Cost, Meter, Price};
use crate::scan::feedback;
use crate::scan::kept::{Kept, Needs, Seen};
use crate::scan::options::Scan;

/// The settings for reading and judging inputs.
#[derive(Clone, Copy)]
pub(super) struct Judge {
    /// The format of the inputs, or `None` to detect it for each.
    from: Option<Format>,
    pub(super) preset: &'static Preset,
    /// The preset without the feedback, if silenced loops have to be reported.
    pub(super) unsilenced: Option<&'static Preset>,
    /// The parts of the findings to keep.
    needs: Needs,
    price: Option<Price>,
}

impl Judge {
    /// Returns the judge that the command line asks for, for outputs with these `needs`.
    pub(super) fn of(scan: &Scan, needs: Needs) -> Result<Self, Exit> {
        let preset = scan.policy.preset()?;
        let judge = Self { from: scan.from(), preset, unsilenced: None, needs, price: scan.price };
        let Some(path) = &scan.feedback else { return Ok(judge) };
        let silencing = feedback::silencing(preset, feedback::load(path)?);
        Ok(Self { preset: silencing, unsilenced: scan.verbose.then_some(preset), ..judge })
    }
}

/// One input, read and judged.
pub(super) struct Report {
    pub(super) path: String,
    pub(super) trace: Trace,
    pub(super) kept: Kept,
    /// The steps of the loop to explain.
    pub(super) explained: Vec<Explained>,
    /// The calls as they are drawn, if [`Needs::picture`] asks for it.
    pub(super) picture: Option<Picture>,
    pub(super) cost: Cost,
    /// The number of workers that were not followed to their end, because there were too many.
    pub(super) forgotten: usize,
    /// The loops of the feedback that were found, if [`Judge::unsilenced`] asks for them.
    pub(super) unsilenced: Option<BTreeSet<LoopId>>,
}

impl Report {
    /// Reads `input` and judges it. The error says why it cannot be read.
    pub(super) fn of(input: &Input, judge: &Judge, progress: &Progress) -> Result<Self, String> {
        let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
        let mut replay = Replay::new(judge.preset).explaining(judge.needs.explain);
        if judge.needs.picture {
            replay = replay.drawing();
        }
        let mut kept = Kept::new(judge.needs);
        let mut unsilenced = judge.unsilenced.map(|preset| {
            let of = judge.preset.policy.silenced();
            (Replay::new(preset), Seen::new(of))
        });
        let mut meter = Meter::new(judge.price);
        let mut take = |event: Event<'_>| {
            meter.take(&event);
            replay.take(&event);
            kept.take_from(&mut replay);
            if kept.worst > Action::Proceed {
                meter.found();
            }
            if let Some((replay, seen)) = &mut unsilenced {
                replay.take(&event);
                seen.take_from(replay);
            }
        };
        let trace = read(reader, judge.from, &mut take).map_err(|problem| problem.to_string())?;
        let Findings { list, ends, explained, forgotten, picture, .. } = replay.finish();
        kept.finish(list, |key| ends.get(&key).copied());
        let forgotten = forgotten.max(trace.forgotten);
        let unsilenced = unsilenced.map(|(replay, mut seen)| {
            for found in &replay.finish().list {
                seen.take(found);
            }
            seen.seen
        });
        if kept.worst > Action::Proceed {
            meter.found();
        }
        let cost = meter.finish();
        Ok(Self {
            path: input.name(),
            trace,
            kept,
            explained,
            picture,
            cost,
            forgotten,
            unsilenced,
        })
    }
}

impl Report {
    /// Returns whether there was nothing to judge: no call, and no finding about text.
    pub(super) fn is_empty(&self) -> bool {
        self.trace.calls == 0 && self.kept.worst == Action::Proceed
    }
}

/// The number of inputs by result, for the last line.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) stuck: usize,
    pub(super) clean: usize,
    /// The runs without calls.
    pub(super) empty: usize,
    pub(super) unread: usize,
    pub(super) partly: usize,
    pub(super) left_out: usize,
    /// The files that were left out because of `--since`.
    pub(super) older: usize,
}
