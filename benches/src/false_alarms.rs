//! False alarms of a swarm's rule: how often it fires on unrelated runs.

use std::fs;
use std::io::{self, Error};
use std::path::Path;

use fastrand::Rng;
use serde_json::Value;
use unstuck_core::Tool;
use unstuck_swarm::{Allowance, Ledger, Observation, Rule, Window, Worker};
use unstuck_text::{Answer, Recipe};

use crate::calls::{RawCall, read};
use crate::report::table;

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

/// Whether a run may be drawn beside another one.
type Draw = fn(&Run, &Run) -> bool;

/// The runs that are put side by side.
const DRAWN: [(&str, Draw); 3] = [
    ("any runs", |_, _| true),
    ("healthy runs", |_, run| run.healthy),
    ("runs of one source", |first, run| run.source == first.source),
];

/// Draws labelled runs of `folder`, and interleaves their calls at random, in a window without an end.
pub(crate) fn measure(folder: &Path) -> io::Result<()> {
    let runs = runs(folder)?;
    let mut rows = Vec::new();
    for (name, draw) in DRAWN {
        for workers in [8, 24] {
            for (calls, first_is_free) in [(10, true), (10, false), (5, true), (5, false)] {
                let fired = fired(&runs, draw, workers, &rule(calls, first_is_free), DRAWS);
                let percent = format!("{:.2}", f64::from(fired) * 100.0 / f64::from(DRAWS));
                let is_free = if first_is_free { "yes" } else { "no" };
                let numbers = [workers.to_string(), calls.to_string(), is_free.into()];
                rows.push([&[name.into()], &numbers[..], &[fired.to_string(), percent]].concat());
            }
        }
    }
    table(&["drawn", "workers", "rule of calls", "first is free", "fired", "% of draws"], 1, rows);
    Ok(())
}

/// Returns the rule of a window without an end that fires from `calls` calls. If the first is free, it does not
/// count the first successful call of each worker.
fn rule(calls: u32, first_is_free: bool) -> Rule {
    let worked = if first_is_free { Allowance::Once } else { Allowance::None };
    Rule::default().calls(calls).worked(worked).window(Window::Time { span: u64::MAX })
}

/// Draws runs, each of which is a worker, and returns the number of draws in which the rule fires.
fn fired(runs: &[Run], draw: Draw, workers: usize, rule: &Rule, draws: u32) -> u32 {
    let mut random = Rng::with_seed(8);
    let fires = |_| u32::from(fires(rule, &drawn(runs, draw, workers, &mut random), &mut random));
    (0..draws).map(fires).sum()
}

/// Returns whether the rule fires on these runs, side by side.
fn fires(rule: &Rule, runs: &[&Run], random: &mut Rng) -> bool {
    let Ok(mut ledger) = Ledger::new(rule.clone()) else { return false };
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

/// Draws `number` different runs, or all of the kind if there are fewer.
fn drawn<'a>(runs: &'a [Run], draw: Draw, number: usize, random: &mut Rng) -> Vec<&'a Run> {
    let mut drawn: Vec<_> = runs.iter().collect();
    random.shuffle(&mut drawn);
    if let Some(&first) = drawn.first() {
        drawn.retain(|run| draw(first, run));
    }
    drawn.truncate(number);
    drawn
}

/// Returns the labelled runs of `folder` that contain a call.
fn runs(folder: &Path) -> io::Result<Vec<Run>> {
    let mut runs = Vec::new();
    for line in fs::read_to_string(folder.join("labels.jsonl"))?.lines() {
        let label: Value = serde_json::from_str(line)?;
        let file = label["file"].as_str().ok_or_else(|| Error::other("a label without a file"))?;
        let source = file.split('/').next().unwrap_or_default().to_owned();
        let calls = observed(&read(&fs::read(folder.join(file))?));
        if !calls.is_empty() {
            runs.push(Run { source, healthy: label["loop"] == "no", calls });
        }
    }
    Ok(runs)
}

/// Returns the calls of a run, as a guard reports them.
fn observed(calls: &[RawCall]) -> Vec<Observation> {
    let recipe = Recipe::BALANCED;
    let observed = |RawCall { tool, args, result, is_answered, failed, cut }: &RawCall| {
        let digest = recipe.call(tool, args).digest();
        let call = Observation::new(Worker::new(0), Tool::named(tool), digest);
        if !is_answered {
            return call;
        }
        let answer = Answer { cut: cut.as_deref(), ..Answer::new(tool, result, *failed) };
        let outcome = recipe.outcome_of(&answer);
        let digest = outcome.digest();
        if outcome.has_failed() { call.failed(digest) } else { call.ok(digest) }
    };
    calls.iter().map(observed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUCK: &str = r#"{"type":"call","tool":"bash","args":{"command":"make"},"result":"no rule","is_error":true}
"#;

    #[test]
    fn runs_that_are_stuck_together_are_found() {
        let run = || {
            let calls = observed(&read(STUCK.repeat(5).as_bytes()));
            Run { source: String::new(), healthy: true, calls }
        };
        let runs = [run(), run()];
        assert_eq!(fired(&runs, DRAWN[0].1, 2, &rule(10, true), 10), 10);
        assert_eq!(fired(&runs, DRAWN[0].1, 2, &rule(11, true), 10), 0);
        assert_eq!(fired(&runs, DRAWN[0].1, 1, &rule(5, true), 10), 0);
    }
}
