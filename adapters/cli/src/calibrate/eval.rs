//! `unstuck eval`: replays labelled runs and prints how well each policy finds their loops.

mod refitted;
mod runs;
mod table;
mod wrong;

use std::collections::BTreeMap;

use unstuck_text::Preset;

use crate::calibrate::fit;
use crate::calibrate::labels::{self, Label, Outcome};
use crate::calibrate::options::{By, Eval, TableFormat};
use crate::calibrate::score::Score;
use crate::exit::Exit;
use crate::output::{Output, Reader, complain};
use crate::replay::Replay;
use runs::Run;
use table::View;

pub(crate) fn run(eval: &Eval) -> Exit {
    match evaluate(eval) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn evaluate(eval: &Eval) -> Result<Exit, Exit> {
    let policies = eval.policies()?;
    let (labels, exit) = labels::read(&eval.labels).map_err(|why| {
        complain(&eval.labels.display().to_string(), &why);
        Exit::Input
    })?;
    if eval.leave_one_source_out {
        return without_each_source(eval, labels, &policies, exit);
    }
    let replay: runs::Begin =
        if eval.verbose { |preset| Replay::new(preset).measuring() } else { Replay::new };
    let (runs, unread) = runs::judge(&eval.root, labels, &policies, replay);
    let exit = exit.max(unread);
    let text = match eval.format {
        TableFormat::Human => human(eval, &policies, &runs),
        TableFormat::Jsonl => table::lines(&scores(eval, &policies, &runs)),
    };
    Ok(print(eval.format, &text, exit))
}

/// Fits each of the `policies` without each source, and prints its scores on that source.
fn without_each_source(
    eval: &Eval,
    labels: Vec<Label>,
    policies: &[&'static Preset],
    exit: Exit,
) -> Result<Exit, Exit> {
    let (runs, unread) = fit::read(&eval.root, labels, policies);
    if runs.iter().all(Vec::is_empty) {
        // An error was printed for each of them.
        return Err(Exit::Input);
    }
    let Some(rows) = refitted::rows(policies, &runs) else {
        let why = "all runs come from one source (the first folder of their files), so none can \
                   be left out; `unstuck tune` splits the runs of one source at random";
        complain(&eval.labels.display().to_string(), why);
        return Err(Exit::Input);
    };
    let text = match eval.format {
        TableFormat::Human => refitted::tables(&rows),
        TableFormat::Jsonl => refitted::lines(&rows),
    };
    Ok(print(eval.format, &text, exit.max(unread)))
}

/// Prints the result. Returns the exit code, where `exit` is the code so far.
fn print(format: TableFormat, text: &str, exit: Exit) -> Exit {
    let reader = match format {
        TableFormat::Human => Reader::Person,
        TableFormat::Jsonl => Reader::Program,
    };
    let written = Output::stdout(reader).write(text);
    written.map_or_else(|closed| closed.exit(exit), |()| exit)
}

/// Returns a list of scores for each table: one table for all policies, or one for each policy.
fn scores(eval: &Eval, policies: &[&'static Preset], runs: &[Run]) -> Vec<Vec<Score>> {
    let names = policies.iter().map(|preset| preset.policy.name()).enumerate();
    match eval.by {
        None => vec![names.map(|(place, name)| Score::of(name, &outcomes(place, runs))).collect()],
        Some(By::Source) => names.map(|(place, name)| by_source(name, place, runs)).collect(),
    }
}

/// Returns the scores of one policy on the runs of each source, by name, and on all runs.
fn by_source(name: &'static str, place: usize, runs: &[Run]) -> Vec<Score> {
    let mut sources: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
    for run in runs {
        sources.entry(run.label.source()).or_default().push(run.judged[place].outcome);
    }
    let scores =
        sources.iter().map(|(source, outcomes)| Score::of(name, outcomes).from(Some(source)));
    let mut scores: Vec<Score> = scores.collect();
    scores.push(Score::of_sources(name, &sources.into_values().collect::<Vec<_>>()));
    scores
}

/// Returns the outcome of each run under the policy at `place`.
fn outcomes(place: usize, runs: &[Run]) -> Vec<Outcome> {
    runs.iter().map(|run| run.judged[place].outcome).collect()
}

fn human(eval: &Eval, policies: &[&'static Preset], runs: &[Run]) -> String {
    let view = match (eval.intervals, eval.by) {
        (false, None) => View::Policies,
        (false, Some(By::Source)) => View::Sources,
        (true, None) => View::PolicyIntervals,
        (true, Some(By::Source)) => View::SourceIntervals,
    };
    let mut text = table::tables(view, &scores(eval, policies, runs), runs.len());
    if eval.lists_wrong_runs() {
        for (place, preset) in policies.iter().enumerate() {
            if policies.len() > 1 {
                text.push_str(&wrong::heading(preset.policy.name()));
            }
            text.push_str(&wrong_runs(eval, runs, place));
        }
    }
    text
}

/// Lists the runs that the policy at `place` judged wrong.
fn wrong_runs(eval: &Eval, runs: &[Run], place: usize) -> String {
    let mut text = String::new();
    for run in runs {
        let Some(line) = wrong::line(run, place) else { continue };
        text.push_str(&line);
        if eval.verbose {
            text.push_str(&wrong::evidence(run, place));
        }
    }
    text
}
