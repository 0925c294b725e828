//! Describes the evidence of findings for people: a finding of a swarm, its kind, and the result that its calls share.

use unstuck::Evidence;
use unstuck_core::{Args, Finding, Kind, Results};

use super::recurring::{TOOL_MAX, result, what_recurs};
use crate::output::shown::tool_name;

/// Describes a finding, and for a swarm the number of its workers.
pub(crate) fn what_was_found(found: &Evidence) -> String {
    if !found.is_of_swarm() {
        return what_recurs(&found.finding, &found.tool);
    }
    let (tool, result) = (tool_name(&found.tool, TOOL_MAX), result(&found.finding));
    format!("`{tool}` {} times by {} workers{result}", found.finding.laps, found.workers)
}

/// Returns a description of `finding` without numbers and names, to count findings of one kind.
pub(crate) fn kind_of(finding: &Finding) -> String {
    let what = match (finding.kind, finding.args) {
        (Kind::Text, Args::Same) => return "the same text, and no call".to_owned(),
        (Kind::Text, _) => return "turns of text, and no call".to_owned(),
        (Kind::Echo, _) => return "a text that repeats itself".to_owned(),
        (Kind::Cycle, _) => "a cycle of calls",
        (Kind::Streak, Args::Same) => "the same call in a row",
        (Kind::Recurrence, Args::Same) => "the same call, others between",
        (Kind::Streak | Kind::Recurrence, Args::Similar) => "nearly the same call",
        (_, Args::SameTool) => "one tool with varying arguments",
        (_, Args::Any) => "different calls",
    };
    format!("{what}{}", if finding.has_failed() { ", failing" } else { "" })
}

/// Returns the result that the calls of `finding` share, as an explanation of its description. `results` are the
/// lines of their results, in the order of the calls. A cycle has a result for each call of a lap, so it has
/// none.
pub(crate) fn shared_result<'r>(
    finding: &Finding,
    results: &[&'r str],
) -> Option<SharedResult<'r>> {
    let is_told = finding.has_failed() || finding.results != Results::Ignored;
    let is_of_one_call = matches!(finding.kind, Kind::Streak | Kind::Recurrence);
    let line = *results.last().filter(|_| is_told && is_of_one_call)?;
    Some(SharedResult { line, differs: results.iter().any(|other| *other != line) })
}

/// The line of the last result of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedResult<'r> {
    pub(crate) line: &'r str,
    /// Whether another result of the finding has another line.
    pub(crate) differs: bool,
}
