//! The list of a server's tools, with the hints that help to distinguish a loop from work.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use unstuck::{Declaration, Effect, Guard, Tag};
use unstuck_text::tag;

use super::answer::{NOTE, is_empty, position};
use super::message::{Id, Message};

/// The most lists that are awaited at a time. A client that awaits more has lost some, so the
/// oldest is dropped.
const AWAITED_MAX: usize = 8;

/// The most tools whose structured results may get a note. Beyond it the content alone has the note.
const ROOMY_MAX: usize = 1024;

/// Learns from the tool lists that pass the proxy.
#[derive(Default)]
pub(crate) struct Listing {
    /// The requests for a list that have no response yet.
    awaited: Vec<Page>,
    /// The tools whose structured results may have a note, because the client knows no schema that
    /// forbids it.
    roomy: HashSet<Box<str>>,
}

/// A request for a page of the list.
struct Page {
    id: Id,
    is_first: bool,
}

/// The `params` of `tools/list`.
#[derive(Deserialize)]
struct ListParams<'l> {
    #[serde(borrow)]
    cursor: Option<&'l RawValue>,
}

/// The `result` of `tools/list`.
#[derive(Deserialize)]
struct ToolList<'l> {
    /// Raw values, so that one unreadable tool does not affect the others.
    #[serde(borrow)]
    tools: Vec<&'l RawValue>,
}

/// A tool of the list.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'l"))]
struct ToolEntry<'l> {
    #[serde(borrow)]
    name: Cow<'l, str>,
    annotations: Option<&'l RawValue>,
    #[serde(rename = "_meta")]
    meta: Option<&'l RawValue>,
    #[serde(rename = "outputSchema")]
    output: Option<&'l RawValue>,
}

/// The hints about a tool. `destructiveHint` and `openWorldHint` do not say whether a call is worth
/// repeating.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Hints {
    read_only_hint: Option<bool>,
    idempotent_hint: Option<bool>,
}

/// The members of `_meta` for loop detectors.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'l"))]
struct Meta<'l> {
    #[serde(rename = "unstuck/key")]
    own: Option<&'l RawValue>,
    #[serde(rename = "openrouter/loopKey")]
    openrouter: Option<&'l RawValue>,
}

/// The key of a tool's calls, which both members of `_meta` spell alike.
enum Key {
    /// `false`: the tool is made for repeated calls.
    Exempt,
    /// The names of the arguments.
    Of(Vec<String>),
}

impl Listing {
    /// Returns whether a response of the server is awaited.
    pub(crate) const fn awaits(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Notes the client's request for a list.
    pub(crate) fn asked(&mut self, message: &Message<'_>) {
        let Some(id) = message.id.and_then(Id::of) else { return };
        self.give_up(&id);
        if self.awaited.len() >= AWAITED_MAX {
            self.awaited.remove(0);
        }
        let params = message.params.map(RawValue::get).unwrap_or_default();
        let cursor = serde_json::from_str::<ListParams<'_>>(params).ok().and_then(|it| it.cursor);
        self.awaited.push(Page { id, is_first: cursor.is_none() });
    }

    /// Forgets a list request, because another request has this id.
    pub(crate) fn give_up(&mut self, id: &Id) {
        self.awaited.retain(|page| page.id != *id);
    }

    /// Learns from `message`, if it is a response with a list. The first page of a list replaces
    /// the previous list. Returns the texts to insert into `line`, the line of the response, and their
    /// positions: the output schemas then allow a note. Returns `None` for another message.
    pub(crate) fn answered(
        &mut self,
        line: &[u8],
        message: &Message<'_>,
        guard: &mut Guard,
    ) -> Option<Vec<(usize, String)>> {
        let id = message.id.and_then(Id::of);
        let place = self.awaited.iter().position(|page| Some(&page.id) == id.as_ref())?;
        let page = self.awaited.remove(place);
        let mut insertions = Vec::new();
        let list =
            message.result.and_then(|raw| serde_json::from_str::<ToolList<'_>>(raw.get()).ok());
        if let Some(list) = list {
            if page.is_first {
                guard.forget_declared();
                self.roomy.clear();
            }
            let tools = list.tools.into_iter().map(|tool| serde_json::from_str(tool.get()));
            for tool in tools.filter_map(Result::ok) {
                let declared = declaration(&tool);
                // The names of most tools are enough, and beyond the guard's limit they must do.
                if !declared.is_empty() {
                    guard.declare(&tool.name, declared);
                }
                insertions.extend(self.make_room(line, &tool));
            }
        }
        Some(insertions)
    }

    /// Returns whether a structured result of `tool` may have a note.
    pub(crate) fn has_room(&self, tool: &str) -> bool {
        self.roomy.contains(tool)
    }

    /// Notes whether the structured results of a tool may have a note. Returns the text that makes its
    /// schema allow that, and its position in `line`, if one is needed.
    fn make_room(&mut self, line: &[u8], tool: &ToolEntry<'_>) -> Option<(usize, String)> {
        let room = tool.output.map_or(Some(Room::There), |schema| Room::of(schema.get()))?;
        if self.roomy.len() >= ROOMY_MAX {
            return None;
        }
        self.roomy.insert(tool.name.as_ref().into());
        match room {
            Room::There => None,
            Room::After(bracket, text) => Some((position(bracket, line) + 1, text)),
        }
    }

    /// Forgets all requests, because a client or a server starts afresh.
    pub(crate) fn clear(&mut self) {
        self.awaited.clear();
        self.roomy.clear();
    }
}

/// The room for a note in the objects of a schema.
#[derive(Debug, PartialEq, Eq)]
enum Room<'l> {
    /// The schema allows any member.
    There,
    /// The schema allows the note with this text behind the opening bracket of this object.
    After(&'l str, String),
}

/// The keywords of a schema by which another part of it can forbid a member that its root lists.
const RESTRICTIONS: &str = "$ref $dynamicRef $recursiveRef allOf anyOf oneOf not if const enum dependentSchemas \
                            maxProperties patternProperties propertyNames";

impl<'l> Room<'l> {
    /// Returns the room in the objects that `schema` describes, or `None` if there is none.
    fn of(schema: &'l str) -> Option<Self> {
        let members: BTreeMap<Cow<'l, str>, &'l RawValue> = serde_json::from_str(schema).ok()?;
        let value = |name: &str| members.get(name).map(|raw| raw.get());
        let is_object = value("type").is_none_or(|kind| kind == "\"object\"");
        if !is_object || RESTRICTIONS.split(' ').any(|name| members.contains_key(name)) {
            return None;
        }
        let is_closed = |name| value(name).is_some_and(|allowed| allowed != "true");
        let properties = value("properties");
        if properties.is_some_and(|listed| !listed.starts_with('{') || listed.contains(NOTE)) {
            return None;
        }
        if !is_closed("additionalProperties") && !is_closed("unevaluatedProperties") {
            return Some(Self::There);
        }
        let comma = |object| if is_empty(object) { "" } else { "," };
        Some(match properties {
            Some(listed) => Self::After(listed, format!("{PROPERTY}{}", comma(listed))),
            None => Self::After(schema, format!("\"properties\":{{{PROPERTY}}}{}", comma(schema))),
        })
    }
}

/// The member with the note, as a property of a schema.
const PROPERTY: &str = r#""unstuck_note":{"type":"string","description":"A note to the model if its calls repeat themselves."}"#;

/// Returns what the list says of a tool.
fn declaration(tool: &ToolEntry<'_>) -> Declaration {
    let declared = Declaration::new();
    let declared = match effect(&tool.name, &read(tool.annotations)) {
        Some(effect) => declared.effect(effect),
        None => declared,
    };
    let meta: Meta<'_> = read(tool.meta);
    match meta.own.and_then(Key::read).or_else(|| meta.openrouter.and_then(Key::read)) {
        Some(Key::Exempt) => declared.exempt(),
        Some(Key::Of(names)) => declared.key(names),
        None => declared,
    }
}

/// Returns the effect that the hints stand for, if the name does not contradict it.
///
/// The protocol says that hints are not to be trusted. A false `readOnlyHint: true` costs little: a
/// server could refuse the calls of its own tools anyway, and it writes the answers that would have to
/// be equal byte for byte. By the default policy, the proxy refuses no call that works. So the hint is
/// believed for a tool whose name says nothing. A tool that writes, runs commands, tests or waits by
/// its name keeps that kind, which is judged more gently. A hint that a tool acts is believed for one
/// that only reads by its name, since that is gentler.
fn effect(name: &str, hints: &Hints) -> Option<Effect> {
    let named = tag(name, "");
    let reads = matches!(named, Tag::Read | Tag::Search);
    match (hints.read_only_hint, hints.idempotent_hint) {
        (Some(true), _) => (reads || named == Tag::Other).then_some(Effect::Reads),
        (_, Some(true)) => {
            (reads || matches!(named, Tag::Other | Tag::Write)).then_some(Effect::Idempotent)
        }
        (Some(false), _) => reads.then_some(Effect::Acts),
        (None, _) => None,
    }
}

/// Parses `raw`, or returns the default if it has another shape.
fn read<'l, T: Deserialize<'l> + Default>(raw: Option<&'l RawValue>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

impl Key {
    /// Reads a list of names, or `false`. Other values are ignored, as `OpenRouter` does.
    fn read(raw: &RawValue) -> Option<Self> {
        match raw.get() {
            "false" => Some(Self::Exempt),
            names => serde_json::from_str(names).ok().map(Self::Of),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::cases::cases;

    const CASES: &str = include_str!("tools.txt");

    #[test]
    fn hints_count_unless_the_name_contradicts_them() {
        for (tool, expected) in cases(CASES, "hints") {
            let (name, hints) = tool.split_once(' ').expect("a name and annotations");
            let hints = serde_json::from_str(hints).expect("hints");
            assert_eq!(effect(name, &hints).map_or("none", Effect::name), expected, "{tool}");
        }
    }

    #[test]
    fn unknown_members_of_a_tool_are_ignored() {
        for (members, expected) in cases(CASES, "members") {
            let mut tool = json!({ "name": "gizmo", "inputSchema": { "type": "object" } });
            let more: Map<String, Value> = serde_json::from_str(members).expect("members");
            tool.as_object_mut().expect("a tool").extend(more);
            let tool = tool.to_string();
            let declared = declaration(&serde_json::from_str(&tool).expect("a tool"));
            let none = Declaration::new();
            let expected = match expected.split_once('=') {
                Some((_, names)) => none.key(names.split(',')),
                None if expected == "exempt" => none.exempt(),
                None if expected == "reads" => none.effect(Effect::Reads),
                None => {
                    assert_eq!(expected, "none", "{members}");
                    none
                }
            };
            assert_eq!(declared, expected, "{members}");
        }
    }

    #[test]
    fn a_schema_has_room_for_a_note_unless_it_could_forbid_it() {
        for (schema, expected) in cases(CASES, "schemas") {
            let found = Room::of(schema).map(|room| match room {
                Room::There => schema.to_owned(),
                Room::After(bracket, text) => {
                    let mut changed = schema.to_owned();
                    changed.insert_str(position(bracket, schema.as_bytes()) + 1, &text);
                    changed
                }
            });
            let is_json = |text: &String| serde_json::from_str::<Value>(text).is_ok();
            assert!(found.as_ref().is_none_or(is_json), "{schema}");
            assert_eq!(found.unwrap_or("none".into()), expected.replace("NOTE", PROPERTY));
        }
    }

    #[test]
    fn the_property_is_the_member_of_the_note() {
        assert!(PROPERTY.starts_with(&format!("\"{NOTE}\":")));
    }
}
