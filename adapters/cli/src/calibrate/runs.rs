//! Replays a run through several policies while it is read once.

use unstuck_core::Action;
use unstuck_report::replay::{Findings, Replay, ReplayFinding};
use unstuck_trace::{Event, Role, read};

use super::labels::Count;
use crate::read::inputs::{self, Input};
use crate::read::progress::Progress;

/// A run that several policies judged.
pub(super) struct ReplayedRun {
    /// The findings of each policy.
    pub(super) findings: Vec<Findings>,
    pub(super) count: Count,
    /// Whether the agent did nothing that can be judged.
    pub(super) is_empty: bool,
}

/// Passes the events of `input` to each of the `replays`. The error says what is wrong with the
/// input.
pub(super) fn replayed(
    input: &Input,
    progress: &Progress,
    mut replays: Vec<Replay>,
) -> Result<ReplayedRun, String> {
    let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
    let (mut messages, mut is_empty) = (0, true);
    let mut take = |event: Event<'_>| {
        is_empty &= !is_deed(&event);
        if let Event::Message(message) = &event {
            messages = message.index + 1;
        }
        for replay in &mut replays {
            replay.take(&event);
        }
    };
    let trace = read(reader, None, &mut take).map_err(|problem| problem.to_string())?;
    let findings = replays.into_iter().map(Replay::finish).collect();
    Ok(ReplayedRun { findings, count: Count::of(trace.calls, messages), is_empty })
}

/// Returns whether the agent does something in this event that can be judged.
pub(super) fn is_deed(event: &Event<'_>) -> bool {
    match event {
        Event::Call(_) => true,
        Event::Message(message) => {
            let is_turn = message.role != Role::User && message.text_only;
            is_turn && !message.text.trim().is_empty()
        }
        _ => false,
    }
}

/// Returns the first finding that asks for a nudge or more.
pub(super) fn first(findings: Vec<ReplayFinding>) -> Option<ReplayFinding> {
    findings.into_iter().find(|found| found.action >= Action::Nudge)
}
