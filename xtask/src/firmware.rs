//! Builds a robot's firmware, runs it on an emulated board, and compares its log with a golden log.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use clap::Args;
use object::{File, Object as _, ObjectSegment as _};

use crate::machine::{self, Machine, cargo};
use crate::microcontroller;
use crate::qemu;
use crate::step::{Outcome, Step, Summary};
use crate::symbols::{Flaw, Program};
use crate::target::Target;
use crate::toolchain::Toolchain;

/// The workspace of the firmware.
const MANIFEST: [&str; 2] = ["--manifest-path", "adapters/firmware/Cargo.toml"];

/// The template for a real board, and its program and processor.
const TEMPLATE: &str = "adapters/firmware/nrf52840-dk/Cargo.toml";
const TEMPLATE_PROGRAM: &str = "robot";
const TEMPLATE_BOARD: Target = Target::Thumbv7emHf;

/// The package that decodes the log, in the same workspace.
const DECODER: &str = "unstuck-firmware-decoder";

/// The package for the board, and its program.
const PACKAGE: &str = "unstuck-firmware";
const PROGRAM: &str = "mission";

/// The expected log.
const GOLDEN: &str = "adapters/firmware/mission.log";

/// The profile of programs for microcontrollers, for these manifests.
const PROFILE: [&str; 2] = ["--config", "profile.small.inherits='release'"];

/// The target folder for this machine.
const HOST_FOLDER: [&str; 2] = ["--target-dir", "target/firmware-host"];

/// The processor of the emulated board.
const BOARD: Target = Target::Thumbv7m;

/// The first address of RAM on all these processors. Everything below it is in flash.
const MEMORY_START: u64 = 0x2000_0000;

/// Marks lines with figures of this very build, which the comparison leaves out.
const FIGURE: &str = " TRACE ";

/// The time limit of the mission. It takes less than a second; the rest allows for a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Build a robot's firmware, run it under QEMU and compare its log.
///
/// The log is compared with `adapters/firmware/mission.log`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Replace that file with the new log
    #[arg(long)]
    pub(crate) write: bool,
    /// Also build for this microcontroller; may be repeated
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) targets: Vec<Target>,
}

/// The use of a new log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Golden {
    /// It must equal the golden log.
    Compare,
    /// It replaces the golden log.
    Write,
}

/// Runs every step of `request`, then prints the outcome of each.
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    let summary = Summary::of_named(steps(request, machine));
    print!("\n{summary}");
    summary.exit_code()
}

fn steps(request: &Request, machine: Machine) -> Vec<Step> {
    let golden = if request.write { Golden::Write } else { Golden::Compare };
    let mut steps = vec![
        Step::run("firmware", || mission(golden, machine)),
        Step::run("template", || template(TEMPLATE_BOARD, machine)),
    ];
    for target in request.targets.iter().filter(|target| **target != BOARD) {
        steps.push(Step::run(target.name(), || build(*target, machine)));
    }
    steps
}

/// Checks the format, lints and tests of the firmware, its log on the emulated board, and the template for
/// a real board. The template is built for the emulated processor, because `core` is built for it already.
pub(crate) fn check(machine: Machine) -> Outcome {
    let task = |task: &str, words: &[&str]| {
        let mut command = cargo();
        command.arg(task).args(MANIFEST).args(words);
        command
    };
    let tests = ["--locked", "--workspace"];
    let lints = ["--locked", "--workspace", "--all-targets"];
    Outcome::of(&mut task("fmt", &["--all", "--check"]))
        .and_then(|| {
            let mut clippy = task("clippy", &lints);
            Outcome::of(clippy.args(HOST_FOLDER).args(["--", "-D", "warnings"]))
        })
        .and_then(|| Outcome::of(task("test", &tests).args(HOST_FOLDER)))
        .and_then(|| {
            let mut docs = task("doc", &["--locked", "--no-deps", "--package", PACKAGE]);
            Outcome::of(docs.args(HOST_FOLDER).env("RUSTDOCFLAGS", "-D warnings"))
        })
        .and_then(|| mission(Golden::Compare, machine))
        .and_then(|| template(BOARD, machine))
}

/// Builds the template for a real board, and prints its size.
fn template(target: Target, machine: Machine) -> Outcome {
    let toolchain = match Toolchain::ready(target, machine) {
        Ok(toolchain) => toolchain,
        Err(outcome) => return outcome,
    };
    let mut build = toolchain.cargo("build", target);
    build.args(["--manifest-path", TEMPLATE]).args(PROFILE);
    Outcome::of(microcontroller::in_common_folder(&mut build))
        .and_then(|| linked(target, TEMPLATE_PROGRAM))
}

/// Builds the firmware for the emulated board and runs it there.
fn mission(golden: Golden, machine: Machine) -> Outcome {
    build(BOARD, machine).and_then(|| qemu::ready(machine)).and_then(|| {
        let firmware = microcontroller::folder(BOARD).join(PROGRAM);
        match allocators(&firmware).and_then(|found| Ok((found, played(&firmware)?))) {
            Ok((found, _)) if !found.is_empty() => {
                Outcome::Failed(format!("the firmware has an allocator: {}", found.join(", ")))
            }
            Ok((_, (log, Outcome::Passed))) => judged(&log, golden),
            Ok((_, (_, failed))) => failed,
            Err(error) => Outcome::Failed(error.to_string()),
        }
    })
}

/// Builds the firmware for `target`. For a Cortex-M the program is linked. Other targets have no
/// run-time crate among the dependencies, so only the library is built.
fn build(target: Target, machine: Machine) -> Outcome {
    let toolchain = match Toolchain::ready(target, machine) {
        Ok(toolchain) => toolchain,
        Err(outcome) => return outcome,
    };
    let mut build = toolchain.cargo("build", target);
    build.args(MANIFEST).args(["--package", PACKAGE]).args(PROFILE);
    microcontroller::in_common_folder(&mut build);
    // Selects the log entries that are compiled in. Without it, only errors are.
    build.env("DEFMT_LOG", "trace");
    if target == Target::Riscv32imc {
        return Outcome::of(build.arg("--lib"));
    }
    Outcome::of(build.args(["--bin", PROGRAM])).and_then(|| linked(target, PROGRAM))
}

/// Prints the size of the linked `program` for `target`.
fn linked(target: Target, program: &str) -> Outcome {
    match sizes(&microcontroller::folder(target).join(program)) {
        Ok((flash, memory)) => {
            let name = target.name();
            println!("{name}: {flash} bytes of flash, {memory} of memory beside the stack");
            Outcome::Passed
        }
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

/// Returns the flash and the static RAM that the program at `path` takes, in bytes.
fn sizes(path: &Path) -> io::Result<(u64, u64)> {
    let bytes = fs::read(path)?;
    let file = File::parse(&*bytes).map_err(io::Error::other)?;
    let flash = file.segments().map(|segment| segment.file_range().1).sum();
    let memory = file.segments().filter(|segment| segment.address() >= MEMORY_START);
    Ok((flash, memory.map(|segment| segment.size()).sum()))
}

/// Returns the names of allocators in the program at `path`.
fn allocators(path: &Path) -> io::Result<Vec<String>> {
    let program = Program::read(path)?;
    let flaws = program.flaws().into_iter();
    Ok(flaws.filter(|(flaw, _)| *flaw == Flaw::Allocator).map(|(_, name)| name.into()).collect())
}

/// Runs the program at `path` and prints its log. Returns the log, and whether the program succeeded.
fn played(path: &Path) -> io::Result<(String, Outcome)> {
    let run = qemu::run_for(path, LIMIT)?;
    let log = decoded(path, &run.output)?;
    print!("{log}");
    let outcome = match run.status {
        Some(status) if status.success() => Outcome::Passed,
        Some(status) => Outcome::Failed(format!("the firmware ended with {status}")),
        None => Outcome::Failed(format!("the firmware did not end within {LIMIT:?}")),
    };
    Ok((log, outcome))
}

/// Decodes the log of the program at `path`.
fn decoded(path: &Path, log: &[u8]) -> io::Result<String> {
    let mut decoder = cargo();
    decoder.arg("run").args(MANIFEST).args(["--locked", "--quiet", "--package", DECODER]);
    decoder.args(HOST_FOLDER).arg("--").arg(path);
    let mut decoder = decoder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let written = decoder.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(log));
    let output = decoder.wait_with_output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("the log was not read: {}", output.status)));
    }
    written?;
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

/// Compares `log` with the golden log, or replaces that log. Figures that depend on the compiler are
/// left out.
fn judged(log: &str, golden: Golden) -> Outcome {
    let path = machine::root().join(GOLDEN);
    let lines = log.split_inclusive('\n').filter(|line| !line.contains(FIGURE));
    let log = &lines.collect::<String>();
    let outcome = match golden {
        Golden::Write => fs::write(&path, log).map(|()| Outcome::Passed),
        Golden::Compare => fs::read_to_string(&path).map(|golden| compared(log, &golden)),
    };
    outcome.unwrap_or_else(|error| Outcome::Failed(format!("{GOLDEN}: {error}")))
}

/// Passes if the logs are equal. Otherwise names the first line that differs.
fn compared(log: &str, golden: &str) -> Outcome {
    if log == golden {
        return Outcome::Passed;
    }
    let (mut found, mut expected) = (log.lines(), golden.lines());
    let mut number = 1;
    loop {
        let (found, expected) = (found.next(), expected.next());
        if found != expected || found.is_none() {
            let end = "the end of the log";
            return Outcome::Failed(format!(
                "{GOLDEN}:{number}: found `{}` where `{}` was to be; if that is right, \
                 `cargo xtask firmware --write` takes it over",
                found.unwrap_or(end),
                expected.unwrap_or(end)
            ));
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(compared("a\nb\n", "a\nb\n"), Outcome::Passed);
        for (log, place, words) in [
            ("a\nc\n", 2, "found `c` where `b` was to be"),
            ("a\n", 2, "found `the end of the log` where `b` was to be"),
            ("a\nb\nc\n", 3, "found `c` where `the end of the log` was to be"),
            ("a\nb", 3, "found `the end of the log` where `the end of the log`"),
        ] {
            let Outcome::Failed(why) = compared(log, "a\nb\n") else { panic!("{log:?} passed") };
            assert!(why.contains(&format!(":{place}: {words}")), "{why}");
        }
    }
}
