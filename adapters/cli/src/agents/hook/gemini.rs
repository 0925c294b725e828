//! The wire of Gemini CLI's hooks.
//!
//! Calls have no ids: a result is that of the earliest open call with the same tool and arguments.
//! Before a call the model cannot be told anything, so that a warning comes with the result.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use unstuck_trace::ToolResult;

use super::event::{BadPayload, Call, Ending, Event, Raw, What, members, needed, text, without};
use super::reply::{Reply, Written};

/// What the model words anew for each call of a tool: no part of what is done.
const REWORDED: [(&str, &[&str]); 1] = [("run_shell_command", &["description"])];

/// How the result of a command begins that the user broke off.
const CANCELLED: &str = "Command was cancelled by user";

#[derive(Deserialize)]
struct Payload<'a> {
    session_id: Option<Cow<'a, str>>,
    hook_event_name: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    tool_name: Option<Cow<'a, str>>,
    source: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_input: Raw<'a>,
    #[serde(borrow)]
    tool_response: Raw<'a>,
    #[serde(borrow)]
    prompt: Raw<'a>,
    #[serde(borrow)]
    prompt_response: Raw<'a>,
}

/// The event that `payload` tells of.
pub(super) fn decode(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    let payload: Payload<'_> = serde_json::from_slice(payload)?;
    let name = needed(payload.hook_event_name.clone(), "hook_event_name")?;
    let what = match name.as_ref() {
        "BeforeTool" => What::Before(payload.call()?),
        "AfterTool" => What::After(payload.call()?, result(payload.tool_response)),
        "BeforeAgent" => What::Prompt(text(payload.prompt).unwrap_or_default()),
        "AfterAgent" => What::HandedBack(text(payload.prompt_response).unwrap_or_default()),
        "SessionStart" if payload.source.as_deref() == Some("compress") => What::Compacted,
        "SessionStart" => What::Began,
        "SessionEnd" => What::Ended,
        _ => What::Nothing,
    };
    Ok(Event {
        name,
        session: needed(payload.session_id, "session_id")?,
        subagent: None,
        cwd: payload.cwd,
        turn: None,
        what,
    })
}

impl<'a> Payload<'a> {
    fn call(&self) -> Result<Call<'a>, BadPayload> {
        let tool = needed(self.tool_name.clone(), "tool_name")?;
        let reworded = REWORDED.iter().find(|(name, _)| *name == tool);
        let args = without(self.tool_input, reworded.map_or(&[], |(_, members)| members));
        Ok(Call { id: None, tool, args })
    }
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow, rename = "llmContent")]
    content: Raw<'a>,
    #[serde(borrow)]
    error: Raw<'a>,
}

fn result(raw: Raw<'_>) -> Ending<'_> {
    let response = members::<Response<'_>>(raw);
    let failed = response.as_ref().is_some_and(|response| response.error.is_some());
    let told = response.and_then(|response| response.content.or(response.error));
    let text = told.or(raw).map_or(Cow::Borrowed(""), |told| ToolResult::gemini(told).text);
    if text.starts_with(CANCELLED) {
        return Ending::Cancelled;
    }
    Ending::Answered { text, failed }
}

/// What Gemini CLI reads.
pub(super) fn encode(reply: &Reply, event: &Event<'_>) -> Written {
    Written::Whole(match (reply, &event.what) {
        (Reply::Nothing, _) => String::new(),
        (Reply::Tell(text), What::After(..)) => json!({
            "hookSpecificOutput": { "hookEventName": event.name, "additionalContext": text }
        })
        .to_string(),
        (Reply::Refuse(reason), What::Before(_)) => {
            json!({ "decision": "deny", "reason": reason }).to_string()
        }
        (Reply::Stop(reason), What::Before(_) | What::After(..) | What::HandedBack(_)) => {
            json!({ "continue": false, "stopReason": reason }).to_string()
        }
        _ => return Written::InPart(String::new()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_what_the_model_reads_of_it() {
        let table = [
            (r#"{"llmContent":"a","returnDisplay":"b"}"#, "a", false),
            (r#"{"llmContent":"Output: a\nProcess Group PGID: 12"}"#, "Output: a", false),
            (r#"{"llmContent":[{"text":"a"},{"text":"b"}]}"#, "a\nb", false),
            (r#"{"llmContent":"no","error":{"message":"no","type":"x"}}"#, "no", true),
            (r#"{"error":"no"}"#, "no", true),
            (r#"{"llmContent":"a","error":null}"#, "a", false),
            (r#""a""#, "a", false),
        ];
        for (response, text, failed) in table {
            let ending = result(Some(serde_json::from_str(response).expect("JSON")));
            assert_eq!(ending, Ending::Answered { text: text.into(), failed }, "{response}");
        }
        let cancelled = r#"{"llmContent":"Command was cancelled by user before it was done."}"#;
        assert_eq!(result(serde_json::from_str(cancelled).ok()), Ending::Cancelled);
    }
}
