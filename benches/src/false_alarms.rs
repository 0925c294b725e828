//! False alarms of a swarm's rule: how often it fires on unrelated runs.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use unstuck_core::Tool;
use unstuck_swarm::{Allowance, Ledger, Observation, Rule, Window, Worker};
use unstuck_text::{Answer, Recipe};
use unstuck_trace::Event;

use crate::report::Measurement;

/// The number of draws.
const DRAWS: u32 = 20_000;

/// A recorded run: the calls of one agent.
struct Run {
    /// The folder of the run. Runs of one folder have one source and similar tasks.
    source: String,
    /// Whether its label says that it is healthy.
    healthy: bool,
    calls: Vec<Observation>,
}

#[derive(Deserialize)]
struct Label {
    file: String,
    r#loop: String,
}

/// The runs that are put side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// Any runs.
    Any,
    /// Runs that are labelled as healthy.
    Healthy,
    /// Runs of one source.
    OneSource,
}

/// The verdicts on runs that were drawn at random and judged as one swarm.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FalseAlarms {
    /// The kind of runs.
    pub draw: Draw,
    /// The number of runs in a draw, each of which is a worker.
    pub workers: usize,
    /// The number of calls from which the rule fires.
    pub calls: u32,
    /// Whether the rule does not count the first successful call of each worker.
    pub first_is_free: bool,
    /// The number of draws.
    pub draws: u32,
    /// The number of draws in which the rule fired.
    pub fired: u32,
}

/// Draws labelled runs of `folder`, and interleaves their calls at random, in a window without an end.
///
/// # Errors
///
/// If the labels or a run cannot be read.
pub fn measure(folder: &Path) -> io::Result<Vec<FalseAlarms>> {
    let runs = runs(folder)?;
    let mut all = Vec::new();
    for draw in [Draw::Any, Draw::Healthy, Draw::OneSource] {
        for workers in [8, 24] {
            for (calls, first_is_free) in [(10, true), (10, false), (5, true), (5, false)] {
                let alarms =
                    FalseAlarms { draw, workers, calls, first_is_free, draws: DRAWS, fired: 0 };
                all.push(alarms.measured(&runs));
            }
        }
    }
    Ok(all)
}

impl Measurement for FalseAlarms {
    const HEADINGS: &'static [&'static str] =
        &["drawn", "workers", "rule of", "first is free", "draws", "fired"];
    const WORDS: usize = 1;

    fn cells(&self) -> Vec<String> {
        let is_free = if self.first_is_free { "yes" } else { "no" };
        let percent = f64::from(self.fired) * 100.0 / f64::from(self.draws.max(1));
        vec![
            self.draw.name().to_owned(),
            self.workers.to_string(),
            format!("{} calls", self.calls),
            is_free.to_owned(),
            self.draws.to_string(),
            format!("{} ({percent:.2} %)", self.fired),
        ]
    }
}

impl FalseAlarms {
    /// Draws runs, and counts the draws in which the rule fires.
    fn measured(mut self, runs: &[Run]) -> Self {
        let mut random = fastrand::Rng::with_seed(8);
        for _ in 0..self.draws {
            let drawn = self.draw.of(runs, self.workers, &mut random);
            self.fired += u32::from(self.fires(&drawn, &mut random));
        }
        self
    }

    /// Returns whether the rule fires on these runs, side by side.
    fn fires(&self, runs: &[&Run], random: &mut fastrand::Rng) -> bool {
        let worked = if self.first_is_free { Allowance::Once } else { Allowance::None };
        let rule = Rule::default().calls(self.calls).worked(worked);
        let rule = rule.window(Window::Time { span: u64::MAX });
        let Ok(mut ledger) = Ledger::new(rule) else { return false };
        let mut left: Vec<_> = (0..).zip(runs.iter().map(|run| run.calls.iter())).collect();
        while !left.is_empty() {
            let turn = random.usize(..left.len());
            let (number, calls) = &mut left[turn];
            match calls.next() {
                Some(call) => {
                    let call = Observation { worker: Worker::new(*number), ..*call };
                    if ledger.record(&call, 0).finding.is_some() {
                        return true;
                    }
                }
                None => drop(left.swap_remove(turn)),
            }
        }
        false
    }
}

impl Draw {
    /// Draws `number` different runs, or all of the kind if there are fewer.
    fn of<'a>(self, runs: &'a [Run], number: usize, random: &mut fastrand::Rng) -> Vec<&'a Run> {
        let mut drawn: Vec<_> = runs.iter().collect();
        random.shuffle(&mut drawn);
        match self {
            Self::Any => {}
            Self::Healthy => drawn.retain(|run| run.healthy),
            Self::OneSource => {
                let source = drawn.first().map(|run| &run.source);
                drawn.retain(|run| Some(&run.source) == source);
            }
        }
        drawn.truncate(number);
        drawn
    }

    /// Returns the name in the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any runs",
            Self::Healthy => "healthy runs",
            Self::OneSource => "runs of one source",
        }
    }
}

/// Returns the labelled runs of `folder` that contain a call.
fn runs(folder: &Path) -> io::Result<Vec<Run>> {
    let labels = fs::read_to_string(folder.join("labels.jsonl"))?;
    let mut runs = Vec::new();
    for line in labels.lines() {
        let Label { file, r#loop } = serde_json::from_str(line)?;
        let bytes = fs::read(folder.join(&file))?;
        let source = file.split('/').next().unwrap_or_default().to_owned();
        let run = Run { source, healthy: r#loop == "no", calls: calls(&bytes) };
        if !run.calls.is_empty() {
            runs.push(run);
        }
    }
    Ok(runs)
}

/// Returns the calls of a run, as a guard reports them. Unreadable lines are left out.
fn calls(run: &[u8]) -> Vec<Observation> {
    let recipe = Recipe::BALANCED;
    let mut calls = Vec::new();
    let mut tools = Vec::new();
    let mut positions = HashMap::new();
    let _ = unstuck_trace::read(run, None, &mut |event| match event {
        Event::Call(call) => {
            let digest = recipe.call(call.tool, &call.lasting_args()).digest();
            positions.insert(call.index, calls.len());
            tools.push(call.tool.to_owned());
            calls.push(Observation::new(Worker::new(0), Tool::named(call.tool), digest));
        }
        Event::Outcome(outcome) => {
            let Some(&position) = positions.get(&outcome.call) else { return };
            let answer = Answer::new(&tools[position], outcome.text, outcome.failed);
            let outcome = recipe.outcome_of(&Answer { cut: outcome.cut, ..answer });
            let call = calls[position];
            let digest = outcome.digest();
            calls[position] =
                if outcome.has_failed() { call.failed(digest) } else { call.ok(digest) };
        }
        Event::Message(_) | Event::Begin(_) | Event::Usage(_) | Event::Time(_) => {}
    });
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUCK: &str = r#"{"type":"call","tool":"bash","args":{"command":"make"},"result":"no rule","is_error":true}
"#;

    fn alarms(workers: usize, calls: u32) -> FalseAlarms {
        let (draw, first_is_free) = (Draw::Any, true);
        FalseAlarms { draw, workers, calls, first_is_free, draws: 10, fired: 0 }
    }

    #[test]
    fn runs_that_are_stuck_together_are_found() {
        let run = |times: usize| Run {
            source: String::new(),
            healthy: true,
            calls: calls(STUCK.repeat(times).as_bytes()),
        };
        let runs = [run(5), run(5)];
        assert_eq!(alarms(2, 10).measured(&runs).fired, 10);
        assert_eq!(alarms(2, 11).measured(&runs).fired, 0);
        assert_eq!(alarms(1, 5).measured(&runs).fired, 0);
    }

    #[test]
    fn runs_are_read_with_their_labels() {
        let folder = tempfile::tempdir().unwrap();
        let labels =
            "{\"file\":\"a/1.jsonl\",\"loop\":\"no\"}\n{\"file\":\"a/2.jsonl\",\"loop\":\"yes\"}\n";
        fs::write(folder.path().join("labels.jsonl"), labels).unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/1.jsonl"), STUCK).unwrap();
        fs::write(folder.path().join("a/2.jsonl"), "{}\n").unwrap();
        let runs = runs(folder.path()).unwrap();
        assert_eq!(runs.len(), 1);
        assert_eq!((&*runs[0].source, runs[0].healthy, runs[0].calls.len()), ("a", true, 1));
        assert!(runs[0].calls[0].result.is_some_and(|result| result.failed));
    }
}
