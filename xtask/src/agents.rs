//! `cargo xtask agents`: runs real coding agents against a scripted model, and compares what the model saw.

mod client;
mod cost;
mod run;
mod scenario;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use clap::Args;

use client::{CLIENTS, Client};
use run::{Model, Run};
use scenario::{SCENARIOS, Scenario};

use crate::machine::{self, is_ci};
use crate::step::{Done, failed};
use crate::{checks, steps};

/// A client and a scenario that it plays.
type Pair = (&'static Client, &'static Scenario);

/// Run real coding agents against a scripted model.
///
/// Runs agents from npm on this machine, with the hooks that `unstuck install` writes, and compares what the model saw at
/// which call with the tables in `xtask/agents/expected`. Clients, homes and logs are in `target/agents`. Needs `npm`.
#[derive(Args, Debug, Default)]
pub(crate) struct Request {
    /// Write the tables
    #[arg(long)]
    bless: bool,
    /// Run without hooks, and compare nothing
    #[arg(long, conflicts_with = "bless")]
    bare: bool,
    /// Print what the hooks of Claude Code, Codex and Gemini CLI, or of one agent, cost a call
    #[arg(long, conflicts_with_all = ["bless", "bare", "scenario"])]
    cost: bool,
    /// Run this agent only
    #[arg(value_parser = steps::possible(CLIENTS.all.iter().map(|it| (&*it.name, &*it.package))))]
    agent: Option<String>,
    /// Run this scenario only
    #[arg(value_parser = steps::possible(SCENARIOS.all.iter().map(|it| (&*it.name, &*it.about))))]
    scenario: Option<String>,
}

/// Runs what the command line asks for.
pub(crate) fn run(request: &Request) -> Done {
    checks::ready("agents")?;
    if request.cost {
        return measure(request.agent.as_deref());
    }
    let is_wanted =
        |only: &Option<String>, name: &String| only.as_ref().is_none_or(|only| only == name);
    let plan = plan(|(client, scenario)| {
        is_wanted(&request.agent, &client.name) && is_wanted(&request.scenario, &scenario.name)
    });
    carry_out(&plan, request, true)
}

/// Measures the hooks of the agent with this name, or else of those that most people use.
fn measure(name: Option<&str>) -> Done {
    let is_wanted = |client: &&Client| name.map_or(client.is_measured, |name| client.name == name);
    let clients: Vec<_> = CLIENTS.all.iter().filter(is_wanted).collect();
    clients.iter().try_for_each(|client| client.ready(true))?;
    cost::table(&clients)
}

/// Makes the runs of CI, which installs the clients. On a developer's machine the step is left out if they are
/// not installed.
pub(crate) fn check() -> Done {
    carry_out(&in_ci(), &Request::default(), is_ci())
}

/// The runs of CI.
fn in_ci() -> Vec<Pair> {
    plan(|(client, scenario)| client.in_ci.contains(&scenario.name))
}

/// The runs that are wanted and make sense, in the order in which they are made.
fn plan(is_wanted: impl Fn(Pair) -> bool) -> Vec<Pair> {
    let of_client = |client| SCENARIOS.all.iter().map(move |scenario| (client, scenario));
    let makes_sense = |(client, scenario): Pair| {
        scenario.only.as_ref().is_none_or(|only| *only == client.name)
            && !client.lacks.contains_key(&scenario.name)
    };
    let all = CLIENTS.all.iter().flat_map(of_client);
    all.filter(|pair| makes_sense(*pair) && is_wanted(*pair)).collect()
}

/// Makes the runs, after it has checked the clients and built the program.
fn carry_out(plan: &[Pair], request: &Request, may_install: bool) -> Done {
    of_clients(plan).try_for_each(|pairs| pairs[0].0.ready(may_install))?;
    let program = &steps::built("unstuck")?;
    let model = &Model::start()?;
    let mut is_well = true;
    for pairs in of_clients(plan) {
        println!("\n{} ({})", pairs[0].0.title, pairs[0].0.package);
        for &(client, scenario) in pairs {
            let run = Run { client, scenario, program, model, has_hooks: !request.bare };
            if !request.bare && !request.bless {
                is_well &= is_as_recorded(&run)?;
            } else if let (Some(line), true) = (observed(&run)?, request.bless) {
                record(client, scenario, line)?;
            }
        }
    }
    if is_well { Ok(()) } else { failed("an agent behaved otherwise than recorded") }
}

/// The pairs of each client.
fn of_clients(plan: &[Pair]) -> impl Iterator<Item = &[Pair]> {
    plan.chunk_by(|(one, _), (next, _)| one == next)
}

/// Makes a run and prints what was seen. Returns `None` if it cannot be made on this machine.
fn observed(run: &Run<'_>) -> io::Result<Option<String>> {
    let start = Instant::now();
    let line = run.line()?;
    let shown = line.as_deref().unwrap_or("left out: `unshare` cannot mount a file system here");
    println!("{:<22} {shown} ({:.1} s)", run.scenario.name, start.elapsed().as_secs_f32());
    Ok(line)
}

/// Makes a run, and returns whether its line is the recorded one. Prints both and the folder of the run if not.
fn is_as_recorded(run: &Run<'_>) -> io::Result<bool> {
    let (client, scenario) = (&run.client.name, &run.scenario.name);
    let recorded = recorded(run.client);
    let expected = recorded.get(scenario).map_or("(no line)", String::as_str);
    // Some clients now and then lose the output of a command. What is wrong here is so twice.
    for _ in 0..2 {
        let Some(seen) = observed(run)? else { return Ok(true) };
        if seen == expected {
            return Ok(true);
        }
        println!("  expected: {expected}\n  seen:     {seen}");
        println!("  logs:     {}", run.folder().display());
        println!("  If the new line is right: cargo xtask agents {client} {scenario} --bless");
    }
    Ok(false)
}

/// The file with the recorded lines of a client.
fn table(client: &Client) -> PathBuf {
    machine::root().join("xtask/agents/expected").join(format!("{}.txt", client.name))
}

/// The recorded lines of a client by their scenarios: none if there is no table.
fn recorded(client: &Client) -> BTreeMap<String, String> {
    let text = fs::read_to_string(table(client)).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once(' '));
    pairs.map(|(name, line)| (name.into(), line.trim().into())).collect()
}

/// Records a line, in the order of the scenarios.
fn record(client: &Client, scenario: &Scenario, line: String) -> io::Result<()> {
    let mut lines = recorded(client);
    lines.insert(scenario.name.clone(), line);
    let today = Command::new("date").arg("+%F").output()?.stdout;
    let today = String::from_utf8_lossy(&today);
    let head = format!("# {}: {}, last recorded {}\n", client.title, client.package, today.trim());
    let rows = SCENARIOS
        .all
        .iter()
        .filter_map(|Scenario { name, .. }| Some(format!("{name:<22} {}\n", lines.get(name)?)));
    fs::write(table(client), head + &rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_of_these_versions_and_have_the_runs_of_ci() {
        for client in &CLIENTS.all {
            let text = fs::read_to_string(table(client)).expect("a table");
            assert!(text.contains(&client.package), "{}: another version", client.name);
            let is_scenario = |name: &String| SCENARIOS.all.iter().any(|known| known.name == *name);
            let lines = recorded(client);
            assert!(lines.keys().chain(client.lacks.keys()).all(is_scenario), "{}", client.name);
            assert!(client.in_ci.iter().all(|name| lines.contains_key(name)), "{}", client.name);
        }
    }

    #[test]
    fn ci_makes_every_run_that_is_named() {
        let named = CLIENTS.all.iter().map(|client| client.in_ci.len()).sum::<usize>();
        assert_eq!(in_ci().len(), named, "a run that makes no sense, or one that is named twice");
        assert_ne!(named, 0);
    }
}
