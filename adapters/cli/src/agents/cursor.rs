//! Cursor: hooks in `hooks.json`, as lines for a shell. Not run: the facts are from its documentation.

use serde_json::{Value, json};

use super::claude_code;
use super::dialect::{Dialect, HookPayload};
use super::event::{self, Ending, Event, fields_of, shown, text};
use super::hooks::{HookEvent, Hooks, Shape};
use super::host::{Diagnosis, Host, Installation, Scope};
use super::reply::Words;

pub(super) const HOST: Host = Host {
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
    silence: "{}",
    diagnose,
    ..Host::of::<Cursor>("cursor", "Cursor")
};

/// Returns a warning if there are hooks of Claude Code, which Cursor may run as well.
fn diagnose(_: &Installation<'_>) -> Diagnosis {
    let path = Scope::ALL.into_iter().find_map(|scope| claude_code::HOST.installation(scope));
    let advice = path.map(|path| {
        format!(
            "Cursor may also run the hooks in {}: then each call reaches unstuck twice. Turn third-party \
             hooks off in Cursor's settings, or uninstall one of the two.",
            path.display()
        )
    });
    Diagnosis { advice: Vec::from_iter(advice), ..Diagnosis::default() }
}

/// Cursor's dialect. Every answer is an object, and silence is the empty one. No answer ends a turn.
struct Cursor;

impl Dialect for Cursor {
    const NAMES: &'static [(&'static str, &'static str)] = &[
        ("preToolUse", "PreToolUse"),
        ("postToolUse", "PostToolUse"),
        ("postToolUseFailure", "PostToolUseFailure"),
        ("beforeSubmitPrompt", "UserPromptSubmit"),
        ("afterAgentResponse", "Stop"),
        ("sessionStart", "SessionStart"),
        ("sessionEnd", "SessionEnd"),
    ];
    const NOTED: &'static [&'static str] = &["postToolUse", "postToolUseFailure"];

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        if payload.tool_output.is_none() {
            return Ending::Untold;
        }
        // The result of a command is an object in a string, with its exit code.
        let text = shown(payload.tool_output);
        let exit = fields_of(&text, ["exitCode"]);
        let exit: Option<i64> = exit.and_then(|[code]| event::json(code).parse().ok());
        let failed = exit.is_some_and(|code| code != 0);
        Ending::Answered { text, failed }
    }

    fn failure<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        match text(payload.failure_type).as_deref() {
            Some("permission_denied") => Ending::Refused,
            _ => Ending::Answered { text: shown(payload.error_message), failed: true },
        }
    }

    fn adapted<'a>(payload: &HookPayload<'a>, event: Event<'a>) -> Event<'a> {
        let session = text(payload.conversation_id).unwrap_or(event.session);
        Event { session, subagent: None, turn: text(payload.generation_id), ..event }
    }

    fn note(_: &Event<'_>, text: &str) -> Value {
        json!({ "additional_context": text })
    }

    fn refusal(words: &Words) -> Value {
        json!({
            "permission": "deny", "agent_message": words.model, "user_message": words.person
        })
    }
}
