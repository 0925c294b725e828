//! What a Codex tool gave back: its text without what changes each time, and whether it failed.
//!
//! Codex puts a header before the output of a command: `Chunk ID: …`, `Wall time: …`, `Process exited
//! with code …`, `Original token count: …`, and last `Output:`. The chunk's id is random and the time is
//! measured, so the results of two equal calls would never be equal: exactly those two lines are
//! left out, in the header only. The rest, the exit code included, stays as it is. Older results
//! are a JSON text `{"output":…,"metadata":{"exit_code":…,"duration_seconds":…}}`; of these the text is
//! `output`.

use std::borrow::Cow;

use serde::Deserialize;

use crate::field::{Raw, flat_text, integer, is_object, is_true, nested, object, string};

/// How a text begins that Codex gives back in place of a result, when the call could not be run.
const FAILURES: [&str; 8] = [
    "unsupported call: ",
    "unsupported custom tool call: ",
    "failed to parse function arguments: ",
    "apply_patch verification failed",
    "exec_command failed",
    "write_stdin failed",
    "execution error: ",
    "failed in sandbox",
];

/// How the lines begin that change with every call.
const VOLATILE: [&str; 3] = ["Chunk ID: ", "Wall time: ", "Wall time "];

/// How the other lines of a header begin.
const STEADY: [&str; 8] = [
    EXITED,
    EXIT_CODE,
    "Process running with session ID ",
    "Original token count: ",
    "Total output lines: ",
    "Script completed",
    "Script running",
    SCRIPT_FAILED,
];

const EXITED: &str = "Process exited with code ";
const EXIT_CODE: &str = "Exit code: ";
const SCRIPT_FAILED: &str = "Script failed";
const HEADER_END: &str = "Output:";

/// The result of a call.
pub(crate) struct Output<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Whether the call failed, if the result tells.
    pub(crate) failed: Option<bool>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    output: Raw<'a>,
    #[serde(borrow)]
    metadata: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    success: Raw<'a>,
    #[serde(borrow)]
    text: Raw<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    exit_code: Raw<'a>,
}

impl<'a> Output<'a> {
    pub(crate) fn new(raw: Raw<'a>) -> Self {
        if is_object(raw) {
            return Self::from_object(raw);
        }
        let text = flat_text(raw);
        if text.starts_with('{')
            && let Some(output) = Self::from_envelope(&text)
        {
            return output;
        }
        let header = Header::of(&text);
        let failed = header.failed.or_else(|| is_failure(&text).then_some(true));
        match header.stripped {
            Some(stripped) => Self { text: Cow::Owned(stripped), failed },
            None => Self { text, failed },
        }
    }

    fn from_object(raw: Raw<'a>) -> Self {
        let fields = nested::<Envelope<'a>>(raw);
        let text = fields.as_ref().and_then(|fields| fields.content.or(fields.text));
        let success = fields.as_ref().and_then(|fields| flag(fields.success));
        Self { text: flat_text(text.or(raw)), failed: success.map(|success| !success) }
    }

    /// The result in a JSON text with an exit code beside it.
    fn from_envelope(text: &str) -> Option<Self> {
        let fields = object::<Envelope<'_>>(text).ok()?;
        let output = string(fields.output)?;
        let metadata = nested::<Metadata<'_>>(fields.metadata)?;
        let code = integer(metadata.exit_code);
        Some(Self { text: Cow::Owned(output.into_owned()), failed: code.map(|code| code != 0) })
    }
}

/// What the lines before `Output:` say.
struct Header {
    failed: Option<bool>,
    /// The whole text without the lines that change; none if it has no header.
    stripped: Option<String>,
}

impl Header {
    /// A header may stand in another one's output, where a patch ran as a command.
    fn of(text: &str) -> Self {
        let mut failed = None;
        let mut stripped = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
            let (line, behind) = rest.split_at(end);
            let bare = line.trim_end();
            let ends = bare == HEADER_END;
            let is_volatile = VOLATILE.iter().any(|begin| bare.starts_with(begin));
            if !ends && !is_volatile && !STEADY.iter().any(|begin| bare.starts_with(begin)) {
                return Self { failed: None, stripped: None };
            }
            if let Some(line_failed) = fails(bare) {
                failed = Some(failed == Some(true) || line_failed);
            }
            if !is_volatile {
                stripped.push_str(line);
            }
            rest = behind;
            if ends && !rest.starts_with(EXIT_CODE) {
                break;
            }
        }
        stripped.push_str(rest);
        Self { failed, stripped: Some(stripped) }
    }
}

/// Whether a header's line tells a failure, if it tells how the call ended.
fn fails(line: &str) -> Option<bool> {
    if line.starts_with(SCRIPT_FAILED) {
        return Some(true);
    }
    let code = line.strip_prefix(EXITED).or_else(|| line.strip_prefix(EXIT_CODE))?;
    code.trim().parse::<i64>().ok().map(|code| code != 0)
}

fn is_failure(text: &str) -> bool {
    FAILURES.iter().any(|begin| text.starts_with(begin))
}

fn flag(raw: Raw<'_>) -> Option<bool> {
    match raw?.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// How a call ended, told by an event.
pub(super) struct End<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) failed: bool,
}

#[derive(Deserialize)]
struct Ended<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    call_id: Raw<'a>,
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    item: Raw<'a>,
    #[serde(borrow)]
    exit_code: Raw<'a>,
    #[serde(borrow)]
    success: Raw<'a>,
    #[serde(borrow)]
    status: Raw<'a>,
    #[serde(borrow)]
    result: Raw<'a>,
}

/// What an event says about the end of a call: `exec_command_end`, `patch_apply_end` and
/// `mcp_tool_call_end`, or `item_completed` with the like in `item`.
pub(super) fn end_of_call(event: Raw<'_>) -> Option<End<'_>> {
    let event = nested::<Ended<'_>>(event)?;
    let kind = string(event.kind)?;
    let (ended, kind) = if kind == "item_completed" {
        let item = nested::<Ended<'_>>(event.item)?;
        let kind = string(item.kind)?;
        (item, kind)
    } else {
        (event, kind)
    };
    let failed = match kind.as_ref() {
        "exec_command_end" | "CommandExecution" | "patch_apply_end" | "FileChange" => {
            let code = integer(ended.exit_code).map(|code| code != 0);
            let success = flag(ended.success).map(|success| !success);
            code.or(success).or_else(|| ended.failed_by_status())
        }
        "mcp_tool_call_end" | "McpToolCall" => {
            ended.failed_by_result().or_else(|| ended.failed_by_status())
        }
        _ => None,
    }?;
    Some(End { id: string(ended.call_id).or_else(|| string(ended.id))?, failed })
}

impl Ended<'_> {
    /// A call that was declined did not run, and so did not fail.
    fn failed_by_status(&self) -> Option<bool> {
        match string(self.status)?.as_ref() {
            "failed" => Some(true),
            "completed" => Some(false),
            _ => None,
        }
    }

    /// What a server of tools gave back, or why it gave nothing.
    fn failed_by_result(&self) -> Option<bool> {
        #[derive(Deserialize)]
        struct Result<'a> {
            #[serde(borrow, rename = "Ok")]
            given: Raw<'a>,
            #[serde(borrow, rename = "Err")]
            refused: Raw<'a>,
        }
        #[derive(Deserialize)]
        struct Given<'a> {
            #[serde(borrow, rename = "isError")]
            is_error: Raw<'a>,
        }
        let result = nested::<Result<'_>>(self.result)?;
        if result.refused.is_some() {
            return Some(true);
        }
        let given = nested::<Given<'_>>(result.given.or(self.result))?;
        given.is_error.map(|is_error| is_true(Some(is_error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text and the failure of a result, given as JSON.
    fn read(json: &str) -> (String, Option<bool>) {
        let output = Output::new(serde_json::from_str(json).ok());
        (output.text.into_owned(), output.failed)
    }

    #[test]
    fn headers_lose_what_changes_and_nothing_else() {
        let table = [
            (
                r#""Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 1\nOriginal token count: 2\nOutput:\nx\n""#,
                "Process exited with code 1\nOriginal token count: 2\nOutput:\nx\n",
                Some(true),
            ),
            (
                r#""Exit code: 0\nWall time: 3 seconds\nOutput:\nx""#,
                "Exit code: 0\nOutput:\nx",
                Some(false),
            ),
            (
                r#""Wall time: 0.0 seconds\nOutput:\nExit code: 1\nWall time: 0 seconds\nOutput:\nWall time: kept\n""#,
                "Output:\nExit code: 1\nOutput:\nWall time: kept\n",
                Some(true),
            ),
            (
                r#"[{"type":"input_text","text":"Script completed\nWall time 0.3 seconds\nOutput:\n"},{"type":"input_text","text":"x"}]"#,
                "Script completed\nOutput:\n\nx",
                None,
            ),
            (
                r#""Process running with session ID 7\nOutput:\n""#,
                "Process running with session ID 7\nOutput:\n",
                None,
            ),
            (r#""Chunk ID: 1a\nno header""#, "Chunk ID: 1a\nno header", None),
            (r#""see\nExit code: 1\n""#, "see\nExit code: 1\n", None),
            (r#""unsupported call: x""#, "unsupported call: x", Some(true)),
            (r#""""#, "", None),
        ];
        for (json, text, failed) in table {
            assert_eq!(read(json), (text.to_owned(), failed), "{json}");
        }
    }

    #[test]
    fn older_results_are_objects() {
        let table = [
            (
                r#""{\"output\":\"x\\n\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}""#,
                "x\n",
                Some(true),
            ),
            (r#""{\"output\":\"x\",\"metadata\":{}}""#, "x", None),
            (r#""{\"output\":\"x\"}""#, "{\"output\":\"x\"}", None),
            (r#"{"content":"x","success":false}"#, "x", Some(true)),
            (r#"{"type":"input_text","text":"x"}"#, "x", None),
            (r#"{"other":1}"#, "{\"other\":1}", None),
        ];
        for (json, text, failed) in table {
            assert_eq!(read(json), (text.to_owned(), failed), "{json}");
        }
    }

    #[test]
    fn events_tell_how_calls_ended() {
        let table = [
            (r#"{"type":"exec_command_end","call_id":"c","exit_code":1}"#, Some(true)),
            (r#"{"type":"patch_apply_end","call_id":"c","success":true}"#, Some(false)),
            (r#"{"type":"mcp_tool_call_end","call_id":"c","result":{"Err":"x"}}"#, Some(true)),
            (
                r#"{"type":"mcp_tool_call_end","call_id":"c","result":{"Ok":{"isError":true}}}"#,
                Some(true),
            ),
            (
                r#"{"type":"item_completed","item":{"type":"CommandExecution","id":"c","exit_code":0}}"#,
                Some(false),
            ),
            (
                r#"{"type":"item_completed","item":{"type":"FileChange","id":"c","status":"declined"}}"#,
                None,
            ),
            (
                r#"{"type":"item_completed","item":{"type":"McpToolCall","id":"c","result":{"isError":false}}}"#,
                Some(false),
            ),
            (
                r#"{"type":"item_completed","item":{"type":"AgentMessage","id":"c","status":"failed"}}"#,
                None,
            ),
            (r#"{"type":"exec_command_end","exit_code":1}"#, None),
            (r#"{"type":"collab_close_end","call_id":"c","status":"failed"}"#, None),
        ];
        for (json, failed) in table {
            let end = end_of_call(serde_json::from_str(json).ok());
            assert_eq!(end.map(|end| end.failed), failed, "{json}");
        }
    }
}
