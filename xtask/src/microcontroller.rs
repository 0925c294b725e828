//! Builds for microcontrollers, and the emulator of one.

use std::process::Command;

use crate::step::Done;
use crate::toolchain::cargo_for;

/// The target folder of all programs and libraries for microcontrollers. They have the same profile, so that `core` is
/// built once for each processor.
const FOLDER: &str = "target/microcontroller";

/// The profile, optimised for size.
const PROFILE: &str = "small";

/// Returns a `cargo` for `target` that uses the common folder and profile.
pub(crate) fn cargo(task: &str, target: &str) -> Done<Command> {
    let mut command = cargo_for(target, "core", task)?;
    command.args(["--target-dir", FOLDER, "--profile", PROFILE]);
    Ok(command)
}

/// Returns the path of what is built for `target`, relative to the root of the repository.
pub(crate) fn built(target: &str, name: &str) -> String {
    format!("{FOLDER}/{target}/{PROFILE}/{name}")
}

/// A board with a Cortex-M3 that is emulated: a Stellaris LM3S6965 with 256 KiB of flash and 64 KiB of RAM.
pub(crate) const SMALL: &str = "lm3s6965evb";
/// An MPS2 with 4 MiB of flash and of RAM.
pub(crate) const LARGE: &str = "mps2-an385";

/// Returns the first words of the command that runs a program on a board. The path of the program follows. Semihosting
/// output goes to standard output or, by `SYS_WRITE0`, to standard error, and the program's exit status becomes the exit code. The time limit, in seconds, ends
/// a program that does not end by itself; others take a few.
pub(crate) fn emulator(board: &str) -> String {
    format!(
        "timeout 300 qemu-system-arm -machine {board} -cpu cortex-m3 -nographic -monitor none -serial none \
        -semihosting-config enable=on,target=native -kernel"
    )
}
