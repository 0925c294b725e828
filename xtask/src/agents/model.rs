//! The scripted model: a process of Node on loopback.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::client::Client;
use super::{install, place};
use crate::machine;

/// The program of the model.
const PROGRAM: &str = "xtask/agents/model.mjs";

/// A running model. It ends with this value, because its standard input does.
#[derive(Debug)]
pub(super) struct Model {
    child: Child,
    port: u16,
}

impl Model {
    /// Starts the model on a free port.
    ///
    /// # Errors
    ///
    /// If Node does not start, or if the program prints no port.
    pub(super) fn start() -> Result<Self, String> {
        let failed = |why: &dyn std::fmt::Display| format!("{PROGRAM}: {why}");
        let mut command = Command::new(install::node());
        command.current_dir(machine::root()).args([PROGRAM, place::RUNS]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(&error))?;
        let mut line = String::new();
        if let Some(output) = &mut child.stdout {
            BufReader::new(output).read_line(&mut line).map_err(|error| failed(&error))?;
        }
        let port = line.trim().parse().map_err(|_| failed(&"it printed no port"))?;
        Ok(Self { child, port })
    }

    /// The address for a run that plays `script`.
    pub(super) fn url(&self, client: &Client, scenario: &str, script: &str) -> String {
        format!("http://127.0.0.1:{}/{}/{scenario}/{script}", self.port, client.name)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
