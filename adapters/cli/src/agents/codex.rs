//! Codex: hooks in `hooks.json` beside its `config.toml`, as lines for the user's login shell.

mod doctor;
mod rollout;
mod wire;

use unstuck_trace::Format;

use super::hooks::{Form, HookEvent, Hooks, Timeout};
use super::host::{Home, Host, Quirks, Steps, Transcripts, Wire};
use super::published::Published;

pub(super) const HOST: Host = Host {
    home: Home::Folder("CODEX_HOME"),
    folder: ".codex",
    file: "hooks.json",
    hooks: Hooks {
        form: Form::LoginShell,
        ..Hooks::at(&[
            HookEvent::matched("PreToolUse"),
            HookEvent::matched("PostToolUse"),
            HookEvent::plain("UserPromptSubmit"),
            HookEvent::matched("SessionStart"),
            HookEvent::plain("Stop"),
            // With more time, Codex shortens it and warns at each start.
            HookEvent::plain("Interrupt").limited(Timeout::Seconds(3)),
            HookEvent::matched("SubagentStop"),
            HookEvent::plain("SessionEnd").limited(Timeout::Seconds(3)),
        ])
    },
    advice: "Codex ignores hooks until you trust them: type /hooks in Codex and trust these. It asks \
             again when their command line changes.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","turn_id":"1","cwd":"/","hook_event_name":"PreToolUse","#,
        r#""tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"call_unstuck_doctor"}"#,
    ),
    quirks: Quirks {
        steps: Steps::Transcribed(rollout::is_batch_open),
        has_failed: Some(rollout::has_failed),
        silent: &["apply_patch"],
        unreported: Some(rollout::unreported),
        answer: Some(rollout::answer),
        published: Some(Published::CODEX),
        ..Quirks::NONE
    },
    transcripts: Some(Transcripts::jsonl(Format::CODEX, "sessions")),
    diagnose: doctor::diagnose,
    ..Host::new("codex", "Codex", Wire::of::<wire::Codex>())
};
