//! The proxy between a client and a server of MCP, both of the official SDK for Python.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::machine::{self, Machine, program};
use crate::step::Outcome;
use crate::steps;

/// Calls tools through the proxy, and checks what comes of it.
const CLIENT: &str = "adapters/cli/tests/mcp/client.py";

/// The SDK and all that it needs, each in one version.
const REQUIREMENTS: &str = "adapters/cli/tests/mcp/requirements.txt";

/// The program that holds the proxy.
const PROGRAM: &str = "unstuck";

/// The environment of Python that the SDK is installed into.
const ENVIRONMENT: &str = "target/mcp/python";

/// The Debian packages that make such an environment.
const DEBIAN_PACKAGES: &[&str] = &["python3", "python3-venv"];

/// The client and the server understand each other through the proxy.
///
/// Without the SDK the step is left out on a developer's machine; in CI it is installed.
pub(crate) fn check(machine: Machine) -> Outcome {
    let ready = match machine {
        Machine::Ci => make_environment().and_then(install),
        Machine::Developer if has_sdk() => Outcome::Passed,
        Machine::Developer => missing(),
    };
    ready.and_then(try_proxy)
}

/// Builds the proxy, and tries it.
fn try_proxy() -> Outcome {
    match steps::built(&["--bin", PROGRAM]) {
        Ok(proxy) => Outcome::of(python().arg(CLIENT).arg(proxy)),
        Err(outcome) => outcome,
    }
}

/// The Python of the environment.
fn python() -> Command {
    let path: PathBuf = [ENVIRONMENT, "bin", "python"].iter().collect();
    program(machine::root().join(path))
}

fn has_sdk() -> bool {
    is_well(python().args(["-c", "import mcp"]))
}

/// What a person reads where the SDK is missing.
fn missing() -> Outcome {
    Outcome::LeftOut(format!(
        "the SDK of MCP is not in {ENVIRONMENT}; `python3 -m venv {ENVIRONMENT}` and then \
         `{ENVIRONMENT}/bin/pip install -r {REQUIREMENTS}` bring it"
    ))
}

/// Makes the environment where there is none, with Debian's means where there are no others.
fn make_environment() -> Outcome {
    let make = || {
        let mut command = program("python3");
        command.args(["-m", "venv", "--clear", ENVIRONMENT]);
        command
    };
    // An environment that broke off on the way has no `pip`.
    if is_well(python().args(["-m", "pip", "--version"])) || is_well(&mut make()) {
        return Outcome::Passed;
    }
    machine::apt_install(DEBIAN_PACKAGES).and_then(|| Outcome::of(&mut make()))
}

/// Brings the environment what it lacks, which is nothing from the second time on.
fn install() -> Outcome {
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    Outcome::of(python().args(pip).args(["--requirement", REQUIREMENTS]))
}

/// Whether `command` starts and ends well; what it says is of no interest.
fn is_well(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}
