//! Lists the runs that a policy judged wrong, with the evidence.

use std::fmt::Write as _;

use anstyle::Style;
use unstuck_report::replay::{Location, Nearest, ReplayFinding};
use unstuck_report::shown::{plain, tool_name};

use super::{Judged, Run};
use crate::calibrate::labels::Outcome;

/// The most columns of a tool's name.
const TOOL_MAX: usize = 24;

const FAINT: Style = Style::new().dimmed();

/// Returns a line if the policy at `place` judged the run wrong.
pub(super) fn line(run: &Run, place: usize) -> Option<String> {
    let label = &run.label;
    let Judged { outcome, first, .. } = &run.judged[place];
    let at = first.as_ref().map(|(at, _)| *at).unwrap_or_default();
    let what = match outcome {
        Outcome::Missed => "missed".to_owned(),
        Outcome::Early => format!("early at #{at}, begins at #{}", label.start.unwrap_or(0)),
        Outcome::FalseAlarm => format!("false alarm at #{at}"),
        Outcome::Hit { .. } | Outcome::Quiet => return None,
    };
    let (file, kind) = (plain(&label.file.display().to_string()), plain(&label.kind));
    Some(format!("{what}: {file} ({kind})\n"))
}

/// Returns the evidence for the finding. For a missed loop, returns the call at which a supervisor
/// would step in, and the nearest rule.
pub(super) fn evidence(run: &Run, place: usize) -> String {
    let Judged { first, nearest, .. } = &run.judged[place];
    let stuck_at = run.label.stuck_at.filter(|_| first.is_none());
    let stuck_at = stuck_at.map(|at| format!("a supervisor would step in at #{at}"));
    let found = first.as_ref().map(|(_, found)| of_finding(found));
    let nearest = nearest.as_ref().filter(|_| first.is_none()).map(of_nearest);
    let parts: Vec<String> = [stuck_at, found, nearest].into_iter().flatten().collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("  {FAINT}{}{FAINT:#}\n", parts.join("; "))
}

fn of_finding(found: &ReplayFinding) -> String {
    let mut text = format!("{} by rule {}", found.finding.kind, plain(found.rule));
    // Writing to a string cannot fail.
    let _ = match found.location {
        Location::Calls { first, last, .. } => {
            write!(text, ", tool {}, calls #{first} to #{last}", tool_name(&found.tool, TOOL_MAX))
        }
        Location::Messages { first, at } => write!(text, ", messages #{first} to #{at}"),
    };
    text
}

fn of_nearest(nearest: &Nearest) -> String {
    let Nearest { rule, held, needed, at } = nearest;
    format!("nearest rule {}, {held} of {needed} at #{at}", plain(rule))
}
