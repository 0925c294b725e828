//! The text of a result, without what changes with every call, and whether the call failed.
//!
//! Codex puts a header before the output of a command: `Chunk ID: …`, `Wall time: …`, `Process exited
//! with code …`, `Original token count: …`, and last `Output:`. The chunk's id is random and the time is
//! measured, so the results of two equal calls would never be equal, and the other lines are the same for
//! different calls. The header is left out, as hooks do not show it either; only what it says of a command
//! that still runs or a script that failed stays. Older results are a JSON text `{"output":…,"metadata":{"exit_code":…,"duration_seconds":…}}`, whose text is `output`.

use std::borrow::Cow;

use serde::Deserialize;

use crate::field::{Raw, flag, flat_text, integer, is_object, nested, object, string};
use crate::tool_result::ToolResult;

/// The beginnings of texts that Codex returns if it could not run a call.
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

/// The beginnings of header lines that are left out.
const LEFT_OUT: [&str; 8] = [
    "Chunk ID: ",
    "Wall time: ",
    "Wall time ",
    EXITED,
    EXIT_CODE,
    "Original token count: ",
    "Total output lines: ",
    "Script completed",
];

/// The beginnings of the other header lines.
const KEPT: [&str; 3] = ["Process running with session ID ", "Script running", SCRIPT_FAILED];

const EXITED: &str = "Process exited with code ";
const EXIT_CODE: &str = "Exit code: ";
const SCRIPT_FAILED: &str = "Script failed";
const HEADER_END: &str = "Output:";

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

impl<'a> ToolResult<'a> {
    /// Reads the `output` of an item.
    pub(crate) fn from_codex(raw: Raw<'a>) -> Self {
        if is_object(raw) {
            return Self::from_object(raw);
        }
        let text = flat_text(raw);
        if text.starts_with('{')
            && let Some(result) = Self::from_envelope(&text)
        {
            return result;
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

    /// Reads a JSON text with an exit code in its metadata.
    fn from_envelope(text: &str) -> Option<Self> {
        let fields = object::<Envelope<'_>>(text).ok()?;
        let output = string(fields.output)?;
        let metadata = nested::<Metadata<'_>>(fields.metadata)?;
        let code = integer(metadata.exit_code);
        Some(Self { text: Cow::Owned(output.into_owned()), failed: code.map(|code| code != 0) })
    }
}

/// The lines before `Output:`.
struct Header {
    failed: Option<bool>,
    /// The text without the header. `None` if the text has no header.
    stripped: Option<String>,
}

impl Header {
    /// Reads the header of a text. If a patch ran as a command, its output begins with a second
    /// header, which is read too.
    fn of(text: &str) -> Self {
        let mut failed = None;
        let mut stripped = String::new();
        let (mut rest, mut is_whole) = (text, false);
        while !rest.is_empty() {
            let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
            let (line, behind) = rest.split_at(end);
            let bare = line.trim_end();
            let ends = bare == HEADER_END;
            let is_left_out = ends || LEFT_OUT.iter().any(|begin| bare.starts_with(begin));
            if !is_left_out && !KEPT.iter().any(|begin| bare.starts_with(begin)) {
                return Self { failed: None, stripped: None };
            }
            if let Some(line_failed) = fails(bare) {
                failed = Some(failed == Some(true) || line_failed);
            }
            if !is_left_out {
                stripped.push_str(line);
            }
            rest = behind;
            is_whole |= ends;
            if ends && !rest.starts_with(EXIT_CODE) {
                break;
            }
        }
        stripped.push_str(rest);
        Self { failed, stripped: is_whole.then_some(stripped) }
    }
}

/// Returns whether the call failed, if the header's line says how it ended.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text and the failure of a result, given as JSON.
    fn read(json: &str) -> (String, Option<bool>) {
        let result = ToolResult::from_codex(serde_json::from_str(json).ok());
        (result.text.into_owned(), result.failed)
    }

    #[test]
    fn headers_are_left_out() {
        let table = [
            (
                r#""Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 1\nOriginal token count: 2\nOutput:\nx\n""#,
                "x\n",
                Some(true),
            ),
            (r#""Exit code: 0\nWall time: 3 seconds\nOutput:\nx""#, "x", Some(false)),
            (
                r#""Wall time: 0.0 seconds\nOutput:\nExit code: 1\nWall time: 0 seconds\nOutput:\nWall time: kept\n""#,
                "Wall time: kept\n",
                Some(true),
            ),
            (
                r#"[{"type":"input_text","text":"Script completed\nWall time 0.3 seconds\nOutput:\n"},{"type":"input_text","text":"x"}]"#,
                "\nx",
                None,
            ),
            (
                r#""Process running with session ID 7\nOutput:\n""#,
                "Process running with session ID 7\n",
                None,
            ),
            (r#""Chunk ID: 1a\nno header""#, "Chunk ID: 1a\nno header", None),
            (r#""Exit code: 1\n""#, "Exit code: 1\n", Some(true)),
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
}
