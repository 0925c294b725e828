//! `unstuck eval`: replays labelled runs and prints how well each preset finds their loops.

use std::fs;
use std::path::{Path, PathBuf};

use comfy_table::{CellAlignment, Table, presets::NOTHING};
use serde::{Deserialize, Serialize};
use unstuck_core::Action;
use unstuck_text::{PRESETS, Preset};

use crate::args::{Eval, TableFormat};
use crate::exit::Exit;
use crate::inputs::Input;
use crate::output::{Output, Reader, complain};
use crate::progress::Progress;
use crate::replay::Place;
use crate::scan::{Judge, Report};
use crate::shown::{counted, plain};

/// What somebody who read the run says of it.
#[derive(Clone, Debug, Deserialize)]
struct Label {
    file: PathBuf,
    r#loop: Answer,
    /// Where the loop begins; a finding before it is a false alarm.
    start: Option<usize>,
    /// Where a supervisor would step in.
    stuck_at: Option<usize>,
    #[serde(default)]
    kind: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Yes,
    No,
}

/// What became of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The loop was found, so many calls after a supervisor would have stepped in.
    Hit { lag: Option<i64> },
    /// There is a loop, and nothing was found.
    Missed,
    /// There is a loop, and something was found before it began.
    Early,
    /// There is none, and something was found.
    FalseAlarm,
    /// There is none, and nothing was found.
    Quiet,
}

impl Label {
    /// Judges the first finding, at `at`, by the label.
    fn outcome(&self, at: Option<usize>) -> Outcome {
        match (self.r#loop, at) {
            (Answer::No, None) => Outcome::Quiet,
            (Answer::No, Some(_)) => Outcome::FalseAlarm,
            (Answer::Yes, None) => Outcome::Missed,
            (Answer::Yes, Some(at)) if at < self.start.unwrap_or(0) => Outcome::Early,
            (Answer::Yes, Some(at)) => Outcome::Hit { lag: self.lag(at) },
        }
    }

    fn lag(&self, at: usize) -> Option<i64> {
        let stuck = i64::try_from(self.stuck_at?).ok()?;
        Some(i64::try_from(at).ok()? - stuck)
    }
}

/// How well one preset did.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Score {
    preset: &'static str,
    runs: usize,
    hits: usize,
    missed: usize,
    early: usize,
    false_alarms: usize,
    /// Ratios are none where there is nothing to divide by.
    recall: Option<f64>,
    precision: Option<f64>,
    f1: Option<f64>,
    /// The share of the runs without a loop in which something was found.
    false_alarm_rate: Option<f64>,
    median_lag: Option<i64>,
}

impl Score {
    fn of(preset: &'static str, outcomes: &[Outcome]) -> Self {
        let count = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|o| wanted(o)).count();
        let hits = count(|outcome| matches!(outcome, Outcome::Hit { .. }));
        let missed = count(|outcome| *outcome == Outcome::Missed);
        let early = count(|outcome| *outcome == Outcome::Early);
        let false_alarms = count(|outcome| *outcome == Outcome::FalseAlarm);
        let quiet = count(|outcome| *outcome == Outcome::Quiet);
        let recall = ratio(hits, hits + missed + early);
        let precision = ratio(hits, hits + early + false_alarms);
        let f1 = ratio(2 * hits, 2 * hits + missed + 2 * early + false_alarms);
        Self {
            preset,
            runs: outcomes.len(),
            hits,
            missed,
            early,
            false_alarms,
            recall,
            precision,
            f1,
            false_alarm_rate: ratio(false_alarms, false_alarms + quiet),
            median_lag: median_lag(outcomes),
        }
    }
}

/// The middle lag; of an even number the lower of the two.
fn median_lag(outcomes: &[Outcome]) -> Option<i64> {
    let lags = outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Hit { lag } => *lag,
        _ => None,
    });
    let mut lags: Vec<i64> = lags.collect();
    lags.sort_unstable();
    lags.get(lags.len().checked_sub(1)? / 2).copied()
}

#[expect(clippy::cast_precision_loss, reason = "counts of files, far below 2^52")]
fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

pub(crate) fn run(eval: &Eval) -> Exit {
    match evaluate(eval) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn evaluate(eval: &Eval) -> Result<Exit, Exit> {
    let alone = eval.preset()?;
    let (labels, mut exit) = labels(&eval.labels).map_err(|why| {
        complain(&eval.labels.display().to_string(), &why);
        Exit::Input
    })?;
    let presets = alone.map_or_else(|| PRESETS.iter().collect(), |preset| vec![preset]);
    let mut scores = Vec::new();
    let mut wrong = Vec::new();
    for (n, preset) in presets.iter().enumerate() {
        let mut outcomes = Vec::new();
        for label in &labels {
            match first_finding(&eval.root, label, preset) {
                Ok(at) => {
                    let outcome = label.outcome(at);
                    wrong.extend(complaint(label, outcome, at));
                    outcomes.push(outcome);
                }
                Err(why) => {
                    exit = Exit::Input;
                    // Said once, not once for each preset.
                    if n == 0 {
                        complain(&eval.root.join(&label.file).display().to_string(), &why);
                    }
                }
            }
        }
        scores.push(Score::of(preset.policy.name(), &outcomes));
    }
    let mut text = match eval.format {
        TableFormat::Human => table(&scores),
        TableFormat::Jsonl => lines(&scores),
    };
    if alone.is_some() && eval.format == TableFormat::Human {
        text.push_str(&wrong.concat());
    }
    let reader = match eval.format {
        TableFormat::Human => Reader::Person,
        TableFormat::Jsonl => Reader::Program,
    };
    let written = Output::stdout(reader).write(&text);
    Ok(written.map_or_else(|closed| closed.exit(exit), |()| exit))
}

/// The labels, and how to exit if some of them could not be read.
fn labels(path: &Path) -> Result<(Vec<Label>, Exit), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut labels = Vec::new();
    let mut exit = Exit::Clean;
    for (n, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line) {
            Ok(label) => labels.push(label),
            Err(error) => {
                exit = Exit::Input;
                // The parser sees one line at a time, and takes each for the first.
                let error = error.to_string();
                let error = error.split(" at line 1 column").next().unwrap_or_default();
                let why = format!(
                    "line {}: not a label: {error}; expected {{\"file\":…, \"loop\":\"yes\" or \
                     \"no\", \"start\":…, \"stuck_at\":…}}",
                    n + 1
                );
                complain(&path.display().to_string(), &why);
            }
        }
    }
    if labels.is_empty() {
        return Err("holds no label; expected JSON Lines of {\"file\", \"loop\", …}".to_owned());
    }
    Ok((labels, exit))
}

/// Where the preset first asks for something in the run: at which call, or which message.
fn first_finding(
    root: &Path,
    label: &Label,
    preset: &'static Preset,
) -> Result<Option<usize>, String> {
    let input = Input::File(root.join(&label.file));
    let report = Report::of(&input, &Judge::by(preset), &Progress::none())?;
    let asked = report.findings.found.iter().find(|found| found.action >= Action::Nudge);
    Ok(asked.map(|found| match found.place {
        // Labels count messages only where there is no call to count.
        Place::Messages { at, .. } if report.trace.calls == 0 => at,
        Place::Messages { .. } | Place::Calls { .. } => found.calls_before,
    }))
}

/// What to say of a run that was judged wrong.
fn complaint(label: &Label, outcome: Outcome, at: Option<usize>) -> Option<String> {
    let what = match (outcome, at) {
        (Outcome::Missed, _) => "missed".to_owned(),
        (Outcome::Early, Some(at)) => {
            format!("early at #{at}, begins at #{}", label.start.unwrap_or(0))
        }
        (Outcome::FalseAlarm, Some(at)) => format!("false alarm at #{at}"),
        _ => return None,
    };
    let (file, kind) = (plain(&label.file.display().to_string()), plain(&label.kind));
    Some(format!("{what}: {file} ({kind})\n"))
}

fn table(scores: &[Score]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header([
        "preset",
        "recall",
        "precision",
        "F1",
        "false alarms",
        "early",
        "lag",
    ]);
    for score in scores {
        table.add_row([
            score.preset.to_owned(),
            number(score.recall),
            number(score.precision),
            number(score.f1),
            score
                .false_alarm_rate
                .map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", rate * 100.0)),
            score.early.to_string(),
            score.median_lag.map_or_else(|| "-".to_owned(), |lag| lag.to_string()),
        ]);
    }
    for (n, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if n > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let runs = counted(scores.first().map_or(0, |score| score.runs), "run");
    format!("{}\n\n{runs}\n", table.trim_fmt())
}

fn number(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}

fn lines(scores: &[Score]) -> String {
    // Names and numbers alone: there is nothing that could fail.
    let lines = scores.iter().map(|score| serde_json::to_string(score).unwrap_or_default() + "\n");
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::{Answer, Label, Outcome, Score};

    fn label(answer: Answer, start: Option<usize>) -> Label {
        Label {
            file: "a.jsonl".into(),
            r#loop: answer,
            start,
            stuck_at: Some(5),
            kind: String::new(),
        }
    }

    #[test]
    fn a_finding_is_judged_by_where_the_loop_begins() {
        let yes = label(Answer::Yes, Some(3));
        assert_eq!(yes.outcome(None), Outcome::Missed);
        assert_eq!(yes.outcome(Some(2)), Outcome::Early);
        assert_eq!(yes.outcome(Some(3)), Outcome::Hit { lag: Some(-2) });
        assert_eq!(label(Answer::Yes, None).outcome(Some(0)), Outcome::Hit { lag: Some(-5) });
        let no = label(Answer::No, None);
        assert_eq!(no.outcome(None), Outcome::Quiet);
        assert_eq!(no.outcome(Some(9)), Outcome::FalseAlarm);
    }

    #[test]
    fn the_score_follows_its_definitions() {
        let hit = |lag| Outcome::Hit { lag: Some(lag) };
        let outcomes = [
            hit(0),
            hit(2),
            hit(9),
            Outcome::Missed,
            Outcome::Early,
            Outcome::FalseAlarm,
            Outcome::Quiet,
            Outcome::Quiet,
            Outcome::Quiet,
        ];
        let score = Score::of("x", &outcomes);
        assert_eq!((score.recall, score.precision), (Some(0.6), Some(0.6)));
        assert_eq!((score.f1, score.false_alarm_rate), (Some(0.6), Some(0.25)));
        assert_eq!(score.median_lag, Some(2));
    }

    #[test]
    fn nothing_to_judge_is_no_division_by_zero() {
        let score = Score::of("x", &[]);
        assert_eq!((score.recall, score.precision, score.f1), (None, None, None));
        assert_eq!(score.median_lag, None);
    }
}
