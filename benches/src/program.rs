//! What the programs that measure have in common: how they print, and how they end.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

use serde::Serialize;

/// Prints `report`, as one line of JSON or as a person reads it.
///
/// # Errors
///
/// If standard output cannot be written.
pub fn print(report: &(impl Display + Serialize), json: bool) -> io::Result<()> {
    let text = if json { serde_json::to_string(report)? + "\n" } else { report.to_string() };
    io::stdout().write_all(text.as_bytes())
}

/// How the program `name` ends, having said what went wrong if something did.
pub fn end(name: &str, done: io::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}
