//! GitHub Copilot CLI: hooks in a file of their own, as lines for `bash`. VS Code's local agent runs
//! them, too.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use unstuck_trace::{Format, ToolResult};

use super::dialect::{self, Dialect, HookPayload};
use super::event::{BadPayload, Ending, Event, EventKind, Raw, fields, text};
use super::hooks::{HookEvent, Hooks, Shape};
use super::host::{Diagnosis, Home, Host, Installation, Transcripts};
use super::reply::{Encoded, Reply, Words};
use super::settings::switch;

pub(super) const HOST: Host = Host {
    home: Home::Folder("COPILOT_HOME"),
    folder: ".copilot",
    file: "hooks/unstuck.json",
    hooks: Hooks {
        shape: Shape::Flat,
        // Under these names the payloads name their event. Under Copilot's own names, such as
        // `preToolUse`, they do not.
        ..Hooks::at(&[
            HookEvent::plain("PreToolUse"),
            HookEvent::plain("PostToolUse"),
            HookEvent::plain("PostToolUseFailure"),
            HookEvent::plain("UserPromptSubmit"),
            HookEvent::plain("SessionStart"),
            HookEvent::plain("PreCompact"),
            HookEvent::plain("SessionEnd"),
        ])
    },
    advice: "Sessions that begin from now on are watched. No hook can end a turn of GitHub Copilot CLI: a \
             loop stays refused until you speak.",
    sample: concat!(
        r#"{"hook_event_name":"PreToolUse","session_id":"unstuck-doctor","timestamp":"2026-01-01T00:00:00Z","#,
        r#""cwd":"/","tool_name":"Bash","tool_input":{"command":"true"}}"#,
    ),
    project_folder: Some(".github"),
    transcripts: Some(Transcripts::jsonl(Format::COPILOT, "session-state")),
    diagnose,
    ..Host::new("copilot", "GitHub Copilot CLI", dialect::decode::<Copilot>, encode)
};

/// Returns the reasons in GitHub Copilot CLI's settings why it does not run an installed hook.
fn diagnose(found: &Installation<'_>) -> Diagnosis {
    let mut obstacles = Vec::new();
    if let Err(error) = serde_json::from_str::<Value>(found.text) {
        obstacles.push(format!(
            "GitHub Copilot CLI skips this file, because it is not plain JSON: {error}"
        ));
    }
    if switch(found.text, "/disableAllHooks") == Some(true) {
        obstacles
            .push("disableAllHooks is true, so no hook of this file runs: remove it".to_owned());
    }
    Diagnosis { obstacles, advice: found.trust(), trusted: None }
}

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

/// The dialect of GitHub Copilot CLI. Payloads of VS Code are read by it, too.
///
/// Calls have no ids: a result belongs to the earliest open call with the same tool and arguments. A command that fails
/// has a successful result, whose last line tells the exit code. A call that the user or a hook refuses has no event but
/// `PreToolUse`. No answer ends a turn.
///
/// VS Code's local agent runs the same hooks. Its calls have ids, and their payloads and answers have Claude Code's shape.
struct Copilot;

impl Dialect for Copilot {
    const NOTED: &'static [&'static str] = &["PreToolUse", "PostToolUse", "PostToolUseFailure"];

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        payload.tool_response.map_or_else(|| result(payload.tool_result), result_in_vs_code)
    }

    fn tool<'a>(payload: &HookPayload<'a>) -> Result<Cow<'a, str>, BadPayload> {
        let tool = payload.tool()?;
        let known = TOOLS.iter().find(|(name, _)| *name == tool);
        Ok(known.map_or(tool, |&(_, name)| Cow::Borrowed(name)))
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

fn result(raw: Raw<'_>) -> Ending<'_> {
    let members = fields(raw, ["result_type", "text_result_for_llm"]);
    let [kind, shown] = members.unwrap_or([None, raw]);
    let kind = text(kind);
    if matches!(kind.as_deref(), Some("denied" | "rejected")) {
        return Ending::Refused;
    }
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

/// Writes a reply in the form that the sender of the event reads: VS Code's agent, whose calls have ids, or Copilot CLI.
fn encode(reply: &Reply, event: &Event<'_>) -> Encoded {
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
