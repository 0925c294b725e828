//! The report of `tune`: the scores before and after, and the rules that changed.

use anstyle::Style;
use unstuck_core::Policy;

use crate::calibrate::figures::{
    Column, F1, FALSE_ALARMS, LAG, PRECISION, RECALL, RUNS, SAVED, name, percent, percents, table,
};
use crate::calibrate::fit::repetitions;
use crate::calibrate::score::{Interval, Score, ratio};
use crate::output::shown::COLUMNS;

const STRONG: Style = Style::new().bold();

/// At most 80 columns, like the other tables.
const SCORE: [Column<Score>; 8] =
    [("", |score| score.preset.to_owned()), RUNS, RECALL, PRECISION, F1, FALSE_ALARMS, LAG, SAVED];

/// The number of runs that a policy accuses.
pub(super) struct AccusedRuns {
    /// The variant of the policy, and its runs.
    pub(super) what: &'static str,
    pub(super) runs: usize,
    pub(super) accused: usize,
    /// The interval for the share of accused runs among all runs of this kind, if it is known.
    pub(super) interval: Option<Interval>,
}

impl AccusedRuns {
    pub(super) fn share(&self) -> Option<f64> {
        ratio(self.accused, self.runs)
    }
}

const ACCUSED: [Column<AccusedRuns>; 5] = [
    ("", |row| row.what.to_owned()),
    ("runs", |row| row.runs.to_string()),
    ("accused", |row| row.accused.to_string()),
    ("share", |row| percent(row.share())),
    ("95 %", |row| percents(row.interval)),
];

/// A rule whose number of repetitions changed.
struct Move {
    rule: &'static str,
    before: u16,
    now: u16,
}

const MOVE: [Column<Move>; 3] = [
    ("rule", |moved| name(moved.rule)),
    ("asked for", |moved| moved.before.to_string()),
    ("asks for", |moved| moved.now.to_string()),
];

/// Returns the scores of a policy on labelled runs. `unseen` describes the runs that were not
/// fitted to.
pub(super) fn scores(what: &str, scores: &[Score], unseen: &str) -> String {
    let legend = format!("Unseen: {unseen}.");
    section(what, &table(&SCORE, scores), &legend)
}

/// Returns the number of healthy runs that the policy accuses.
pub(super) fn accused(what: &str, rows: &[AccusedRuns]) -> String {
    let legend = "Fitted: on the half of the runs that the policy was fitted to. Unseen: on the \
                  other half. 95 %: Wilson's interval.";
    section(what, &table(&ACCUSED, rows), legend)
}

/// Returns the rules of `policy` whose numbers changed.
pub(super) fn moved(before: &Policy<'static>, policy: &Policy<'static>) -> String {
    let rules = before.rules().iter().zip(policy.rules()).map(|(before, now)| Move {
        rule: now.name,
        before: repetitions(before),
        now: repetitions(now),
    });
    let moves: Vec<Move> = rules.filter(|rule| rule.before != rule.now).collect();
    if moves.is_empty() { "No rule changed.\n".to_owned() } else { table(&MOVE, &moves) + "\n" }
}

fn section(what: &str, table: &str, legend: &str) -> String {
    let (what, legend) = (textwrap::fill(what, COLUMNS), textwrap::fill(legend, COLUMNS));
    format!("{STRONG}{what}{STRONG:#}\n\n{table}\n\n{legend}\n\n")
}
