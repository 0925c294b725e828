//! `cargo xtask bench`: builds the program of `benches` and runs one benchmark.

use std::path::{self, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::machine::cargo;

/// Run a benchmark.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    #[arg(value_name = "NAME")]
    benchmark: Benchmark,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// For `swarm`: also measure with these recorded runs
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
}

/// A benchmark. Its name is also its command in the program of `benches`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Benchmark {
    /// The engine beside other detectors
    Engine,
    /// `unstuck scan` beside programs that only read JSON
    Scan,
    /// The fingerprint of JSON beside canonical text and a hash of it
    Json,
    /// The hook of a coding agent beside interpreters that do nothing
    Hook,
    /// Masks, sketches, calls and outcomes made from text
    Text,
    /// A swarm of workers that share a ledger in one process
    Swarm,
    /// The same on a `redis-server`, beside plain `INCR`
    SwarmRedis,
}

/// Builds and runs the benchmark. Only its report goes to standard output.
pub(crate) fn run(request: Request) -> ExitCode {
    let Request { benchmark, json, traces } = request;
    let name = benchmark.to_possible_value();
    let name = name.as_ref().map_or("", |name| name.get_name());
    if traces.is_some() && benchmark != Benchmark::Swarm {
        eprintln!("error: `bench {name}` takes no `--traces`");
        return ExitCode::FAILURE;
    }
    let mut words = vec!["--package", "unstuck-benches", "--", name];
    words.extend(json.then_some("--json"));
    // The program that measures runs in another folder.
    let traces = traces.map(|folder| path::absolute(&folder).unwrap_or(folder));
    let traces = traces.map(|folder| folder.to_string_lossy().into_owned());
    words.extend(traces.iter().flat_map(|folder| ["--traces", folder.as_str()]));
    // Built alone, so that no dependency of another package changes its features.
    let needs_program = matches!(benchmark, Benchmark::Scan | Benchmark::Hook);
    let is_well = (!needs_program || succeeds("build", &["--package", "unstuck-cli"]))
        && succeeds("run", &words);
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs `cargo` with the profile of the program that users download, and returns whether it succeeds.
fn succeeds(task: &str, words: &[&str]) -> bool {
    let mut command = cargo();
    command.args([task, "--profile", "dist", "--locked", "--quiet"]).args(words);
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cargo did not start: {error}");
            false
        }
    }
}
