//! Records the runs under `adapters/trace/runs`: a scripted agent whose tools really run.
//!
//! ```text
//! cargo run -p unstuck-trace --example record -- adapters/trace/runs
//! cargo run -p unstuck-trace --example record -- --check adapters/trace/runs
//! ```
//!
//! The first records them all again; the second records them and compares, and names the first file
//! and line that differ.
//!
//! The transcripts of real agents belong to others; these are the project's own, so that its tests
//! and its examples have something to read wherever the project is. What the agent does is scripted.
//! What comes back is not: the tools list, read and write files and run commands with `sh` in a
//! scratch folder, and their answers are recorded as they are.
//!
//! Two recordings are the same to the byte. Paths are relative to the scratch folder, listings are
//! sorted, the commands are the plainest of POSIX in the `C` locale, and nothing reads a clock:
//! session ids, times and the like are fixed by the scenarios and made up by the writers.
//!
//! `DIR.labels.jsonl`, beside the folder, says of each file whether the agent in it is stuck, and from
//! which call on.

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

/// Runs every scenario and writes it in each format that it is wanted in.
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
