//! The emulator that runs a program for a Cortex-M3.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

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

/// What a program said before it ended.
#[derive(Debug)]
pub(crate) struct Heard {
    /// What it wrote by semihosting.
    pub(crate) output: Vec<u8>,
    /// How it ended; `None` if it did not, and was ended.
    pub(crate) status: Option<ExitStatus>,
}

/// Runs the program at `kernel` to its end, but for no longer than `limit`: a program without an
/// operating system that goes astray never ends by itself.
///
/// # Errors
///
/// If the emulator does not start, or cannot be heard.
pub(crate) fn hear(kernel: &Path, limit: Duration) -> io::Result<Heard> {
    let mut emulator = run(kernel).stdout(Stdio::piped()).spawn()?;
    let stdout = emulator.stdout.take();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.map_or(Ok(0), |mut stdout| stdout.read_to_end(&mut output));
        // Nobody listens any more only where this side has already failed.
        let _ = sender.send(read.map(|_| output));
    });
    let ended = receiver.recv_timeout(limit);
    if ended.is_err() {
        emulator.kill()?;
    }
    let status = emulator.wait()?;
    let status = ended.is_ok().then_some(status);
    // What was written until the end comes once the emulator has closed the pipe.
    let output = ended.or_else(|_| receiver.recv()).map_err(io::Error::other)??;
    Ok(Heard { output, status })
}
