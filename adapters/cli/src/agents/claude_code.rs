//! Claude Code: hooks in `settings.json`, started without a shell.

mod transcript;
mod wire;

use std::env;

use unstuck_trace::Format;

use super::dialect;
use super::hooks::{Form, HookEvent, Hooks};
use super::host::{Diagnosis, Ends, Home, Host, Quirks, Steps, Transcripts, Wire};
use super::published::Published;
use super::version::{Needs, Version};

pub(super) const HOST: Host = Host {
    home: Home::Folder("CLAUDE_CONFIG_DIR"),
    folder: ".claude",
    hooks: Hooks {
        form: Form::Exec,
        // A call that fails or is denied has an event of its own, and so has a finished batch of calls.
        ..Hooks::at(&[
            HookEvent::matched("PreToolUse"),
            HookEvent::matched("PostToolUse"),
            HookEvent::matched("PostToolUseFailure"),
            HookEvent::matched("PermissionDenied"),
            HookEvent::plain("PostToolBatch"),
            HookEvent::plain("UserPromptSubmit"),
            HookEvent::matched("SessionStart"),
            HookEvent::plain("Stop"),
            HookEvent::matched("SubagentStop"),
            HookEvent::matched("SessionEnd"),
        ])
    },
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","hook_event_name":"PreToolUse","#,
        r#""tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"toolu_unstuck_doctor"}"#,
    ),
    ends: Ends::Turns,
    quirks: Quirks {
        // This version introduced `args`. Somewhat older ones ignore an unknown event, and still older
        // ones ignore the whole file because of it.
        needs: Some(Needs {
            program: "claude",
            version: Version([2, 1, 139]),
            otherwise: "cannot start a program without a shell, and may skip settings that ask for it",
        }),
        steps: Steps::Reported(transcript::is_behind_another),
        is_attended: Some(is_attended),
        answer: Some(transcript::answer),
        published: Some(Published::CLAUDE_CODE),
        ..Quirks::NONE
    },
    transcripts: Some(Transcripts::jsonl(Format::CLAUDE_CODE, "projects")),
    diagnose: |found| Diagnosis::of_switch(found, "/disableAllHooks"),
    ..Host::new(
        "claude-code",
        "Claude Code",
        Wire { decode: wire::decode, encode: dialect::encode::<wire::ClaudeCode> },
    )
};

/// Returns whether a person sits at the session. Claude Code says so to its hooks, and older versions tell how it was
/// started.
fn is_attended() -> bool {
    let is = |name: &str, value: &str| env::var_os(name).is_some_and(|found| found == value);
    !is("CLAUDE_CODE_SESSION_ATTENDED", "0") && !is("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
}
