//! `cargo xtask bench`: builds the program of `benches` and runs one benchmark.

use std::path::{self, PathBuf};

use clap::Args;

use crate::machine::cargo;
use crate::step::{Done, failed, quietly};
use crate::steps;

/// The benchmarks. The name of each is also its command in the program of `benches`.
const BENCHMARKS: [(&str, &str); 7] = [
    ("engine", "The engine beside other detectors"),
    ("scan", "`unstuck scan` beside programs that only read JSON"),
    ("json", "The fingerprint of JSON beside canonical text and a hash of it"),
    ("hook", "The hook of a coding agent beside interpreters that do nothing"),
    ("text", "Masks, sketches, calls and outcomes made from text"),
    ("swarm", "A swarm of workers that share a ledger in one process"),
    ("swarm-redis", "The same on a `redis-server`, beside plain `INCR`"),
];

/// Run a benchmark.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    #[arg(
        value_name = "NAME",
        value_parser = steps::possible(BENCHMARKS)
    )]
    name: String,
    /// For `swarm`: also measure with these recorded runs
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
}

/// Builds and runs the benchmark. Only its report goes to standard output.
pub(crate) fn run(Request { name, traces }: Request) -> Done {
    if traces.is_some() && name != "swarm" {
        return failed(format!("`bench {name}` takes no `--traces`"));
    }
    let cargo = |words: &str| {
        let mut command = cargo();
        command.args(words.split(' ')).args(["--profile", "dist", "--locked", "--quiet"]);
        command
    };
    if matches!(&*name, "scan" | "hook") {
        // Built alone, so that no dependency of another package changes its features.
        quietly(&mut cargo("build --package unstuck-cli"))?;
    }
    let mut measure = cargo("run --package unstuck-benches");
    measure.args(["--", &name]);
    if let Some(folder) = traces {
        // The program that measures runs in another folder.
        measure.arg("--traces").arg(path::absolute(&folder).unwrap_or(folder));
    }
    quietly(&mut measure)
}
