//! Gemini CLI: `settings.json`, lines for `bash`, and times in milliseconds.

pub(crate) mod wire;

use super::host::{Event, Form, Home, Host, Timeout};
use crate::agents::Agent;

pub(crate) const HOST: Host = Host {
    agent: Agent::Gemini,
    name: "Gemini CLI",
    home: Home::Parent("GEMINI_CLI_HOME"),
    folder: ".gemini",
    file: "settings.json",
    // It passes over events that it does not know.
    needs: None,
    events: &[
        Event::matched("BeforeTool"),
        Event::matched("AfterTool"),
        Event::plain("BeforeAgent"),
        Event::plain("AfterAgent"),
        Event::matched("SessionStart"),
        Event::matched("SessionEnd"),
    ],
    form: Form::Bash,
    timeout: Timeout::Milliseconds(5000),
    label: Some("unstuck"),
    advice: "Sessions that begin from now on are watched, in folders that Gemini CLI trusts.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","#,
        r#""tool_name":"run_shell_command","tool_input":{"command":"true"}}"#,
    ),
};
