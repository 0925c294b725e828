//! What is measured on this machine: sizes of values, code, and instructions by valgrind.

use std::env;
use std::process::{Command, Stdio};

use super::emulated::rows;
use super::part::{HOST, Part, Section};
use crate::bare::{self, Profile};
use crate::machine::{self, Machine, cargo, program};
use crate::step::Outcome;

/// Where the program is built that says what values take and does the works that are counted, and
/// what it is called there.
const FOLDER: &str = "target/bare";
const PROGRAM: &str = "target/bare/release/count";

/// Over how many calls instructions are counted, once for as many and once for twice.
const CALLS: u64 = 1000;

/// The processor that the budgets for code and instructions are of.
const ARCHITECTURE: &str = "x86_64";

/// Every part that is measured here.
///
/// # Errors
///
/// If a program is not built or fails.
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

/// Why code and instructions here say nothing of the budgets, where that is so.
fn unlike() -> Option<String> {
    let here = env::consts::ARCH;
    let other = (here != ARCHITECTURE)
        .then(|| format!("the budgets of code on a host are for {ARCHITECTURE}, this is {here}"));
    bare::unreadable().map(String::from).or(other)
}

/// The code of programs that call the engine, theirs included.
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

/// The instructions of one call for each work. What it takes to start falls away in the difference
/// between some calls and twice as many.
fn instructions() -> Result<Vec<(String, u64)>, String> {
    let works = said(program(PROGRAM).arg("works"))?;
    let row = |work: &str| {
        let more = counted(work, 2 * CALLS)?.saturating_sub(counted(work, CALLS)?);
        Ok((work.to_owned(), more / CALLS))
    };
    works.lines().map(row).collect()
}

/// The instructions of so many calls, the start of the program included.
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

/// The instructions in all, of what callgrind says when it ends.
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

/// What `command` prints.
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
