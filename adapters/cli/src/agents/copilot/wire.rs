//! The wire of GitHub Copilot CLI's hooks.
//!
//! Calls have no ids: a result belongs to the earliest open call with the same tool and arguments. A
//! command that fails has a successful result, whose last line tells the exit code. A call that the user or
//! a hook refuses has no event but `PreToolUse`. No answer ends a turn.
//!
//! VS Code's local agent runs the same hooks. Its calls have ids, and their payloads and answers have Claude
//! Code's shape.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use unstuck_trace::ToolResult;

use crate::agents::dialect::{self, Dialect};
use crate::agents::event::{BadPayload, Call, Ending, Event, EventKind, Raw, members, shown, text};
use crate::agents::payload::HookPayload;
use crate::agents::reply::{Encoded, Reply};

/// The names that the payloads give to tools, and the names that the model knows.
const TOOLS: [(&str, &str); 7] = [
    ("Bash", "bash"),
    ("Read", "view"),
    ("Edit", "edit"),
    ("Write", "create"),
    ("Grep", "grep"),
    ("Glob", "glob"),
    ("Agent", "task"),
];

/// The beginning of the last line of a command's result in VS Code.
const EXITED: &str = "Command exited with code ";

/// Reads a payload.
pub(crate) fn decode(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    let payload: HookPayload<'_> = serde_json::from_slice(payload)?;
    let call = || {
        payload.call().map(|call| {
            let known = TOOLS.iter().find(|(name, _)| *name == call.tool);
            let tool = known.map_or(call.tool, |&(_, name)| Cow::Borrowed(name));
            Call { tool, ..call }
        })
    };
    let name = payload.name()?;
    let kind = match name.as_ref() {
        "PreToolUse" => EventKind::Before(call()?),
        "PostToolUse" if payload.tool_response.is_some() => {
            EventKind::After(call()?, VsCode::result(&payload))
        }
        "PostToolUse" => EventKind::After(call()?, result(payload.tool_result)),
        "PostToolUseFailure" => {
            let text = shown(payload.error);
            EventKind::After(call()?, Ending::Answered { text, failed: true })
        }
        // No event tells of its end.
        "PreCompact" => EventKind::Compacted,
        // They have no text.
        "Stop" | "SubagentStop" => EventKind::Other,
        name => payload.kind(name),
    };
    let (parent, event) = (text(payload.parent_agent_id), payload.into_event(name, kind, None)?);
    let session = parent.filter(|_| event.subagent.is_some());
    Ok(Event { session: session.unwrap_or(event.session), ..event })
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Response<'a> {
    result_type: Raw<'a>,
    text_result_for_llm: Raw<'a>,
}

fn result(raw: Raw<'_>) -> Ending<'_> {
    let response = members::<Response<'_>>(raw);
    let kind = response.as_ref().and_then(|response| text(response.result_type));
    if matches!(kind.as_deref(), Some("denied" | "rejected")) {
        return Ending::Refused;
    }
    let shown = response.map_or(raw, |response| response.text_result_for_llm);
    let is_failure = matches!(kind.as_deref(), Some("failure" | "timeout"));
    match shown.map(ToolResult::copilot) {
        Some(ToolResult { text, failed }) => {
            Ending::Answered { text, failed: failed == Some(true) || is_failure }
        }
        None if is_failure => Ending::Answered { text: Cow::Borrowed(""), failed: true },
        None => Ending::Untold,
    }
}

/// VS Code's local agent.
struct VsCode;

impl Dialect for VsCode {
    const NOTED: &'static [&'static str] = &["PreToolUse", "PostToolUse"];

    /// The last line of a failed command tells its exit code.
    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        let Some(raw) = payload.tool_response else { return Ending::Untold };
        let text = ToolResult::plain(raw).text;
        let last = text.trim_end().lines().next_back().unwrap_or_default();
        let failed = last.strip_prefix(EXITED).is_some_and(|code| code != "0");
        Ending::Answered { text, failed }
    }
}

/// Writes a reply as the agent reads it that sent the event. No answer ends a turn. A stop is written as a refusal
/// before a call, and as a note after it.
pub(crate) fn encode(reply: &Reply, event: &Event<'_>) -> Encoded {
    if let EventKind::Before(call) | EventKind::After(call, _) = &event.kind
        && call.id.is_some()
    {
        return dialect::encode::<VsCode>(reply, event);
    }
    let context = |text: &str| json!({ "additionalContext": text }).to_string();
    Encoded::Whole(match (reply, &event.kind) {
        (Reply::Nothing, _) => String::new(),
        (Reply::Tell(text), EventKind::Before(_) | EventKind::After(..)) => context(text),
        (Reply::Refuse(words) | Reply::Stop(words), EventKind::Before(_)) => json!({
            "permissionDecision": "deny", "permissionDecisionReason": words.model
        })
        .to_string(),
        (Reply::Stop(words), EventKind::After(..)) => context(&words.model),
        _ => return Encoded::Partial(String::new()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_with_an_id_is_answered_as_vs_code_reads_it() {
        for name in ["PreToolUse", "PostToolUse"] {
            let payload = format!(
                r#"{{"session_id":"s","hook_event_name":"{name}","tool_name":"x","tool_use_id":"c1"}}"#
            );
            let event = decode(payload.as_bytes()).expect("an event");
            let note = json!({ "hookEventName": name, "additionalContext": "no" });
            let answer = json!({ "hookSpecificOutput": note }).to_string();
            assert_eq!(encode(&Reply::Tell("no".to_owned()), &event), Encoded::Whole(answer));
        }
    }
}
