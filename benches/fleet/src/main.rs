//! Load tests: a swarm on a Redis Cluster that loses a node, and `unstuck watch` under load.
//!
//! `cargo xtask fleet` starts them. They print a figure a line, and fail if one is wrong.

mod cluster;
mod oracle;
mod receiver;
mod swarm;
mod traffic;
mod trouble;
mod workers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;

/// An error that ends the program. Its message says what happened.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The longest wait for a server.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a load test, and prints its figures.
#[derive(Parser)]
enum Part {
    /// Runs simulated workers on a Redis Cluster, while a master fails and a slot moves
    Swarm(swarm::Options),
    /// Measures `unstuck watch` under load, and over a day
    Receiver {
        /// The program `unstuck`
        unstuck: PathBuf,
        /// The folder for states and findings
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    let outcome = match Part::parse() {
        Part::Swarm(options) => swarm::run(&options),
        Part::Receiver { unstuck, folder } => receiver::run(&unstuck, folder),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a figure.
fn figure(what: &str, value: impl std::fmt::Display) {
    println!("{what:<56}  {value}");
}

/// Waits until the condition holds.
fn until(what: &str, mut is_so: impl FnMut() -> Result<bool, Failure>) -> Result<(), Failure> {
    let start = Instant::now();
    while !is_so()? {
        if start.elapsed() > PATIENCE {
            return Err(format!("it took too long until {what}").into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Returns the memory of a process in KiB.
fn memory_kib(process: u32) -> Result<u64, Failure> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no such figure")?;
    Ok(line.trim_matches(|c: char| !c.is_ascii_digit()).parse()?)
}
