//! Builds a robot's firmware, runs it on an emulated board, and compares its log with a golden log.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use clap::Args;

use crate::machine::{self, Machine};
use crate::microcontroller::{self, Board, EMULATED, EMULATOR, emulator, folder, ready};
use crate::step::{Done, Outcome, Steps, failed, run as ran};
use crate::symbols::{Flaw, Program};
use crate::target::Target;

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

/// Marks lines with figures of this very build, which the comparison leaves out.
const FIGURE: &str = " TRACE ";

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

/// Runs every step of `request`, then prints the outcome of each.
pub(crate) fn run(request: &Request, machine: Machine) -> ExitCode {
    let others = request.targets.iter().copied().filter(|target| *target != EMULATED);
    let targets = [&[EMULATED, TEMPLATE_BOARD], request.targets.as_slice()].concat();
    let mut steps = Steps::default();
    steps.then("firmware", || {
        ready(&EMULATOR, &targets, machine)?;
        mission(request.write, machine)
    });
    steps.then("template", || template(TEMPLATE_BOARD, machine));
    others.for_each(|target| steps.then(target.name(), || build(target, machine)));
    steps.finish()
}

/// Checks the format, lints and tests of the firmware, its log on the emulated board, and the template for
/// a real board. The template is built for the emulated processor, because `core` is built for it already.
pub(crate) fn check(machine: Machine) -> Outcome {
    let here = |task: &str, words: &[&str]| {
        let mut command = machine::cargo();
        command.arg(task).args(MANIFEST).args(HOST_FOLDER).args(["--locked", "--workspace"]);
        ran(command.env("RUSTDOCFLAGS", "-D warnings").args(words))
    };
    let checked = || {
        ready(&EMULATOR, &[EMULATED], machine)?;
        ran(machine::cargo().arg("fmt").args(MANIFEST).args(["--all", "--check"]))?;
        here("clippy", &["--all-targets", "--", "-D", "warnings"])?;
        here("test", &[])?;
        here("doc", &["--no-deps", "--exclude", DECODER])?;
        mission(false, machine)?;
        template(EMULATED, machine)
    };
    checked().into()
}

/// Builds the template for a real board, and prints its size.
fn template(target: Target, machine: Machine) -> Done {
    let mut build = microcontroller::cargo("build", target, machine)?;
    ran(build.args(["--manifest-path", TEMPLATE]).args(PROFILE))?;
    linked(target, TEMPLATE_PROGRAM)
}

/// Builds the firmware for `target`. For a Cortex-M the program is linked. Other targets have no
/// run-time crate among the dependencies, so only the library is built.
fn build(target: Target, machine: Machine) -> Done {
    let mut build = microcontroller::cargo("build", target, machine)?;
    build.args(MANIFEST).args(["--package", PACKAGE]).args(PROFILE);
    // Selects the log entries that are compiled in. Without it, only errors are.
    build.env("DEFMT_LOG", "trace");
    if target == Target::Riscv32imc {
        return ran(build.arg("--lib"));
    }
    ran(build.args(["--bin", PROGRAM]))?;
    linked(target, PROGRAM)
}

/// Prints the size of the linked program `name` for `target`.
fn linked(target: Target, name: &str) -> Done {
    let Program { flash, memory, .. } = Program::read(&folder(target).join(name))?;
    println!("{}: {flash} bytes of flash, {memory} of memory beside the stack", target.name());
    Ok(())
}

/// Builds the firmware for the emulated board and runs it there. The log must equal the golden one, or
/// replaces it if `is_new`.
fn mission(is_new: bool, machine: Machine) -> Done {
    build(EMULATED, machine)?;
    let path = folder(EMULATED).join(PROGRAM);
    let program = Program::read(&path)?;
    if let Some((_, name)) = program.flaws().iter().find(|(flaw, _)| *flaw == Flaw::Allocator) {
        return failed(format!("the firmware has an allocator: {name}"));
    }
    let output = emulator(Board::Small, &path).stdin(Stdio::null()).output()?;
    let log = decoded(&path, &output.stdout)?;
    print!("{log}");
    if !output.status.success() {
        return failed(format!("the firmware ended with {}", output.status));
    }
    // Figures that depend on the compiler are left out.
    let lines = log.split_inclusive('\n').filter(|line| !line.contains(FIGURE));
    let log: String = lines.collect();
    let golden = machine::root().join(GOLDEN);
    if is_new {
        return Ok(fs::write(golden, log)?);
    }
    difference(&log, &fs::read_to_string(golden)?).map_or(Ok(()), failed)
}

/// Decodes the log of the program at `path`.
fn decoded(path: &Path, log: &[u8]) -> Done<String> {
    let mut decoder = machine::cargo();
    decoder.arg("run").args(MANIFEST).args(["--locked", "--quiet", "--package", DECODER]);
    decoder.args(HOST_FOLDER).arg("--").arg(path);
    let mut decoder = decoder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let written = decoder.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(log));
    let output = decoder.wait_with_output()?;
    if !output.status.success() {
        return failed(format!("the log was not read: {}", output.status));
    }
    written?;
    String::from_utf8(output.stdout).or_else(|error| failed(error.to_string()))
}

/// Describes the first line at which the logs differ, if they do.
fn difference(log: &str, golden: &str) -> Option<String> {
    let (mut found, mut expected) = (log.lines(), golden.lines());
    let mut pairs = (1..).map(|place| (place, found.next(), expected.next()));
    let (place, found, expected) = pairs.find(|(_, one, other)| one.is_none() || one != other)?;
    let line = |line: Option<&str>| line.unwrap_or("(the end of the log)").to_owned();
    (found != expected).then(|| {
        let (found, expected) = (line(found), line(expected));
        format!(
            "{GOLDEN}:{place}: found `{found}` where `{expected}` was to be; if that is right, \
             `cargo xtask firmware --write` takes it over"
        )
    })
}
