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
pub(crate) struct Judge {
    /// The format of the inputs, or `None` to detect it for each.
    from: Option<Format>,
    pub(crate) preset: &'static Preset,
    /// The preset without the feedback, if silenced loops have to be reported.
    pub(crate) unsilenced: Option<&'static Preset>,
    /// The parts of the findings to keep.
    needs: Needs,
    price: Option<Price>,
}

impl Judge {
    /// Returns the judge that the command line asks for, for outputs with these `needs`.
    pub(crate) fn of(scan: &Scan, needs: Needs) -> Result<Self, Exit> {
        let preset = scan.policy.preset()?;
        let judge = Self::new(scan.from(), preset, needs, scan.price);
        let Some(path) = &scan.feedback else { return Ok(judge) };
        let silencing = feedback::silencing(preset, feedback::load(path)?);
        Ok(Self { preset: silencing, unsilenced: scan.verbose.then_some(preset), ..judge })
    }

    /// Returns a judge of inputs in the format `from`, for outputs with these `needs`.
    pub(crate) fn new(
        from: Option<Format>,
        preset: &'static Preset,
        needs: Needs,
        price: Option<Price>,
    ) -> Self {
        Self { from, preset, unsilenced: None, needs, price }
    }
}

/// One input, read and judged.
pub(crate) struct Report {
    pub(crate) path: String,
    pub(crate) trace: Trace,
    pub(crate) kept: Kept,
    /// The steps of the loop to explain.
    pub(crate) explained: Vec<Explained>,
    /// The calls as they are drawn, if [`Needs::picture`] asks for it.
    pub(crate) picture: Option<Picture>,
    pub(crate) cost: Cost,
    /// The number of workers that were not followed to their end, because there were too many.
    pub(crate) forgotten: usize,
    /// The loops of the feedback that were found, if [`Judge::unsilenced`] asks for them.
    pub(crate) unsilenced: Option<BTreeSet<LoopId>>,
}

impl Report {
    /// Reads `input` and judges it. The error says why it cannot be read.
    pub(crate) fn of(input: &Input, judge: &Judge, progress: &Progress) -> Result<Self, String> {
        let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
        let mut replay = Replay::new(judge.preset).explaining(judge.needs.wanted());
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

/// The number of inputs by result, for the last line.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) stuck: usize,
    pub(crate) clean: usize,
    pub(crate) unread: usize,
    pub(crate) partly: usize,
    pub(crate) left_out: usize,
}
