//! Programs and servers that are started for a measurement.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Error};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Client, Cmd, Connection, FromRedisValue};

/// An error that ends the program. Its message says what happened.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The longest wait for a server.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A server of Redis on the loopback interface. Its process ends when the value is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// The port in clear.
    pub(crate) port: u16,
}

impl Server {
    /// Starts a server that listens on `port`, and saves nothing.
    pub(crate) fn start(command: &mut Command, port: u16) -> Result<Self, Failure> {
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
        command.args(["--save", "", "--appendonly", "no"]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let name = command.get_program().display().to_string();
        let child = command.spawn().map_err(|error| format!("`{name}`: {error}"))?;
        Ok(Self { child, port })
    }

    pub(crate) fn connection(&self) -> Result<Connection, Failure> {
        let client = Client::open(("127.0.0.1", self.port))?;
        Ok(client.get_connection_with_timeout(PATIENCE)?)
    }

    /// Returns the answer to a command of words.
    pub(crate) fn ask<T: FromRedisValue>(&self, command: &str) -> Result<T, Failure> {
        let answer = words(command).query(&mut self.connection()?);
        answer.map_err(|error| format!("`{command}`: {error}").into())
    }

    /// Returns whether the server answers, and `text` is in the answer.
    pub(crate) fn says(&self, command: &str, text: &str) -> bool {
        self.ask::<String>(command).is_ok_and(|answer| answer.contains(text))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command with these words.
pub(crate) fn words(command: &str) -> Cmd {
    let mut cmd = Cmd::new();
    cmd.arg(command.split_ascii_whitespace().collect::<Vec<_>>());
    cmd
}

/// Returns ports that were free a moment ago.
pub(crate) fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    let bound = (0..count).map(|_| TcpListener::bind(("127.0.0.1", 0)));
    let listeners = bound.collect::<Result<Vec<_>, _>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

/// Waits until the condition holds.
pub(crate) fn until(
    what: &str,
    mut is_so: impl FnMut() -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let start = Instant::now();
    while !is_so()? {
        if start.elapsed() > PATIENCE {
            return Err(format!("it took too long until {what}").into());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Returns a figure of the memory of a process in KiB, for example `VmRSS:`, while it runs.
pub(crate) fn memory_kib(process: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    field(&status, name)?.trim_end_matches("kB").trim_end().parse().ok()
}

/// Returns the value of the line of `status` that begins with `name`.
pub(crate) fn field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Returns the path of the program `unstuck`, which is built into the folder of this program.
pub(crate) fn unstuck() -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    let unstuck = own.with_file_name("unstuck").with_extension(env::consts::EXE_EXTENSION);
    if unstuck.is_file() {
        return Ok(unstuck);
    }
    let path = unstuck.display();
    let how = "`cargo build --profile dist -p unstuck-cli` builds it";
    Err(Error::other(format!("{path} does not exist; {how}")))
}

/// Returns the path of the executable `name`. On the search path there may be a script that starts it.
pub(crate) fn executable(name: &str) -> Option<PathBuf> {
    let arguments: &[&str] = match name {
        "python3" => &["-c", "import sys; print(sys.executable)"],
        "node" => &["-p", "process.execPath"],
        "jq" => &["-n", "empty"],
        _ => &[],
    };
    let output = Command::new(name).args(arguments).stdin(Stdio::null()).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    let path = if path.trim().is_empty() { name } else { path.trim() };
    output.status.success().then(|| path.into())
}

/// Returns a command of these words, without input and output.
pub(crate) fn silent(words: &[OsString]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
