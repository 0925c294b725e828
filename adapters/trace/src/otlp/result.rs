//! Reads the result of a call without the wrappers that libraries add.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::field::{flat_text, is_true, members, nested, string};

/// A result as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bare {
    pub(super) text: String,
    /// `true` if the library says within the result that the call failed.
    pub(super) failed: bool,
}

/// Reads a result. A message has ids that differ with every call, so only its content is kept.
pub(super) fn bare(text: String) -> Bare {
    let whole = |text| Bare { text, failed: false };
    if let Some(content) = content_of_repr(&text) {
        let failed = text.ends_with(" status='error'");
        return Bare { text: content.to_owned(), failed };
    }
    let Ok(json) = serde_json::from_str::<&RawValue>(&text) else { return whole(text) };
    if json.get().starts_with('[') {
        return whole(flat_text(Some(json)).into_owned());
    }
    let Some(wrapper) = nested(Some(json)) else {
        let inner = string(Some(json)).map(Cow::into_owned);
        return whole(inner.unwrap_or(text));
    };
    let inner = nested(wrapper.get("data").or(wrapper.get("kwargs")));
    let message = inner.filter(|inner| inner.has("tool_call_id")).unwrap_or(wrapper);
    if !message.has("content") || message.get("tool_call_id").or(message.get("isError")).is_none() {
        return whole(text);
    }
    let failed =
        is_true(message.get("isError")) || message.text("status").as_deref() == Some("error");
    Bare { text: flat_text(message.get("content")).into_owned(), failed }
}

/// Returns the result of a tool as the tool returned it. ADK puts a result that is not an object into one:
/// `{"result": …}`.
pub(super) fn bare_of_adk(text: String) -> String {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Object<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
    }
    match serde_json::from_str::<Object<'_>>(&text) {
        Ok(object) => object.result.get().to_owned(),
        Err(_) => text,
    }
}

/// Returns whether a limit cut off the JSON of a result. A line of a log may begin with a bracket, too.
pub(super) fn is_cut_off(text: &str) -> bool {
    let text = text.trim();
    let begins = ["{\"", "[{", "[\""].iter().any(|begin| text.starts_with(begin));
    begins && !text.ends_with(['}', ']'])
}

/// Returns the content of a message that was printed by Python: `content='…' name='…' tool_call_id='…'`.
fn content_of_repr(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("content=")?;
    let quote = inner.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let end = inner.rfind(" tool_call_id=")?;
    let end = inner[..end].rfind(" name=").unwrap_or(end);
    inner[..end].strip_prefix(quote)?.strip_suffix(quote)
}

/// Returns the arguments without the wrapper of a Python decorator: `{"args":[],"kwargs":{…}}`.
pub(super) fn bare_arguments(text: String) -> String {
    match members(serde_json::from_str(&text).ok(), ["args", "kwargs"]) {
        Some([Some(args), Some(named)]) if args.get() == "[]" => named.get().to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::rows;

    /// A case a line: what is read, a text, whether the call failed, and the text without its wrapper.
    const RESULTS: &str = include_str!("../../tests/tables/otlp_results.txt");

    #[test]
    fn texts_lose_the_wrappers_of_libraries() {
        let word = |failed| if failed { "failed" } else { "ok" };
        for [what, text, failed, expected] in rows(RESULTS) {
            let found = match &*what {
                "arguments" => Bare { text: bare_arguments(text.clone()), failed: false },
                "of ADK" => bare(bare_of_adk(text.clone())),
                "result" => bare(text.clone()),
                "whole" | "cut off" => {
                    assert_eq!(is_cut_off(&text), what == "cut off", "{text}");
                    continue;
                }
                other => panic!("unknown reading {other}"),
            };
            assert_eq!((&*found.text, word(found.failed)), (&*expected, &*failed), "{what} {text}");
        }
    }
}
