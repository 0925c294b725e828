//! Describes findings for people. `scan`, `status` and `mcp` use the same words.

use unstuck_core::{Args, Finding, Kind, Results};

use crate::shown::tool_name;

/// The most columns of a tool's name.
pub const TOOL_MAX: usize = 30;

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

/// Splits a description into the name of the tool at its beginning, which may contain backquotes, and the
/// words behind it. Returns `None` if it begins with no name.
pub(crate) fn named(what: &str) -> Option<(&str, &str)> {
    what.strip_prefix('`')?.rsplit_once('`')
}

/// Returns a description without the backquotes around the name of the tool.
pub(crate) fn unquoted(what: &str) -> String {
    named(what).map_or_else(|| what.to_owned(), |(tool, rest)| format!("{tool}{rest}"))
}

/// Returns a clause about the results, for the end of a description.
pub fn result(finding: &Finding) -> &'static str {
    match (finding.results, finding.has_failed()) {
        (Results::Same, true) => ", failing alike",
        (Results::Same, false) => ", same result",
        (Results::Near, true) => ", failing nearly alike",
        (Results::Near, false) => ", nearly the same result",
        (Results::Ignored, true) => ", failing",
        (Results::Ignored, false) => "",
    }
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
    /// The first line of the last result that says something.
    pub(crate) line: &'r str,
    /// Whether another result of the finding has another line.
    pub(crate) differs: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backquotes_of_a_name_stay() {
        for (what, without) in [
            ("`read` 3 times in a row", "read 3 times in a row"),
            ("`re`ad` 3 times in a row", "re`ad 3 times in a row"),
            ("``` 3 times in a row", "` 3 times in a row"),
            ("3 different calls", "3 different calls"),
        ] {
            assert_eq!(unquoted(what), without);
        }
    }
}
