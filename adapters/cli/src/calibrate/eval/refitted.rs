//! `eval --leave-one-source-out`: the scores of a policy on sources that it was not fitted to.

use std::fmt::Write as _;

use anstyle::Style;
use serde::Serialize;
use unstuck_text::Preset;

use crate::calibrate::figures::{Column, name, number, percent, table};
use crate::calibrate::fit::{Fitter, Rate, Run, folds};
use crate::calibrate::labels::Outcome;
use crate::calibrate::score::Score;
use crate::output::json::json_line;
use crate::output::shown::{COLUMNS, counted, plain};
use crate::read::progress::Progress;

/// The share of healthy runs that a fit may accuse, the same as for `unstuck tune`.
const LIMIT: Rate = Rate::DEFAULT;

const STRONG: Style = Style::new().bold();

/// The scores of one policy on the runs of one source, or on all runs.
#[derive(Serialize)]
pub(super) struct SourceScores {
    /// The policy as it is.
    #[serde(flatten)]
    score: Score,
    /// The policy fitted to all runs.
    fitted: Score,
    /// The policy fitted to the runs of the other sources. For all runs, each is judged by the fit
    /// without its source.
    unseen: Score,
}

/// At most 80 columns.
const ROW: [Column<SourceScores>; 8] = [
    ("source", |row| name(row.score.source.as_deref().unwrap_or("all"))),
    ("runs", |row| row.score.runs.to_string()),
    ("F1", |row| number(row.score.f1)),
    ("fitted", |row| number(row.fitted.f1)),
    ("unseen", |row| number(row.unseen.f1)),
    ("alarms", |row| percent(row.score.false_alarm_rate)),
    ("fitted", |row| percent(row.fitted.false_alarm_rate)),
    ("unseen", |row| percent(row.unseen.false_alarm_rate)),
];

/// Returns the rows of each policy, in the order of the sources, with all runs last. `runs` has the
/// same runs for each policy, as digests by its recipe. Returns `None` if all runs come from one
/// source.
pub(super) fn rows(
    policies: &[&'static Preset],
    runs: &[Vec<Run>],
) -> Option<Vec<Vec<SourceScores>>> {
    let folds = folds(runs.first()?.iter().map(|(label, _)| label));
    folds.first()?.source.as_ref()?;
    let progress = Progress::of_fits(policies.len() * (folds.len() + 1));
    let rows = policies.iter().zip(runs).map(|(preset, runs)| {
        let mut fitter = Fitter::new(preset.policy, LIMIT, runs);
        let seen = fitter.fit_without(&[]).outcomes;
        progress.fitted();
        let unseen = fitter.unseen(&folds, || progress.fitted());
        let row = |source: Option<&str>, places: &[usize]| {
            let score = |outcomes: &[Outcome]| {
                let outcomes: Vec<Outcome> = places.iter().map(|&place| outcomes[place]).collect();
                Score::of(preset.policy.name(), &outcomes).from(source)
            };
            SourceScores {
                score: score(&fitter.before),
                fitted: score(&seen),
                unseen: score(&unseen),
            }
        };
        let sources = folds.iter().map(|fold| row(fold.source.as_deref(), &fold.runs));
        let all: Vec<usize> = (0..runs.len()).collect();
        sources.chain([row(None, &all)]).collect()
    });
    let rows = rows.collect();
    progress.end();
    Some(rows)
}

/// Returns a table for each policy.
pub(super) fn tables(rows: &[Vec<SourceScores>]) -> String {
    let mut text = String::new();
    for rows in rows {
        let Some(row) = rows.last() else { continue };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{STRONG}{}{STRONG:#}", plain(row.score.preset));
        text.push_str(&table(&ROW, rows));
        text.push_str("\n\n");
    }
    let legend = format!(
        "Fitted: fitted to all runs, with at most {LIMIT} false alarms. Unseen: fitted in the \
         same way to the runs of all other sources."
    );
    let runs = rows.iter().flatten().last().map_or(0, |row| row.score.runs);
    text + &textwrap::fill(&legend, COLUMNS) + "\n" + &counted(runs, "run") + "\n"
}

/// Returns each row as a line of JSON.
pub(super) fn lines(rows: &[Vec<SourceScores>]) -> String {
    rows.iter().flatten().map(json_line).collect()
}
