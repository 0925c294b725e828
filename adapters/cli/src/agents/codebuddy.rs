//! CodeBuddy Code: hooks in `settings.json`, as lines for the user's shell.

mod wire;

use super::hooks::{HookEvent, Hooks};
use super::host::{Diagnosis, Ends, Home, Host, Quirks, Wire};

pub(super) const HOST: Host = Host {
    name: "codebuddy",
    title: "CodeBuddy Code",
    home: Home::Folder("CODEBUDDY_CONFIG_DIR"),
    folder: ".codebuddy",
    file: "settings.json",
    hooks: Hooks::at(&[
        HookEvent::matched("PreToolUse"),
        HookEvent::matched("PostToolUse"),
        HookEvent::matched("PostToolUseFailure"),
        HookEvent::plain("UserPromptSubmit"),
        HookEvent::plain("SessionStart"),
        HookEvent::plain("Stop"),
        HookEvent::plain("SubagentStop"),
        HookEvent::plain("SessionEnd"),
    ]),
    advice: "Sessions that begin from now on are watched. No hook can end a turn of CodeBuddy Code: a loop \
             stays refused until you speak.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","#,
        r#""tool_input":{"command":"true"},"tool_use_id":"call_unstuck_doctor"}"#,
    ),
    wire: Wire::of::<wire::CodeBuddy>(),
    ends: Ends::Nothing,
    quirks: Quirks::NONE,
    transcripts: None,
    diagnose: |found| Diagnosis::of_switch(found, "/disableAllHooks"),
};
