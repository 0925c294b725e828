//! Firmware in C without a C library: linked with the library and run under QEMU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::{self, Machine, program};
use crate::qemu;
use crate::step::Outcome;
use crate::symbols::Program;
use crate::target::Target;

use super::library::Library;
use super::programs::{STRICT, each, table, tables};
use super::{filed, folder, of_package};

/// The compiler and its Debian package.
pub(super) const COMPILER: (&str, &str) = ("arm-none-eabi-gcc", "gcc-arm-none-eabi");

/// The processor that QEMU emulates.
pub(super) const TARGET: Target = Target::Thumbv7m;

/// Compiler flags: optimised for size, and without unused functions.
pub(super) const FLAGS: [&str; 7] = [
    "-mcpu=cortex-m3",
    "-mthumb",
    "-Os",
    "-ffreestanding",
    "-ffunction-sections",
    "-fdata-sections",
    "-nostdlib",
];

/// A program without an operating system.
#[derive(Clone, Copy, Debug)]
struct Firmware {
    name: &'static str,
    sources: &'static [&'static str],
    /// The expected output.
    says: &'static str,
    /// Whether it needs the board with more flash. See [`qemu::run_large`].
    large: bool,
}

const PROGRAMS: [Firmware; 2] = [
    Firmware {
        name: "table",
        sources: &["tests/c/firmware/table.c", "tests/c/play.c"],
        says: "events have the verdicts of Rust\n",
        large: true,
    },
    Firmware {
        name: "robot",
        sources: &["tests/c/firmware/robot.c"],
        says: "proceed\nproceed\nnudge\nnudge\nblock\nblock\nblock\nstop\n",
        large: false,
    },
];

/// Checks that the compiler is present. In CI it is installed.
pub(super) fn ready(machine: Machine) -> Outcome {
    machine::ready(COMPILER.0, COMPILER.1, machine)
}

/// Checks that the engine gives the same verdicts on the microcontroller as on this machine.
pub(super) fn check(machine: Machine) -> Outcome {
    ready(machine).and_then(|| qemu::ready(machine)).and_then(|| {
        match Library::small(TARGET, machine).0 {
            Ok(library) => run_all(&library.archive()),
            Err(outcome) => outcome,
        }
    })
}

fn run_all(library: &Path) -> Outcome {
    table(&["--small"])
        .and_then(|| filed(|| fs::create_dir_all(folder("firmware"))))
        .and_then(|| each(PROGRAMS, |firmware| run(firmware, library)))
}

/// Links a firmware and runs it to its end.
fn run(program: Firmware, library: &Path) -> Outcome {
    let Firmware { name, sources, says, large } = program;
    let file = folder("firmware").join(name);
    let mut build = compiler();
    build.args(["-std=c11", "-Wl,--gc-sections"]).args(STRICT);
    for include in [of_package("include"), of_package("tests/c"), firmware(""), tables(false)] {
        build.arg("-I").arg(include);
    }
    if large {
        build.arg("-Wl,--defsym=flash_size=4M");
    }
    build.arg("-T").arg(firmware("link.ld")).arg(firmware("start.c"));
    build.args(sources.iter().map(of_package)).arg(library).args(["-lgcc", "-o"]).arg(&file);
    Outcome::of(&mut build).and_then(|| size(name, &file)).and_then(|| {
        let (outcome, said) =
            Outcome::captured(if large { qemu::run_large(&file) } else { qemu::run(&file) });
        outcome.and_then(|| {
            if said.contains(says) {
                return Outcome::Passed;
            }
            Outcome::Failed(format!("the firmware `{name}` does not say:\n{says}"))
        })
    })
}

/// Returns the compiler with the flags for the emulated processor.
pub(super) fn compiler() -> Command {
    let mut compiler = program(COMPILER.0);
    // Objects from `rustc` do not declare that the stack is not executable. Firmware ignores this.
    compiler.args(FLAGS).arg("-Wl,-z,noexecstack");
    compiler
}

/// Prints the size of a firmware.
fn size(name: &str, file: &Path) -> Outcome {
    match Program::read(file) {
        Ok(read) => {
            println!("{name}: {} bytes of code and constants", read.size());
            Outcome::Passed
        }
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

fn firmware(name: &str) -> PathBuf {
    of_package("tests/c/firmware").join(name)
}
