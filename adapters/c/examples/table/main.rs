//! Writes a table for C: events, and the verdicts of the engine under Rust.
//!
//! `table FILE` writes random streams of digests, the cases of the presets, the recorded runs, and the
//! design's vectors if they are present. `table FILE --small` writes shorter streams and the cases, which
//! fit into a microcontroller.

mod cases;
mod play;
mod runs;
mod streams;
mod vectors;
mod write;

use std::env;
use std::fs;
use std::process::ExitCode;

use play::Table;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (file, small) = match arguments.as_slice() {
        [file] => (file, false),
        [file, word] if word == "--small" => (file, true),
        _ => {
            eprintln!("usage: table FILE [--small]");
            return ExitCode::from(64);
        }
    };
    let mut table = Table::default();
    streams::play(&mut table, if small { 40 } else { 400 });
    cases::play(&mut table);
    if !small {
        runs::play(&mut table);
        vectors::play(&mut table);
    }
    match fs::write(file, write::c_of(&table)) {
        Ok(()) => {
            println!("{} events, {} verdicts", table.events.len(), table.verdicts.len());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{file}: {error}");
            ExitCode::FAILURE
        }
    }
}
