//! Reads the messages in the span of a model: a person's newest one, and the model's answer.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::field::{Raw, elements, nested, string};

/// Returns whether this module reads an attribute that no other module names.
pub(super) fn is_read(key: &str) -> bool {
    ["llm.input_messages.", "llm.output_messages."].iter().any(|begin| key.starts_with(begin))
}

/// Returns the last message of the input if a person wrote it, and the number of messages.
pub(super) fn prompt(attributes: &Map<String, Value>, keys: &[&str]) -> Option<(String, usize)> {
    let json = json(attributes, keys)?;
    let messages = elements(serde_json::from_str(&json).ok());
    let newest = nested::<Message<'_>>(messages.last().copied())?;
    let text = newest.text(&["user", "human"])?;
    Some((text, messages.len()))
}

/// Returns the text of the model's answer. It may be empty if the model only calls tools.
pub(super) fn said(attributes: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    let json = json(attributes, keys)?;
    let Ok(list) = serde_json::from_str::<&RawValue>(&json) else { return Some(json.into_owned()) };
    if !list.get().starts_with('[') {
        return Some(json.into_owned());
    }
    let messages = elements(Some(list)).into_iter();
    let messages = messages.filter_map(|message| nested::<Message<'_>>(Some(message)));
    let texts: Vec<_> = messages.filter_map(|message| message.text(&["assistant"])).collect();
    Some(texts.join("\n")).filter(|text| !text.is_empty())
}

/// Returns the first of these attributes, which are JSON or hold JSON in a string.
fn json<'a>(attributes: &'a Map<String, Value>, keys: &[&str]) -> Option<Cow<'a, str>> {
    match keys.iter().find_map(|key| attributes.get(*key))? {
        Value::String(text) => Some(Cow::Borrowed(text)),
        other => Some(Cow::Owned(other.to_string())),
    }
}

/// A message of any vendor's shape.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Raw<'a>,
    #[serde(borrow)]
    parts: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
}

/// A part of a message.
#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
}

impl Message<'_> {
    /// Returns the text of a message with one of these roles. A message with the result of a tool is
    /// nobody's words.
    fn text(&self, roles: &[&str]) -> Option<String> {
        if !roles.contains(&&*string(self.role)?) {
            return None;
        }
        let parts = self.parts.or(self.content);
        if let Some(text) = string(parts) {
            return Some(text.into_owned()).filter(|text| !text.is_empty());
        }
        let mut texts = Vec::new();
        for part in elements(parts) {
            let Some(part) = nested::<Part<'_>>(Some(part)) else { continue };
            match string(part.kind).as_deref() {
                None | Some("text") => texts.extend(string(part.text.or(part.content))),
                Some(kind) if is_result(kind) => return None,
                Some(_) => {}
            }
        }
        Some(texts.join("\n")).filter(|text| !text.is_empty())
    }
}

fn is_result(kind: &str) -> bool {
    matches!(kind, "tool_call_response" | "tool_result" | "tool-result" | "function_call_output")
}
