//! `unstuck`: finds loops of agents that call tools, in recorded runs and while they go on.
//!
//! Exit codes: 0 nothing found, 1 a finding, 3 an input could not be read, 4 a bad
//! configuration or an output that could not be written, 64 a usage error. Never 2: coding agents
//! read that as "block". What they call, `unstuck hook`, always ends with 0; `unstuck mcp` ends as the
//! server does; what the codes of `unstuck start-over` and `unstuck swarm` mean is in their help.

mod agents;
mod args;
mod calibrate;
mod config;
mod exit;
mod json;
mod manual;
mod mcp;
mod output;
mod read;
mod replay;
mod scan;
mod setup;
mod start_over;
mod swarm;

use std::env;
use std::process::ExitCode;

use clap::Parser as _;

use crate::agents::hook::options::Hook;
use crate::args::{Arguments, Command};
use crate::exit::Exit;

fn main() -> ExitCode {
    if let Some(hook) = Hook::plain(env::args_os()) {
        return agents::hook::run(&hook).into();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Printing can only fail if nobody reads; the exit code still tells.
            let _ = error.print();
            let exit = match error.use_stderr() {
                false => Exit::Clean,
                true if is_hook() => agents::hook::misused(),
                true => Exit::Usage,
            };
            return exit.into();
        }
    };
    let exit = match arguments.command {
        Command::Scan(scan) => scan::run(&scan),
        Command::Install(options) => agents::install::install(&options),
        Command::Uninstall(options) => agents::install::uninstall(&options),
        Command::Doctor(options) => agents::doctor::run(&options),
        Command::Status(options) => agents::status::run(&options),
        Command::Mcp(mcp) => match mcp::run(&mcp) {
            // Whatever the server's was, which need not fit into an `ExitCode`.
            Ok(code) => std::process::exit(code),
            Err(exit) => exit,
        },
        Command::StartOver(start_over) => start_over::run(&start_over),
        Command::Swarm(swarm) => swarm::run(&swarm),
        Command::Hook(hook) => agents::hook::run(&hook),
        Command::Eval(eval) => calibrate::eval::run(&eval),
        Command::Tune(tune) => calibrate::tune::run(&tune),
        Command::Presets(presets) => config::presets::run(&presets),
        Command::Json(json) => json::run(&json),
        Command::Completions(completions) => manual::completions(&completions),
        Command::Man(man) => manual::page(&man),
    };
    exit.into()
}

/// Whether an agent may have called: then no mistake in the command line is to be a verdict.
fn is_hook() -> bool {
    env::args_os().nth(1).is_some_and(|word| word == "hook")
}
