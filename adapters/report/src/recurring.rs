//! Describes findings and rules for people. `scan`, `status` and `mcp` use the same words.

use unstuck_core::{
    Args, Basis, Finding, Force, Kind, Ladder, Outcomes, Pattern, Progress, Results, Rule, Select,
    Silence, TextRule, Texts,
};

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

/// Describes the condition of a rule about calls.
pub fn condition(rule: &Rule<'_>) -> String {
    let select = match rule.select {
        Select::Every => String::new(),
        Select::Tag(tag) => format!(", only tag {tag}"),
        Select::Except(tag) => format!(", all but tag {tag}"),
        Select::Tool(_) => ", only one tool".to_owned(),
        Select::Unreported => ", only calls without an outcome".to_owned(),
    };
    let failed = match rule.outcomes {
        Outcomes::Any => "",
        Outcomes::Failed => ", all failed",
        Outcomes::Failures => ", failures among others",
    };
    let force = match rule.force {
        Force::Always => "",
        Force::Proven => ", force on proof",
    };
    let progress = match rule.progress {
        Progress::Respect => "",
        Progress::Ignore => ", progress ignored",
        Progress::Anywhere => ", progress anywhere respected",
    };
    let silence = match rule.silence {
        Silence::Ignored => "",
        Silence::Evidence => ", silence counted",
        Silence::Telling => ", only telling ones",
    };
    format!(
        "args {}, results {}{silence}{select}{failed}; {}{progress}{force}",
        rule.args.name(),
        rule.results.name(),
        pattern(rule.pattern),
    )
}

fn pattern(pattern: Pattern) -> String {
    match pattern {
        Pattern::Streak { times } => format!("{times} in a row"),
        Pattern::Recurrence { times, within, novel: u8::MAX } => {
            format!("{times} within {within}")
        }
        Pattern::Recurrence { times, within, novel } => {
            format!("{times} within {within}, at most {novel} novel between")
        }
        Pattern::Cycle { period_min, period_max, laps } if period_min == period_max => {
            format!("a cycle of {period_min}, {laps} laps")
        }
        Pattern::Cycle { period_min, period_max, laps } => {
            format!("a cycle of {period_min} to {period_max}, {laps} laps")
        }
    }
}

/// Describes the condition of a rule about turns without a call.
pub fn turns(rule: &TextRule<'_>) -> String {
    let times = rule.times;
    match rule.texts {
        Texts::Any => format!("{times} text-only turns in a row"),
        Texts::Same => format!("{times} text-only turns with the same text in a row"),
        Texts::Prompt => format!("the same message {times} times with no call between"),
        Texts::Inside => format!("a text-only turn that says the same thing {times} times over"),
    }
}

/// Describes the actions of a ladder.
pub fn ladder(ladder: &Ladder<'_>) -> String {
    let basis = match ladder.basis {
        Basis::Repetitions => "by repetitions",
        Basis::LoopFindings => "by findings of the same loop",
        Basis::AllFindings => "by findings of any kind",
    };
    let rungs = ladder.rungs.iter().map(|rung| format!("{} {}", rung.count, rung.action));
    format!("{basis}: {}", rungs.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::check;

    #[test]
    fn the_backquotes_of_a_name_stay() {
        check("recurring: a description without the backquotes around the tool", unquoted);
    }
}
