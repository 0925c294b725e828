//! Qwen Code: hooks in `settings.json`, as lines for `bash`.

mod transcript;
mod wire;

use unstuck_trace::Format;

use super::hooks::{HookEvent, Hooks};
use super::host::{Diagnosis, Ends, Home, Host, Quirks, Steps, Transcripts, Wire};

pub(super) const HOST: Host = Host {
    home: Home::Folder("QWEN_HOME"),
    folder: ".qwen",
    hooks: Hooks {
        label: Some("unstuck"),
        ..Hooks::at(&[
            HookEvent::matched("PreToolUse"),
            HookEvent::matched("PostToolUse"),
            HookEvent::matched("PostToolUseFailure"),
            HookEvent::plain("PostToolBatch"),
            HookEvent::plain("UserPromptSubmit"),
            HookEvent::matched("SessionStart"),
            HookEvent::plain("Stop"),
            HookEvent::matched("SubagentStop"),
            HookEvent::matched("SessionEnd"),
        ])
    },
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","hook_event_name":"PreToolUse","prompt_id":"1","#,
        r#""tool_name":"run_shell_command","tool_input":{"command":"true"},"#,
        r#""tool_use_id":"toolu_unstuck_doctor","tool_call_id":"call_unstuck_doctor"}"#,
    ),
    ends: Ends::MainTurns,
    quirks: Quirks {
        // Its own guard ends the run when the model asks for the fifth.
        equal_calls_max: Some(4),
        steps: Steps::Transcribed(transcript::is_behind_another),
        ..Quirks::NONE
    },
    transcripts: Some(Transcripts {
        within: Some("chats"),
        ..Transcripts::jsonl(Format::QWEN, "projects")
    }),
    diagnose: |found| Diagnosis::of_switch(found, "/disableAllHooks"),
    ..Host::new("qwen", "Qwen Code", Wire::of::<wire::Qwen>())
};
