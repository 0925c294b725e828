//! Runs the parts of a fleet on this machine, and prints what was measured.
//!
//! All servers listen on the loopback interface only.

mod archives;
mod receiver;
mod sdks;
mod swarm;

use std::fmt;
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValue;

use crate::machine::Machine;
use crate::step::{Outcome, Step, Summary};

/// A part of a fleet: its name, a description, and the function that runs it.
struct Part {
    name: &'static str,
    about: &'static str,
    run: fn(Machine, &mut Table) -> Outcome,
}

/// The parts, in the order in which they run.
const PARTS: [Part; 4] = [
    Part {
        name: "sdks",
        about: "spans of real SDKs, from files and by the receiver, compared with a guard inside the run",
        run: sdks::run,
    },
    Part {
        name: "receiver",
        about: "unstuck watch under load, after kills, and with hostile input",
        run: receiver::run,
    },
    Part {
        name: "archives",
        about: "20 GB of transcripts on Spark, Ray, DuckDB and Polars (UNSTUCK_ARCHIVE_GB is another size)",
        run: archives::run,
    },
    Part {
        name: "swarm",
        about: "100,000 workers on a Redis Cluster, with a fail-over and a moving slot",
        run: swarm::run,
    },
];

/// Run the parts of a fleet on this machine, and measure them.
///
/// Runs every part of a fleet on the loopback interface of this machine, or only the named ones, and prints a table of
/// what was measured. Needs Python 3.10 or later, and the network to install packages. Everything that a part installs or
/// writes is in `target/fleet`.
///
/// `SWARM_WORKERS=1000 SWARM_RATE=1000 SWARM_SECONDS=20 cargo xtask fleet swarm` is a short run.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Run these parts only
    #[arg(value_name = "PART", value_parser = PARTS.map(|part| PossibleValue::new(part.name).help(part.about)))]
    parts: Vec<String>,
}

/// Runs the parts, and prints the table of figures and the outcome of each part.
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    let mut table = Table::default();
    let is_named = |part: &&Part| request.parts.iter().any(|name| name == part.name);
    let wanted = PARTS.iter().filter(|part| request.parts.is_empty() || is_named(part));
    let steps = wanted.map(|part| Step::run(part.name, || (part.run)(machine, &mut table)));
    let summary = Summary::of_named(steps.collect());
    print!("\n{table}\n{summary}");
    summary.exit_code()
}

/// The figures that the parts measured.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<(String, String)>,
}

impl Table {
    /// Adds a figure with its unit.
    pub(crate) fn add(&mut self, what: impl Into<String>, figure: impl Into<String>) {
        self.rows.push((what.into(), figure.into()));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0);
        for (what, figure) in &self.rows {
            writeln!(f, "{what:<width$}  {figure}")?;
        }
        Ok(())
    }
}
