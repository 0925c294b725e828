//! What the hooks of an agent cost: forty calls that bring news, without hooks, with ours, and with ones that do nothing.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::client::Client;
use super::run::{Model, Run};
use super::scenario::SCENARIOS;
use crate::machine::{cargo, root};
use crate::step::{Done, quietly};

/// The program as releases have it, if it was built, and the one of `cargo install`.
const PROGRAMS: [&str; 2] =
    ["target/x86_64-unknown-linux-musl/dist/unstuck", "target/dist/unstuck"];

/// The number of runs of each kind, which take turns.
const ROUNDS: usize = 3;

/// Prints a row of the table for each client: milliseconds from an answer of the model to its next request.
pub(super) fn table(clients: &[&'static Client]) -> Done {
    let program = &program()?;
    let model = &Model::start()?;
    println!("\nMilliseconds a call, with {}", program.display());
    println!("| agent | without hooks | hooks add | of it, hooks that do nothing | of it, ours |");
    println!("|---|---|---|---|---|");
    let (cost, idle) = (&SCENARIOS.cost, &SCENARIOS.idle);
    // The scenario of each kind of run, and whether there are hooks.
    let kinds = [(cost, false), (idle, true), (cost, true)];
    for client in clients {
        let mut all: [Vec<f64>; 3] = Default::default();
        for _ in 0..ROUNDS {
            for ((scenario, has_hooks), times) in kinds.into_iter().zip(&mut all) {
                let run = Run { client, scenario, program, model, has_hooks };
                times.extend(run.gaps()?);
            }
        }
        let [without, idle, with] = all.map(median);
        let (added, others, ours) = (with - without, idle - without, with - idle);
        println!("| {} | {without:.1} | {added:.1} | {others:.1} | {ours:.1} |", client.title);
    }
    Ok(())
}

/// Returns the program to measure.
fn program() -> Done<PathBuf> {
    let [musl, other] = PROGRAMS.map(|path| root().join(path));
    if musl.is_file() {
        return Ok(musl);
    }
    let mut build = cargo();
    build.args(["build", "--profile", "dist", "--locked", "--quiet", "--package", "unstuck-cli"]);
    quietly(&mut build)?;
    Ok(other)
}

/// Returns the middle one of the times, or 0 without any.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

impl Run<'_> {
    /// Plays the scenario, and returns the milliseconds between each answer of the model and its next request.
    fn gaps(&self) -> io::Result<Vec<f64>> {
        self.prepare()?;
        self.prompt(false)?;
        let times = fs::read_to_string(self.folder().join("model/times.txt"))?;
        Ok(times.lines().filter_map(|time| time.parse().ok()).collect())
    }
}
