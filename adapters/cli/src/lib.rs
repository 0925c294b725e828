//! `unstuck`: finds loops of agents that call tools, in recorded runs and while an agent works.
//!
//! The package is a program. Adapters for other languages use three parts of it: policies in TOML, the scan
//! of a recorded run, and the functions that make text from a recording safe to show.
//!
//! Exit codes: 0 nothing found, 1 a finding, 3 nothing found but an input could not be read, 4 a bad
//! configuration or an output that could not be written, 64 a usage error. Never 2, because coding agents read 2 as
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
mod view;

use std::env;
use std::io::BufRead;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser as _;
use unstuck_text::Preset;
use unstuck_trace::{Event, Format, Problem, Trace, read};

use crate::agents::hook::options::Hook;
use crate::args::{Arguments, Command};
use crate::exit::Exit;
pub use crate::output::recurring::what_recurs;
pub use crate::output::redact::masked;
pub use crate::output::shown::plain;
use crate::read::inputs::{self, Input};
use crate::replay::Replay;
pub use crate::replay::{Excerpt, Location, ReplayFinding, ResultLine};

/// Returns the policy called `name`: a preset, or the rule set of another agent, which is parsed now and
/// stays in memory.
pub fn policy(name: &str) -> Option<&'static Preset> {
    config::named(name)
}

/// Returns the names of all policies, the default first.
pub fn policies() -> impl Iterator<Item = &'static str> {
    config::names()
}

/// Returns the policy that the TOML text `config` describes, in the format of `--config`. It stays in
/// memory.
///
/// # Errors
///
/// A message with the line and the column of the mistake, and the line itself.
pub fn policy_of(config: &str) -> Result<&'static Preset, String> {
    config::preset(config).map_err(|mistake| {
        let (line, column) = mistake.place(config);
        format!("line {line}, column {column}: {}\n{}", mistake.what(), mistake.quote(config))
    })
}

/// A recorded run and its findings.
#[derive(Debug)]
pub struct Scanned {
    /// The summary of the input.
    pub trace: Trace,
    /// The findings in the order in which they were made.
    pub findings: Vec<ReplayFinding>,
    /// The reason why loops may be missing, if the run has too many workers.
    pub incomplete: Option<String>,
}

/// Reads a recorded run and judges it, as `unstuck scan` does.
///
/// # Errors
///
/// Returns an error if the input is empty, of another format, or fails before its first record.
pub fn scan(
    input: impl BufRead,
    from: Option<Format>,
    preset: &'static Preset,
) -> Result<Scanned, Problem> {
    let mut replay = Replay::new(preset);
    let trace = read(input, from, &mut |event: Event<'_>| replay.take(&event))?;
    let replay::Findings { list, forgotten, .. } = replay.finish();
    let forgotten = forgotten.max(trace.forgotten);
    let incomplete = (forgotten > 0).then(|| scan::too_many_workers(forgotten));
    Ok(Scanned { trace, findings: list, incomplete })
}

/// Returns the files that the paths lead to, in order: of a folder all transcripts. Returns as well the
/// paths that cannot be read, each with the reason.
pub fn transcripts(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<(String, String)>) {
    let inputs = inputs::find(paths);
    let file = |input| match input {
        Input::File(path) => path,
        Input::Stdin => PathBuf::from("-"),
    };
    (inputs.found.into_iter().map(file).collect(), inputs.errors)
}

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    if let Some(hook) = Hook::plain(env::args_os()) {
        return agents::hook::run(&hook).into();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return output::usage(error).unwrap_or_else(misused).into(),
    };
    let exit = match arguments.command {
        Command::Scan(scan) => scan::run(&scan),
        Command::View(view) => view::run(&view),
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
        Command::Swarm(swarm) => {
            swarm::run(&swarm, |inputs| agents::sessions::find(inputs, None, |_, _| {}))
        }
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
