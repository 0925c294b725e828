//! goose: hooks of a plugin, as lines for `sh`. Not run: the facts are from its documentation and source.

mod doctor;
mod wire;

use super::hooks::{Form, HookEvent, Hooks, Shape, Timeout};
use super::host::{Ends, Home, Host, Quirks, Wire};

pub(super) const HOST: Host = Host {
    name: "goose",
    title: "goose",
    home: Home::Parent("GOOSE_PATH_ROOT"),
    folder: ".agents",
    project_folder: None,
    file: "plugins/unstuck/hooks/hooks.json",
    hooks: Hooks {
        // goose reads a matcher as a regular expression, of which `*` is none.
        events: &[
            HookEvent::plain("PreToolUse"),
            HookEvent::plain("PostToolUse"),
            HookEvent::plain("PostToolUseFailure"),
            HookEvent::plain("UserPromptSubmit"),
            HookEvent::plain("Stop"),
            HookEvent::plain("SessionStart"),
            HookEvent::plain("SessionEnd"),
        ],
        shape: Shape::Grouped,
        form: Form::Bash,
        timeout: Timeout::Seconds(5),
        label: None,
    },
    // Every version ignores an event that it does not know.
    needs: None,
    advice: "These hooks follow goose's documentation and were not run with it. No hook can give the model \
             a note or end a turn of goose: a loop is refused until you speak, without a warning before.",
    sample: concat!(
        r#"{"event":"PreToolUse","session_id":"unstuck-doctor","tool_name":"developer__shell","#,
        r#""tool_input":{"command":"true"},"tool_call_id":"unstuck_doctor","working_dir":"/"}"#,
    ),
    wire: Wire { decode: wire::decode, encode: wire::encode },
    ends: Ends::Nothing,
    quirks: Quirks::NONE,
    transcripts: None,
    diagnose: doctor::diagnose,
};
