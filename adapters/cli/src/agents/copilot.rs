//! GitHub Copilot CLI: hooks in a file of their own, as lines for `bash`. VS Code's local agent runs
//! them, too.

mod doctor;
mod wire;

use unstuck_trace::Format;

use super::hooks::{Form, HookEvent, Hooks, Shape, Timeout};
use super::host::{Ends, Home, Host, Quirks, Transcripts, Wire};

pub(super) const HOST: Host = Host {
    name: "copilot",
    title: "GitHub Copilot CLI",
    home: Home::Folder("COPILOT_HOME"),
    folder: ".copilot",
    project_folder: Some(".github"),
    file: "hooks/unstuck.json",
    hooks: Hooks {
        // Under these names the payloads name their event. Under Copilot's own names, such as
        // `preToolUse`, they do not.
        events: &[
            HookEvent::plain("PreToolUse"),
            HookEvent::plain("PostToolUse"),
            HookEvent::plain("PostToolUseFailure"),
            HookEvent::plain("UserPromptSubmit"),
            HookEvent::plain("SessionStart"),
            HookEvent::plain("PreCompact"),
            HookEvent::plain("SessionEnd"),
        ],
        shape: Shape::Flat,
        form: Form::Bash,
        timeout: Timeout::Seconds(5),
        label: None,
    },
    // Every version ignores an event that it does not know.
    needs: None,
    advice: "Sessions that begin from now on are watched. No hook can end a turn of GitHub Copilot CLI: a \
             loop stays refused until you speak.",
    sample: concat!(
        r#"{"hook_event_name":"PreToolUse","session_id":"unstuck-doctor","timestamp":"2026-01-01T00:00:00Z","#,
        r#""cwd":"/","tool_name":"Bash","tool_input":{"command":"true"}}"#,
    ),
    wire: Wire { decode: wire::decode, encode: wire::encode },
    ends: Ends::Nothing,
    quirks: Quirks::NONE,
    transcripts: Some(Transcripts {
        format: Format::COPILOT,
        folder: "session-state",
        within: None,
        extensions: &["jsonl"],
    }),
    diagnose: doctor::diagnose,
};
