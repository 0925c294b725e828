//! The list of a server's tools, with the hints that help to distinguish a loop from work.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use unstuck::{Declaration, Effect, Guard, Tag};
use unstuck_text::tag;

use super::message::{Id, Message};

/// The most lists that are awaited at a time. A client that awaits more has lost some, so the
/// oldest is dropped.
const AWAITED_MAX: usize = 8;

/// Learns from the tool lists that pass the proxy.
#[derive(Default)]
pub(crate) struct Listing {
    /// The requests for a list that have no response yet.
    awaited: Vec<Page>,
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
struct ToolEntry<'l> {
    #[serde(borrow)]
    name: Cow<'l, str>,
    #[serde(borrow)]
    annotations: Option<&'l RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'l RawValue>,
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
struct Meta<'l> {
    #[serde(borrow, rename = "unstuck/key")]
    own: Option<&'l RawValue>,
    #[serde(borrow, rename = "openrouter/loopKey")]
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
    /// the previous list. Returns whether it was such a response.
    pub(crate) fn answered(&mut self, message: &Message<'_>, guard: &mut Guard) -> bool {
        let id = message.id.and_then(Id::of);
        let Some(place) = self.awaited.iter().position(|page| Some(&page.id) == id.as_ref()) else {
            return false;
        };
        let page = self.awaited.remove(place);
        let list =
            message.result.and_then(|raw| serde_json::from_str::<ToolList<'_>>(raw.get()).ok());
        if let Some(list) = list {
            if page.is_first {
                guard.forget_declared();
            }
            list.tools.into_iter().for_each(|tool| learn(tool, guard));
        }
        true
    }

    /// Forgets all requests, because a client or a server starts afresh.
    pub(crate) fn clear(&mut self) {
        self.awaited.clear();
    }
}

/// Declares a tool of the list. Beyond the guard's limit, the tool's name must do.
fn learn(tool: &RawValue, guard: &mut Guard) {
    let Ok(tool) = serde_json::from_str::<ToolEntry<'_>>(tool.get()) else { return };
    let declared = declaration(&tool);
    // The names of most tools are enough.
    if !declared.is_empty() {
        guard.declare(&tool.name, declared);
    }
}

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
    use serde_json::{Value, json};

    use super::*;

    /// Returns the declaration of the tool `listed`.
    fn declared(listed: &Value) -> Declaration {
        let text = listed.to_string();
        declaration(&serde_json::from_str(&text).expect("a tool"))
    }

    #[test]
    fn hints_count_unless_the_name_contradicts_them() {
        use Effect::{Acts, Idempotent, Reads};
        let (yes, no, none) = (Some(true), Some(false), None);
        for (name, read_only, idempotent, effect) in [
            ("gizmo", yes, none, Some(Reads)),
            ("gizmo", yes, no, Some(Reads)),
            ("gizmo", none, yes, Some(Idempotent)),
            ("gizmo", no, yes, Some(Idempotent)),
            ("gizmo", no, none, None),
            ("gizmo", none, none, None),
            ("read_file", yes, none, Some(Reads)),
            ("read_file", no, none, Some(Acts)),
            ("read_file", no, yes, Some(Idempotent)),
            ("search", none, no, None),
            ("write_file", yes, none, None),
            ("write_file", no, yes, Some(Idempotent)),
            ("bash", yes, yes, None),
            ("bash", none, yes, None),
            ("run_tests", yes, yes, None),
            ("sleep", yes, yes, None),
            ("finish", yes, yes, None),
        ] {
            let hints = Hints { read_only_hint: read_only, idempotent_hint: idempotent };
            assert_eq!(super::effect(name, &hints), effect, "{name} {read_only:?} {idempotent:?}");
        }
    }

    #[test]
    fn unknown_members_of_a_tool_are_ignored() {
        let none = Declaration::new;
        for (more, expected) in [
            (json!({}), none()),
            (json!({ "annotations": { "readOnlyHint": true } }), none().effect(Effect::Reads)),
            (json!({ "annotations": { "destructiveHint": true, "openWorldHint": true } }), none()),
            (json!({ "annotations": { "readOnlyHint": "yes" } }), none()),
            (json!({ "annotations": null, "_meta": null }), none()),
            (json!({ "annotations": [true], "_meta": "x" }), none()),
            (json!({ "_meta": { "openrouter/loopKey": ["a", "b"] } }), none().key(["a", "b"])),
            (json!({ "_meta": { "openrouter/loopKey": false } }), none().exempt()),
            (json!({ "_meta": { "unstuck/key": false } }), none().exempt()),
            (
                json!({ "_meta": { "openrouter/loopKey": false, "unstuck/key": ["a"] } }),
                none().key(["a"]),
            ),
            (
                json!({ "_meta": { "openrouter/loopKey": ["a"], "unstuck/key": "b" } }),
                none().key(["a"]),
            ),
            (json!({ "_meta": { "openrouter/loopKey": [] } }), none()),
            (json!({ "_meta": { "openrouter/loopKey": true } }), none()),
            (json!({ "_meta": { "openrouter/loopKey": null } }), none()),
            (json!({ "_meta": { "openrouter/loopKey": ["a", 1] } }), none()),
            (json!({ "_meta": { "openrouter/loopKey": { "a": 1 } } }), none()),
        ] {
            let mut tool = json!({ "name": "gizmo", "inputSchema": { "type": "object" } });
            let members = more.as_object().expect("members").clone();
            tool.as_object_mut().expect("a tool").extend(members);
            assert_eq!(declared(&tool), expected, "{tool}");
        }
    }
}
