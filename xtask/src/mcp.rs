//! Tests the MCP proxy between a client and a server of the official Python SDK.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::machine::{self, Machine, program};
use crate::step::Outcome;
use crate::steps;

/// The client, which calls tools through the proxy and checks the answers.
const CLIENT: &str = "adapters/cli/tests/mcp/client.py";

/// The SDK and its dependencies, with pinned versions.
const REQUIREMENTS: &str = "adapters/cli/tests/mcp/requirements.txt";

/// The program that contains the proxy.
const PROGRAM: &str = "unstuck";

/// The virtual environment of the SDK.
const ENVIRONMENT: &str = "target/mcp/python";

/// The Debian packages that create a virtual environment.
const DEBIAN_PACKAGES: &[&str] = &["python3", "python3-venv"];

/// Checks that client and server work together through the proxy.
///
/// Without the SDK, the step is left out on a developer's machine. In CI the SDK is installed.
pub(crate) fn check(machine: Machine) -> Outcome {
    let ready = match machine {
        Machine::Ci => make_environment().and_then(install),
        Machine::Developer if has_sdk() => Outcome::Passed,
        Machine::Developer => missing(),
    };
    ready.and_then(try_proxy)
}

/// Builds the proxy and runs the client.
fn try_proxy() -> Outcome {
    match steps::built(&["--bin", PROGRAM]) {
        Ok(proxy) => Outcome::of(python().arg(CLIENT).arg(proxy)),
        Err(outcome) => outcome,
    }
}

/// Returns the Python of the environment.
fn python() -> Command {
    let path: PathBuf = [ENVIRONMENT, "bin", "python"].iter().collect();
    program(machine::root().join(path))
}

fn has_sdk() -> bool {
    is_well(python().args(["-c", "import mcp"]))
}

/// Returns the outcome if the SDK is missing.
fn missing() -> Outcome {
    Outcome::LeftOut(format!(
        "the SDK of MCP is not in {ENVIRONMENT}; `python3 -m venv {ENVIRONMENT}` and then \
         `{ENVIRONMENT}/bin/pip install -r {REQUIREMENTS}` bring it"
    ))
}

/// Creates the environment if there is none. Installs the Debian packages if needed.
fn make_environment() -> Outcome {
    let make = || {
        let mut command = program("python3");
        command.args(["-m", "venv", "--clear", ENVIRONMENT]);
        command
    };
    // An environment whose creation was interrupted has no `pip`.
    if is_well(python().args(["-m", "pip", "--version"])) || is_well(&mut make()) {
        return Outcome::Passed;
    }
    machine::apt_install(DEBIAN_PACKAGES).and_then(|| Outcome::of(&mut make()))
}

/// Installs the requirements. Does nothing if they are installed already.
fn install() -> Outcome {
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    Outcome::of(python().args(pip).args(["--requirement", REQUIREMENTS]))
}

/// Returns whether `command` succeeds. Discards its output.
fn is_well(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}
