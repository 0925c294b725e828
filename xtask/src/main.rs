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
mod test;
mod tidy;
mod toolchain;
mod work;

use std::process::ExitCode;

use clap::Parser;

use step::{Done, ERROR, Failure, LEFT_OUT, Steps};

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
enum Task {
    Test(test::Request),
    /// Run a step in this process
    #[command(hide = true)]
    Step {
        #[arg(value_parser = checks::names())]
        name: String,
    },
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

impl Task {
    fn run(self) -> Done {
        match self {
            Self::Test(request) => test::run(&request),
            Self::Step { name } => checks::named(&name)?.run(),
            Self::Fuzz(request) => fuzz::run(request),
            Self::Footprint(request) => footprint::run(&request),
            Self::Firmware(request) => firmware::run(&request),
            Self::C(request) => c::run(request),
            Self::Bench(request) => bench::run(request),
            Self::Agents(request) => agents::run(&request),
            Self::Python(request) => python::run(&request),
            Self::Js(request) => javascript::run(&request),
            Self::Mcp => {
                let mut steps = Steps::default();
                steps.run("mcp", mcp::check);
                steps.finish()
            }
            Self::Report => report::run(),
            Self::Fleet(request) => fleet::run(&request),
        }
    }
}

/// Runs a task. The exit code says whether it passed, and the last line why not.
fn main() -> ExitCode {
    let Err(why) = Task::parse().run() else { return ExitCode::SUCCESS };
    eprintln!("{ERROR}{why}");
    if matches!(why, Failure::LeftOut(_)) { LEFT_OUT.into() } else { ExitCode::FAILURE }
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
