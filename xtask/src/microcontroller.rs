//! Builds for microcontrollers, the emulator of one, and the work of the steps that use them.

use std::process::Command;

use crate::machine::{self, Machine};
use crate::step::Done;
use crate::target::Target;
use crate::toolchain::Toolchain;

/// The emulator, and the program that ends it if a program without an operating system does not end
/// by itself. Each with its Debian package.
pub(crate) const EMULATOR: [(&str, &str); 2] =
    [("qemu-system-arm", "qemu-system-arm"), ("timeout", "coreutils")];

/// The emulated processor.
pub(crate) const EMULATED: Target = Target::Thumbv7m;

/// The target folder of all programs and libraries for microcontrollers. They have the same profile, so that `core` is
/// built once for each processor.
const FOLDER: &str = "target/microcontroller";

/// The profile, optimised for size.
const PROFILE: &str = "small";

/// Checks that all `tools` are there, each a program with its Debian package, and a compiler for each
/// of `targets`. A step does so before its work begins. In CI what is missing is installed.
pub(crate) fn ready(tools: &[(&str, &str)], targets: &[Target], machine: Machine) -> Done {
    for (name, package) in tools {
        machine::ready(name, package, machine).done()?;
    }
    targets.iter().try_for_each(|target| Toolchain::ready(*target, machine).map(drop))
}

/// Returns a `cargo` for `target` that uses the common folder and profile.
pub(crate) fn cargo(task: &str, target: Target, machine: Machine) -> Done<Command> {
    let mut command = Toolchain::ready(target, machine)?.cargo(task, target);
    command.args(["--target-dir", FOLDER, "--profile", PROFILE]);
    Ok(command)
}

/// Returns the path of what is built for `target`, relative to the root of the repository.
pub(crate) fn built(target: Target, name: &str) -> String {
    format!("{FOLDER}/{}/{PROFILE}/{name}", target.name())
}

/// A board with a Cortex-M3 that is emulated: a Stellaris LM3S6965 with 256 KiB of flash and 64 KiB of RAM.
pub(crate) const SMALL: &str = "lm3s6965evb";
/// An MPS2 with 4 MiB of flash and of RAM.
pub(crate) const LARGE: &str = "mps2-an385";

/// Returns the first words of the command that runs a program on a board. The path of the program follows. Semihosting
/// output goes to standard output, and the program's exit status becomes the exit code. The time limit, in seconds, ends
/// a program that does not end by itself; others take a few.
pub(crate) fn emulator(board: &str) -> String {
    format!(
        "timeout 300 qemu-system-arm -machine {board} -cpu cortex-m3 -nographic -monitor none -serial none \
        -semihosting-config enable=on,target=native -kernel"
    )
}
