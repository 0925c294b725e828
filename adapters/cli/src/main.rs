//! `unstuck`: finds the loops in recorded agent runs.
//!
//! Exit codes: 0 nothing found, 1 a finding, 3 an input could not be read, 4 a bad
//! configuration or an output that could not be written, 64 a usage error. Never 2: coding agents
//! read that as "block". `unstuck mcp` ends as the server does.

mod agent;
mod args;
mod config;
mod digested;
mod eval;
mod exit;
mod explain;
mod feedback;
mod figures;
mod fit;
mod human;
mod inputs;
mod jobs;
mod json;
mod labels;
mod machine;
mod manual;
mod mcp;
mod output;
mod policies;
mod progress;
mod reading;
mod replay;
mod scan;
mod score;
mod sessions;
mod setup;
mod shown;
mod start_over;
mod state;
mod tune;

use std::process::{self, ExitCode};

use clap::Parser as _;

use crate::args::{Arguments, Command};
use crate::exit::Exit;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Printing can only fail if nobody reads; the exit code still tells.
            let _ = error.print();
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Clean };
            return exit.into();
        }
    };
    let exit = match arguments.command {
        Command::Scan(scan) => scan::run(&scan),
        Command::Eval(eval) => eval::run(&eval),
        Command::Tune(tune) => tune::run(&tune),
        Command::Presets(presets) => policies::run(&presets),
        Command::Json(json) => json::run(&json),
        Command::StartOver(start_over) => start_over::run(&start_over),
        Command::Mcp(mcp) => match mcp::run(&mcp) {
            // Whatever the server's was, which need not fit into an `ExitCode`.
            Ok(code) => process::exit(code),
            Err(exit) => exit,
        },
        Command::Completions(completions) => manual::completions(&completions),
        Command::Man(man) => manual::page(&man),
    };
    exit.into()
}
