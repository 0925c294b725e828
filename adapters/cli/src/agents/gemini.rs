//! Gemini CLI: hooks in `settings.json`, as lines for `bash`, with time limits in milliseconds.

mod wire;

use serde_json::Value;
use unstuck_trace::Format;

use super::hooks::{HookEvent, Hooks, Timeout};
use super::host::{Diagnosis, Ends, Home, Host, Installation, Quirks, Scope, Transcripts, Wire};
use super::settings::{meaning, switch};

/// The name of the hook in the settings, by which a user can disable it.
const LABEL: &str = "unstuck";

pub(super) const HOST: Host = Host {
    name: "gemini",
    title: "Gemini CLI",
    home: Home::Parent("GEMINI_CLI_HOME"),
    folder: ".gemini",
    file: "settings.json",
    hooks: Hooks {
        timeout: Timeout::Milliseconds(5000),
        label: Some(LABEL),
        ..Hooks::at(&[
            HookEvent::matched("BeforeTool"),
            HookEvent::matched("AfterTool"),
            HookEvent::plain("BeforeAgent"),
            HookEvent::plain("AfterAgent"),
            HookEvent::matched("SessionStart"),
            HookEvent::matched("SessionEnd"),
        ])
    },
    advice: "Sessions that begin from now on are watched, in folders that Gemini CLI trusts.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","#,
        r#""tool_name":"run_shell_command","tool_input":{"command":"true"}}"#,
    ),
    wire: Wire { decode: wire::decode, encode: wire::encode },
    ends: Ends::Turns,
    quirks: Quirks::NONE,
    transcripts: Some(Transcripts {
        format: Format::GEMINI,
        folder: "tmp",
        within: Some("chats"),
        extensions: &["jsonl", "json"],
    }),
    diagnose,
};

/// Returns the reasons in Gemini CLI's settings why it does not run an installed hook.
fn diagnose(found: &Installation<'_>) -> Diagnosis {
    let mut obstacles = Vec::new();
    if switch(found.text, "/hooksConfig/enabled") == Some(false) {
        obstacles.push("hooksConfig.enabled is false, so no hook runs: remove it".to_owned());
    }
    let settings = meaning(found.text).unwrap_or_default();
    let disabled = settings.pointer("/hooksConfig/disabled").and_then(Value::as_array);
    if disabled.is_some_and(|names| names.iter().any(|name| name == LABEL)) {
        obstacles.push(format!(
            "hooksConfig.disabled names {LABEL}, so its hook does not run: remove the name"
        ));
    }
    let advice = (found.scope == Scope::Project).then(|| {
        "Gemini CLI reads these settings if it is started in this folder and trusts the folder."
            .to_owned()
    });
    Diagnosis { obstacles, advice: advice.into_iter().collect(), trusted: None }
}
