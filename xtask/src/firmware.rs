//! Builds a robot's firmware, runs it on an emulated board, and compares its log with a golden log.

use clap::Args;

use crate::machine::{self, is_ci};
use crate::microcontroller::{self, SMALL, built, emulator};
use crate::step::{Done, Scripts, Steps, failed, run as ran, script};
use crate::symbols::{Flaw, Program};
use crate::toolchain::{EMULATED, RISC_V, TARGETS};
use crate::{checks, steps};

const SCRIPTS: Scripts = Scripts(include_str!("../scripts/firmware.sh"));

/// The template for a real board, and its processor.
const TEMPLATE: &str = "adapters/firmware/nrf52840-dk/Cargo.toml";
const TEMPLATE_BOARD: &str = "thumbv7em-none-eabihf";

/// The workspace of the firmware, and the program for the board.
const MANIFEST: &str = "adapters/firmware/Cargo.toml";
const PROGRAM: &str = "mission";

/// The profile of programs for microcontrollers, for these manifests.
const PROFILE: [&str; 2] = ["--config", "profile.small.inherits='release'"];

/// The options of programs for this machine.
const HERE: &str =
    "--manifest-path adapters/firmware/Cargo.toml --target-dir target/firmware-host --locked";

/// Builds the decoder of the log with the features of the tests, so that its libraries are compiled once.
const DECODER: &str = "cargo build {here} --quiet --workspace --bins --tests";

/// The log that is compared, and the expected one.
const LOG: &str = "target/firmware-host/mission.log";
const GOLDEN: &str = "adapters/firmware/mission.log";

/// Build a robot's firmware, run it under QEMU and compare its log.
///
/// The log is compared with `adapters/firmware/mission.log`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Replace that file with the new log
    #[arg(long)]
    pub(crate) write: bool,
    /// Also build for this microcontroller; may be repeated
    #[arg(long = "target", value_name = "TARGET", value_parser = TARGETS)]
    pub(crate) targets: Vec<String>,
}

/// Runs every step of `request`, then prints the outcome of each.
pub(crate) fn run(request: &Request) -> Done {
    let others = request.targets.iter().filter(|target| *target != EMULATED);
    let mut steps = Steps::default();
    steps.then("firmware", || {
        checks::ready("firmware")?;
        let targets = request.targets.join(" ");
        machine::tools(&format!("{TEMPLATE_BOARD} {targets}"), is_ci())?;
        mission(request.write)
    });
    steps.then("template", || template(TEMPLATE_BOARD));
    steps.then("docs", || script(&filled(&SCRIPTS.part("docs")?), &[]));
    others.for_each(|target| steps.then(target, || build(target)));
    steps.finish()
}

/// Checks the format, lints and tests of the firmware, its log on the emulated board, and the template for
/// a real board. The template is built for the emulated processor, because `core` is built for it already.
pub(crate) fn check() -> Done {
    script(&filled(&SCRIPTS.part("check")?), &[])?;
    mission(false)?;
    template(EMULATED)
}

/// Returns `lines` with the options of programs for this machine filled in.
fn filled(lines: &str) -> String {
    let lines = lines.replace("{decoder}", DECODER).replace("{linted}", steps::linted());
    lines.replace("{here}", HERE)
}

/// Builds the template for a real board, and prints its size.
fn template(target: &str) -> Done {
    let mut build = microcontroller::cargo("build", target)?;
    ran(build.args(["--manifest-path", TEMPLATE]).args(PROFILE))?;
    linked(target, "robot")
}

/// Builds the firmware for `target`. For a Cortex-M the program is linked. Other targets have no
/// run-time crate among the dependencies, so only the library is built.
fn build(target: &str) -> Done {
    let mut build = microcontroller::cargo("build", target)?;
    build.args(["--manifest-path", MANIFEST, "--package", "unstuck-firmware"]).args(PROFILE);
    // Selects the log entries that are compiled in. Without it, only errors are.
    build.env("DEFMT_LOG", "trace");
    if target == RISC_V {
        return ran(build.arg("--lib"));
    }
    ran(build.args(["--bin", PROGRAM]))?;
    linked(target, PROGRAM)
}

/// Prints the size of the linked program `name` for `target`.
fn linked(target: &str, name: &str) -> Done {
    let Program { flash, memory, .. } = Program::read(&built(target, name))?;
    println!("{target}: {flash} bytes of flash, {memory} of memory beside the stack");
    Ok(())
}

/// Builds the firmware for the emulated board and runs it there. The log must equal the golden one, or
/// replaces it if `is_new`.
fn mission(is_new: bool) -> Done {
    build(EMULATED)?;
    let path = built(EMULATED, PROGRAM);
    let program = Program::read(&path)?;
    if let Some((_, name)) = program.flaws().iter().find(|(flaw, _)| *flaw == Flaw::Allocator) {
        return failed(format!("the firmware has an allocator: {name}"));
    }
    let lines =
        SCRIPTS.part("run")?.replace("{emulator}", &emulator(SMALL)).replace("{program}", &path);
    script(&filled(&lines), &[])?;
    if is_new {
        return script(&format!("cp {LOG} {GOLDEN}"), &[]);
    }
    script(&format!("diff {GOLDEN} {LOG}"), &[]).or_else(|_| {
        failed(format!(
            "the log differs from {GOLDEN}; if the new one is right, `cargo xtask firmware --write` stores it there"
        ))
    })
}
