//! The text of a result, and whether the call failed.
//!
//! Codex puts a header before the output of a command, which tells its exit code. Older results are a JSON text
//! `{"output":…,"metadata":{"exit_code":…,"duration_seconds":…}}`, whose text is `output`.

use unstuck_text::{Envelope, Unescaped};

use crate::formats::prelude::*;
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

impl<'a> ToolResult<'a> {
    /// Reads the `output` of an item.
    pub(crate) fn from_codex(raw: Raw<'a>) -> Self {
        if is_object(raw) {
            return Self::from_object(raw);
        }
        let text = flat_text(raw);
        if text.starts_with('{')
            && let Some(result) = Self::from_json(&text)
        {
            return result;
        }
        let code = Envelope::open(&text, &mut Unescaped::default()).exit;
        let failed = code.map(|code| code != 0).or_else(|| is_failure(&text).then_some(true));
        Self { text, failed }
    }

    fn from_object(raw: Raw<'a>) -> Self {
        let fields = members(raw, ["content", "text", "success"]);
        let [content, text, success] = fields.unwrap_or_default();
        let failed = flag(success).map(|success| !success);
        Self { text: flat_text(content.or(text).or(raw)), failed }
    }

    /// Reads a JSON text with an exit code in its metadata.
    fn from_json(text: &str) -> Option<Self> {
        let [output, metadata] = members(serde_json::from_str(text).ok(), ["output", "metadata"])?;
        let output = string(output)?;
        let [code] = members(metadata, ["exit_code"])?;
        let code = integer(code);
        Some(Self { text: Cow::Owned(output.into_owned()), failed: code.map(|code| code != 0) })
    }
}

fn is_failure(text: &str) -> bool {
    FAILURES.iter().any(|begin| text.starts_with(begin))
}
