//! The project's own commands. People and CI both run `cargo xtask test`.

mod agents;
mod bare;
mod bench;
mod c;
mod checks;
mod command_line;
mod environment;
mod firmware;
mod fleet;
mod footprint;
mod fuzz;
mod javascript;
mod machine;
mod mcp;
mod microcontroller;
mod no_std;
mod page;
mod python;
mod qemu;
mod report;
mod step;
mod steps;
mod symbols;
mod target;
mod tidy;
mod toolchain;

use std::env;
use std::process::ExitCode;

use command_line::Task;
use machine::Machine;

/// The exit code of a usage error, `EX_USAGE` of `sysexits.h`.
const USAGE: u8 = 64;

fn main() -> ExitCode {
    let machine = Machine::here();
    match command_line::parse(env::args_os()) {
        Ok(Task::Help(text)) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Ok(Task::Test(request)) => checks::run(&request, machine),
        Ok(Task::Agents(request)) => agents::run(request),
        Ok(Task::Python(request)) => python::run(&request),
        Ok(Task::JavaScript(request)) => javascript::run(&request, machine),
        Ok(Task::Report) => report::run(machine),
        Ok(Task::Fleet(request)) => fleet::run(&request, machine),
        Ok(Task::Bench(bench)) => bench.run(),
        Ok(Task::C(request)) => c::run(request, machine),
        Ok(Task::Fuzz(plan)) => fuzz::run(plan),
        Ok(Task::Firmware(request)) => firmware::run(&request, machine),
        Ok(Task::Footprint(request)) => footprint::run(&request, machine),
        Err(error) => {
            eprintln!("error: {error}\n\n{}", error.usage());
            ExitCode::from(USAGE)
        }
    }
}
