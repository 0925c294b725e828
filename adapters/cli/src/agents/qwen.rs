//! Qwen Code: hooks in `settings.json`, as lines for `bash`.

use std::borrow::Cow;
use std::path::Path;

use unstuck_trace::{Format, ToolResult};

use super::dialect::{Dialect, HookPayload};
use super::event::{BadPayload, Ending, Event, EventKind, Raw, fields, fields_of, text};
use super::hooks::{HookEvent, Hooks};
use super::host::{Diagnosis, Ends, Home, Host, Steps, Transcripts};
use super::transcript;

pub(super) const HOST: Host = Host {
    home: Home::Folder("QWEN_HOME"),
    folder: ".qwen",
    hooks: Hooks {
        label: Some("unstuck"),
        ..Hooks::at(&[
            HookEvent::matched("PreToolUse"),
            HookEvent::matched("PostToolUse"),
            HookEvent::matched("PostToolUseFailure"),
            HookEvent::plain("PostToolBatch"),
            HookEvent::plain("UserPromptSubmit"),
            HookEvent::matched("SessionStart"),
            HookEvent::plain("Stop"),
            HookEvent::matched("SubagentStop"),
            HookEvent::matched("SessionEnd"),
        ])
    },
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","hook_event_name":"PreToolUse","prompt_id":"1","#,
        r#""tool_name":"run_shell_command","tool_input":{"command":"true"},"#,
        r#""tool_use_id":"toolu_unstuck_doctor","tool_call_id":"call_unstuck_doctor"}"#,
    ),
    ends: Ends::MainTurns,
    // Its own guard ends the run when the model asks for the fifth.
    equal_calls_max: Some(4),
    steps: Steps::Transcribed(is_behind_another),
    transcripts: Some(Transcripts {
        within: Some("chats"),
        ..Transcripts::jsonl(Format::QWEN, "projects")
    }),
    diagnose: |found| Diagnosis::of_switch(found, "/disableAllHooks"),
    ..Host::of::<Qwen>("qwen", "Qwen Code")
};

/// The type of error of a call that the user or a hook refused.
const DENIED: &str = "execution_denied";

/// Qwen Code's dialect.
///
/// `PostToolUse` has the result of a call, and `PostToolUseFailure` the error of a failed one. `PostToolBatch` lists the
/// calls that have ended, and with them the calls that were rejected before they ran, which have no other event. Before
/// the results go to the model, `UserPromptSubmit` comes again, with an empty prompt. Only the answer to that event ends
/// the turn.
struct Qwen;

impl Dialect for Qwen {
    const NOTED: &'static [&'static str] =
        &["PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit"];
    // The answer to the event before the next request ends the turn.
    const ENDS: Option<fn(&Event<'_>) -> bool> = Some(|event| {
        event.name == "UserPromptSubmit" && matches!(event.kind, EventKind::CallsEnded(_))
    });

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        let raw = payload.tool_response;
        let content = fields(raw, ["llmContent"]).and_then(|[content]| content);
        let Some(answer) = content.or(raw) else { return Ending::Untold };
        Ending::Answered { text: ToolResult::gemini(answer).text, failed: false }
    }

    fn failure<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        Ending::Answered { text: shown(payload.error), failed: true }
    }

    fn kind<'a>(payload: &HookPayload<'a>, name: &str) -> Result<EventKind<'a>, BadPayload> {
        Ok(match name {
            // It follows each call, and not only the last one of an answer.
            "PostToolBatch" => EventKind::CallsEnded(payload.listed(entry_ending)),
            // The results go to the model, and no user has said anything.
            "UserPromptSubmit" if payload.said().is_empty() => EventKind::CallsEnded(Vec::new()),
            name => payload.kind(name),
        })
    }
}

/// Returns the text that the model reads.
fn shown(raw: Raw<'_>) -> Cow<'_, str> {
    raw.map_or(Cow::Borrowed(""), |raw| ToolResult::gemini(raw).text)
}

/// Reads the end of a call in a batch.
fn entry_ending(raw: Raw<'_>) -> Ending<'_> {
    let Some([status, response]) = fields(raw, ["status", "tool_response"]) else {
        return Ending::Cancelled;
    };
    let names = ["error", "error_type", "response_parts"];
    let [error, kind, parts] = fields(response, names).unwrap_or_default();
    match text(status).as_deref() {
        Some("cancelled") => Ending::Cancelled,
        Some("error") if text(kind).as_deref() == Some(DENIED) => Ending::Refused,
        status => Ending::Answered {
            text: shown(error.or(parts).or(response)),
            failed: status == Some("error"),
        },
    }
}

/// Returns whether the call with this id stands behind another call of the same answer, or `None` if the transcript does
/// not show the call. The calls of an answer are one record before they run: commands that may change files run one after
/// the other, even if the model issued them together.
fn is_behind_another(path: &Path, id: &str) -> Option<bool> {
    transcript::is_behind_another(path, id, "functionCall", |line| {
        let [message] = fields_of(line, ["message"])?;
        let [parts] = fields(message, ["parts"])?;
        let parts: Vec<Raw<'_>> = serde_json::from_str(parts?.get()).ok()?;
        let calls = parts.into_iter().filter_map(|part| fields(part, ["functionCall"])?[0]);
        let ids = calls.map(|call| text(fields(Some(call), ["id"]).and_then(|[id]| id)));
        // An answer is one line.
        Some((None, ids.map(|id| id.unwrap_or_default().into_owned()).collect()))
    })
}
