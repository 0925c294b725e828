//! Tests the MCP proxy between a client and a server of the official Python SDK.

use std::process::ExitCode;

use crate::environment::Environment;
use crate::machine;
use crate::step::{Done, Steps, run as run_command};
use crate::steps;

/// The client, which calls tools through the proxy and checks the answers.
const CLIENT: &str = "adapters/cli/tests/mcp/client.py";

/// The SDK and its dependencies, with pinned versions.
const REQUIREMENTS: &str = "adapters/cli/tests/mcp/requirements.txt";

/// Runs `cargo xtask mcp`.
pub(crate) fn run() -> ExitCode {
    let mut steps = Steps::default();
    steps.then("mcp", check);
    steps.finish()
}

/// Installs the SDK, and checks that client and server work together through the proxy.
pub(crate) fn check() -> Done {
    let environment = Environment::new(machine::root().join("target/mcp/python"));
    environment.make().done()?;
    environment.install(["--requirement", REQUIREMENTS]).done()?;
    let proxy = steps::built(&["--bin", "unstuck"])?;
    run_command(environment.python().arg(CLIENT).arg(proxy))
}
