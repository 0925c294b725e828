//! Runs the parts of a fleet on this machine, and prints what was measured.
//!
//! All servers listen on the loopback interface only.

mod archives;
mod receiver;
mod sdks;
mod swarm;

use std::fmt;
use std::process::ExitCode;

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

/// The parts to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    parts: Vec<&'static str>,
}

impl Request {
    /// Selects the parts that are named, or all if none is.
    ///
    /// # Errors
    ///
    /// If a name is not the name of a part.
    pub(crate) fn of(names: &[String]) -> Result<Self, String> {
        let known = |name: &String| {
            let part = PARTS.iter().find(|part| part.name == name);
            part.map(|part| part.name).ok_or_else(|| format!("there is no part `{name}`"))
        };
        if names.is_empty() {
            return Ok(Self { parts: PARTS.iter().map(|part| part.name).collect() });
        }
        Ok(Self { parts: names.iter().map(known).collect::<Result<_, _>>()? })
    }
}

/// Runs the parts, and prints the table of figures and the outcome of each part.
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    let mut table = Table::default();
    let wanted = PARTS.iter().filter(|part| request.parts.contains(&part.name));
    let steps = wanted.map(|part| Step::run(part.name, || (part.run)(machine, &mut table)));
    let summary = Summary::of_named(steps.collect());
    print!("\n{table}\n{summary}");
    summary.exit_code()
}

/// Returns the parts, one line each.
pub(crate) fn list() -> String {
    PARTS.iter().fold(String::new(), |list, Part { name, about, .. }| {
        list + &format!("  {name:<10}{about}\n")
    })
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
