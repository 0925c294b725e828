//! Cursor: hooks in `hooks.json`, as lines for a shell. Not run: the facts are from its documentation.

mod wire;

use std::fs;

use super::claude_code;
use super::hooks::{HookEvent, Hooks, Shape};
use super::host::{Diagnosis, Ends, Home, Host, Installation, Quirks, Scope, Wire};
use super::settings::listed;

pub(super) const HOST: Host = Host {
    name: "cursor",
    title: "Cursor",
    home: Home::Fixed,
    folder: ".cursor",
    file: "hooks.json",
    hooks: Hooks {
        shape: Shape::Flat,
        ..Hooks::at(&[
            HookEvent::plain("preToolUse"),
            HookEvent::plain("postToolUse"),
            HookEvent::plain("postToolUseFailure"),
            HookEvent::plain("beforeSubmitPrompt"),
            HookEvent::plain("afterAgentResponse"),
            HookEvent::plain("sessionStart"),
            HookEvent::plain("sessionEnd"),
        ])
    },
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
    diagnose,
};

/// Returns a warning if there are hooks of Claude Code, which Cursor may run as well.
fn diagnose(_: &Installation<'_>) -> Diagnosis {
    let is_installed = |scope| {
        let text = fs::read_to_string(claude_code::HOST.settings(scope)).unwrap_or_default();
        listed(&text).is_ok_and(|entries| !entries.is_empty())
    };
    let advice = Scope::ALL.into_iter().find(|scope| is_installed(*scope)).map(|scope| {
        format!(
            "Cursor may also run the hooks in {}: then each call reaches unstuck twice. Turn third-party \
             hooks off in Cursor's settings, or uninstall one of the two.",
            claude_code::HOST.settings(scope).display()
        )
    });
    Diagnosis { obstacles: Vec::new(), advice: advice.into_iter().collect(), trusted: None }
}
