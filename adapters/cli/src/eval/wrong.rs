//! The runs that a policy judged wrong.

use super::labels::Outcome;
use super::runs::{Judged, Run};
use crate::shown::plain;

/// A line that says so, if the policy at `place` judged the run wrong.
pub(super) fn line(run: &Run, place: usize) -> Option<String> {
    let label = &run.label;
    let Judged { outcome, at } = run.judged[place];
    let at = at.unwrap_or_default();
    let what = match outcome {
        Outcome::Missed => "missed".to_owned(),
        Outcome::Early => format!("early at #{at}, begins at #{}", label.start.unwrap_or(0)),
        Outcome::FalseAlarm => format!("false alarm at #{at}"),
        Outcome::Hit { .. } | Outcome::Quiet => return None,
    };
    let (file, kind) = (plain(&label.file.display().to_string()), plain(&label.kind));
    Some(format!("{what}: {file} ({kind})\n"))
}
