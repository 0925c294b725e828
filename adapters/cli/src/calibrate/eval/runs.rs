//! Reads each labelled run once and replays it through every policy.

use std::path::Path;

use unstuck_core::Action;
use unstuck_text::Preset;
use unstuck_trace::{Event, read};

use crate::calibrate::labels::{self, Count, Label, Outcome};
use crate::exit::Exit;
use crate::read::inputs::{self, Input};
use crate::read::progress::Progress;
use crate::read::reading::read_each;
use crate::replay::{Findings, Location, Nearest, Replay, ReplayFinding};

/// A run, and the judgement of each policy.
pub(super) struct Run {
    pub(super) label: Label,
    /// In the order of the policies.
    pub(super) judged: Vec<Judged>,
}

/// The judgement of one policy on a run.
pub(super) struct Judged {
    pub(super) outcome: Outcome,
    /// The first finding, with the index of its call, or of its message if there are no calls.
    pub(super) first: Option<(usize, ReplayFinding)>,
    /// The rule that came nearest to a finding.
    pub(super) nearest: Option<Nearest>,
}

/// Creates a replay for a policy.
pub(super) type Begin = fn(&'static Preset) -> Replay;

/// Judges each labelled run by each policy, on one thread per core. A run that cannot be read is
/// reported and left out; the exit code says so.
pub(super) fn judge(
    root: &Path,
    labels: Vec<Label>,
    policies: &[&'static Preset],
    replay: Begin,
) -> (Vec<Run>, Exit) {
    let presets = policies.to_owned();
    let inputs = labels::inputs(root, labels);
    let (runs, exit) = read_each(inputs, move |input, label, progress| {
        let replays = presets.iter().map(|preset| replay(preset)).collect();
        judged(label, input, progress, replays)
    });
    (runs.into_iter().map(|(label, judged)| Run { label, judged }).collect(), exit)
}

/// Returns the judgements of the `replays`. The error says what is wrong with the file.
fn judged(
    label: &Label,
    input: &Input,
    progress: &Progress,
    mut replays: Vec<Replay>,
) -> Result<Vec<Judged>, String> {
    let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
    let mut messages = 0;
    let mut take = |event: Event<'_>| {
        if let Event::Message(message) = &event {
            messages = message.index + 1;
        }
        for replay in &mut replays {
            replay.take(&event);
        }
    };
    let trace = read(reader, None, &mut take).map_err(|problem| problem.to_string())?;
    let count = Count::of(trace.calls, messages);
    Ok(replays.into_iter().map(|replay| judgement(label, count, replay.finish())).collect())
}

/// Returns the judgement of the policy that made these findings.
fn judgement(label: &Label, count: Count, findings: Findings) -> Judged {
    let first = findings.list.into_iter().find(|found| found.action >= Action::Nudge);
    let first = first.map(|found| (at(count, &found), found));
    let outcome = label.outcome(first.as_ref().map(|(at, _)| *at), count);
    Judged { outcome, first, nearest: findings.nearest }
}

fn at(count: Count, found: &ReplayFinding) -> usize {
    match found.location {
        Location::Messages { at, .. } => count.index(found.calls_before, Some(at)),
        Location::Calls { .. } => count.index(found.calls_before, None),
    }
}
