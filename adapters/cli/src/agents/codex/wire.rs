//! The wire of Codex's hooks.
//!
//! No event and no flag reports a failure, so failures are read from the result. Codex ignores an answer
//! with an unknown member and a refusal without a reason. The answer to `PreToolUse` can refuse the call,
//! and no answer can end the turn.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};
use unstuck_trace::ToolResult;

use crate::agents::dialect::{Dialect, decision};
use crate::agents::event::{BadPayload, Call, Ending, Event, Raw, json, members, text};
use crate::agents::payload::HookPayload;
use crate::agents::reply::Words;

/// The name that the payloads give to commands, and the name that the model knows.
const COMMAND: (&str, &str) = ("Bash", "exec_command");

/// The programs that only run the command they are given.
const SHELLS: [&str; 3] = ["bash", "sh", "zsh"];

/// Codex's dialect. Its answers have no member that it does not know.
pub(crate) struct Codex;

impl Dialect for Codex {
    const NOTED: &'static [&'static str] = &["PreToolUse", "PostToolUse"];

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        result(payload.tool_response)
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
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Input<'a> {
        command: Raw<'a>,
        cmd: Raw<'a>,
    }
    let Some(command) = members::<Input<'_>>(raw).and_then(|input| input.command.or(input.cmd))
    else {
        return Cow::Borrowed(json(raw));
    };
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

fn result(raw: Raw<'_>) -> Ending<'_> {
    let Some(raw) = raw else { return Ending::Untold };
    let ToolResult { text, failed } = ToolResult::codex(raw);
    Ending::Answered { text, failed: failed == Some(true) }
}
