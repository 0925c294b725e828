//! Measurements: what they are of, and the programs that make them.

use std::path::{self, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::machine::cargo;

/// What is measured.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// The engine beside other detectors, and the program as a whole
    ///
    /// Prints the time for an event, the ratio to a plain detector in the same
    /// run, and the instructions where valgrind is installed; then how fast, and
    /// in how much memory, recorded runs are scanned. Takes a minute.
    Engine(Engine),
    /// The fingerprint of JSON beside canonical text and a hash
    ///
    /// Prints the time for documents of 60 bytes to a megabyte, how many times as
    /// fast that is as `serde_jcs` and a hash in the same run, and the
    /// instructions where valgrind is installed. Takes two minutes.
    Json(Plain),
    /// The hook of a coding agent beside interpreters that do nothing
    ///
    /// Prints the time from the start of the process to its end for an event of a
    /// kilobyte and one of a megabyte, and that of programs that are only started,
    /// in the same run. Takes half a minute.
    Hook(Plain),
    /// What is made of arguments and results as text
    ///
    /// Prints the time from 60 bytes to 100 KB for masked digests,
    /// calls, outcomes and verdicts, and the instructions where valgrind is
    /// installed. Takes two minutes.
    Text(Plain),
    /// The calls of a swarm, counted in one process
    ///
    /// Prints the time, the memory and, where valgrind is installed, the
    /// instructions for a call of one of ten to a hundred thousand workers, and
    /// how many calls one to eight threads count in a second. Takes a minute.
    Swarm(Engine),
    /// The calls of a swarm, counted on a server beside a plain counter
    ///
    /// Starts a `redis-server` of its own and prints how many calls eight clients
    /// count in a second, and how many `INCR` in the same run; the memory for a
    /// call, and the time by the number of workers. Takes a minute.
    SwarmRedis(Plain),
}

/// How that is measured which recorded runs say more of.
#[derive(Args)]
pub(crate) struct Engine {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Take the recorded runs of this folder, too: the engine scans them, repeated
    /// to a gigabyte; a swarm has them side by side
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
}

/// How all that has nothing to choose is measured.
#[derive(Args)]
pub(crate) struct Plain {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Bench {
    /// Builds and runs what measures; standard output has its report and no more.
    pub(crate) fn run(self) -> ExitCode {
        let well = match self {
            Self::Engine(engine) => builds() && measures("engine", engine.arguments()),
            Self::Hook(plain) => builds() && measures("hook", plain.arguments()),
            Self::Json(plain) => measures("json", plain.arguments()),
            Self::Swarm(swarm) => measures("swarm", swarm.arguments()),
            Self::SwarmRedis(plain) => measures("swarm_redis", plain.arguments()),
            Self::Text(plain) => measures("text", plain.arguments()),
        };
        if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Whether the program that users have is built: apart, so that nothing that is only measured against
/// changes it.
fn builds() -> bool {
    succeeds(["build", "--package", "unstuck-cli"], Vec::new())
}

/// Whether the program `name` of `benches` measures all that it should.
fn measures(name: &str, arguments: Vec<PathBuf>) -> bool {
    succeeds(["run", "--package", "unstuck-benches", "--bin", name, "--"], arguments)
}

impl Engine {
    /// The arguments for the program that measures, which runs in another folder.
    fn arguments(self) -> Vec<PathBuf> {
        let json = self.json.then(|| PathBuf::from("--json"));
        let traces = self.traces.map(|folder| path::absolute(&folder).unwrap_or(folder));
        let traces = traces.map(|folder| ["--traces".into(), folder]);
        json.into_iter().chain(traces.into_iter().flatten()).collect()
    }
}

impl Plain {
    fn arguments(self) -> Vec<PathBuf> {
        self.json.then(|| "--json".into()).into_iter().collect()
    }
}

/// Whether `cargo` does all that with a release build, and well.
fn succeeds<const N: usize>(words: [&str; N], arguments: Vec<PathBuf>) -> bool {
    let mut command = cargo();
    let (chore, rest) = words.split_at(1);
    command.args(chore).args(["--release", "--locked", "--quiet"]).args(rest).args(arguments);
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cargo did not start: {error}");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_named_from_the_root() {
        let engine = Engine { json: true, traces: Some("runs".into()) };
        let arguments = engine.arguments();
        assert_eq!(arguments[..2], [PathBuf::from("--json"), "--traces".into()]);
        assert!(arguments[2].is_absolute() && arguments[2].ends_with("runs"), "{arguments:?}");
        assert!(Engine { json: false, traces: None }.arguments().is_empty());
    }
}
