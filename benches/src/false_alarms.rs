//! How often the rule of a swarm fires between runs that have nothing to do with each other.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use unstuck_core::Tool;
use unstuck_swarm::{Allowance, Ledger, Observation, Rule, Window, Worker};
use unstuck_text::{Answer, Recipe};
use unstuck_trace::{Args, Event};

/// How often runs are drawn.
const DRAWS: u32 = 20_000;

/// A recorded run: the calls of one agent.
struct Run {
    /// The folder that it stands in: those of one folder come from one source, and have like tasks.
    source: String,
    /// Whether it was labelled as healthy.
    healthy: bool,
    calls: Vec<Observation>,
}

#[derive(Deserialize)]
struct Label {
    file: String,
    r#loop: String,
}

/// Which runs are put side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// Any.
    Any,
    /// Any that are labelled as healthy.
    Healthy,
    /// Those of one source.
    OneSource,
}

/// What came of drawing runs and having them judged as one swarm.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Innocents {
    /// Which runs.
    pub draw: Draw,
    /// How many at a time.
    pub workers: usize,
    /// How many calls the rule asked for.
    pub calls: u32,
    /// Whether the first call of everybody was free if it worked.
    pub first_is_free: bool,
    /// How many times runs were drawn.
    pub draws: u32,
    /// In how many of them the rule fired.
    pub fired: u32,
}

/// Draws runs of `folder`, which has labels, and interleaves their calls at random, in a window that
/// never ends.
///
/// # Errors
///
/// If the labels or a run cannot be read.
pub fn measure(folder: &Path) -> io::Result<Vec<Innocents>> {
    let runs = runs(folder)?;
    let mut rows = Vec::new();
    for draw in [Draw::Any, Draw::Healthy, Draw::OneSource] {
        for workers in [8, 24] {
            for (calls, first_is_free) in [(10, true), (10, false), (5, true), (5, false)] {
                let row = Innocents { draw, workers, calls, first_is_free, draws: DRAWS, fired: 0 };
                rows.push(row.measured(&runs));
            }
        }
    }
    Ok(rows)
}

impl Innocents {
    fn measured(mut self, runs: &[Run]) -> Self {
        let mut random = fastrand::Rng::with_seed(8);
        for _ in 0..self.draws {
            let drawn = self.draw.of(runs, self.workers, &mut random);
            self.fired += u32::from(self.fires(&drawn, &mut random));
        }
        self
    }

    /// Whether the rule fires on these runs, side by side.
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
    /// So many runs, or as many as there are of the kind, no run twice.
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

    /// What the tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any runs",
            Self::Healthy => "healthy runs",
            Self::OneSource => "runs of one source",
        }
    }
}

/// The labelled runs of `folder`, those without a call left out.
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

/// The calls of a run, as a guard would tell of them. What cannot be read is left out.
fn calls(run: &[u8]) -> Vec<Observation> {
    let recipe = Recipe::BALANCED;
    let mut calls = Vec::new();
    let mut tools = Vec::new();
    let mut places = HashMap::new();
    let _ = unstuck_trace::read(run, None, &mut |event| match event {
        Event::Call(call) => {
            let (Args::Json(args) | Args::Text(args)) = call.args;
            let digest = recipe.call(call.tool, args).digest();
            places.insert(call.index, calls.len());
            tools.push(call.tool.to_owned());
            calls.push(Observation::new(Worker::new(0), Tool::named(call.tool), digest));
        }
        Event::Outcome(outcome) => {
            let Some(&place) = places.get(&outcome.call) else { return };
            let answer = Answer::new(&tools[place], outcome.text, outcome.failed);
            let told = recipe.outcome_of(&Answer { cut: outcome.cut, ..answer });
            let call = calls[place];
            let digest = told.digest();
            calls[place] = if told.has_failed() { call.failed(digest) } else { call.ok(digest) };
        }
        Event::Message(_) | Event::Begin(_) => {}
    });
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUCK: &str = r#"{"type":"call","tool":"bash","args":{"command":"make"},"result":"no rule","is_error":true}
"#;

    fn row(workers: usize, calls: u32) -> Innocents {
        let (draw, first_is_free) = (Draw::Any, true);
        Innocents { draw, workers, calls, first_is_free, draws: 10, fired: 0 }
    }

    #[test]
    fn runs_that_are_stuck_together_are_found() {
        let run = |times: usize| Run {
            source: String::new(),
            healthy: true,
            calls: calls(STUCK.repeat(times).as_bytes()),
        };
        let runs = [run(5), run(5)];
        assert_eq!(row(2, 10).measured(&runs).fired, 10);
        assert_eq!(row(2, 11).measured(&runs).fired, 0);
        assert_eq!(row(1, 5).measured(&runs).fired, 0);
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
        assert!(runs[0].calls[0].answer.is_some_and(|answer| answer.failed));
    }
}
