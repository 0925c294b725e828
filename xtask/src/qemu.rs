//! The emulator of a board with a Cortex-M3.

use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::machine::{self, Machine, program};
use crate::step::Outcome;

/// The emulator and its Debian package.
const QEMU: (&str, &str) = ("qemu-system-arm", "qemu-system-arm");

/// The board: a Stellaris LM3S6965 with 256 KiB of flash and 64 KiB of RAM.
const BOARD: [&str; 4] = ["-cpu", "cortex-m3", "-machine", "lm3s6965evb"];

/// The board for programs that need more: an MPS2 with 4 MiB of flash and of RAM.
const LARGE_BOARD: [&str; 4] = ["-cpu", "cortex-m3", "-machine", "mps2-an385"];

/// Checks that the emulator is installed. In CI it is installed if missing.
pub(crate) fn ready(machine: Machine) -> Outcome {
    let (name, package) = QEMU;
    machine::ready(name, package, machine)
}

/// Returns the command that runs the program at `kernel` on the board. Semihosting output goes to
/// standard output, and the program's exit status becomes the exit code.
pub(crate) fn run(kernel: &Path) -> Command {
    run_on(BOARD, kernel)
}

/// Returns the command that runs the program at `kernel` on a board with more flash. See [`run`].
pub(crate) fn run_large(kernel: &Path) -> Command {
    run_on(LARGE_BOARD, kernel)
}

fn run_on(board: [&str; 4], kernel: &Path) -> Command {
    let mut command = program(QEMU.0);
    command.args(board).args(["-nographic", "-monitor", "none", "-serial", "none"]);
    command.args(["-semihosting-config", "enable=on,target=native", "-kernel"]).arg(kernel);
    command.stdin(Stdio::null());
    command
}

/// The output and the end of a program on the board.
#[derive(Debug)]
pub(crate) struct Run {
    /// The semihosting output.
    pub(crate) output: Vec<u8>,
    /// The exit status, or `None` if the program was stopped at the time limit.
    pub(crate) status: Option<ExitStatus>,
}

/// Runs the program at `kernel`, for at most `limit`. A program without an operating system may never
/// end by itself.
///
/// # Errors
///
/// If the emulator does not start, or its output cannot be read.
pub(crate) fn run_for(kernel: &Path, limit: Duration) -> io::Result<Run> {
    let mut emulator = run(kernel).stdout(Stdio::piped()).spawn()?;
    let stdout = emulator.stdout.take();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.map_or(Ok(0), |mut stdout| stdout.read_to_end(&mut output));
        // The receiver is gone only if this side has failed already.
        let _ = sender.send(read.map(|_| output));
    });
    let ended = receiver.recv_timeout(limit);
    if ended.is_err() {
        emulator.kill()?;
    }
    let status = emulator.wait()?;
    let status = ended.is_ok().then_some(status);
    // The rest of the output arrives when the emulator closes the pipe.
    let output = ended.or_else(|_| receiver.recv()).map_err(io::Error::other)??;
    Ok(Run { output, status })
}
