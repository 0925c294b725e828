//! Every chore of the project: `cargo xtask test` is what people and CI run.

mod bare;
mod bench;
mod c;
mod firmware;
mod footprint;
mod fuzz;
mod machine;
mod mcp;
mod microcontroller;
mod no_std;
mod qemu;
mod source;
mod step;
mod steps;
mod symbols;
mod target;
mod tidy;
mod toolchain;

use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use machine::Machine;
use step::{Step, Summary};

/// The exit code of a command line that makes no sense, `EX_USAGE` of `sysexits.h`.
const USAGE: u8 = 64;

/// Every chore of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct CommandLine {
    #[command(subcommand)]
    chore: Option<Chore>,
}

/// What can be asked for.
#[derive(Subcommand)]
enum Chore {
    /// Check everything that a change must pass, and report all that it does not
    ///
    /// The steps, in their order: format, clippy, tests, doc tests, docs, the
    /// fuzz targets, a few seconds of fuzzing, what the engine links, the recorded
    /// runs, a real client of MCP, the rules of the repository, the build for a
    /// microcontroller, a robot's firmware under QEMU, what the engine takes
    /// there, and the library for C. A step that fails stops none of the others. A step that this
    /// machine lacks something for is left out and says so; with CI set in the
    /// environment what is missing is installed, and a step that cannot run has
    /// failed. The exit code is 0 if nothing failed, 1 if anything did.
    Test,
    /// Try inputs that nobody thought of on every claim that holds for any input
    ///
    /// A bug that was planted comes first and must be found; else what is not
    /// found means nothing. Needs `cargo install cargo-fuzz --locked`. The
    /// next run begins with what this one learnt. The exit code is 0 if the
    /// planted bug was found and no other, else 1.
    Fuzz(fuzz::Plan),
    /// Print what the engine takes: memory, code, stack, instructions
    ///
    /// The memory of values, and the code of the programs in `benches/bare`,
    /// optimised for size, on this machine and on five microcontrollers; the
    /// deepest stack of each event and the instructions of a call, on a Cortex-M3
    /// under QEMU, and here under valgrind. What this machine lacks a tool for is
    /// left out and says so.
    Footprint(footprint::Request),
    /// Build a robot's firmware, run it under QEMU, and read its log
    ///
    /// The log must be the golden one, in `adapters/firmware/mission.log`; it is
    /// printed. The firmware must hold no allocator, and must end well and in time.
    /// What this machine lacks is named, or installed with CI set in the
    /// environment.
    Firmware(firmware::Request),
    /// Build the library for C, and try it as its programmers would
    ///
    /// Links programs in C and C++ with it, runs them here, under sanitizers, under
    /// valgrind and on a microcontroller, and compares every verdict with Rust's.
    C(c::Wishes),
    /// Measure, side by side with others
    #[command(subcommand)]
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    match CommandLine::try_parse().map(|line| line.chore) {
        Ok(Some(Chore::Test)) => test(Machine::here()),
        Ok(Some(Chore::Bench(bench))) => bench.run(),
        Ok(Some(Chore::C(wishes))) => c::run(wishes, Machine::here()),
        Ok(Some(Chore::Fuzz(plan))) => fuzz(plan, Machine::here()),
        Ok(Some(Chore::Firmware(request))) => firmware(&request, Machine::here()),
        Ok(Some(Chore::Footprint(request))) => footprint::run(&request, Machine::here()),
        Ok(None) => shown(CommandLine::command().print_help(), ExitCode::SUCCESS),
        Err(error) => shown(error.print(), code_of(error.kind())),
    }
}

/// Runs every step, then prints the outcome of each, then once more the lines
/// with which the test runner closed: those are the last that a reader sees.
fn test(machine: Machine) -> ExitCode {
    let mut closing = String::new();
    let summary = Summary {
        machine,
        steps: vec![
            Step::run("format", steps::format),
            Step::run("clippy", steps::clippy),
            Step::run("tests", || steps::tests(machine, &mut closing)),
            Step::run("narrow", steps::narrow),
            Step::run("doc tests", steps::doc_tests),
            Step::run("docs", steps::docs),
            Step::run("fuzz targets", steps::fuzz_targets),
            Step::run("fuzzing", || fuzz::briefly(machine)),
            Step::run("bare", bare::check),
            Step::run("runs", steps::runs),
            Step::run("mcp", || mcp::check(machine)),
            Step::run("tidy", steps::tidy),
            Step::run("no_std", || no_std::build(machine)),
            Step::run("firmware", || firmware::check(machine)),
            Step::run("footprint", || footprint::check(machine)),
            Step::run("c", || c::check(machine)),
        ],
    };
    print!("\n{summary}\n{closing}");
    if summary.all_is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs every step of `plan`, then prints the outcome of each.
fn fuzz(plan: fuzz::Plan, machine: Machine) -> ExitCode {
    let summary = Summary { machine, steps: fuzz::steps(plan) };
    print!("\n{summary}");
    if summary.all_is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs every step of `request`, then prints the outcome of each.
fn firmware(request: &firmware::Request, machine: Machine) -> ExitCode {
    let summary = Summary { machine, steps: firmware::steps(request, machine) };
    print!("\n{summary}");
    if summary.all_is_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The exit code for what `clap` did not parse; a help text is not an error.
fn code_of(kind: ErrorKind) -> ExitCode {
    match kind {
        ErrorKind::DisplayHelp => ExitCode::SUCCESS,
        _ => ExitCode::from(USAGE),
    }
}

/// `code`, unless the text that explains it could not be printed.
fn shown(printed: io::Result<()>, code: ExitCode) -> ExitCode {
    printed.map_or(ExitCode::FAILURE, |()| code)
}
