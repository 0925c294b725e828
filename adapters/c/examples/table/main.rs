//! Writes a table for C: random events under every preset, and the verdicts of the engine under Rust.

mod play;
mod streams;
mod write;

use std::{env, fs, io};

fn main() -> io::Result<()> {
    let file = env::args_os().nth(1).ok_or_else(|| io::Error::other("usage: table FILE"))?;
    fs::write(file, write::c_of(&streams::played()))
}
