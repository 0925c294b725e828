//! The wire of CodeBuddy Code's hooks.
//!
//! The result of a command that fails has its output as the error. That of a command that works has no output at
//! all, so that nothing proves that it did the same as another.

use serde::Deserialize;
use unstuck_trace::ToolResult;

use crate::agents::dialect::Dialect;
use crate::agents::event::{Ending, Raw, json, members, text};
use crate::agents::payload::HookPayload;

/// CodeBuddy Code's dialect.
pub(crate) struct CodeBuddy;

impl Dialect for CodeBuddy {
    const NOTED: &'static [&'static str] = &["PostToolUse", "PostToolUseFailure"];

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        result(payload.tool_response)
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Response<'a> {
    #[serde(rename = "exitCode")]
    exit: Raw<'a>,
    interrupted: Raw<'a>,
    is_error: Raw<'a>,
    error: Raw<'a>,
}

fn result(raw: Raw<'_>) -> Ending<'_> {
    let Some(shape) = raw else { return Ending::Untold };
    let plain = |failed| Ending::Answered { text: ToolResult::plain(shape).text, failed };
    match members::<Response<'_>>(raw) {
        Some(response) if json(response.interrupted) == "true" => Ending::Cancelled,
        Some(response) if json(response.is_error) == "true" => match text(response.error) {
            Some(text) => Ending::Answered { text, failed: true },
            None => plain(true),
        },
        Some(response) if response.exit.is_some() => Ending::Untold,
        _ => plain(false),
    }
}
