//! Codex: hooks in `hooks.json` beside its `config.toml`, as lines for the user's login shell.

mod doctor;
mod rollout;

use std::borrow::Cow;

use serde_json::{Value, json};
use unstuck_trace::{Format, ToolResult};

use super::dialect::{Dialect, HookPayload, decision};
use super::event::{BadPayload, Call, Ending, Event, Raw, fields, json, text};
use super::hooks::{Form, HookEvent, Hooks};
use super::host::{Home, Host, Steps, Transcripts};
use super::published::Published;
use super::reply::Words;

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
            HookEvent::plain("Interrupt").limited(3),
            HookEvent::matched("SubagentStop"),
            HookEvent::plain("SessionEnd").limited(3),
        ])
    },
    advice: "Codex ignores hooks until you trust them: type /hooks in Codex and trust these. It asks \
             again when their command line changes.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","turn_id":"1","cwd":"/","hook_event_name":"PreToolUse","#,
        r#""tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"call_unstuck_doctor"}"#,
    ),
    steps: Steps::Transcribed(rollout::is_batch_open),
    has_failed: Some(rollout::has_failed),
    silent: &["apply_patch"],
    unreported: Some(rollout::unreported),
    answer: Some(rollout::answer),
    published: Some(Published::CODEX),
    transcripts: Some(Transcripts::jsonl(Format::CODEX, "sessions")),
    diagnose: doctor::diagnose,
    ..Host::of::<Codex>("codex", "Codex")
};

/// The name that the payloads give to commands, and the name that the model knows.
const COMMAND: (&str, &str) = ("Bash", "exec_command");

/// The programs that only run the command they are given.
const SHELLS: [&str; 3] = ["bash", "sh", "zsh"];

/// Codex's dialect. No event and no flag reports a failure, so failures are read from the result. Codex ignores an answer
/// with an unknown member and a refusal without a reason. The answer to `PreToolUse` can refuse the call, and no answer
/// can end the turn.
struct Codex;

impl Dialect for Codex {
    const NOTED: &'static [&'static str] = &["PreToolUse", "PostToolUse"];

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        let Some(raw) = payload.tool_response else { return Ending::Untold };
        let ToolResult { text, failed } = ToolResult::codex(raw);
        Ending::Answered { text, failed: failed == Some(true) }
    }

    fn call<'a>(payload: &HookPayload<'a>) -> Result<Call<'a>, BadPayload> {
        let Call { id, tool, .. } = payload.call()?;
        let tool = if tool == COMMAND.0 { COMMAND.1.into() } else { tool };
        Ok(Call { id, tool, args: command(payload.tool_input) })
    }

    fn adapted<'a>(payload: &HookPayload<'a>, event: Event<'a>) -> Event<'a> {
        Event { turn: text(payload.turn_id), ..event }
    }

    fn refusal(words: &Words) -> Value {
        // Codex adds a full stop.
        decision("deny", words.model.trim_end_matches('.'), Some(&words.person))
    }
}

/// Returns the arguments, reduced to the command line if they are a command. For example,
/// `["bash","-lc","make"]` becomes `make`.
fn command(raw: Raw<'_>) -> Cow<'_, str> {
    let [command, cmd] = fields(raw, ["command", "cmd"]).unwrap_or_default();
    let Some(command) = command.or(cmd) else { return Cow::Borrowed(json(raw)) };
    let words: Option<[Cow<'_, str>; 3]> = serde_json::from_str(command.get()).ok();
    match words {
        Some([shell, flag, line]) if is_shell(&shell) && ["-c", "-lc"].contains(&flag.as_ref()) => {
            Cow::Owned(json!({ "command": line }).to_string())
        }
        _ => Cow::Borrowed(json(raw)),
    }
}

fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program.rsplit('/').next().unwrap_or(program))
}
