//! Claude Code: `settings.json`, and programs that are started without a shell.

pub(crate) mod wire;

use super::host::{Event, Form, Home, Host, Timeout};
use super::version::{Needs, Version};
use crate::agents::Agent;

pub(crate) const HOST: Host = Host {
    agent: Agent::ClaudeCode,
    name: "Claude Code",
    home: Home::Folder("CLAUDE_CONFIG_DIR"),
    folder: ".claude",
    file: "settings.json",
    // It has `args` since this version, and since one before it leaves out an event that it does not
    // know: until then, it left out the whole file.
    needs: Some(Needs {
        program: "claude",
        version: Version([2, 1, 139]),
        otherwise: "cannot start a program without a shell, and may skip settings that ask for it",
    }),
    // A call that fails or is denied ends in an event of its own, and a batch of calls in one more.
    events: &[
        Event::matched("PreToolUse"),
        Event::matched("PostToolUse"),
        Event::matched("PostToolUseFailure"),
        Event::matched("PermissionDenied"),
        Event::plain("PostToolBatch"),
        Event::plain("UserPromptSubmit"),
        Event::matched("SessionStart"),
        Event::plain("Stop"),
        Event::matched("SubagentStop"),
        Event::matched("SessionEnd"),
    ],
    form: Form::Exec,
    timeout: Timeout::Seconds(5),
    label: None,
    advice: "Sessions that begin from now on are watched.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","hook_event_name":"PreToolUse","#,
        r#""tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"toolu_unstuck_doctor"}"#,
    ),
};
