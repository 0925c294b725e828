//! What `tune` prints for a person: how well the policy did before and does now, and what moved.

use anstyle::Style;
use unstuck_core::Policy;

use crate::calibrate::figures::{
    Column, F1, FALSE_ALARMS, LAG, PRECISION, RECALL, RUNS, SAVED, name, percent, percents, table,
};
use crate::calibrate::fit::repetitions;
use crate::calibrate::score::{Interval, Score, ratio};
use crate::output::shown::COLUMNS;

const STRONG: Style = Style::new().bold();

/// No more than fits into 80 columns, nor do the others.
const SCORE: [Column<Score>; 8] =
    [("", |score| score.preset.to_owned()), RUNS, RECALL, PRECISION, F1, FALSE_ALARMS, LAG, SAVED];

/// The number of runs that a policy accuses.
pub(super) struct AccusedRuns {
    /// Names the policy and the runs.
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

/// A rule that asks for another number than before.
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

/// How well a policy does on labelled runs, and which of them are `unseen`.
pub(super) fn scores(what: &str, scores: &[Score], unseen: &str) -> String {
    let legend = format!("Unseen: {unseen}.");
    section(what, &table(&SCORE, scores), &legend)
}

/// How many healthy runs it accuses.
pub(super) fn accused(what: &str, rows: &[AccusedRuns]) -> String {
    let legend = "Fitted: on the half of the runs that it was fitted to. Unseen: on the other half. \
                  95 %: the interval of Wilson.";
    section(what, &table(&ACCUSED, rows), legend)
}

/// Which rules of `policy` ask for another number than they did `before`.
pub(super) fn moved(before: &Policy<'static>, policy: &Policy<'static>) -> String {
    let rules = before.rules().iter().zip(policy.rules()).map(|(before, now)| Move {
        rule: now.name,
        before: repetitions(before),
        now: repetitions(now),
    });
    let moves: Vec<Move> = rules.filter(|rule| rule.before != rule.now).collect();
    if moves.is_empty() { "No rule moved.\n".to_owned() } else { table(&MOVE, &moves) + "\n" }
}

fn section(what: &str, table: &str, legend: &str) -> String {
    let (what, legend) = (textwrap::fill(what, COLUMNS), textwrap::fill(legend, COLUMNS));
    format!("{STRONG}{what}{STRONG:#}\n\n{table}\n\n{legend}\n\n")
}
