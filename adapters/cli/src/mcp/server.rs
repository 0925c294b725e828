//! The server process: starting it, and its exit code.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

#[cfg(unix)]
use super::signals::Requests;
use crate::output::complain;

/// The exit codes of a shell for a program that cannot be started, and for one that does not exist.
const UNSTARTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

/// The running server.
pub(crate) struct Server(Child);

impl Server {
    /// Starts the server. Returns it with its input and output, or the exit code if it cannot be
    /// started.
    pub(crate) fn start(command: &[OsString]) -> Result<(Self, ChildStdin, ChildStdout), i32> {
        let mut program = program(command);
        #[cfg(unix)]
        let requests = Requests::listen();
        let mut child = program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| unstartable(&program, &error))?;
        #[cfg(unix)]
        requests.pass_on(&child);
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok((Self(child), input, output)),
            _ => Err(UNSTARTABLE),
        }
    }

    /// Waits for the end of the server. Returns its exit code, as a shell reports it.
    pub(crate) fn wait(&mut self) -> i32 {
        self.0.wait().map_or(UNSTARTABLE, code)
    }
}

/// Runs the server without a proxy in between. Returns its exit code.
#[cfg(unix)]
pub(crate) fn alone(command: &[OsString]) -> i32 {
    use std::os::unix::process::CommandExt as _;

    let mut program = program(command);
    let error = program.exec();
    unstartable(&program, &error)
}

/// Runs the server without a proxy in between. Returns its exit code.
#[cfg(not(unix))]
pub(crate) fn alone(command: &[OsString]) -> i32 {
    let mut program = program(command);
    program.status().map_or_else(|error| unstartable(&program, &error), code)
}

/// The parser requires a command. An empty name is not found.
fn program(command: &[OsString]) -> Command {
    let mut words = command.iter();
    let mut program = Command::new(words.next().cloned().unwrap_or_default());
    program.args(words);
    program
}

/// Prints why the server did not start. Returns the exit code.
fn unstartable(program: &Command, error: &io::Error) -> i32 {
    let name = program.get_program().to_string_lossy();
    if error.kind() == ErrorKind::NotFound {
        complain(&name, "not found");
        return NOT_FOUND;
    }
    complain(&name, &format!("cannot be started: {error}"));
    UNSTARTABLE
}

/// Returns the exit code of a process, as a shell reports it.
#[cfg(unix)]
fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;

    status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(UNSTARTABLE)
}

/// Returns the exit code of a process.
#[cfg(not(unix))]
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(UNSTARTABLE)
}
