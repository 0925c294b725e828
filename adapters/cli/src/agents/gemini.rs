//! Gemini CLI: hooks in `settings.json`, as lines for `bash`, with time limits in milliseconds.

mod doctor;
mod wire;

use unstuck_trace::Format;

use super::hooks::{Form, HookEvent, Hooks, Shape, Timeout};
use super::host::{Ends, Home, Host, Quirks, Transcripts, Wire};

/// The name of the hook in the settings, by which a user can disable it.
const LABEL: &str = "unstuck";

pub(super) const HOST: Host = Host {
    name: "gemini",
    title: "Gemini CLI",
    home: Home::Parent("GEMINI_CLI_HOME"),
    folder: ".gemini",
    project_folder: None,
    file: "settings.json",
    hooks: Hooks {
        events: &[
            HookEvent::matched("BeforeTool"),
            HookEvent::matched("AfterTool"),
            HookEvent::plain("BeforeAgent"),
            HookEvent::plain("AfterAgent"),
            HookEvent::matched("SessionStart"),
            HookEvent::matched("SessionEnd"),
        ],
        shape: Shape::Grouped,
        form: Form::Bash,
        timeout: Timeout::Milliseconds(5000),
        label: Some(LABEL),
    },
    // Every version ignores an event that it does not know.
    needs: None,
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
    diagnose: doctor::diagnose,
};
