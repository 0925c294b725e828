//! The program behind `cargo xtask bench`: runs one benchmark and prints its report. `cargo xtask fleet` starts its load
//! test, which prints a figure a line, and fails if one is wrong.
//!
//! # How it measures
//!
//! Absolute times drift, because other programs run and the clock rate changes. So all peers take turns on one
//! input. A report contains the median time over the rounds, and the median of the ratio *within* a round to the
//! first peer, which is this project or, for a server, a plain counter. The module [`harness`] implements this.
//! Criterion and Divan finish one benchmark before they start the next, so they compare a machine at two
//! different times.
//!
//! Instructions and branch misses do not drift. Valgrind counts them once over `n` rounds and once over twice as many. The
//! difference does not contain the start of the program.
//!
//! Every peer returns an answer, so that the compiler cannot remove its work. The answer must be the same in
//! every round.

mod calls;
mod engine;
mod false_alarms;
mod harness;
mod hook;
mod json;
mod process;
mod receiver;
mod report;
mod scan;
mod swarm;
mod swarm_redis;
mod text;
mod traffic;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::harness::count;
use crate::process::Failure;

/// Run a benchmark and print its report
#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// Events of the engine
    Engine,
    /// `unstuck scan` beside programs that only read JSON
    Scan,
    /// Fingerprints of JSON beside canonical text with a hash
    Json,
    /// Calls, outcomes and verdicts from raw text
    Text,
    /// The hook of an agent beside interpreters that do nothing
    Hook,
    /// Ledgers of a swarm in one process
    Swarm {
        /// Judge the labelled runs in this folder as one swarm, and count false alarms
        #[arg(long, value_name = "FOLDER")]
        traces: Option<PathBuf>,
    },
    /// A swarm on a `redis-server`, which is started for it
    SwarmRedis,
    /// `unstuck watch` under load, and over a day
    Receiver {
        /// The program `unstuck`
        unstuck: PathBuf,
        /// The folder for states and findings
        folder: PathBuf,
    },
    /// Do the work of one peer, for valgrind to count
    #[command(hide = true)]
    Count { library: String, contest: usize, peer: usize, times: u16 },
}

fn main() -> ExitCode {
    match run(CommandLine::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Benchmark) -> Result<(), Failure> {
    match command {
        Benchmark::Engine => engine::measure()?,
        Benchmark::Scan => scan::measure()?,
        Benchmark::Json => json::measure()?,
        Benchmark::Text => text::measure()?,
        Benchmark::Hook => hook::measure()?,
        Benchmark::Swarm { traces } => swarm::measure(traces.as_deref())?,
        Benchmark::SwarmRedis => swarm_redis::measure()?,
        Benchmark::Receiver { unstuck, folder } => receiver::run(&unstuck, folder)?,
        Benchmark::Count { library, contest, peer, times } => {
            let contests = match &*library {
                "engine" => engine::contest,
                "json" => json::contest,
                _ => text::contest,
            };
            println!("{}", count(contests, [contest, peer], times)?);
        }
    }
    Ok(())
}
