//! Codex: `hooks.json` beside its `config.toml`, and lines for the user's login shell.

pub(crate) mod wire;

use super::host::{Event, Form, Home, Host, Timeout};
use crate::agents::Agent;

pub(crate) const HOST: Host = Host {
    agent: Agent::Codex,
    name: "Codex",
    home: Home::Folder("CODEX_HOME"),
    folder: ".codex",
    file: "hooks.json",
    // It passes over events that it does not know.
    needs: None,
    events: &[
        Event::matched("PreToolUse"),
        Event::matched("PostToolUse"),
        Event::plain("UserPromptSubmit"),
        Event::matched("SessionStart"),
        Event::plain("Stop"),
        Event::plain("Interrupt"),
        Event::matched("SubagentStop"),
        Event::plain("SessionEnd"),
    ],
    form: Form::LoginShell,
    timeout: Timeout::Seconds(5),
    label: None,
    advice: "Codex passes over hooks that nobody has trusted: type /hooks in Codex and trust these. \
             It asks again whenever their command line changes.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","turn_id":"1","cwd":"/","hook_event_name":"PreToolUse","#,
        r#""tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"call_unstuck_doctor"}"#,
    ),
};
