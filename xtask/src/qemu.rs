//! The emulator that runs a program for a Cortex-M3.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::machine::{self, Machine, program};
use crate::step::Outcome;

/// The emulator, and the Debian package that has it.
const QEMU: (&str, &str) = ("qemu-system-arm", "qemu-system-arm");

/// The board: a Stellaris LM3S6965, with 256 KiB of flash and 64 KiB of memory.
const BOARD: [&str; 4] = ["-cpu", "cortex-m3", "-machine", "lm3s6965evb"];

/// Passed where the emulator is there; in CI it is installed.
pub(crate) fn ready(machine: Machine) -> Outcome {
    let (name, package) = QEMU;
    machine::ready(name, package, machine)
}

/// The command that runs the program at `kernel` on the board. What it writes by semihosting comes
/// on standard output, and what it says at its end is the exit code.
pub(crate) fn run(kernel: &Path) -> Command {
    let mut command = program(QEMU.0);
    command.args(BOARD).args(["-nographic", "-monitor", "none", "-serial", "none"]);
    command.args(["-semihosting-config", "enable=on,target=native", "-kernel"]).arg(kernel);
    command.stdin(Stdio::null());
    command
}
