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
use serde_json::value::RawValue;
use serde_json::{Value, json};
use unstuck_trace::ToolResult;

use crate::agents::dialect::{self, Dialect};
use crate::agents::event::{BadPayload, Call, Ending, Event, EventKind, Raw, members, text};
use crate::agents::payload::HookPayload;
use crate::agents::reply::{Encoded, Reply, Words};

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

/// GitHub Copilot CLI's dialect, and in payloads VS Code's.
pub(crate) struct Copilot;

impl Dialect for Copilot {
    const NOTED: &'static [&'static str] = &["PreToolUse", "PostToolUse", "PostToolUseFailure"];

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        payload.tool_response.map_or_else(|| result(payload.tool_result), result_in_vs_code)
    }

    fn call<'a>(payload: &HookPayload<'a>) -> Result<Call<'a>, BadPayload> {
        let call = payload.call()?;
        let known = TOOLS.iter().find(|(name, _)| *name == call.tool);
        let tool = known.map_or(call.tool, |&(_, name)| Cow::Borrowed(name));
        Ok(Call { tool, ..call })
    }

    fn kind<'a>(payload: &HookPayload<'a>, name: &str) -> Result<EventKind<'a>, BadPayload> {
        Ok(match name {
            // No event tells of its end.
            "PreCompact" => EventKind::Compacted,
            // They have no text.
            "Stop" | "SubagentStop" => EventKind::Other,
            name => payload.kind(name),
        })
    }

    fn adapted<'a>(payload: &HookPayload<'a>, event: Event<'a>) -> Event<'a> {
        let parent = text(payload.parent_agent_id).filter(|_| event.subagent.is_some());
        Event { session: parent.unwrap_or(event.session), turn: None, ..event }
    }

    fn note(_: &Event<'_>, text: &str) -> Value {
        json!({ "additionalContext": text })
    }

    fn refusal(words: &Words) -> Value {
        json!({ "permissionDecision": "deny", "permissionDecisionReason": words.model })
    }
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

/// VS Code's local agent, as it reads answers.
struct VsCode;

impl Dialect for VsCode {
    const NOTED: &'static [&'static str] = &["PreToolUse", "PostToolUse"];
}

/// Returns the end of a call in VS Code: the last line of a failed command tells its exit code.
fn result_in_vs_code(raw: &RawValue) -> Ending<'_> {
    let text = ToolResult::plain(raw).text;
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    let failed = last.strip_prefix(EXITED).is_some_and(|code| code != "0");
    Ending::Answered { text, failed }
}

/// Writes a reply as the agent reads it that sent the event.
pub(crate) fn encode(reply: &Reply, event: &Event<'_>) -> Encoded {
    match &event.kind {
        EventKind::Before(call) | EventKind::After(call, _) if call.id.is_some() => {
            dialect::encode::<VsCode>(reply, event)
        }
        _ => dialect::encode::<Copilot>(reply, event),
    }
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
            let event = dialect::decode::<Copilot>(payload.as_bytes()).expect("an event");
            let note = json!({ "hookEventName": name, "additionalContext": "no" });
            let answer = json!({ "hookSpecificOutput": note }).to_string();
            assert_eq!(encode(&Reply::Tell("no".to_owned()), &event), Encoded::Whole(answer));
        }
    }
}
