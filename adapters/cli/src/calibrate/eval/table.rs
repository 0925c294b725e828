//! Prints scores: a table for people, lines for programs.

use std::fmt::Write as _;

use anstyle::Style;

use crate::calibrate::figures::{
    F1, FALSE_ALARMS, LAG, PRECISION, RECALL, RUNS, SAVED, ends, name, percents, table,
};
use crate::calibrate::score::{RESAMPLINGS, Score};
use crate::output::json::json_line;
use crate::output::shown::{COLUMNS, counted, plain};

const STRONG: Style = Style::new().bold();

/// The kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Policies,
    Sources,
    PolicyIntervals,
    SourceIntervals,
}

type Column = crate::calibrate::figures::Column<Score>;

const PRESET: Column = ("preset", |score| name(score.preset));
const SOURCE: Column = ("source", |score| name(score.source.as_deref().unwrap_or("all")));
const F1_INTERVAL: Column = ("95 %", |score| ends(score.f1_interval));
const RATE_INTERVAL: Column = ("95 %", |score| percents(score.false_alarm_rate_interval));
const EARLY: Column = ("early", |score| score.early.to_string());

impl View {
    /// Returns the columns of the table, at most 80 characters wide.
    fn columns(self) -> &'static [Column] {
        match self {
            Self::Policies => &[PRESET, RECALL, PRECISION, F1, FALSE_ALARMS, EARLY, LAG, SAVED],
            Self::Sources => &[SOURCE, RUNS, RECALL, PRECISION, F1, FALSE_ALARMS, LAG, SAVED],
            Self::PolicyIntervals => &[PRESET, F1, F1_INTERVAL, FALSE_ALARMS, RATE_INTERVAL],
            Self::SourceIntervals => &[SOURCE, RUNS, F1, F1_INTERVAL, FALSE_ALARMS, RATE_INTERVAL],
        }
    }
}

/// Returns a table for each list of scores, and the number of `runs`.
pub(super) fn tables(view: View, scores: &[Vec<Score>], runs: usize) -> String {
    let mut text = String::new();
    for scores in scores {
        if let (View::Sources | View::SourceIntervals, Some(score)) = (view, scores.first()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{STRONG}{}{STRONG:#}", plain(score.preset));
        }
        text.push_str(&table(view.columns(), scores));
        text.push_str("\n\n");
    }
    match view {
        View::Policies | View::Sources => {}
        View::PolicyIntervals => text.push_str(&legend("the runs")),
        View::SourceIntervals => {
            text.push_str(&legend("the runs; for all runs, of whole sources"));
        }
    }
    text + &counted(runs, "run") + "\n"
}

/// Explains the intervals. `drawn` says what a resampling draws.
fn legend(drawn: &str) -> String {
    let legend = format!(
        "95 %: from {RESAMPLINGS} resamplings of {drawn}. If all n runs have the same outcome, up \
         to 3 in n could still differ."
    );
    textwrap::fill(&legend, COLUMNS) + "\n"
}

/// Returns each score as a line of JSON.
pub(super) fn lines(scores: &[Vec<Score>]) -> String {
    scores.iter().flatten().map(json_line).collect()
}
