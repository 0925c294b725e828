//! `cargo xtask bench swarm-redis`: a swarm on a server, beside a plain counter.

use std::process::ExitCode;

use clap::Parser;
use unstuck_benches::program::{end, print};
use unstuck_benches::swarm_redis::measure;

/// Measures what a server counts for a swarm, on a `redis-server` of its own.
#[derive(Parser)]
struct CommandLine {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let line = CommandLine::parse();
    end("swarm_redis", measure().and_then(|report| print(&report, line.json)))
}
