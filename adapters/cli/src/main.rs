//! The program `unstuck`.

use std::process::ExitCode;

fn main() -> ExitCode {
    unstuck_cli::run()
}
