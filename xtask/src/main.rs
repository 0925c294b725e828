//! The project's own commands. People and CI both run `cargo xtask test`.

mod agents;
mod bare;
mod bench;
mod c;
mod checks;
mod environment;
mod firmware;
mod fleet;
mod footprint;
mod fuzz;
mod javascript;
mod machine;
mod mcp;
mod microcontroller;
mod python;
mod report;
mod step;
mod steps;
mod symbols;
mod target;
mod test;
mod tidy;
mod toolchain;

use std::process::ExitCode;

use clap::Parser;

use machine::Machine;
use step::Steps;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
enum Task {
    Test(test::Request),
    #[command(hide = true)]
    Step(test::Here),
    Fuzz(fuzz::Request),
    Footprint(footprint::Request),
    Firmware(firmware::Request),
    C(c::Request),
    Bench(bench::Request),
    Agents(agents::Request),
    Python(python::Request),
    Js(javascript::Request),
    /// Test the proxy for MCP between a client and a server of the official SDK
    ///
    /// Packages are in `target/mcp`. Needs Python 3.10 or later and the network.
    Mcp,
    /// Read the reports of `unstuck scan` with the programs that others use
    ///
    /// Scans the recorded runs and hostile traces, writes a report of every format, and reads them with junitparser,
    /// sarif-tools, the schema of SARIF, Python's csv, and Chromium with axe-core. Takes the picture of the README anew.
    /// Reports and packages are in `target/report`. Needs Python 3.10 or later, npm, Chromium and the network.
    Report,
    Fleet(fleet::Request),
}

fn main() -> ExitCode {
    let machine = Machine::here();
    match Task::parse() {
        Task::Test(request) => test::run(&request),
        Task::Step(step) => test::here(&step),
        Task::Fuzz(request) => fuzz::run(request),
        Task::Footprint(request) => footprint::run(&request, machine),
        Task::Firmware(request) => firmware::run(&request, machine),
        Task::C(request) => c::run(request, machine),
        Task::Bench(request) => bench::run(request),
        Task::Agents(request) => agents::run(&request),
        Task::Python(request) => python::run(&request),
        Task::Js(request) => javascript::run(&request, machine),
        Task::Mcp => {
            let mut steps = Steps::default();
            steps.then("mcp", mcp::check);
            steps.finish()
        }
        Task::Report => report::run(machine),
        Task::Fleet(request) => fleet::run(&request, machine),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Task;

    #[test]
    fn the_command_line_is_consistent() {
        Task::command().debug_assert();
    }
}
