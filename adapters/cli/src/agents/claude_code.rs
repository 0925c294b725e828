//! Claude Code: hooks in `settings.json`, started without a shell.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::path::Path;

use memchr::memmem;
use serde_json::value::RawValue;
use unstuck_trace::{Format, ToolResult};

use super::dialect::{self, Dialect, HookPayload};
use super::event::{
    BadPayload, Ending, Event, EventKind, Members, Raw, fields, fields_of, json, shown, text,
};
use super::hooks::{Form, HookEvent, Hooks};
use super::host::{Diagnosis, Ends, Home, Host, Steps, Transcripts};
use super::process::{Needs, Version};
use super::published::Published;
use super::transcript::{self, Answer};

pub(super) const HOST: Host = Host {
    home: Home::Folder("CLAUDE_CONFIG_DIR"),
    folder: ".claude",
    hooks: Hooks {
        form: Form::Exec,
        // A call that fails or is denied has an event of its own, and so has a finished batch of calls.
        ..Hooks::at(&[
            HookEvent::matched("PreToolUse"),
            HookEvent::matched("PostToolUse"),
            HookEvent::matched("PostToolUseFailure"),
            HookEvent::matched("PermissionDenied"),
            HookEvent::plain("PostToolBatch"),
            HookEvent::plain("UserPromptSubmit"),
            HookEvent::matched("SessionStart"),
            HookEvent::plain("Stop"),
            HookEvent::matched("SubagentStop"),
            HookEvent::matched("SessionEnd"),
        ])
    },
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","hook_event_name":"PreToolUse","#,
        r#""tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"toolu_unstuck_doctor"}"#,
    ),
    ends: Ends::Turns,
    // This version introduced `args`. Somewhat older ones ignore an unknown event, and still older
    // ones ignore the whole file because of it.
    needs: Some(Needs {
        program: "claude",
        version: Version([2, 1, 139]),
        otherwise: "cannot start a program without a shell, and may skip settings that ask for it",
    }),
    steps: Steps::Reported(is_behind_another),
    is_attended: Some(is_attended),
    answer: Some(answer),
    published: Some(Published::CLAUDE_CODE),
    transcripts: Some(Transcripts::jsonl(Format::CLAUDE_CODE, "projects")),
    diagnose: |found| Diagnosis::of_switch(found, "/disableAllHooks"),
    ..Host::new("claude-code", "Claude Code", decode, dialect::encode::<ClaudeCode>)
};

/// Returns whether a person sits at the session. Claude Code says so to its hooks, and older versions tell how it was
/// started.
fn is_attended() -> bool {
    let is = |name: &str, value: &str| env::var_os(name).is_some_and(|found| found == value);
    !is("CLAUDE_CODE_SESSION_ATTENDED", "0") && !is("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
}

/// The members of results that differ each time.
const VOLATILE: [&str; 6] =
    ["durationMs", "durationSeconds", "totalDurationMs", "totalTokens", "usage", "agentId"];

/// The beginnings of errors that are not the fault of the call: another call of its batch failed, or
/// the user interrupted the turn.
const COLLATERAL: [&str; 3] =
    ["Cancelled: parallel tool call", "Sibling tool call errored", "[Request interrupted by user"];

/// The beginning of the error if the user refused the call.
const REFUSAL: &str = "The user doesn't want to ";

/// The tag around some errors.
const WRAPPER: &str = "<tool_use_error>";

/// Claude Code's own dialect.
///
/// `PostToolUse` has the result of a call, and `PostToolUseFailure` the error of a failed one. `PostToolBatch` follows when
/// all calls of one answer of the model have ended. It lists them, and with them the calls that were rejected before they
/// ran, which have no other event.
struct ClaudeCode;

impl Dialect for ClaudeCode {
    // `Stop` accepts a note, too, but it would keep the model going.
    const NOTED: &'static [&'static str] =
        &["PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit"];
    // The turn goes on after a refused and after a failed call; the end of the batch ends it.
    const ENDS: Option<fn(&Event<'_>) -> bool> =
        Some(|event| !["PreToolUse", "PostToolUseFailure"].contains(&event.name.as_ref()));
    const SHOWS: bool = true;

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        result(payload.tool_response)
    }

    fn failure<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        failure(shown(payload.error))
    }

    fn kind<'a>(payload: &HookPayload<'a>, name: &str) -> Result<EventKind<'a>, BadPayload> {
        Ok(match name {
            "PermissionDenied" => EventKind::After(payload.call()?, Ending::Refused),
            "PostToolBatch" => EventKind::StepEnded(payload.listed(ending_in_batch)),
            name => payload.kind(name),
        })
    }
}

/// Reads a payload.
fn decode(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    of_object(payload).map_or_else(|| dialect::decode::<ClaudeCode>(payload), Ok)
}

/// Reads a payload whose result is an object with a text, such as the result of a command. Parsing the
/// result in the same pass saves a second one over a result of a megabyte.
fn of_object(payload: &[u8]) -> Option<Event<'_>> {
    memmem::find(payload, br#""tool_response":{"#)?;
    let payload: HookPayload<'_, Members<'_>> = serde_json::from_slice(payload).ok()?;
    let ending = ending(payload.tool_response.as_ref()?)?;
    let name = payload.name().ok().filter(|name| name == "PostToolUse")?;
    payload.event(name, EventKind::After(payload.call().ok()?, ending)).ok()
}

/// Returns the end of a call with this error.
fn failure(text: Cow<'_, str>) -> Ending<'_> {
    let bare = text.trim_start().strip_prefix(WRAPPER).unwrap_or(&text);
    if COLLATERAL.iter().any(|begin| bare.starts_with(begin)) {
        Ending::Cancelled
    } else if bare.starts_with(REFUSAL) {
        Ending::Refused
    } else {
        Ending::Answered { text, failed: true }
    }
}

/// Returns whether the result of a call in a batch is an error. No member says so.
fn is_error(text: &str) -> bool {
    let text = text.trim_start();
    let begins = |begin: &&str| text.starts_with(begin);
    COLLATERAL.iter().chain(&[WRAPPER, REFUSAL]).any(begins)
}

/// Reads the end of a call in a batch from the text that the model reads.
fn ending_in_batch(entry: Raw<'_>) -> Ending<'_> {
    let raw = fields(entry, ["tool_response"]).and_then(|[response]| response);
    match text(raw) {
        Some(text) if is_error(&text) => failure(text),
        _ => result(raw),
    }
}

fn result(raw: Raw<'_>) -> Ending<'_> {
    let Some(shape) = raw else { return Ending::Untold };
    let Ok(response) = serde_json::from_str::<Members<'_>>(shape.get()) else {
        return Ending::Answered { text: ToolResult::plain(shape).text, failed: false };
    };
    let [is_error] = response.named(["isError"]);
    let failed = json(is_error) == "true";
    ending(&response).unwrap_or_else(|| Ending::Answered { text: lasting(raw), failed })
}

/// Returns the JSON of an object without its volatile members. Other values are returned unchanged.
fn lasting(raw: Raw<'_>) -> Cow<'_, str> {
    let json = json(raw);
    let holds = |name: &&str| json.contains(&format!("\"{name}\""));
    if !json.starts_with('{') || !VOLATILE.iter().any(holds) {
        return Cow::Borrowed(json);
    }
    let members: Result<BTreeMap<Cow<'_, str>, &RawValue>, _> = serde_json::from_str(json);
    let Ok(mut members) = members else { return Cow::Borrowed(json) };
    members.retain(|name, _| !VOLATILE.contains(&name.as_ref()));
    serde_json::to_string(&members).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Returns the end of a call if its result has one of the members that hold the text which the model reads.
fn ending<'a>(response: &Members<'a>) -> Option<Ending<'a>> {
    let names = ["stdout", "stderr", "interrupted", "backgroundTaskId"];
    let [out, err, interrupted, task] = response.named(names);
    if json(interrupted) == "true" {
        return Some(Ending::Cancelled);
    }
    if let Some(out) = text(out) {
        let text = match text(task) {
            Some(task) => Cow::Owned(format!("Command running in background with ID: {task}")),
            None => joined(out, text(err).unwrap_or_default()),
        };
        return Some(Ending::Answered { text, failed: false });
    }
    let [file, content, is_error] = response.named(["file", "content", "isError"]);
    let file = fields(file, ["content"]).and_then(|[content]| text(content));
    let text = file.or_else(|| content.map(|content| ToolResult::plain(content).text))?;
    Some(Ending::Answered { text, failed: json(is_error) == "true" })
}

/// Joins what a command wrote to its two streams.
fn joined<'a>(out: Cow<'a, str>, err: Cow<'a, str>) -> Cow<'a, str> {
    match (out.is_empty(), err.is_empty()) {
        (_, true) => out,
        (true, false) => err,
        (false, false) => Cow::Owned(format!("{out}\n{err}")),
    }
}

/// Returns whether the call with this id stands behind another call of the same answer, or `None` if the transcript does
/// not show the call. Each line has one block of an answer, and the lines of an answer have the id of its message.
///
/// Commands that may change files run one after the other, even if the model issued them together. The event at the end
/// of a batch tells that too late for the first batch of a session.
fn is_behind_another(path: &Path, id: &str) -> Option<bool> {
    transcript::is_behind_another(path, id, "tool_use", |line| {
        let [message] = fields_of(line, ["message"])?;
        let [answer, content] = fields(message, ["id", "content"])?;
        let blocks: Vec<Raw<'_>> = serde_json::from_str(content?.get()).ok()?;
        let blocks = blocks.into_iter().filter_map(|block| fields(block, ["type", "id"]));
        let calls = blocks.filter(|[of, _]| text(*of).as_deref() == Some("tool_use"));
        let ids = calls.filter_map(|[_, id]| text(id).map(Cow::into_owned)).collect();
        Some((Some(text(answer)?.into_owned()), ids))
    })
}

/// Returns the answer whose tokens a line of a transcript tells. Several lines may tell the tokens of one answer.
fn answer(line: &str) -> Option<Answer> {
    if !line.contains("\"usage\"") {
        return None;
    }
    let [message] = fields_of(line, ["message"])?;
    let [id, model] = fields(message, ["id", "model"])?.map(|raw| text(raw).map(Cow::into_owned));
    Some(Answer { id, model })
}
