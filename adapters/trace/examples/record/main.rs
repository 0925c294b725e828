//! Records the runs under `adapters/trace/runs`: a scripted agent whose tools really run.
//!
//! ```text
//! cargo run -p unstuck-trace --example record -- adapters/trace/runs
//! cargo run -p unstuck-trace --example record -- --check adapters/trace/runs
//! ```
//!
//! The first command records all runs again. The second records and compares them, and names the
//! first file and line that differ.
//!
//! The transcripts of real agents belong to others. These belong to the project, so that its tests
//! and examples have runs to read. The agent is scripted, but its tools really list, read and write
//! files and run commands with `sh` in a scratch folder, and their results are recorded unchanged.
//!
//! Two recordings are the same to the byte. Paths are relative to the scratch folder, listings are
//! sorted, the commands are the plainest of POSIX in the `C` locale, and nothing reads a clock:
//! session ids, times and the like are fixed by the scenarios and made up by the writers.
//!
//! `DIR.labels.jsonl`, beside the folder, says for each file whether the agent in it is stuck, and
//! from which call on.

mod recording;
mod scenarios;
mod script;
mod tools;
mod tree;
mod write;

use std::env;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::tree::Tree;

const USAGE: &str = "usage: record [--check] DIR";

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let done = match arguments.as_slice() {
        [flag, folder] if flag == "--check" => check(Path::new(folder)),
        [folder] if !is_flag(folder) => store(Path::new(folder)),
        _ => Err(io::Error::other(USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("record: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_flag(argument: &OsStr) -> bool {
    argument.as_encoded_bytes().starts_with(b"-")
}

fn store(folder: &Path) -> io::Result<()> {
    record_all()?.store(folder)
}

fn check(folder: &Path) -> io::Result<()> {
    match record_all()?.difference(folder)? {
        None => Ok(()),
        Some(difference) => Err(io::Error::other(difference)),
    }
}

/// Runs every scenario and writes it in each of its formats.
fn record_all() -> io::Result<Tree> {
    let mut files = Vec::new();
    for scenario in scenarios::all() {
        let main = recording::record(&scenario)?;
        for &format in scenario.formats {
            files.extend(write::write(format, &scenario, &main)?);
        }
    }
    Tree::new(files)
}
