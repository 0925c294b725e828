//! `cargo xtask bench`: builds the program of `benches` and runs one benchmark.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::machine::cargo;

/// A benchmark and its needs.
struct Benchmark {
    /// Its name, which is also its command in the program of `benches`.
    name: &'static str,
    /// Whether it also measures the `unstuck` program.
    needs_cli: bool,
    takes_traces: bool,
}

const BENCHMARKS: [Benchmark; 7] = [
    Benchmark { name: "engine", needs_cli: false, takes_traces: false },
    Benchmark { name: "scan", needs_cli: true, takes_traces: false },
    Benchmark { name: "json", needs_cli: false, takes_traces: false },
    Benchmark { name: "hook", needs_cli: true, takes_traces: false },
    Benchmark { name: "text", needs_cli: false, takes_traces: false },
    Benchmark { name: "swarm", needs_cli: false, takes_traces: true },
    Benchmark { name: "swarm-redis", needs_cli: false, takes_traces: false },
];

/// A benchmark and its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bench {
    /// The position in [`BENCHMARKS`].
    benchmark: usize,
    json: bool,
    /// A folder of recorded runs to include in the measurement.
    pub(crate) traces: Option<PathBuf>,
}

impl Bench {
    /// Returns the benchmark `name` with its options.
    ///
    /// # Errors
    ///
    /// If there is no such benchmark, or if it cannot measure recorded runs.
    pub(crate) fn new(name: &str, json: bool, traces: Option<PathBuf>) -> Result<Self, String> {
        let benchmark = BENCHMARKS.iter().position(|benchmark| benchmark.name == name);
        let benchmark = benchmark.ok_or_else(|| format!("there is no benchmark `{name}`"))?;
        if traces.is_some() && !BENCHMARKS[benchmark].takes_traces {
            return Err(format!("`bench {name}` takes no `--traces`"));
        }
        Ok(Self { benchmark, json, traces })
    }

    /// Builds and runs the benchmark. Only its report goes to standard output.
    pub(crate) fn run(self) -> ExitCode {
        let Benchmark { name, needs_cli, .. } = BENCHMARKS[self.benchmark];
        let arguments = self.arguments();
        // Built alone, so that no dependency of another package changes its features.
        let success = (!needs_cli || succeeds(["build", "--package", "unstuck-cli"], Vec::new()))
            && succeeds(["run", "--package", "unstuck-benches", "--", name], arguments);
        if success { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn arguments(self) -> Vec<OsString> {
        let json = self.json.then(|| "--json".into());
        let traces = self.traces.map(|folder| ["--traces".into(), folder.into()]);
        json.into_iter().chain(traces.into_iter().flatten()).collect()
    }
}

/// Runs `cargo` with these arguments, and returns whether it succeeds. It builds what users download.
fn succeeds<const N: usize>(words: [&str; N], arguments: Vec<OsString>) -> bool {
    let mut command = cargo();
    let (task, rest) = words.split_at(1);
    command
        .args(task)
        .args(["--profile", "dist", "--locked", "--quiet"])
        .args(rest)
        .args(arguments);
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cargo did not start: {error}");
            false
        }
    }
}
