//! The program: runs the command that the command line names, and describes the command line to shells and to `man`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use clap_mangen::Man as Page;

use crate::agents::hook::Hook;
use crate::args::{Arguments, Command, Completions, Man};
use crate::exit::Exit;
#[cfg(not(feature = "fleet"))]
use crate::lacking;
use crate::read::inputs::{self, Input};
use crate::{agents, calibrate, json, mcp, output, policy, scan, sessions, start_over, view};
#[cfg(feature = "fleet")]
use crate::{swarm, watch};

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

/// Returns whether a file of a folder is read as a transcript, by its name.
pub fn is_transcript(path: &Path) -> bool {
    inputs::has_ending(path)
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
        Command::Scan(scan) if !scan.compare.is_empty() => calibrate::compare::run(&scan),
        Command::Scan(scan) => scan::run(&scan),
        Command::View(view) => view::run(&view),
        Command::Install(options) => agents::install::install(&options),
        Command::Uninstall(options) => agents::install::uninstall(&options),
        Command::Doctor(options) => agents::doctor::run(&options),
        Command::Status(options) => sessions::status::run(&options),
        Command::Report(options) => sessions::report::run(&options),
        Command::Mcp(mcp) => match mcp::run(&mcp) {
            // The server's exit code, which may not fit into an `ExitCode`.
            Ok(code) => std::process::exit(code),
            Err(exit) => exit,
        },
        Command::StartOver(start_over) => start_over::run(&start_over),
        #[cfg(feature = "fleet")]
        Command::Swarm(swarm) => {
            swarm::run(&swarm, |inputs| sessions::transcripts::find(inputs, None, |_, _| {}))
        }
        #[cfg(feature = "fleet")]
        Command::Watch(watch) => watch::run(&watch),
        #[cfg(not(feature = "fleet"))]
        Command::Swarm(_) => lacking::refuse("swarm"),
        #[cfg(not(feature = "fleet"))]
        Command::Watch(_) => lacking::refuse("watch"),
        Command::Notify(tell) => agents::notify::run(&tell),
        Command::Hook(hook) => agents::hook::run(&hook),
        Command::Eval(eval) => calibrate::eval::run(&eval),
        Command::Tune(tune) => calibrate::tune::run(&tune),
        Command::Presets(presets) => policy::run(&presets),
        Command::Json(json) => json::run(&json),
        Command::Completions(completions) => self::completions(&completions),
        Command::Man(man) => page(&man),
    };
    exit.into()
}

/// Returns the exit code after an error in the command line. If an agent may have called, the error must
/// not block a call.
fn misused(exit: Exit) -> Exit {
    let is_hook = env::args_os().nth(1).is_some_and(|word| word == "hook");
    if is_hook { agents::hook::misused() } else { exit }
}

/// Prints the completions of the command line for a shell.
fn completions(Completions { shell }: &Completions) -> Exit {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(*shell, &mut command, "unstuck", &mut script);
    print(&script)
}

/// Prints the manual page.
fn page(man: &Man) -> Exit {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = Page::new(documented(man)).render(&mut page);
    print(&page)
}

/// Returns the command that the page describes: the program, or one of its commands.
fn documented(man: &Man) -> clap::Command {
    let mut program = Arguments::command();
    // Gives each command its full name, for example `unstuck-scan`, and the options of the program.
    program.build();
    let one = man.command.as_deref().and_then(|name| program.find_subcommand(name));
    one.cloned().unwrap_or(program)
}

/// Prints what was made of the help texts, which are UTF-8.
fn print(text: &[u8]) -> Exit {
    output::print(output::Reader::Program, &String::from_utf8_lossy(text), Exit::Clean)
}
