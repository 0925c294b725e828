//! `unstuck eval`: replays labelled runs and prints how well each policy finds their loops.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::Style;
use unstuck_report::json::json_line;
use unstuck_report::replay::{Findings, Location, Nearest, Replay, ReplayFinding};
use unstuck_report::shown::{COLUMNS, counted, plain, tool_name};
use unstuck_text::Preset;

use super::figures::{self, Column, NONE, ends, number, percent, percents, table};
use super::labels::{self, Count, Label, Outcome};
use super::options::{By, Eval, TableFormat};
use super::runs::{first, replayed};
use super::score::{RESAMPLINGS, Score};
use crate::exit::Exit;
use crate::output::{Output, Reader, fail};
use crate::read::inputs::Input;
use crate::read::jobs::read_each;

/// A run, and the judgement of each policy.
struct Run {
    label: Label,
    /// In the order of the policies.
    judged: Vec<Judged>,
}

/// The judgement of one policy on a run.
struct Judged {
    outcome: Outcome,
    /// The first finding, with the index of its call, or of its message if there are no calls.
    first: Option<(usize, ReplayFinding)>,
    /// The rule that came nearest to a finding.
    nearest: Option<Nearest>,
}

pub(crate) fn run(eval: &Eval) -> Exit {
    evaluate(eval).unwrap_or_else(|exit| exit)
}

fn evaluate(eval: &Eval) -> Result<Exit, Exit> {
    let policies = eval.policies()?;
    let (labels, exit) = labels::read(&eval.labels)
        .map_err(|why| fail(Exit::Input, &eval.labels.display().to_string(), &why))?;
    let (labels, absent) = present(eval, labels)?;
    let (runs, unread) = judge(eval, labels, &policies);
    let scores = scores(eval, &policies, &runs);
    let (reader, text) = match eval.format {
        TableFormat::Human => {
            let text = tables(eval, &scores, runs.len()) + &wrong_runs(eval, &policies, &runs);
            (Reader::Person, text)
        }
        TableFormat::Jsonl => (Reader::Program, scores.iter().flatten().map(json_line).collect()),
    };
    let exit = exit.max(absent).max(unread);
    Output::stdout(reader).write(&text).map(|()| exit).map_err(|closed| closed.exit(exit))
}

/// Returns the labels whose runs are there. The others are reported together, and the exit code says
/// so. Without any run there is nothing to score.
fn present(eval: &Eval, labels: Vec<Label>) -> Result<(Vec<Label>, Exit), Exit> {
    let count = labels.len();
    let is_there = |label: &Label| eval.root.join(&label.file).exists();
    let (present, absent): (Vec<_>, Vec<_>) = labels.into_iter().partition(is_there);
    let Some(first) = absent.first() else { return Ok((present, Exit::Clean)) };
    let why = format!(
        "{} of {} are not in this folder, for example {}; give the folder that the labels' files \
         are in, or make the runs that are missing",
        absent.len(),
        counted(count, "labelled run"),
        first.file.display()
    );
    let exit = fail(Exit::Input, &eval.root.display().to_string(), &why);
    if present.is_empty() { Err(exit) } else { Ok((present, exit)) }
}

/// Judges each labelled run by each policy, on one thread per core. A run that cannot be read is
/// reported and left out; the exit code says so.
fn judge(eval: &Eval, labels: Vec<Label>, policies: &[&'static Preset]) -> (Vec<Run>, Exit) {
    let input = |label: Label| (Input::File(eval.root.join(&label.file)), label);
    let inputs = labels.into_iter().map(input).collect();
    let (presets, is_measuring) = (policies.to_owned(), eval.verbose);
    let (runs, exit) = read_each(inputs, move |input, label, progress| {
        let replays = presets.iter().map(|preset| {
            let replay = Replay::new(preset);
            if is_measuring { replay.measuring() } else { replay }
        });
        let run = replayed(input, progress, replays.collect())?;
        label.fits(run.count)?;
        let judged = run.findings.into_iter().map(|found| judgement(label, run.count, found));
        Ok(judged.collect())
    });
    (runs.into_iter().map(|(label, judged)| Run { label, judged }).collect(), exit)
}

/// Returns the judgement of the policy that made these findings.
fn judgement(label: &Label, count: Count, findings: Findings) -> Judged {
    let first = first(findings.list).map(|found| {
        let message = match found.location {
            Location::Messages { at, .. } => Some(at),
            Location::Calls { .. } => None,
        };
        (count.index(found.calls_before, message), found)
    });
    let outcome = label.outcome(first.as_ref().map(|(at, _)| *at), count);
    Judged { outcome, first, nearest: findings.nearest }
}

/// Returns a list of scores for each table: one table for all policies, or one for each policy.
fn scores(eval: &Eval, policies: &[&'static Preset], runs: &[Run]) -> Vec<Vec<Score>> {
    let names = policies.iter().map(|preset| preset.policy.name()).enumerate();
    let score = |(place, name): (usize, &'static str)| {
        let outcomes: Vec<Outcome> = runs.iter().map(|run| run.judged[place].outcome).collect();
        Score::of(name, &outcomes)
    };
    match eval.by {
        None => vec![names.map(score).collect()],
        Some(By::Source) => names.map(|(place, name)| by_source(name, place, runs)).collect(),
    }
}

/// Returns the scores of one policy on the runs of each source, by name, and on all runs.
fn by_source(name: &'static str, place: usize, runs: &[Run]) -> Vec<Score> {
    let mut sources: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
    for run in runs {
        sources.entry(run.label.source()).or_default().push(run.judged[place].outcome);
    }
    let score = |(source, outcomes): (&&str, &Vec<_>)| Score::of(name, outcomes).from(source);
    let mut scores: Vec<Score> = sources.iter().map(score).collect();
    scores.push(Score::of_sources(name, &sources.into_values().collect::<Vec<_>>()));
    scores
}

const PRESET: Column<Score> = ("preset", |score| figures::name(score.preset));
const SOURCE: Column<Score> =
    ("source", |score| figures::name(score.source.as_deref().unwrap_or("all")));
const RUNS: Column<Score> = ("runs", |score| score.runs.to_string());
const RECALL: Column<Score> = ("recall", |score| number(score.recall));
const PRECISION: Column<Score> = ("precision", |score| number(score.precision));
const F1: Column<Score> = ("F1", |score| number(score.f1));
const F1_INTERVAL: Column<Score> = ("95 %", |score| ends(score.f1_interval));
const FALSE_ALARMS: Column<Score> = ("false alarms", |score| percent(score.false_alarm_rate));
const RATE_INTERVAL: Column<Score> = ("95 %", |score| percents(score.false_alarm_rate_interval));
const EARLY: Column<Score> = ("early", |score| score.counts.early.to_string());
const LAG: Column<Score> =
    ("lag", |score| score.median_lag.map_or_else(|| NONE.to_owned(), |lag| lag.to_string()));
const SAVED: Column<Score> = ("saved", |score| score.saved.to_string());

/// Returns a table for each list of scores, and the number of `runs`. A table is at most 80 columns
/// wide.
fn tables(eval: &Eval, scores: &[Vec<Score>], runs: usize) -> String {
    let columns: &[Column<Score>] = match (eval.by, eval.intervals) {
        (None, false) => &[PRESET, RECALL, PRECISION, F1, FALSE_ALARMS, EARLY, LAG, SAVED],
        (None, true) => &[PRESET, F1, F1_INTERVAL, FALSE_ALARMS, RATE_INTERVAL],
        (Some(_), false) => &[SOURCE, RUNS, RECALL, PRECISION, F1, FALSE_ALARMS, LAG, SAVED],
        (Some(_), true) => &[SOURCE, RUNS, F1, F1_INTERVAL, FALSE_ALARMS, RATE_INTERVAL],
    };
    let mut text = String::new();
    for scores in scores {
        if let (Some(_), Some(score)) = (eval.by, scores.first()) {
            text.push_str(&heading(score.preset));
        }
        text.push_str(&table(columns, scores));
        text.push_str("\n\n");
    }
    if eval.intervals {
        let sources = if eval.by.is_some() { "; for all runs, of whole sources" } else { "" };
        let legend = format!(
            "95 %: from {RESAMPLINGS} resamplings of the runs{sources}. If all n runs have the \
             same outcome, up to 3 in n could still differ."
        );
        text.push_str(&textwrap::fill(&legend, COLUMNS));
        text.push('\n');
    }
    text + &counted(runs, "run") + "\n"
}

/// Lists the runs that each policy judged wrong, if they are wanted.
fn wrong_runs(eval: &Eval, policies: &[&'static Preset], runs: &[Run]) -> String {
    let mut text = String::new();
    for (place, preset) in policies.iter().enumerate().filter(|_| eval.lists_wrong_runs()) {
        if policies.len() > 1 {
            text.push('\n');
            text.push_str(&heading(preset.policy.name()));
        }
        for run in runs {
            let Some(line) = wrong_line(run, place) else { continue };
            text.push_str(&line);
            if eval.verbose {
                text.push_str(&wrong_evidence(run, place));
            }
        }
    }
    text
}

/// Returns the name of a policy as a line of its own.
fn heading(name: &str) -> String {
    let strong = Style::new().bold();
    format!("{strong}{}{strong:#}\n", plain(name))
}

/// The most columns of a tool's name.
const TOOL_MAX: usize = 24;

const FAINT: Style = Style::new().dimmed();

/// Returns a line if the policy at `place` judged the run wrong.
fn wrong_line(run: &Run, place: usize) -> Option<String> {
    let label = &run.label;
    let Judged { outcome, first, .. } = &run.judged[place];
    let at = first.as_ref().map(|(at, _)| *at).unwrap_or_default();
    let what = match outcome {
        Outcome::Missed => "missed".to_owned(),
        Outcome::Early => format!("early at #{at}, begins at #{}", label.start.unwrap_or(0)),
        Outcome::FalseAlarm => format!("false alarm at #{at}"),
        Outcome::Hit { .. } | Outcome::Quiet => return None,
    };
    let (file, kind) = (plain(&label.file.display().to_string()), plain(&label.kind));
    Some(format!("{what}: {file} ({kind})\n"))
}

/// Returns the evidence for the finding. For a missed loop, returns the call at which a supervisor
/// would step in, and the nearest rule.
fn wrong_evidence(run: &Run, place: usize) -> String {
    let Judged { first, nearest, .. } = &run.judged[place];
    let stuck_at = run.label.stuck_at.filter(|_| first.is_none());
    let stuck_at = stuck_at.map(|at| format!("a supervisor would step in at #{at}"));
    let found = first.as_ref().map(|(_, found)| of_finding(found));
    let nearest = nearest.as_ref().filter(|_| first.is_none()).map(of_nearest);
    let parts: Vec<String> = [stuck_at, found, nearest].into_iter().flatten().collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("  {FAINT}{}{FAINT:#}\n", parts.join("; "))
}

fn of_finding(found: &ReplayFinding) -> String {
    let mut text = format!("{} by rule {}", found.finding.kind, plain(found.rule));
    // Writing to a string cannot fail.
    let _ = match found.location {
        Location::Calls { first, last, .. } => {
            write!(text, ", tool {}, calls #{first} to #{last}", tool_name(&found.tool, TOOL_MAX))
        }
        Location::Messages { first, at } => write!(text, ", messages #{first} to #{at}"),
    };
    text
}

fn of_nearest(nearest: &Nearest) -> String {
    let Nearest { rule, held, needed, at } = nearest;
    format!("nearest rule {}, {held} of {needed} at #{at}", plain(rule))
}
