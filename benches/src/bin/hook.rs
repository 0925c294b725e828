//! `cargo xtask bench hook`: the hook of an agent beside interpreters that do nothing, in one table.

use std::env;
use std::io;
use std::process::ExitCode;

use clap::Parser;
use unstuck_benches::hook::measure;
use unstuck_benches::program::{end, print};

/// Measures what an agent waits for at each event.
#[derive(Parser)]
struct CommandLine {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let line = CommandLine::parse();
    end("hook", run(line.json))
}

/// The program to be measured is beside this one.
fn run(json: bool) -> io::Result<()> {
    let unstuck =
        env::current_exe()?.with_file_name("unstuck").with_extension(env::consts::EXE_EXTENSION);
    print(&measure(&unstuck)?, json)
}
