//! What tools gave back, as agents hand it to their hooks: the same text that stands in their
//! transcripts.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::field::{flat_text, string};
use crate::formats::codex::output::Output;
use crate::formats::gemini::{result_text, without_process_group};

/// A result as text, without what changes each time, and whether the call failed.
///
/// ```
/// use unstuck_trace::Answer;
///
/// let json = r#""Exit code: 1\nWall time: 0.2 seconds\nOutput:\nno such file\n""#;
/// let answer = Answer::codex(serde_json::from_str(json)?);
/// assert_eq!(answer.text, "Exit code: 1\nOutput:\nno such file\n");
/// assert_eq!(answer.failed, Some(true));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// Whether the call failed, if the result tells.
    pub failed: Option<bool>,
}

impl<'a> Answer<'a> {
    /// A result as it stands: a string, or the texts of a list of blocks, one a line; anything else
    /// is its JSON.
    pub fn plain(json: &'a RawValue) -> Self {
        Self { text: flat_text(Some(json)), failed: None }
    }

    /// A result of Codex, without the header's random id and measured time.
    pub fn codex(json: &'a RawValue) -> Self {
        let Output { text, failed } = Output::new(Some(json));
        Self { text, failed }
    }

    /// A result of Gemini CLI, a text or a list of parts, without the number of the process group.
    pub fn gemini(json: &'a RawValue) -> Self {
        let text = match result_text(Some(json)) {
            Cow::Borrowed(text) => without_process_group(text),
            Cow::Owned(text) => Cow::Owned(without_process_group(&text).into_owned()),
        };
        Self { text, failed: None }
    }
}

/// The characters of a JSON string; none of anything else. Half of a surrogate pair becomes U+FFFD.
pub fn text_of(json: &RawValue) -> Option<Cow<'_, str>> {
    string(Some(json))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> &RawValue {
        serde_json::from_str(json).expect("JSON")
    }

    #[test]
    fn every_shape_of_a_result_has_a_text() {
        for (answer, text, failed) in [
            (Answer::plain(raw(r#""a\nb""#)), "a\nb", None),
            (Answer::plain(raw(r#"[{"type":"text","text":"a"},{"text":"b"}]"#)), "a\nb", None),
            (Answer::plain(raw(r#"{"a":1}"#)), r#"{"a":1}"#, None),
            (Answer::codex(raw(r#""Wall time: 1\nOutput:\na""#)), "Output:\na", None),
            (Answer::codex(raw(r#"{"content":"x","success":false}"#)), "x", Some(true)),
            (Answer::gemini(raw(r#""Output: a\nProcess Group PGID: 12""#)), "Output: a", None),
            (Answer::gemini(raw(r#"[{"text":"a"},{"text":"b"}]"#)), "a\nb", None),
        ] {
            assert_eq!(answer, Answer { text: text.into(), failed });
        }
        let half = text_of(raw(r#""half \ud83d""#));
        assert!(half.is_some_and(|text| text.starts_with("half \u{fffd}")));
        assert_eq!(text_of(raw("7")), None);
    }
}
