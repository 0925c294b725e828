//! `cargo xtask agents`: runs real coding agents against a scripted model, and compares what the model saw.

mod client;
mod install;
mod model;
mod observation;
mod place;
mod process;
mod run;
mod scenario;
mod speed;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use client::Client;
use model::Model;
use run::Run;
use scenario::Scenario;
use table::Table;

use crate::machine::{self, Machine};
use crate::step::Outcome;
use crate::steps;

/// The runs that CI makes: names of clients and of their scenarios. The rest is run by hand.
const BRIEFLY: &[(&str, &[&str])] = &[
    ("claude-code", &["same-failing-command", "failing-edit", "healthy-by-tool", "program-gone"]),
    ("codex", &["same-failing-command", "failing-edit", "healthy-by-tool", "program-gone"]),
    ("gemini", &["same-failing-command", "failing-edit", "healthy-by-tool", "program-gone"]),
    ("copilot", &["same-failing-command", "healthy-by-tool", "program-gone"]),
    ("pi", &["same-failing-command", "failing-edit", "healthy-by-tool", "program-gone"]),
];

/// What the command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    client: Option<&'static Client>,
    scenario: Option<&'static Scenario>,
    mode: Mode,
}

/// What is done with the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Compare them with the table.
    Compare,
    /// Write them to the table.
    Bless,
    /// Run without hooks, and print what the agent does alone.
    Bare,
    /// Measure the time that the hooks add to a call.
    Speed,
}

impl Request {
    /// A request from the words of a command line: the agent, and then the scenario.
    ///
    /// # Errors
    ///
    /// If there is no such agent or scenario.
    pub(crate) fn of(words: &[String], mode: Mode) -> Result<Self, String> {
        let mut words = words.iter();
        let client = words.next().map(|name| Client::named(name)).transpose()?;
        let scenario = words.next().map(|name| Scenario::named(name)).transpose()?;
        if mode == Mode::Speed && scenario.is_some() {
            return Err("`--speed` has a script of its own and takes no scenario".into());
        }
        Ok(Self { client, scenario, mode })
    }
}

/// One line for each agent and each scenario.
pub(crate) fn list() -> String {
    let clients = client::ALL.iter().map(|client| {
        let package = client.packages.first().copied().unwrap_or_default();
        format!("  {:<21} {package}\n", client.name)
    });
    let scenarios = scenario::ALL.iter().map(|scenario| {
        let except = match scenario.except {
            [] => String::new(),
            except => format!(" (not {})", except.join(", ")),
        };
        format!("  {:<21} {}{except}\n", scenario.name, scenario.about)
    });
    let clients: String = clients.collect();
    let scenarios: String = scenarios.collect();
    format!("Agents:\n{clients}\nScenarios:\n{scenarios}")
}

/// Runs what the command line asks for.
pub(crate) fn run(request: Request) -> ExitCode {
    let clients =
        client::ALL.iter().filter(|client| request.client.is_none_or(|only| only == *client));
    let plan = clients.map(|client| (client, scenarios(client, request.scenario))).collect();
    // Only a program as users have it says how fast it is.
    let profile = if request.mode == Mode::Speed { "dist" } else { "dev" };
    match install::program(profile).and_then(|program| carry_out(&program, plan, request.mode)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Makes the runs of CI, which installs the clients. On a developer's machine the step is left out if they are
/// not installed.
pub(crate) fn check(machine: Machine) -> Outcome {
    let npm = machine::ready("npm", "npm", machine);
    if npm != Outcome::Passed {
        return npm;
    }
    let named = |(name, scenarios): &(&str, &[&str])| {
        let scenarios: Result<Vec<_>, _> =
            scenarios.iter().map(|name| Scenario::named(name)).collect();
        Ok((Client::named(name)?, scenarios?))
    };
    let plan: Result<Vec<_>, String> = BRIEFLY.iter().map(named).collect();
    let plan = match plan {
        Ok(plan) => plan,
        Err(why) => return Outcome::Failed(why),
    };
    for (client, _) in &plan {
        match machine {
            Machine::Developer if !install::is_installed(client) => return missing(client),
            Machine::Developer => {}
            Machine::Ci => {
                if let Err(why) = install::client(client) {
                    return Outcome::Failed(why);
                }
            }
        }
    }
    let program = match steps::built(&["--bin", "unstuck"]) {
        Ok(program) => program,
        Err(outcome) => return outcome,
    };
    match carry_out(&program, plan, Mode::Compare) {
        Ok(true) => Outcome::Passed,
        Ok(false) => Outcome::Failed("an agent behaved otherwise than recorded".into()),
        Err(why) => Outcome::Failed(why),
    }
}

/// Returns the outcome if a client is missing.
fn missing(client: &Client) -> Outcome {
    let Client { title, name, .. } = client;
    Outcome::LeftOut(format!(
        "{title} is not in target/agents; `cargo xtask agents {name}` brings it"
    ))
}

/// The scenarios that make sense for `client`, or only the one that was asked for.
fn scenarios(client: &Client, only: Option<&'static Scenario>) -> Vec<&'static Scenario> {
    let wanted = scenario::ALL.iter().filter(|scenario| only.is_none_or(|only| only == *scenario));
    wanted.filter(|scenario| !scenario.except.contains(&client.name)).collect()
}

/// Installs the clients and makes the runs. Returns whether all of them are as recorded.
fn carry_out(
    program: &Path,
    plan: Vec<(&'static Client, Vec<&'static Scenario>)>,
    mode: Mode,
) -> Result<bool, String> {
    let mut model = None;
    let mut is_well = true;
    for (client, scenarios) in plan {
        if mode != Mode::Bare && !install::is_known(program, client) {
            println!("{}: left out, because `unstuck install` does not know it yet", client.name);
            continue;
        }
        install::client(client)?;
        let model = match &mut model {
            Some(model) => model,
            none => none.insert(Model::start()?),
        };
        let run = Run { client, program, model, has_hooks: mode != Mode::Bare };
        is_well &= match mode {
            Mode::Speed => speed::measure(run)?,
            _ => compare(run, &scenarios, mode)?,
        };
    }
    Ok(is_well)
}

/// Makes the runs of one client, and compares each with its line in the table.
fn compare(run: Run<'_>, scenarios: &[&Scenario], mode: Mode) -> Result<bool, String> {
    let client = run.client;
    let mut table = Table::read(client)?;
    let mut is_well = true;
    println!("\n{} ({})", client.title, client.packages.first().copied().unwrap_or_default());
    for scenario in scenarios {
        let Some(line) = observe(run, scenario)? else { continue };
        match mode {
            Mode::Bless => {
                table.set(scenario, line);
                table.write()?;
            }
            Mode::Compare if is_as_recorded(&table, client, scenario, &line) => {}
            // Some clients now and then lose the output of a command. What is wrong here is so twice.
            Mode::Compare => {
                let again = observe(run, scenario)?;
                is_well &=
                    again.is_some_and(|line| is_as_recorded(&table, client, scenario, &line));
            }
            Mode::Bare | Mode::Speed => {}
        }
    }
    Ok(is_well)
}

/// Makes a run and prints what was seen. Returns `None` if it cannot be made on this machine.
fn observe(run: Run<'_>, scenario: &Scenario) -> Result<Option<String>, String> {
    let start = Instant::now();
    match run.of(scenario)? {
        Ok(observation) => {
            let line = observation.to_string();
            println!("{:<22} {line} ({:.1} s)", scenario.name, start.elapsed().as_secs_f32());
            Ok(Some(line))
        }
        Err(why) => {
            println!("{:<22} left out: {why}", scenario.name);
            Ok(None)
        }
    }
}

/// Returns whether `line` is the recorded one. Prints both and the folder of the run if not.
fn is_as_recorded(table: &Table, client: &Client, scenario: &Scenario, line: &str) -> bool {
    let recorded = table.line(scenario).unwrap_or("(no line)");
    if recorded == line {
        return true;
    }
    println!("  expected: {recorded}\n  seen:     {line}");
    println!("  logs:     {}", place::folder(client, scenario.name).display());
    println!(
        "  If the new line is right: cargo xtask agents {} {} --bless",
        client.name, scenario.name
    );
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_of_ci_exist_and_are_in_the_tables() {
        for (client, names) in BRIEFLY {
            let client = Client::named(client).expect("a client");
            let table = Table::read(client).expect("a table");
            for name in *names {
                let scenario = Scenario::named(name).expect("a scenario");
                assert!(table.line(scenario).is_some(), "{} {name}", client.name);
            }
        }
    }

    #[test]
    fn the_list_names_every_agent_and_scenario() {
        let list = list();
        for name in client::ALL.iter().map(|client| client.name) {
            assert!(list.contains(&format!("\n  {name} ")), "{name}");
        }
        for name in scenario::ALL.iter().map(|scenario| scenario.name) {
            assert!(list.contains(&format!("\n  {name} ")), "{name}");
        }
    }
}
