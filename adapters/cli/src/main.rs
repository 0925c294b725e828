//! `unstuck`: finds loops of agents that call tools, in recorded runs and while an agent works.
//!
//! Exit codes: 0 nothing found, 1 a finding, 3 an input could not be read, 4 a bad configuration or
//! an output that could not be written, 64 a usage error. Never 2, because coding agents read 2 as
//! "block". `unstuck hook`, which agents call, always exits with 0. `unstuck mcp` exits with the
//! code of the server. The help of `unstuck start-over` and `unstuck swarm` lists their codes.

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
        Err(error) => return output::usage(error).unwrap_or_else(misused).into(),
    };
    let exit = match arguments.command {
        Command::Scan(scan) => scan::run(&scan),
        Command::Install(options) => agents::install::install(&options),
        Command::Uninstall(options) => agents::install::uninstall(&options),
        Command::Doctor(options) => agents::doctor::run(&options),
        Command::Status(options) => agents::status::run(&options),
        Command::Report(options) => agents::report::run(&options),
        Command::Mcp(mcp) => match mcp::run(&mcp) {
            // The server's exit code, which may not fit into an `ExitCode`.
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

/// Returns the exit code after an error in the command line. If an agent may have called, the error must
/// not block a call.
fn misused(exit: Exit) -> Exit {
    let is_hook = env::args_os().nth(1).is_some_and(|word| word == "hook");
    if is_hook { agents::hook::misused() } else { exit }
}
