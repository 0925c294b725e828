//! Reads the messages in a span: a person's newest one, the model's answer, and a call that only the
//! events of its span describe.
//!
//! The messages of a span are in one of three places: in one attribute as JSON (the `GenAI` conventions,
//! Vercel's AI SDK), in one event each (the older `GenAI` conventions), or in one attribute each
//! (`OpenInference`, `OpenLLMetry`).
//!
//! Calls in the messages of a model are not read. Messages repeat the history, the ids of calls are not
//! unique, and a message does not say when a tool ran. The span of the tool has all of this, once.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Span, SpanEvent};
use crate::event;
use crate::field::{Raw, elements, member, nested, string};
use crate::object::Object;

/// The keys of a list of messages for the model.
const INPUTS: &[&str] = &[
    "gen_ai.input.messages",
    "ai.prompt.messages",
    "langfuse.observation.input",
    "gcp.vertex.agent.llm_request",
];

/// The keys of the model's answer, as a list of messages or as text.
const OUTPUTS: &[&str] = &[
    "gen_ai.output.messages",
    "ai.response.text",
    "langfuse.observation.output",
    "gcp.vertex.agent.llm_response",
];

/// The beginnings of keys with one message each, followed by its number.
const FLAT_INPUTS: &[&str] = &["llm.input_messages.", "gen_ai.prompt."];
const FLAT_OUTPUTS: &[&str] = &["llm.output_messages.", "gen_ai.completion."];

/// The keys of a message's content in an event.
const CONTENTS: [&str; 2] = ["content", "message"];

/// The roles of a person.
const PERSONS: &[&str] = &["user", "human"];

/// The roles of an agent.
const AGENTS: &[&str] = &["assistant", "model"];

/// Returns whether an attribute has a message.
pub(super) fn is_read(key: &str) -> bool {
    let is_flat = || {
        let mut begins = FLAT_INPUTS.iter().chain(FLAT_OUTPUTS);
        let ends = [".role", ".content", ".message_content.text"];
        begins.any(|begin| key.starts_with(begin)) && ends.iter().any(|end| key.ends_with(end))
    };
    let mut keys = INPUTS.iter().chain(OUTPUTS).chain(&CONTENTS);
    keys.any(|of| *of == key) || is_flat()
}

/// Returns whether a library left out this text.
pub(super) fn is_redacted(text: &str) -> bool {
    text.is_empty() || event::is_redacted(text)
}

/// Returns the last message for the model if a person wrote it, and the number of messages up to it.
pub(super) fn prompt(span: &Span) -> Option<(String, usize)> {
    // A request to Gemini has its messages in `contents`.
    if let Some(json) = json(span, INPUTS) {
        let json: Raw<'_> = serde_json::from_str(&json).ok();
        let messages = elements(member(json, "contents").or(json));
        let newest = nested(messages.last().copied())?;
        return Some((text_of(&newest, PERSONS)?, messages.len()));
    }
    let inputs = span
        .events
        .iter()
        .filter(|event| event.name.starts_with("gen_ai.") && event.name.ends_with(".message"));
    if let Some(newest) = inputs.clone().next_back() {
        let text = text_of_event(newest).filter(|_| newest.name == "gen_ai.user.message")?;
        return Some((text, inputs.count()));
    }
    let (number, role, text) = flat(&span.attributes, FLAT_INPUTS)?;
    Some((text?, number + 1)).filter(|_| PERSONS.contains(&role))
}

/// Returns the text of the model's answer, or `None` if the model only calls tools.
pub(super) fn said(span: &Span) -> Option<String> {
    if let Some(json) = json(span, OUTPUTS) {
        let Ok(list) = serde_json::from_str::<&RawValue>(&json) else {
            return Some(json.into_owned());
        };
        let response =
            member(Some(list), "content").filter(|content| content.get().starts_with('{'));
        let is_message = list.get().starts_with('{');
        let only = response.or_else(|| is_message.then_some(list));
        let messages = only.map_or_else(|| elements(Some(list)), |message| vec![message]);
        let messages = messages.into_iter();
        let messages = messages.filter_map(|message| nested(Some(message)));
        let texts: Vec<_> = messages.filter_map(|message| text_of(&message, AGENTS)).collect();
        return Some(texts.join("\n")).filter(|text| !text.is_empty());
    }
    if let Some(choice) = span.events.iter().find(|event| event.name == "gen_ai.choice") {
        return text_of_event(choice);
    }
    flat(&span.attributes, FLAT_OUTPUTS)?.2
}

/// Returns the arguments and the result of a call from the events of its span.
pub(super) fn call(span: &Span) -> (Option<String>, Option<String>) {
    let event = |name: &str| {
        let event = span.events.iter().find(|event| event.name == name)?;
        content(event).filter(|text| !is_redacted(text)).map(Cow::into_owned)
    };
    let part = |key: &str| {
        let list = span.events.iter().find_map(|event| event.attributes.get(key)?.as_str())?;
        let messages = elements(serde_json::from_str(list).ok());
        call_of(&nested(messages.last().copied())?)
    };
    let args = event("gen_ai.tool.message").or_else(|| part("gen_ai.input.messages"));
    let result = event("gen_ai.choice").or_else(|| part("gen_ai.output.messages"));
    (args, result)
}

/// Returns the first of these attributes of a span or of its events, which are JSON or hold JSON in a
/// string.
fn json<'a>(span: &'a Span, keys: &[&str]) -> Option<Cow<'a, str>> {
    let of_span = keys.iter().find_map(|key| span.attributes.get(*key));
    let of_events = || {
        let mut events = span.events.iter().map(|event| &event.attributes);
        events.find_map(|attributes| keys.iter().find_map(|key| attributes.get(*key)))
    };
    text_of_value(of_span.or_else(of_events)?)
}

/// Returns a value as text: JSON, if it is not a string. A text that was left out is none.
fn text_of_value(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(&**text)).filter(|text| !is_redacted(text)),
        other => Some(Cow::Owned(other.to_string())),
    }
}

fn content(event: &SpanEvent) -> Option<Cow<'_, str>> {
    text_of_value(CONTENTS.iter().find_map(|key| event.attributes.get(*key))?)
}

/// Returns the text of a message in an event: blocks as JSON, or the text itself.
fn text_of_event(event: &SpanEvent) -> Option<String> {
    let content = content(event)?;
    match serde_json::from_str::<&RawValue>(&content) {
        Ok(json) if json.get().starts_with(['[', '{', '"']) => {
            let inner = nested(Some(json)).and_then(|inner| inner.get("content"));
            text_of_parts(inner.or(Some(json)))
        }
        _ => Some(content.into_owned()),
    }
}

/// Returns the number, the role and the text of the last message with keys of its own.
fn flat<'a>(
    attributes: &'a Map<String, Value>,
    begins: &[&str],
) -> Option<(usize, &'a str, Option<String>)> {
    let keys = attributes.iter().filter_map(|(key, value)| {
        let rest = begins.iter().find_map(|begin| key.strip_prefix(begin))?;
        let (number, rest) = rest.split_once('.')?;
        Some((number.parse::<usize>().ok()?, rest, value.as_str()?))
    });
    let last = keys.clone().map(|(number, ..)| number).max()?;
    let of_last = keys.filter(|(number, ..)| *number == last);
    let role = of_last.clone().find_map(|(_, key, role)| key.ends_with("role").then_some(role));
    let texts = of_last.filter_map(|(_, key, text)| (!key.ends_with("role")).then_some(text));
    let text = texts.filter(|text| !is_redacted(text)).collect::<Vec<_>>().join("\n");
    Some((last, role.unwrap_or_default(), Some(text).filter(|text| !text.is_empty())))
}

/// Returns the text of a message with one of these roles.
fn text_of(message: &Object<'_>, roles: &[&str]) -> Option<String> {
    let is_theirs = roles.contains(&&*message.text("role")?);
    text_of_parts(message.get("parts").or(message.get("content"))).filter(|_| is_theirs)
}

/// Returns the arguments or the response in a message about a call.
fn call_of(message: &Object<'_>) -> Option<String> {
    let part = nested(elements(message.get("parts")).first().copied())?;
    let json = part.get("arguments").or(part.get("response").or(part.get("result")));
    let text = string(json).or_else(|| Some(Cow::Borrowed(json?.get())))?;
    Some(text.into_owned()).filter(|text| !is_redacted(text))
}

/// Returns the text of a message's parts. A message with the result of a tool is nobody's words.
fn text_of_parts(parts: Raw<'_>) -> Option<String> {
    if let Some(text) = string(parts) {
        return Some(text.into_owned()).filter(|text| !is_redacted(text));
    }
    let mut texts = Vec::new();
    for part in elements(parts) {
        let Some(part) = nested(Some(part)) else { continue };
        match part.text("type").as_deref() {
            None | Some("text") => texts.extend(string(part.get("text").or(part.get("content")))),
            Some(kind) if is_result(kind) => return None,
            Some(_) => {}
        }
    }
    Some(texts.join("\n")).filter(|text| !is_redacted(text))
}

fn is_result(kind: &str) -> bool {
    matches!(kind, "tool_call_response" | "tool_result" | "tool-result" | "function_call_output")
}
