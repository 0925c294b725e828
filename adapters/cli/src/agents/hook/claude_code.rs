//! The wire of Claude Code's hooks.
//!
//! A call that came back tells its result in `PostToolUse`, one that failed its error in
//! `PostToolUseFailure`. A failed read or edit may tell neither: then the next call settles it.
//! `PostToolBatch` comes when all calls of one answer of the model are through.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use unstuck_trace::ToolResult;

use super::event::{
    BadPayload, Call, Ending, Event, Object, Raw, What, json, members, needed, text, without,
};
use super::reply::{Reply, Written};

/// What the model words anew for each call of a tool, or measures out: no part of what is done.
const REWORDED: [(&str, &[&str]); 1] = [("Bash", &["description", "timeout"])];

/// What results hold that differs each time.
const VOLATILE: [&str; 6] =
    ["durationMs", "durationSeconds", "totalDurationMs", "totalTokens", "usage", "agentId"];

/// How an error begins that is no fault of the call: another one of its batch failed, or the user
/// broke off.
const COLLATERAL: [&str; 3] =
    ["Cancelled: parallel tool call", "Sibling tool call errored", "[Request interrupted by user"];

/// How an error begins where the user refused the call.
const REFUSAL: &str = "The user doesn't want to ";

/// What some errors are wrapped in.
const WRAPPER: &str = "<tool_use_error>";

/// The events in whose answers the model can be told something. When it hands back it could be, too,
/// but that would keep it going.
const CONTEXT: [&str; 5] =
    ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit"];

/// A payload, and what is read of a result.
#[derive(Deserialize)]
struct Payload<'a, R = &'a RawValue> {
    session_id: Option<Cow<'a, str>>,
    hook_event_name: Option<Cow<'a, str>>,
    agent_id: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    prompt_id: Option<Cow<'a, str>>,
    tool_name: Option<Cow<'a, str>>,
    tool_use_id: Option<Cow<'a, str>>,
    source: Option<Cow<'a, str>>,
    #[serde(default)]
    is_interrupt: Option<bool>,
    #[serde(borrow)]
    tool_input: Raw<'a>,
    tool_response: Option<R>,
    #[serde(borrow)]
    error: Raw<'a>,
    #[serde(borrow)]
    prompt: Raw<'a>,
    #[serde(borrow)]
    last_assistant_message: Raw<'a>,
}

/// The event that `payload` tells of.
pub(super) fn decode(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    if let Some(event) = of_object(payload) {
        return Ok(event);
    }
    let payload: Payload<'_> = serde_json::from_slice(payload)?;
    let ending = result(payload.tool_response);
    event(payload, ending)
}

/// The event of a call whose result is an object with a text, as that of a command: a megabyte of it need
/// not be read once more to be found.
fn of_object(payload: &[u8]) -> Option<Event<'_>> {
    memmem::find(payload, br#""tool_response":{"#)?;
    let mut payload: Payload<'_, Object<Response<'_>>> = serde_json::from_slice(payload).ok()?;
    let Object(response) = payload.tool_response.take()?;
    let ending = response.ending()?;
    event(payload, ending).ok()
}

/// The event of a payload in which a call came to this end, if one did.
fn event<'a, R>(payload: Payload<'a, R>, ending: Ending<'a>) -> Result<Event<'a>, BadPayload> {
    let name = needed(payload.hook_event_name.clone(), "hook_event_name")?;
    let what = match name.as_ref() {
        "PreToolUse" => What::Before(payload.call()?),
        "PostToolUse" => What::After(payload.call()?, ending),
        "PostToolUseFailure" => What::After(payload.call()?, payload.failure()),
        "PermissionDenied" => What::After(payload.call()?, Ending::Refused),
        "PostToolBatch" => What::StepEnded,
        "UserPromptSubmit" => What::Prompt(text(payload.prompt).unwrap_or_default()),
        // Of a subagent that is not named nobody knows the calls.
        "SubagentStop" if payload.agent_id.is_none() => What::Nothing,
        "Stop" | "SubagentStop" => {
            What::HandedBack(text(payload.last_assistant_message).unwrap_or_default())
        }
        // What is compacted is the model's memory; the calls were made all the same.
        "SessionStart" if payload.source.as_deref() == Some("compact") => What::Compacted,
        "SessionStart" => What::Began,
        "SessionEnd" => What::Ended,
        _ => What::Nothing,
    };
    Ok(Event {
        name,
        session: needed(payload.session_id, "session_id")?,
        subagent: payload.agent_id.filter(|id| !id.is_empty()),
        cwd: payload.cwd,
        turn: payload.prompt_id,
        what,
    })
}

impl<'a, R> Payload<'a, R> {
    fn call(&self) -> Result<Call<'a>, BadPayload> {
        let tool = needed(self.tool_name.clone(), "tool_name")?;
        let reworded = REWORDED.iter().find(|(name, _)| *name == tool);
        let args = without(self.tool_input, reworded.map_or(&[], |(_, members)| members));
        Ok(Call { id: self.tool_use_id.clone().filter(|id| !id.is_empty()), tool, args })
    }

    fn failure(&self) -> Ending<'a> {
        let text = text(self.error).unwrap_or_else(|| Cow::Borrowed(json(self.error)));
        let bare = text.trim_start().strip_prefix(WRAPPER).unwrap_or(&text);
        let is_collateral = COLLATERAL.iter().any(|begin| bare.starts_with(begin));
        if self.is_interrupt == Some(true) || is_collateral {
            Ending::Cancelled
        } else if bare.starts_with(REFUSAL) {
            Ending::Refused
        } else {
            Ending::Answered { text, failed: true }
        }
    }
}

/// The parts of results that hold what the model reads.
#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    stdout: Raw<'a>,
    #[serde(borrow)]
    stderr: Raw<'a>,
    #[serde(borrow)]
    interrupted: Raw<'a>,
    #[serde(borrow)]
    file: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow, rename = "isError")]
    is_error: Raw<'a>,
}

fn result(raw: Raw<'_>) -> Ending<'_> {
    let answered = |text| Ending::Answered { text, failed: false };
    let Some(response) = members::<Response<'_>>(raw) else {
        return answered(raw.map_or(Cow::Borrowed(""), |raw| ToolResult::plain(raw).text));
    };
    let failed = json(response.is_error) == "true";
    response.ending().unwrap_or_else(|| Ending::Answered { text: without(raw, &VOLATILE), failed })
}

impl<'a> Response<'a> {
    /// How the call ended, if that is among the parts that are known.
    fn ending(&self) -> Option<Ending<'a>> {
        if json(self.interrupted) == "true" {
            return Some(Ending::Cancelled);
        }
        if let Some(out) = text(self.stdout) {
            let text = joined(out, text(self.stderr).unwrap_or_default());
            return Some(Ending::Answered { text, failed: false });
        }
        let file = members::<Response<'_>>(self.file).and_then(|file| text(file.content));
        let text = file.or_else(|| self.content.map(|content| ToolResult::plain(content).text))?;
        Some(Ending::Answered { text, failed: json(self.is_error) == "true" })
    }
}

/// What a command wrote to its two streams.
fn joined<'a>(out: Cow<'a, str>, err: Cow<'a, str>) -> Cow<'a, str> {
    match (out.is_empty(), err.is_empty()) {
        (_, true) => out,
        (true, false) => err,
        (false, false) => Cow::Owned(format!("{out}\n{err}")),
    }
}

/// What Claude Code reads.
pub(super) fn encode(reply: &Reply, event: &Event<'_>) -> Written {
    let name = &event.name;
    let takes_context = CONTEXT.contains(&name.as_ref());
    Written::Whole(match reply {
        Reply::Nothing => String::new(),
        Reply::Tell(_) if !takes_context => return Written::InPart(String::new()),
        Reply::Tell(text) => json!({
            "hookSpecificOutput": { "hookEventName": name, "additionalContext": text }
        })
        .to_string(),
        Reply::Refuse(reason) => json!({ "hookSpecificOutput": denial(reason) }).to_string(),
        Reply::Stop(reason) if matches!(event.what, What::Before(_)) => json!({
            "continue": false, "stopReason": reason, "hookSpecificOutput": denial(reason)
        })
        .to_string(),
        Reply::Stop(reason) => json!({ "continue": false, "stopReason": reason }).to_string(),
    })
}

fn denial(reason: &str) -> serde_json::Value {
    json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(event: &str, rest: &str) -> String {
        let payload = format!(
            r#"{{"session_id":"s","hook_event_name":"{event}","tool_name":"Bash",{rest}}}"#
        );
        match decode(payload.as_bytes()).expect("an event").what {
            What::After(_, Ending::Answered { text, failed: false }) => format!("ok {text}"),
            What::After(_, Ending::Answered { text, failed: true }) => format!("failed {text}"),
            what => format!("{what:?}").rsplit(", ").next().unwrap_or_default().to_owned(),
        }
    }

    #[test]
    fn every_known_shape_of_a_result_has_its_text() {
        for (response, expected) in [
            (r#""text""#, "ok text"),
            (r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#, "ok a\nb"),
            (r#"{"stdout":"a","stderr":"","interrupted":false}"#, "ok a"),
            (r#"{"stdout":"a","stderr":"b"}"#, "ok a\nb"),
            (r#"{"stdout":"","stderr":"b"}"#, "ok b"),
            (r#"{"stdout":"a","stderr":"","interrupted":true}"#, "Cancelled)"),
            (r#"{"type":"text","file":{"filePath":"a","content":"fn"}}"#, "ok fn"),
            (r#"{"content":[{"type":"text","text":"a"}],"isError":true}"#, "failed a"),
            (r#"{"content":[{"type":"text","text":"a"}],"totalTokens":7}"#, "ok a"),
            (
                r#"{"numFiles":1,"durationMs":7,"filenames":["a"]}"#,
                r#"ok {"filenames":["a"],"numFiles":1}"#,
            ),
            (r#"{"success":true}"#, r#"ok {"success":true}"#),
            ("null", "ok "),
        ] {
            let rest = format!(r#""tool_response":{response}"#);
            assert_eq!(ending("PostToolUse", &rest), expected, "{response}");
        }
    }

    #[test]
    fn a_list_is_read_as_a_list_whatever_stands_beside_it() {
        let list = r#"["a","b",null,null,null,null]"#;
        let rest = format!(r#""tool_input":{{"tool_response":{{}}}},"tool_response":{list}"#);
        let alone = format!(r#""tool_response":{list}"#);
        assert_eq!(ending("PostToolUse", &rest), ending("PostToolUse", &alone));
        assert_ne!(ending("PostToolUse", &rest), "ok a\nb");
    }

    #[test]
    fn pitfall_07_a_call_that_was_broken_off_did_not_fail() {
        for (error, expected) in [
            (r#""error":"Exit code 1\nno such file""#, "failed Exit code 1\nno such file"),
            (r#""error":"x","is_interrupt":false"#, "failed x"),
            (r#""error":"x","is_interrupt":true"#, "Cancelled)"),
            (
                r#""error":"<tool_use_error>Sibling tool call errored</tool_use_error>""#,
                "Cancelled)",
            ),
            (r#""error":"Cancelled: parallel tool call Bash errored""#, "Cancelled)"),
            (r#""error":"The user doesn't want to proceed with this tool use.""#, "Refused)"),
            (r#""error":{"code":1}"#, r#"failed {"code":1}"#),
        ] {
            assert_eq!(ending("PostToolUseFailure", error), expected, "{error}");
        }
    }

    #[test]
    fn pitfall_16_what_is_worded_anew_is_no_part_of_a_call() {
        let args = |tool: &str, input: &str| {
            let payload = format!(
                r#"{{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input}}}"#
            );
            match decode(payload.as_bytes()).expect("an event").what {
                What::Before(call) => call.args.into_owned(),
                what => format!("{what:?}"),
            }
        };
        let input = r#"{"command":"make","description":"Build it","timeout":1000}"#;
        assert_eq!(args("Bash", input), r#"{"command":"make"}"#);
        assert_eq!(args("Task", input), input);
    }

    #[test]
    fn only_what_tells_of_loops_is_looked_at() {
        for (event, rest, expected) in [
            ("SessionStart", r#""source":"startup""#, What::Began),
            ("SessionStart", r#""source":"clear""#, What::Began),
            ("SessionStart", r#""source":"compact""#, What::Compacted),
            ("SessionEnd", r#""reason":"other""#, What::Ended),
            ("PreCompact", r#""trigger":"auto""#, What::Nothing),
            ("SubagentStart", r#""agent_id":"a1""#, What::Nothing),
            ("PostToolBatch", r#""tool_calls":[]"#, What::StepEnded),
            ("Notification", r#""message":"x""#, What::Nothing),
            (
                "UserPromptSubmit",
                r#""prompt":"go \ud800""#,
                What::Prompt("go \u{fffd}\u{fffd}\u{fffd}".into()),
            ),
            ("Stop", r#""stop_hook_active":true"#, What::HandedBack("".into())),
        ] {
            let payload = format!(r#"{{"session_id":"s","hook_event_name":"{event}",{rest}}}"#);
            assert_eq!(decode(payload.as_bytes()).expect("an event").what, expected);
        }
    }

    #[test]
    fn a_payload_without_what_it_needs_is_none() {
        for payload in [
            "",
            "{",
            "[]",
            "{}",
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash"}"#,
            r#"{"session_id":"s","hook_event_name":"PreToolUse"}"#,
            r#"{"session_id":7,"hook_event_name":"Stop"}"#,
        ] {
            assert!(decode(payload.as_bytes()).is_err(), "{payload}");
        }
    }
}
