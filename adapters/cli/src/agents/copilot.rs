//! GitHub Copilot CLI: hooks in a file of their own, as lines for `bash`. VS Code's local agent runs
//! them, too.

mod wire;

use unstuck_trace::Format;

use super::dialect;
use super::hooks::{HookEvent, Hooks, Shape};
use super::host::{Diagnosis, Home, Host, Installation, Quirks, Transcripts, Wire};
use super::settings::switch;

pub(super) const HOST: Host = Host {
    home: Home::Folder("COPILOT_HOME"),
    folder: ".copilot",
    file: "hooks/unstuck.json",
    hooks: Hooks {
        shape: Shape::Flat,
        // Under these names the payloads name their event. Under Copilot's own names, such as
        // `preToolUse`, they do not.
        ..Hooks::at(&[
            HookEvent::plain("PreToolUse"),
            HookEvent::plain("PostToolUse"),
            HookEvent::plain("PostToolUseFailure"),
            HookEvent::plain("UserPromptSubmit"),
            HookEvent::plain("SessionStart"),
            HookEvent::plain("PreCompact"),
            HookEvent::plain("SessionEnd"),
        ])
    },
    advice: "Sessions that begin from now on are watched. No hook can end a turn of GitHub Copilot CLI: a \
             loop stays refused until you speak.",
    sample: concat!(
        r#"{"hook_event_name":"PreToolUse","session_id":"unstuck-doctor","timestamp":"2026-01-01T00:00:00Z","#,
        r#""cwd":"/","tool_name":"Bash","tool_input":{"command":"true"}}"#,
    ),
    quirks: Quirks { project_folder: Some(".github"), ..Quirks::NONE },
    transcripts: Some(Transcripts::jsonl(Format::COPILOT, "session-state")),
    diagnose,
    ..Host::new(
        "copilot",
        "GitHub Copilot CLI",
        Wire { decode: dialect::decode::<wire::Copilot>, encode: wire::encode },
    )
};

/// Returns the reasons in GitHub Copilot CLI's settings why it does not run an installed hook.
fn diagnose(found: &Installation<'_>) -> Diagnosis {
    let mut obstacles = Vec::new();
    if let Err(error) = serde_json::from_str::<serde_json::Value>(found.text) {
        obstacles.push(format!(
            "GitHub Copilot CLI skips this file, because it is not plain JSON: {error}"
        ));
    }
    if switch(found.text, "/disableAllHooks") == Some(true) {
        obstacles
            .push("disableAllHooks is true, so no hook of this file runs: remove it".to_owned());
    }
    Diagnosis { obstacles, advice: found.trust(), trusted: None }
}
