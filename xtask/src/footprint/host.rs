//! Measurements on this machine: sizes of values, code, and instructions counted by valgrind.

use std::env;
use std::process::{Command, Stdio};

use super::emulated::rows;
use super::part::{HOST, Part, Section};
use crate::bare::{self, Profile};
use crate::machine::{self, Machine, cargo, program};
use crate::step::Outcome;

/// The target folder of the program that holds the sizes of values and runs the measured work, and its
/// path.
const FOLDER: &str = "target/bare";
const PROGRAM: &str = "target/bare/release/count";

/// The number of calls over which instructions are counted. A second run makes twice as many.
const CALLS: u64 = 1000;

/// The processor of the budgets for code and instructions.
const ARCHITECTURE: &str = "x86_64";

/// Measures every part on this machine.
///
/// # Errors
///
/// If a program cannot be built, or fails.
pub(super) fn parts(machine: Machine) -> Result<Vec<Part>, String> {
    let part = |section, found| Part { section, place: HOST, found };
    let release = ["build", "--locked", "--release", "--quiet", "--target-dir", FOLDER];
    build(cargo().args(release).args(["--manifest-path", bare::EVENTS]))?;
    let sizes = said(program(PROGRAM).arg("sizes"))?;
    let sizes = rows(&sizes).ok_or_else(|| format!("no sizes: {sizes}"))?;
    let code = match unlike() {
        Some(why) => Err(why),
        None => Ok(code()?),
    };
    let counted = match (unlike(), machine::ready("valgrind", "valgrind", machine)) {
        (None, Outcome::Passed) => Ok(instructions()?),
        (Some(why), _) | (None, Outcome::LeftOut(why)) => Err(why),
        (None, Outcome::Failed(why)) => return Err(why),
    };
    Ok(vec![
        part(Section::Memory, Ok(sizes)),
        part(Section::Code, code),
        part(Section::Instructions, counted),
    ])
}

/// Returns the reason why code and instructions cannot be compared on this machine, if there is one.
fn unlike() -> Option<String> {
    let here = env::consts::ARCH;
    let other = (here != ARCHITECTURE)
        .then(|| format!("the budgets of code on a host are for {ARCHITECTURE}, this is {here}"));
    bare::unreadable().map(String::from).or(other)
}

/// Returns the code size of programs that call the engine, including their own code.
fn code() -> Result<Vec<(String, u64)>, String> {
    let small = Profile::Small;
    build(small.build().arg("--quiet"))?;
    let programs =
        [("a small host, all of it", bare::HOST), ("every entry of the engine", bare::ENTRIES)];
    let size = |(what, name): (&str, &str)| {
        let program = small.program(name).map_err(|error| error.to_string())?;
        Ok((what.to_owned(), program.size()))
    };
    programs.into_iter().map(size).collect()
}

/// Returns the instructions of one call for each kind of work: the difference between two runs, of
/// which the second makes twice as many calls. This removes the cost of starting the program.
fn instructions() -> Result<Vec<(String, u64)>, String> {
    let works = said(program(PROGRAM).arg("works"))?;
    let row = |work: &str| {
        let more = counted(work, 2 * CALLS)?.saturating_sub(counted(work, CALLS)?);
        Ok((work.to_owned(), more / CALLS))
    };
    works.lines().map(row).collect()
}

/// Returns the instructions of `calls` calls, including the start of the program.
fn counted(work: &str, calls: u64) -> Result<u64, String> {
    let mut command = program("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM, work]);
    let output = command.arg(calls.to_string()).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("valgrind did not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    total(&said)
        .filter(|_| output.status.success())
        .ok_or_else(|| format!("valgrind ended with {} and no count:\n{said}", output.status))
}

/// Returns the total that callgrind prints when it ends.
fn total(said: &str) -> Option<u64> {
    let count = said.lines().find_map(|line| line.split_once("Collected :"));
    count?.1.trim().parse().ok()
}

/// Runs a build.
fn build(command: &mut Command) -> Result<(), String> {
    let status = command.stdin(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the programs for this machine were not built: {status}")),
        Err(error) => Err(format!("cargo did not start: {error}")),
    }
}

/// Returns the output of `command`.
fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{PROGRAM} did not start: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{PROGRAM} ended with {}", output.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_from_the_closing_lines() {
        for (said, expected) in [
            ("==7== Events    : Ir\n==7== Collected : 123456\n==7==\n", Some(123_456)),
            ("==7== Collected : \n", None),
            ("valgrind: no such file\n", None),
        ] {
            assert_eq!(total(said), expected, "{said}");
        }
    }
}
