//! The result of a tool call, as agents hand it to their hooks and keep it in their transcripts.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::field::{flat_text, string};
use crate::notes;

/// The text of a result, as the agent's model reads it, and whether the call failed.
///
/// What the host wraps around the text stays. [`Envelope`](unstuck_text::Envelope) takes it off.
///
/// ```
/// use unstuck_trace::ToolResult;
///
/// let json = r#""Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno such file\n""#;
/// let result = ToolResult::codex(serde_json::from_str(json)?);
/// assert!(result.text.ends_with("no such file\n"));
/// assert_eq!(result.failed, Some(true));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// Whether the call failed. `None` if the result does not say.
    pub failed: Option<bool>,
}

impl<'a> ToolResult<'a> {
    /// Reads a result.
    ///
    /// A string is taken as it is. A list of blocks becomes their texts, one a line. Anything else
    /// becomes its JSON. A note of the proxy is left out.
    pub fn plain(json: &'a RawValue) -> Self {
        let text = match flat_text(Some(json)) {
            Cow::Borrowed(text) => notes::without_notes(text),
            Cow::Owned(text) => Cow::Owned(notes::without_notes(&text).into_owned()),
        };
        Self { text, failed: None }
    }
}

/// Returns the characters of a JSON string, or `None` if the JSON is not a string. Half of a
/// surrogate pair becomes U+FFFD.
///
/// ```
/// use unstuck_trace::text_of;
///
/// assert_eq!(text_of(serde_json::from_str(r#""a\tb""#)?).as_deref(), Some("a\tb"));
/// assert_eq!(text_of(serde_json::from_str("7")?), None);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn text_of(json: &RawValue) -> Option<Cow<'_, str>> {
    string(Some(json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::rows;

    /// A case a line: the agent, a result, whether the call failed, and the text.
    const RESULTS: &str = include_str!("../tests/tables/tool_results.txt");

    #[test]
    fn every_shape_of_a_result_has_a_text() {
        for [agent, json, failed, text] in rows(RESULTS) {
            let result = match &*agent {
                "codex" => ToolResult::codex(raw(&json)),
                "copilot" => ToolResult::copilot(raw(&json)),
                "gemini" => ToolResult::gemini(raw(&json)),
                "plain" => ToolResult::plain(raw(&json)),
                other => panic!("unknown agent {other}"),
            };
            let word =
                result.failed.map_or("unknown", |failed| if failed { "failed" } else { "ok" });
            assert_eq!((word, &*result.text), (&*failed, &*text), "{agent} {json}");
        }
    }

    fn raw(json: &str) -> &RawValue {
        serde_json::from_str(json).expect("JSON")
    }

    #[test]
    fn only_a_string_has_characters_and_half_a_pair_is_replaced() {
        let half = text_of(raw(r#""half \ud83d""#));
        assert!(half.is_some_and(|text| text.starts_with("half \u{fffd}")));
        assert_eq!(text_of(raw("7")), None);
    }
}
