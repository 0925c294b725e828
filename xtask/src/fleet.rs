//! Starts load tests of a fleet on this machine. Their figures are printed as they come.
//!
//! All servers listen on the loopback interface only.

use clap::Args;

use crate::environment::Environment;
use crate::machine::{self, is_ci};
use crate::step::{Done, Scripts, Steps, command, failed, script};
use crate::{python, steps};

const SCRIPTS: Scripts = Scripts(include_str!("../scripts/fleet.sh"));

/// A part of a fleet: its name, a description, and the function that runs it.
type Part = (&'static str, &'static str, fn() -> Done);

/// The parts, in the order in which they run.
const PARTS: [Part; 3] = [
    (
        "sdks",
        "spans of real SDKs, from files and by the receiver, compared with a guard inside the run",
        sdks,
    ),
    ("receiver", "unstuck watch under load, and over a simulated day", receiver),
    (
        "archives",
        "20 GB of transcripts on Spark, Ray, DuckDB and Polars (UNSTUCK_ARCHIVE_GB is another size)",
        archives,
    ),
];

/// The scenarios, the SDKs and their pinned versions.
const TELEMETRY: &str = "adapters/python/tests/telemetry";

/// The engines, whose pinned versions stand beside their tests.
const ENGINES: [&str; 4] = ["spark", "ray", "duckdb", "polars"];

const EMPTY: &str = "rm -rf target/fleet/archives/night target/fleet/archives/tables";

/// Run the parts of a fleet on this machine, and measure them.
///
/// Runs every part of a fleet on the loopback interface of this machine, or only the named ones, and prints what is
/// measured. Needs Python 3.10 or later, and the network to install packages. Everything that a part installs or writes
/// is in `target/fleet`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Run these parts only
    #[arg(value_name = "PART", value_parser = steps::possible(PARTS.map(|(name, about, _)| (name, about))))]
    parts: Vec<String>,
}

/// Runs the parts, and prints the outcome of each.
pub(crate) fn run(request: &Request) -> Done {
    let mut steps = Steps::default();
    for (name, _, run) in PARTS {
        if request.parts.is_empty() || request.parts.iter().any(|part| part == name) {
            steps.run(name, run);
        }
    }
    steps.finish()
}

/// Installs each SDK into an environment of its own, and starts the program that compares them.
fn sdks() -> Done {
    command(
        "cargo build --locked --package unstuck-cli --features unstuck-cli/fleet --package unstuck-trace \
        --bin unstuck --example events",
    )?;
    python::built(python::TESTED)?;
    let mut compare = failed(format!("{TELEMETRY}: no SDK"));
    for name in steps::names(TELEMETRY, "requirements-", ".txt")? {
        let folder = format!("target/fleet/sdks/{name}");
        python::environment(&folder, &[format!("{TELEMETRY}/requirements-{name}.txt")])?;
        compare = Ok(folder);
    }
    Environment(&compare?).run(&format!(
        "PYTHONDONTWRITEBYTECODE=1 python {TELEMETRY}/run.py \"$ROOT/target/fleet/sdks\" \
            target/debug/unstuck target/debug/examples/events"
    ))
}

/// Tests the program as users get it, and its metrics and alert rules with Prometheus's own program.
fn receiver() -> Done {
    command(
        "cargo build --profile dist --locked --package unstuck-cli --features fleet --bin unstuck",
    )?;
    script(
        "cargo run --quiet --locked --package unstuck-benches -- receiver target/dist/unstuck \
        \"$ROOT/target/fleet/receiver\"",
        &[],
    )?;
    machine::tools("promtool", is_ci())?;
    script(&SCRIPTS.part("prometheus")?, &[])
}

/// Makes an archive, measures the engines and `unstuck scan` on it, and removes it.
fn archives() -> Done {
    machine::tools("java", is_ci())?;
    python::built("")?;
    let folder = "target/fleet/archives/python";
    python::environment(folder, &ENGINES.map(python::requirements))?;
    script(EMPTY, &[])?;
    let done = Environment(folder).run(&SCRIPTS.part("archives")?);
    script(EMPTY, &[])?;
    done
}
