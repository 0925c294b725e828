//! A finding in words for people, the same wherever there is one: in `scan`, `status` and `mcp`.

use unstuck::Evidence;
use unstuck_core::{Args, Finding, Kind, Results};

use crate::output::shown::tool_name;

/// The most columns that a tool's name takes there.
const TOOL_MAX: usize = 30;

/// What was found, in the same words; of a swarm, how many workers it is of.
pub(crate) fn what_was_found(found: &Evidence) -> String {
    if !found.is_of_swarm() {
        return what_recurs(&found.finding, &found.tool);
    }
    let (tool, result) = (tool_name(&found.tool, TOOL_MAX), result(&found.finding));
    format!("`{tool}` {} times by {} workers{result}", found.finding.laps, found.workers)
}

/// What goes round by `finding`, whose last call is of `tool`: one line, without what it was about.
pub(crate) fn what_recurs(finding: &Finding, tool: &str) -> String {
    let laps = finding.laps;
    let tool = tool_name(tool, TOOL_MAX);
    let result = result(finding);
    match (finding.kind, finding.args) {
        (Kind::Text, Args::Same) => format!("the same text {laps} times, and no call"),
        (Kind::Text, _) => format!("{laps} turns of text, and no call"),
        (Kind::Echo, _) => format!("a text that says the same thing {laps} times over"),
        (Kind::Cycle, _) => {
            let results = if finding.results == Results::Same { ", same results" } else { "" };
            format!("a cycle of {} calls, {laps} laps{results}", finding.period)
        }
        (Kind::Streak, Args::Same) => format!("`{tool}` {laps} times in a row{result}"),
        (Kind::Streak | Kind::Recurrence, Args::Similar) => {
            format!("`{tool}` {laps} times nearly alike{result}")
        }
        (Kind::Recurrence, Args::Same) => format!("`{tool}` {laps} times, others between{result}"),
        (_, Args::SameTool) => format!("`{tool}` {laps} times with varying arguments{result}"),
        (_, Args::Any) => format!("{laps} different calls{result}"),
    }
}

/// How what came back compares, as the end of what is said.
fn result(finding: &Finding) -> &'static str {
    match (finding.results, finding.failed) {
        (Results::Same, true) => ", failing alike",
        (Results::Same, false) => ", same result",
        (Results::Near, true) => ", failing nearly alike",
        (Results::Near, false) => ", nearly the same result",
        (Results::Ignored, true) => ", failing",
        (Results::Ignored, false) => "",
    }
}
