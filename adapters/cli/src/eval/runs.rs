//! Labelled runs: each is read once, and replayed through every policy.

use std::convert::Infallible;
use std::path::Path;

use unstuck_core::Action;
use unstuck_text::Preset;
use unstuck_trace::{Event, read};

use crate::exit::Exit;
use crate::inputs::{self, Input};
use crate::jobs;
use crate::labels::{Label, Outcome};
use crate::output::complain;
use crate::progress::Progress;
use crate::replay::{Findings, Found, Nearest, Place, Replay};

/// One run, and what each policy made of it.
pub(super) struct Run {
    pub(super) label: Label,
    /// In the order of the policies.
    pub(super) judged: Vec<Judged>,
}

/// What one policy made of a run.
pub(super) struct Judged {
    pub(super) outcome: Outcome,
    /// The first finding, and where it is: at which call, or at which message if there is no call.
    pub(super) first: Option<(usize, Found)>,
    /// The rule that came nearest to a finding.
    pub(super) nearest: Option<Nearest>,
}

/// How a replay by a policy begins.
pub(super) type Begin = fn(&'static Preset) -> Replay;

/// Judges each labelled run by each policy, on as many threads as there are cores. A run that
/// cannot be read is complained of and left out; then the program is to exit as is told.
pub(super) fn judge(
    root: &Path,
    labels: Vec<Label>,
    policies: &[&'static Preset],
    replay: Begin,
) -> (Vec<Run>, Exit) {
    let (folder, presets) = (root.to_owned(), policies.to_owned());
    let work = move |label: Label| {
        let replays = presets.iter().map(|preset| replay(preset)).collect();
        let judged = judged(&folder, &label, replays);
        (label, judged)
    };
    let (mut runs, mut exit) = (Vec::new(), Exit::Clean);
    let jobs = jobs::one_for_each_core().min(labels.len());
    let taken = jobs::in_order(labels, jobs, work, |(label, judged)| {
        match judged {
            Ok(judged) => runs.push(Run { label, judged }),
            Err(why) => {
                exit = Exit::Input;
                complain(&root.join(&label.file).display().to_string(), &why);
            }
        }
        Ok::<(), Infallible>(())
    });
    match taken {
        Ok(()) => (runs, exit),
    }
}

/// What each of the `replays` makes of the run; the error says what is wrong with its file.
fn judged(root: &Path, label: &Label, mut replays: Vec<Replay>) -> Result<Vec<Judged>, String> {
    let progress = Progress::none();
    let input = Input::File(root.join(&label.file));
    let reader = input.open(&progress).map_err(|error| inputs::explained(&error))?;
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
    // Labels count messages only where there is no call to count.
    let count =
        if trace.calls == 0 { Count::Messages(messages) } else { Count::Calls(trace.calls) };
    Ok(replays.into_iter().map(|replay| count.judge(label, replay.finish())).collect())
}

/// What is counted in a run, and how many of it there are.
#[derive(Clone, Copy)]
enum Count {
    Calls(usize),
    Messages(usize),
}

impl Count {
    fn judge(self, label: &Label, findings: Findings) -> Judged {
        let (Self::Calls(count) | Self::Messages(count)) = self;
        let first = findings.found.into_iter().find(|found| found.action >= Action::Nudge);
        let first = first.map(|found| (self.place(&found), found));
        let at = first.as_ref().map(|(at, _)| *at);
        let outcome = label.outcome(at, count.saturating_sub(1));
        Judged { outcome, first, nearest: findings.nearest }
    }

    fn place(self, found: &Found) -> usize {
        match (self, found.place) {
            (Self::Messages(_), Place::Messages { at, .. }) => at,
            _ => found.calls_before,
        }
    }
}
