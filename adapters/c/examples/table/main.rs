//! Writes a table for C: random events under every preset, and the verdicts of the engine under Rust.

mod play;
mod streams;
mod write;

use std::env;
use std::fs;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(file) = env::args().nth(1) else {
        eprintln!("usage: table FILE");
        return ExitCode::from(64);
    };
    let events = streams::played();
    match fs::write(&file, write::c_of(&events)) {
        Ok(()) => {
            println!("{} events", events.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::FAILURE
        }
    }
}
