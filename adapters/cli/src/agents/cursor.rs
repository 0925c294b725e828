//! Cursor: hooks in `hooks.json`, as lines for a shell. Not run: the facts are from its documentation.

mod doctor;
mod wire;

use super::hooks::{Form, HookEvent, Hooks, Shape, Timeout};
use super::host::{Ends, Home, Host, Quirks, Wire};

pub(super) const HOST: Host = Host {
    name: "cursor",
    title: "Cursor",
    home: Home::Fixed,
    folder: ".cursor",
    project_folder: None,
    file: "hooks.json",
    hooks: Hooks {
        events: &[
            HookEvent::plain("preToolUse"),
            HookEvent::plain("postToolUse"),
            HookEvent::plain("postToolUseFailure"),
            HookEvent::plain("beforeSubmitPrompt"),
            HookEvent::plain("afterAgentResponse"),
            HookEvent::plain("sessionStart"),
            HookEvent::plain("sessionEnd"),
        ],
        shape: Shape::Flat,
        form: Form::Bash,
        timeout: Timeout::Seconds(5),
        label: None,
    },
    // Every version ignores an event that it does not know.
    needs: None,
    advice: "These hooks follow Cursor's documentation and were not run with it. No hook can end a turn of \
             Cursor: a loop stays refused until you speak. Cursor may also run the hooks of Claude Code's \
             settings; then install unstuck in only one of them.",
    sample: concat!(
        r#"{"conversation_id":"unstuck-doctor","generation_id":"1","hook_event_name":"preToolUse","#,
        r#""workspace_roots":["/"],"tool_name":"Shell","tool_input":{"command":"true"},"#,
        r#""tool_use_id":"unstuck_doctor"}"#,
    ),
    wire: Wire { decode: wire::decode, encode: wire::encode },
    ends: Ends::Nothing,
    quirks: Quirks { silence: "{}", ..Quirks::NONE },
    transcripts: None,
    diagnose: doctor::diagnose,
};
