//! Answers to calls: the result, and the place for a note to the model.
//!
//! A client that shows only `structuredContent` reads the note in a member of it. Clients check results against the
//! tool's schema, so the proxy lets the schema in the list of tools allow that member. It leaves a schema alone if
//! another part could forbid it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use unstuck_trace::text_of;

use super::message::Message;

/// The result of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallResult<'l> {
    /// The text that the model reads. Parts that are no text are JSON.
    pub(crate) text: Cow<'l, str>,
    pub(crate) failed: bool,
    slot: Slot<'l>,
    /// The result as an object, which some clients show in place of the content.
    structured: Option<&'l str>,
}

/// The member of a structured result that holds a note.
pub(crate) const NOTE: &str = "unstuck_note";

/// The place in an answer where a note fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot<'l> {
    /// At the end of this array of content blocks.
    Content(&'l str),
    /// In a `content` of its own, at the beginning of this result, which has none.
    Result(&'l str),
    /// At the end of the message of an error, which is JSON.
    Error(&'l str),
}

/// The `result` of `tools/call`.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'l"))]
struct Outcome<'l> {
    content: Option<&'l RawValue>,
    #[serde(rename = "structuredContent")]
    structured: Option<&'l RawValue>,
    #[serde(rename = "isError")]
    is_error: Option<bool>,
    #[serde(borrow, rename = "resultType")]
    kind: Option<Cow<'l, str>>,
}

/// The `error` of an answer.
#[derive(Deserialize)]
struct Failure<'l> {
    #[serde(borrow)]
    message: &'l RawValue,
}

/// One block of content.
#[derive(Deserialize)]
struct Block<'l> {
    #[serde(borrow)]
    r#type: Cow<'l, str>,
    #[serde(borrow)]
    text: Option<&'l RawValue>,
}

impl<'l> CallResult<'l> {
    /// Reads the result in a message. Returns `None` if the message has none yet, for example a question
    /// back to the user or a task that goes on elsewhere.
    pub(crate) fn of(message: &Message<'l>) -> Option<Self> {
        match (message.result, message.error) {
            (Some(result), None) => Self::of_result(result),
            (None, Some(error)) => Self::of_error(error),
            _ => None,
        }
    }

    fn of_result(result: &'l RawValue) -> Option<Self> {
        let outcome: Outcome<'l> = serde_json::from_str(result.get()).ok()?;
        if outcome.kind.is_some_and(|kind| kind != "complete") {
            return None;
        }
        let failed = outcome.is_error.unwrap_or_default();
        let value = outcome.structured.map(RawValue::get);
        let object = value.filter(|value| value.starts_with('{'));
        let shown_structured = value.map(Cow::Borrowed);
        let Some(content) = outcome.content else {
            let slot = Slot::Result(result.get());
            return Some(Self { text: shown_structured?, failed, slot, structured: object });
        };
        let blocks: Vec<&'l RawValue> = serde_json::from_str(content.get()).ok()?;
        let mut parts = blocks.into_iter().map(shown).chain(shown_structured);
        // Most results have one part, which needs no copy.
        let mut text = parts.next().unwrap_or_default();
        for part in parts {
            text.to_mut().push('\n');
            text.to_mut().push_str(&part);
        }
        Some(Self { text, failed, slot: Slot::Content(content.get()), structured: object })
    }

    fn of_error(error: &'l RawValue) -> Option<Self> {
        let message = serde_json::from_str::<Failure<'l>>(error.get()).ok()?.message;
        let is_string = message.get().starts_with('"');
        let text = text_of(message).unwrap_or(Cow::Borrowed(message.get()));
        let slot = Slot::Error(message.get());
        is_string.then_some(Self { text, failed: true, slot, structured: None })
    }

    /// Returns the texts to insert into `line`, the line of this answer, and their positions, so that the
    /// model reads `note`. With `structured` the note goes into the structured result, too.
    pub(crate) fn room(&self, line: &[u8], note: &str, structured: bool) -> Vec<(usize, String)> {
        let object = self.structured.filter(|object| structured && !object.contains(NOTE));
        let member = object.map(|object| {
            let comma = if is_empty(object) { "" } else { "," };
            let member = format!("{comma}\"{NOTE}\":{}", Value::from(note));
            (position(object, line) + object.len() - 1, member)
        });
        let mut insertions = vec![self.room_in_slot(line, note)];
        insertions.extend(member);
        insertions
    }

    fn room_in_slot(&self, line: &[u8], note: &str) -> (usize, String) {
        let at = |slot| position(slot, line);
        let block = block(note);
        match self.slot {
            Slot::Content(array) => {
                let comma = if is_empty(array) { "" } else { "," };
                (at(array) + array.len() - 1, format!("{comma}{block}"))
            }
            // The object has another member, because `of_result` has recognised it.
            Slot::Result(object) => (at(object) + 1, format!("\"content\":[{block}],")),
            Slot::Error(message) => {
                let escaped = Value::from(format!("\n\n{note}")).to_string();
                (at(message) + message.len() - 1, escaped[1..escaped.len() - 1].to_owned())
            }
        }
    }
}

/// Returns the position in `line` of `part`, which is a part of it.
pub(crate) fn position(part: &str, line: &[u8]) -> usize {
    part.as_ptr().addr() - line.as_ptr().addr()
}

/// Returns whether an object or an array has no members.
pub(crate) fn is_empty(json: &str) -> bool {
    json[1..].trim_ascii_start().len() == 1
}

/// Returns the text of a block by which results are compared.
fn shown(block: &RawValue) -> Cow<'_, str> {
    let text = serde_json::from_str::<Block<'_>>(block.get()).ok();
    let text = text.filter(|block| block.r#type == "text").and_then(|block| text_of(block.text?));
    text.unwrap_or_else(|| Cow::Borrowed(block.get()))
}

/// Returns a block of content with `text`.
fn block(text: &str) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", Value::from(text))
}

/// The form of results in a version of the protocol: with a `resultType` or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    Untyped,
    Typed,
}

impl Results {
    /// The first version with a `resultType`.
    const TYPED_SINCE: &str = "2026-07-28";

    /// Returns the form in this version, which is a date.
    pub(crate) fn of(version: &str) -> Self {
        if version >= Self::TYPED_SINCE { Self::Typed } else { Self::Untyped }
    }
}

/// Returns the line that answers a call in the server's place: a failure with the reason `text`.
pub(crate) fn refusal(id: &RawValue, text: &str, results: Results) -> Vec<u8> {
    let block = block(text);
    let kind = match results {
        Results::Untyped => "",
        Results::Typed => ",\"resultType\":\"complete\"",
    };
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{block}],\"isError\":true{kind}}}}}\n"
    )
    .into_bytes()
}

/// Inserts each text into `line`. Positions are indices into the original `line`.
pub(crate) fn spliced(line: &[u8], mut insertions: Vec<(usize, String)>) -> Vec<u8> {
    insertions.sort_by_key(|(at, _)| *at);
    let added: usize = insertions.iter().map(|(_, text)| text.len()).sum();
    let mut spliced = Vec::with_capacity(line.len() + added);
    let mut done = 0;
    for (at, text) in insertions {
        spliced.extend_from_slice(&line[done..at]);
        spliced.extend_from_slice(text.as_bytes());
        done = at;
    }
    spliced.extend_from_slice(&line[done..]);
    spliced
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::super::message::Line;
    use super::*;

    const SAYS: &str = "It is \"stuck\".";

    #[test]
    fn an_answer_is_read_and_noted_in_its_place() {
        let block = r#"{"type":"text","text":"It is \"stuck\"."}"#;
        let member = r#""unstuck_note":"It is \"stuck\".""#;
        let cases = include_str!("answer.txt").trim_end().split("\n\n").skip(1);
        for case in cases.inspect(|case| assert!(case.lines().count() >= 2, "{case}")) {
            let lines: Vec<_> = case.lines().collect();
            let line = |members: &str| {
                let members = members.replace("NOTE", block).replace("MEMBER", member);
                format!(" {{\"jsonrpc\":\"2.0\",{members} , \"id\":7}}\r\n")
            };
            let text = line(lines[0]);
            let Some(Line::One(message)) = Line::read(text.as_bytes()) else { panic!("{text}") };
            let Some(answer) = CallResult::of(&message) else {
                assert_eq!(lines[1..], ["no result"], "{text}");
                continue;
            };
            let end = if answer.failed { "failed" } else { "worked" };
            assert_eq!(format!("{end}: {}", Value::from(&*answer.text)), lines[1], "{text}");
            for (noted, has_room) in lines[2..].iter().zip([false, true]) {
                let room = answer.room(text.as_bytes(), SAYS, has_room);
                let found = String::from_utf8(spliced(text.as_bytes(), room)).expect("UTF-8");
                assert_eq!(found, line(noted), "{has_room}");
            }
        }
    }

    #[test]
    fn a_refusal_is_one_line() {
        let id = serde_json::from_str(r#""a\u0062""#).expect("JSON");
        let line =
            String::from_utf8(refusal(id, "No.\nDo not retry.", Results::Typed)).expect("UTF-8");
        assert_eq!(
            line,
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\",\"result\":{\"content\":[{\"type\":\"text\",\
             \"text\":\"No.\\nDo not retry.\"}],\"isError\":true,\"resultType\":\"complete\"}}\n"
        );
    }

    #[test]
    fn insertions_go_in_at_their_places() {
        for (insertions, expected) in [
            (vec![], "abc"),
            (vec![(0, "x".to_owned()), (3, "y".to_owned())], "xabcy"),
            (vec![(2, "y".to_owned()), (1, "x".to_owned())], "axbyc"),
        ] {
            assert_eq!(spliced(b"abc", insertions), expected.as_bytes());
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "(?s).{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..3).prop_map(Value::from),
                vec(("[a-z]{1,3}", inner), 0..3)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn content() -> impl Strategy<Value = Value> {
        let text = "(?s).{0,8}".prop_map(|text| json!({ "type": "text", "text": text }));
        vec(prop_oneof![text, value()], 0..3).prop_map(Value::from)
    }

    proptest! {
        #[test]
        fn a_note_adds_one_block_and_changes_nothing_else(
            others in vec(("[a-z]{1,3}", value()), 0..4),
            content in content(),
            note in "(?s).{0,20}",
            pretty in any::<bool>(),
        ) {
            let mut result: Map<String, Value> = others.into_iter().collect();
            result.insert("content".to_owned(), content);
            let mut message = json!({ "id": 1, "jsonrpc": "2.0", "result": result });
            let spell = if pretty { serde_json::to_string_pretty } else { serde_json::to_string };
            let line = spell(&message).expect("a value has a text").replace('\n', " ") + "\n";
            let Some(Line::One(read)) = Line::read(line.as_bytes()) else { panic!("{line}") };
            let answer = CallResult::of(&read).expect("a result");
            let noted = spliced(line.as_bytes(), answer.room(line.as_bytes(), &note, false));
            prop_assert_eq!(noted.split(|byte| *byte == b'\n').count(), 2, "one line");
            let content = message["result"]["content"].as_array_mut().expect("blocks");
            content.push(json!({ "type": "text", "text": note }));
            let noted: Value = serde_json::from_slice(&noted).expect("JSON");
            prop_assert_eq!(noted, message);
        }
    }
}
