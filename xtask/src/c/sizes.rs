//! Measures the code size of each function on a microcontroller, with everything it calls.

use std::fs;
use std::io;
use std::path::Path;

use crate::machine::Machine;
use crate::step::Outcome;
use crate::symbols::Program;

use super::firmware::{TARGET, compiler, ready};
use super::library::Library;
use super::programs::{functions, holding};
use super::{filed, folder};

/// The functions of a firmware that makes its own digests.
const LEAST: [&str; 5] = [
    "unstuck_init",
    "unstuck_window_20",
    "unstuck_balanced",
    "unstuck_announce",
    "unstuck_outcome",
];

/// Prints the size of the smallest firmware, and how many bytes of flash each other function adds.
pub(super) fn print(machine: Machine) -> Outcome {
    ready(machine).and_then(|| match Library::small(TARGET, machine).0 {
        Ok(library) => filed(|| table(&library.archive())),
        Err(outcome) => outcome,
    })
}

fn table(library: &Path) -> io::Result<()> {
    fs::create_dir_all(folder("sizes"))?;
    let least: Vec<String> = LEAST.map(String::from).into();
    let base = flash(&least, library)?;
    println!("{base:>7}  the least: {}", LEAST.join(", "));
    for name in functions()?.into_iter().filter(|name| !least.contains(name)) {
        let with = [least.as_slice(), std::slice::from_ref(&name)].concat();
        println!("{:>+7}  {name}", flash(&with, library)?.cast_signed() - base.cast_signed());
    }
    let all = flash(&functions()?, library)?;
    println!("{all:>7}  everything");
    Ok(())
}

/// Returns the size of a firmware with the functions in `named`, in bytes of flash.
fn flash(named: &[String], library: &Path) -> io::Result<u64> {
    let file = folder("sizes").join("functions");
    let mut link = holding(compiler(), named, library, &file);
    let linked = link.args(["-Wl,-e,main", "-lgcc"]).status()?;
    if !linked.success() {
        return Err(io::Error::other(format!("{named:?} were not linked: {linked}")));
    }
    Ok(Program::read(&file)?.size())
}
