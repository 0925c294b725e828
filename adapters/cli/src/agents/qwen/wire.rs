//! The wire of Qwen Code's hooks.
//!
//! `PostToolUse` has the result of a call, and `PostToolUseFailure` the error of a failed one.
//! `PostToolBatch` lists the calls that have ended, and with them the calls that were rejected before they
//! ran, which have no other event. Before the results go to the model, `UserPromptSubmit` comes again, with
//! an empty prompt. Only the answer to that event ends the turn.

use std::borrow::Cow;

use serde::Deserialize;
use unstuck_trace::ToolResult;

use crate::agents::dialect::Dialect;
use crate::agents::event::{BadPayload, Ending, Event, EventKind, Raw, members, text};
use crate::agents::payload::HookPayload;

/// The type of error of a call that the user or a hook refused.
const DENIED: &str = "execution_denied";

/// Qwen Code's dialect.
pub(crate) struct Qwen;

impl Dialect for Qwen {
    const NOTED: &'static [&'static str] =
        &["PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit"];
    // The answer to the event before the next request ends the turn.
    const ENDS: Option<fn(&Event<'_>) -> bool> = Some(|event| {
        event.name == "UserPromptSubmit" && matches!(event.kind, EventKind::CallsEnded(_))
    });

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        result(payload.tool_response)
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

/// The result of a call.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Response<'a> {
    #[serde(rename = "llmContent")]
    content: Raw<'a>,
    error: Raw<'a>,
    error_type: Raw<'a>,
    #[serde(rename = "response_parts")]
    parts: Raw<'a>,
}

fn result(raw: Raw<'_>) -> Ending<'_> {
    let content = members::<Response<'_>>(raw).and_then(|response| response.content);
    let Some(answer) = content.or(raw) else { return Ending::Untold };
    Ending::Answered { text: ToolResult::gemini(answer).text, failed: false }
}

/// Reads the end of a call in a batch.
fn entry_ending(raw: Raw<'_>) -> Ending<'_> {
    let Some(HookPayload { status, tool_response, .. }) = members(raw) else {
        return Ending::Cancelled;
    };
    let response = members::<Response<'_>>(tool_response);
    let kind = response.as_ref().and_then(|response| text(response.error_type));
    let shape = response.and_then(|response| response.error.or(response.parts));
    match text(status).as_deref() {
        Some("cancelled") => Ending::Cancelled,
        Some("error") if kind.as_deref() == Some(DENIED) => Ending::Refused,
        status => Ending::Answered {
            text: shown(shape.or(tool_response)),
            failed: status == Some("error"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::dialect::decode;
    use crate::agents::event::Call;

    fn event(name: &str, rest: &str) -> Event<'static> {
        let payload =
            format!(r#"{{"session_id":"s","prompt_id":"p","hook_event_name":"{name}",{rest}}}"#);
        decode::<Qwen>(payload.leak().as_bytes()).expect("an event")
    }

    fn failed(text: &'static str) -> Ending<'static> {
        Ending::Answered { text: text.into(), failed: true }
    }

    fn works(text: &'static str) -> Ending<'static> {
        Ending::Answered { text: text.into(), failed: false }
    }

    #[test]
    fn every_known_shape_of_a_result_has_its_ending() {
        for (name, rest, ending) in [
            (
                "PostToolUse",
                r#""tool_response":{"llmContent":"a","returnDisplay":"b"}"#,
                works("a"),
            ),
            ("PostToolUse", r#""tool_response":{"llmContent":[{"text":"a"}]}"#, works("a")),
            ("PostToolUse", r#""tool_response":"a""#, works("a")),
            ("PostToolUseFailure", r#""error":"no","is_interrupt":false"#, failed("no")),
            ("PostToolUseFailure", r#""error":"no","is_interrupt":true"#, Ending::Cancelled),
        ] {
            let rest = format!(r#""tool_name":"x",{rest}"#);
            let EventKind::After(_, ended) = event(name, &rest).kind else {
                panic!("the end of a call")
            };
            assert_eq!(ended, ending, "{rest}");
        }
    }

    #[test]
    fn a_batch_lists_the_calls_that_were_rejected() {
        for (entry, ending) in [
            (
                r#""status":"error","tool_response":{"error":"no","error_type":"invalid_tool_params"}"#,
                failed("no"),
            ),
            (
                r#""status":"error","tool_response":{"error":"no","error_type":"execution_denied"}"#,
                Ending::Refused,
            ),
            (r#""status":"cancelled","tool_response":{}"#, Ending::Cancelled),
            (
                r#""status":"success","tool_response":{"response_parts":[{"functionResponse":{"response":{"output":"a"}}}]}"#,
                works("a"),
            ),
        ] {
            let rest = format!(
                r#""tool_calls":[7,{{"tool_use_id":"b"}},{{"tool_name":"x","tool_use_id":"c",{entry}}}]"#
            );
            let EventKind::CallsEnded(calls) = event("PostToolBatch", &rest).kind else {
                panic!("the end of a step")
            };
            let call = Call { id: Some("c".into()), tool: "x".into(), args: "null".into() };
            let [listed] = &calls[..] else { panic!("one call: {calls:?}") };
            assert_eq!((&listed.call, listed.ending()), (&call, ending), "{entry}");
        }
    }

    #[test]
    fn the_id_of_a_call_is_the_id_that_the_model_gave_it() {
        for (ids, expected) in [
            (r#""tool_use_id":"toolu_1","tool_call_id":"call_1""#, "call_1"),
            (r#""tool_use_id":"toolu_1""#, "toolu_1"),
        ] {
            let rest =
                format!(r#""tool_name":"run_shell_command","tool_input":{{"command":"ls"}},{ids}"#);
            let EventKind::Before(call) = event("PreToolUse", &rest).kind else { panic!("a call") };
            assert_eq!(
                (call.id.as_deref(), call.args.as_ref()),
                (Some(expected), r#"{"command":"ls"}"#)
            );
        }
    }

    #[test]
    fn an_empty_prompt_is_no_message_of_the_user() {
        for (name, rest, expected) in [
            ("UserPromptSubmit", r#""prompt":"""#, EventKind::CallsEnded(Vec::new())),
            ("UserPromptSubmit", r#""prompt":"go""#, EventKind::Prompt("go".into())),
            ("SessionStart", r#""source":"startup""#, EventKind::Began),
            ("SessionStart", r#""source":"compact""#, EventKind::Compacted),
            ("SessionEnd", r#""reason":"other""#, EventKind::Ended),
            ("SubagentStop", r#""last_assistant_message":"x""#, EventKind::Other),
            ("Stop", r#""last_assistant_message":"x""#, EventKind::HandedBack("x".into())),
            ("Notification", r#""message":"x""#, EventKind::Other),
        ] {
            assert_eq!(event(name, rest).kind, expected, "{name}");
        }
    }
}
