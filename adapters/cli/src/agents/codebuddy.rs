//! CodeBuddy Code: hooks in `settings.json`, as lines for the user's shell.

use unstuck_trace::ToolResult;

use super::dialect::{Dialect, HookPayload};
use super::event::{Ending, fields, json, text};
use super::hooks::{HookEvent, Hooks};
use super::host::{Diagnosis, Home, Host};

pub(super) const HOST: Host = Host {
    home: Home::Folder("CODEBUDDY_CONFIG_DIR"),
    folder: ".codebuddy",
    hooks: Hooks::at(&[
        HookEvent::matched("PreToolUse"),
        HookEvent::matched("PostToolUse"),
        HookEvent::matched("PostToolUseFailure"),
        HookEvent::plain("UserPromptSubmit"),
        HookEvent::plain("SessionStart"),
        HookEvent::plain("Stop"),
        HookEvent::plain("SubagentStop"),
        HookEvent::plain("SessionEnd"),
    ]),
    advice: "Sessions that begin from now on are watched. No hook can end a turn of CodeBuddy Code: a loop \
             stays refused until you speak.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","#,
        r#""tool_input":{"command":"true"},"tool_use_id":"call_unstuck_doctor"}"#,
    ),
    diagnose: |found| Diagnosis::of_switch(found, "/disableAllHooks"),
    ..Host::of::<CodeBuddy>("codebuddy", "CodeBuddy Code")
};

/// CodeBuddy Code's dialect. The result of a command that fails has its output as the error. That of a command that works
/// has no output at all, so that nothing proves that it did the same as another.
struct CodeBuddy;

impl Dialect for CodeBuddy {
    const NOTED: &'static [&'static str] = &["PostToolUse", "PostToolUseFailure"];

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        let raw = payload.tool_response;
        let Some(shape) = raw else { return Ending::Untold };
        let plain = |failed| Ending::Answered { text: ToolResult::plain(shape).text, failed };
        let names = ["exitCode", "interrupted", "is_error", "error"];
        let [exit, interrupted, is_error, error] = fields(raw, names).unwrap_or_default();
        if json(interrupted) == "true" {
            return Ending::Cancelled;
        }
        let failed = json(is_error) == "true";
        match text(error) {
            Some(text) if failed => Ending::Answered { text, failed },
            None if failed => plain(failed),
            _ if exit.is_some() => Ending::Untold,
            _ => plain(false),
        }
    }
}
