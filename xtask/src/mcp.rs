//! Tests the MCP proxy between a client and a server of the official Python SDK.

use crate::environment::{Environment, is_well};
use crate::machine::{self, Machine};
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

/// Checks that client and server work together through the proxy.
///
/// Without the SDK, the step is left out on a developer's machine. In CI the SDK is installed.
pub(crate) fn check(machine: Machine) -> Outcome {
    let ready = match machine {
        Machine::Ci => {
            let environment = environment();
            environment.make().and_then(|| environment.install(["--requirement", REQUIREMENTS]))
        }
        Machine::Developer if has_sdk() => Outcome::Passed,
        Machine::Developer => missing(),
    };
    ready.and_then(try_proxy)
}

/// Builds the proxy and runs the client.
fn try_proxy() -> Outcome {
    match steps::built(&["--bin", PROGRAM]) {
        Ok(proxy) => Outcome::of(environment().python().arg(CLIENT).arg(proxy)),
        Err(outcome) => outcome,
    }
}

fn environment() -> Environment {
    Environment::new(machine::root().join(ENVIRONMENT))
}

fn has_sdk() -> bool {
    is_well(environment().python().args(["-c", "import mcp"]))
}

/// Returns the outcome if the SDK is missing.
fn missing() -> Outcome {
    Outcome::LeftOut(format!(
        "the SDK of MCP is not in {ENVIRONMENT}; `python3 -m venv {ENVIRONMENT}` and then \
         `{ENVIRONMENT}/bin/pip install -r {REQUIREMENTS}` bring it"
    ))
}
