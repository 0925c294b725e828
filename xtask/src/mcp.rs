//! Tests the MCP proxy between a client and a server of the official Python SDK.

use crate::environment::Environment;
use crate::step::Done;
use crate::steps;

/// Installs the SDK, and checks that client and server work together through the proxy.
pub(crate) fn check() -> Done {
    let python = Environment("target/mcp/python");
    python.make()?;
    let proxy = steps::built("unstuck")?;
    python.run(&format!(
        "python -m pip install --requirement adapters/cli/tests/mcp/requirements.txt
        python adapters/cli/tests/mcp/client.py '{}'",
        proxy.display()
    ))
}
