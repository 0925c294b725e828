//! Describes findings for people. `scan`, `status` and `mcp` use the same words.

use unstuck_core::{Args, Finding, Kind, Results};

use crate::output::shown::tool_name;

/// The most columns of a tool's name.
pub(super) const TOOL_MAX: usize = 30;

/// Describes the repeated calls of `finding` in one line. `tool` is the tool of its last call. The
/// arguments are not shown.
pub fn what_recurs(finding: &Finding, tool: &str) -> String {
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

/// Returns a clause about the results, for the end of a description.
pub(super) fn result(finding: &Finding) -> &'static str {
    match (finding.results, finding.has_failed()) {
        (Results::Same, true) => ", failing alike",
        (Results::Same, false) => ", same result",
        (Results::Near, true) => ", failing nearly alike",
        (Results::Near, false) => ", nearly the same result",
        (Results::Ignored, true) => ", failing",
        (Results::Ignored, false) => "",
    }
}
