//! The text of an agent's settings: finding, adding and removing this program's entries.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, common, parse_to_ast};
use unstuck_report::mistake::Mistake;

use super::line::Line;
use super::splice::{Container, Json, Layout, appended, removed, spliced};
use crate::agents::hooks::{Form, HookEvent, Hooks, Matcher, Shape};

/// The member of the settings that lists hooks.
const HOOKS: &str = "hooks";

/// The member of an entry that lists the arguments of its program.
const ARGS: &str = "args";

/// The member that names the version of a file with the shape [`Shape::Flat`], and that version.
const VERSION: (&str, Json) = ("version", Json::Number(1));

/// The text of new settings.
const NOTHING: &str = "{}\n";

/// The byte order mark that some editors write, which is not part of the JSON.
const BOM: char = '\u{feff}';

/// The matchers that match everything.
const EVERYTHING: [&str; 3] = ["", "*", ".*"];

/// An entry of the settings that runs this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) event: String,
    pub(crate) line: Line,
    /// The `command` member, as it is written.
    pub(crate) command: String,
    /// The entry has an `args` member for the arguments.
    pub(crate) has_args: bool,
    /// The `matcher` of its group, unless that matches everything.
    pub(crate) matcher: Option<String>,
    /// The indices that lead to the entry: of the hooks in the settings, the event in the hooks, and the group in the
    /// event's list. Then of the list in the group, and the entry in the list, unless the entry is in no group.
    path: Vec<usize>,
}

impl Entry {
    /// The entry for a plugin, which runs `line` without a shell at every event.
    pub(crate) fn of_plugin(line: Line) -> Self {
        let (event, command) = ("every event".to_owned(), line.program.clone());
        Self { event, line, command, has_args: true, matcher: None, path: Vec::new() }
    }

    /// Returns the indices of its group in the event, and of the entry in that group.
    pub(crate) fn position(&self) -> [usize; 2] {
        [2, 4].map(|level| self.path.get(level).copied().unwrap_or_default())
    }

    fn shape(&self) -> Shape {
        if self.path.len() > 3 { Shape::Grouped } else { Shape::Flat }
    }
}

/// Returns `settings` with one entry for `line` at each event of `hooks`, and at no other event.
pub(crate) fn installed(settings: &str, hooks: &Hooks, line: &Line) -> Result<String, Mistake> {
    let (bom, mut text) = without_bom(settings);
    if span(&read(&text)?).is_empty() {
        // Settings without a value may hold comments, which are kept.
        let remarks = text.trim_end().len();
        text.replace_range(remarks.., if remarks > 0 { "\n" } else { "" });
        text.push_str(NOTHING);
    }
    for event in hooks.events {
        text = listing(text, event.name)?;
    }
    while let Some(entry) = superfluous(&text, hooks)? {
        text = without(&text, &entry, Emptied::Events)?;
    }
    if hooks.shape == Shape::Flat {
        text = with_version(&text)?;
    }
    for event in hooks.events {
        let entries = entries(&text)?;
        text = match entries.into_iter().find(|entry| entry.event == event.name) {
            Some(entry) => updated(&text, &entry, hooks, event, line)?,
            None => with_group(&text, event.name, group(event, hooks, line))?,
        };
    }
    Ok(format!("{bom}{text}"))
}

/// Returns the item of the event's list that runs `line`.
fn group(event: &HookEvent, hooks: &Hooks, line: &Line) -> Json {
    let entry = Json::Object(line.members(hooks, event));
    if hooks.shape == Shape::Flat {
        return entry;
    }
    let every = (event.matcher == Matcher::Every).then(|| ("matcher", Json::text("*")));
    Json::Object(every.into_iter().chain([(HOOKS, Json::List(vec![entry]))]).collect())
}

/// Returns `settings` without the entries of this program, and without the groups, events and hooks that
/// would be empty without them.
pub(crate) fn uninstalled(settings: &str) -> Result<String, Mistake> {
    let (bom, mut text) = without_bom(settings);
    while let Some(entry) = entries(&text)?.pop() {
        text = without(&text, &entry, Emptied::All)?;
        if entry.shape() == Shape::Flat {
            text = without_version(&text)?;
        }
    }
    Ok(format!("{bom}{text}"))
}

/// Returns the entries of this program in `settings`, in their order.
pub(crate) fn listed(settings: &str) -> Result<Vec<Entry>, Mistake> {
    entries(&without_bom(settings).1)
}

/// Returns the value of the settings, or `None` if they cannot be read. The last of two members with the
/// same name counts.
pub(crate) fn meaning(settings: &str) -> Option<serde_json::Value> {
    let (_, text) = without_bom(settings);
    let root = read(&text).ok().filter(|root| !span(root).is_empty())?;
    Some(converted(&Value::Object(root)))
}

fn converted(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::StringLit(text) => text.value.as_ref().into(),
        // A number that does not fit becomes `null`.
        Value::NumberLit(number) => serde_json::from_str(number.value).unwrap_or_default(),
        Value::BooleanLit(truth) => truth.value.into(),
        Value::NullKeyword(_) => serde_json::Value::Null,
        Value::Array(list) => list.elements.iter().map(converted).collect(),
        Value::Object(object) => {
            let members = object.properties.iter();
            members.map(|one| (one.name.as_str().to_owned(), converted(&one.value))).collect()
        }
    }
}

/// Splits off the byte order mark.
fn without_bom(settings: &str) -> (&str, String) {
    let text = settings.trim_start_matches(BOM);
    (&settings[..settings.len() - text.len()], text.to_owned())
}

/// Parses the settings, which are one object. Without any value they are an object that takes no place.
fn read(text: &str) -> Result<Object<'_>, Mistake> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let range = error.range();
        Mistake::new(range.start..range.end, format!("not JSON: {}", error.kind()))
    })?;
    match parsed.value {
        Some(Value::Object(root)) => Ok(root),
        Some(other) => Err(wrong(&other, "expected an object, {…}")),
        None => Ok(Object { range: common::Range { start: 0, end: 0 }, properties: Vec::new() }),
    }
}

fn wrong(place: &impl Ranged, what: impl Into<String>) -> Mistake {
    Mistake::new(span(place), what)
}

fn span(place: &impl Ranged) -> Range<usize> {
    place.start()..place.end()
}

fn members(object: &Object<'_>) -> Container {
    Container { range: span(object), members: object.properties.iter().map(span).collect() }
}

fn items(array: &Array<'_>) -> Container {
    Container { range: span(array), members: array.elements.iter().map(span).collect() }
}

/// Returns the member with this name, or an error if there are two.
fn only<'o, 't>(object: &'o Object<'t>, name: &str) -> Result<Option<&'o ObjectProp<'t>>, Mistake> {
    let mut found = object.properties.iter().filter(|member| member.name.as_str() == name);
    let first = found.next();
    match found.next() {
        Some(second) => {
            Err(wrong(&second.name, format!("a second {name:?} hides the first one: merge them")))
        }
        None => Ok(first),
    }
}

/// Returns `text` with a version if it has no member yet.
fn with_version(text: &str) -> Result<String, Mistake> {
    let (root, (name, version)) = (read(text)?, VERSION);
    if root.properties.is_empty() {
        return Ok(appended(text, &members(&root), Some(name), &version));
    }
    Ok(text.to_owned())
}

/// Returns `text` without its version if it has no other member.
fn without_version(text: &str) -> Result<String, Mistake> {
    let (root, (name, _)) = (read(text)?, VERSION);
    Ok(match &root.properties[..] {
        [only] if only.name.as_str() == name => removed(text, &members(&root), 0),
        _ => text.to_owned(),
    })
}

/// Checks that a group can be added at `event`. A `null` in place of a list of hooks is removed.
fn listing(text: String, event: &str) -> Result<String, Mistake> {
    let root = read(&text)?;
    let Some(hooks) = only(&root, HOOKS)? else { return Ok(text) };
    let (object, null) = match &hooks.value {
        Value::NullKeyword(_) => (&root, hooks),
        Value::Object(events) => match only(events, event)? {
            Some(groups) if groups.value.as_null_keyword().is_some() => (events, groups),
            Some(groups) if groups.value.as_array().is_none() => {
                let what = format!("expected a list, […], of the hooks of {event}");
                return Err(wrong(&groups.value, what));
            }
            _ => return Ok(text),
        },
        other => return Err(wrong(other, "expected an object with a list for each event")),
    };
    let index = object.properties.iter().position(|member| span(member) == span(null));
    Ok(index.map_or_else(|| text.clone(), |index| removed(&text, &members(object), index)))
}

/// Returns `text` with the new group `group` at an event.
fn with_group(text: &str, event: &'static str, group: Json) -> Result<String, Mistake> {
    let root = read(text)?;
    let Some(hooks) = only(&root, HOOKS)? else {
        let hooks = Json::Object(vec![(event, Json::List(vec![group]))]);
        return Ok(appended(text, &members(&root), Some(HOOKS), &hooks));
    };
    // `listing` has checked the types.
    let Some(hooks) = hooks.value.as_object() else { return Ok(text.to_owned()) };
    let Some(groups) = only(hooks, event)? else {
        return Ok(appended(text, &members(hooks), Some(event), &Json::List(vec![group])));
    };
    let groups = groups.value.as_array();
    Ok(groups
        .map_or_else(|| text.to_owned(), |groups| appended(text, &items(groups), None, &group)))
}

/// Returns `text` with `entry` changed to run `line`. Its other members stay.
fn updated(
    text: &str,
    entry: &Entry,
    hooks: &Hooks,
    event: &HookEvent,
    line: &Line,
) -> Result<String, Mistake> {
    let is_spelled_otherwise = !entry.has_args && line.is_spelled(&entry.command, hooks.form);
    let mut text = text.to_owned();
    while hooks.form != Form::Exec
        && let Some(less) = without_args(&text, entry)?
    {
        text = less;
    }
    for (name, wanted) in line.members(hooks, event) {
        // Another spelling that a shell reads as the same words stays.
        if name == "command" && is_spelled_otherwise {
            continue;
        }
        let root = read(&text)?;
        let object = value_at(&root, &entry.path).and_then(Value::as_object);
        if let Some(changed) = object.and_then(|object| with_member(&text, object, name, &wanted)) {
            text = changed;
        }
    }
    Ok(text)
}

/// Returns `text` without the first `args` of `entry`, whose agent takes one line. Returns `None` if it has none.
fn without_args(text: &str, entry: &Entry) -> Result<Option<String>, Mistake> {
    let root = read(text)?;
    let object = value_at(&root, &entry.path).and_then(Value::as_object);
    Ok(object.and_then(|object| {
        let args = object.properties.iter().position(|member| member.name.as_str() == ARGS)?;
        Some(removed(text, &members(object), args))
    }))
}

/// Returns `text` with `wanted` as this member of `object`, or `None` if it has that value already.
fn with_member(
    text: &str,
    object: &Object<'_>,
    name: &'static str,
    wanted: &Json,
) -> Option<String> {
    let Some(member) = last(object, name) else {
        return Some(appended(text, &members(object), Some(name), wanted));
    };
    let is_so = match (&member.value, wanted) {
        (Value::StringLit(text), Json::Text(wanted)) => text.value == *wanted,
        (Value::NumberLit(number), Json::Number(wanted)) => number.value == wanted.to_string(),
        (Value::Array(list), Json::Texts(wanted)) => texts(list).as_ref() == Some(wanted),
        _ => false,
    };
    (!is_so).then(|| spliced(text, span(&member.value), &wanted.json(&Layout::Line)))
}

/// Returns the strings of a list, or `None` if it holds anything else.
fn texts(list: &Array<'_>) -> Option<Vec<String>> {
    let texts = list.elements.iter();
    texts.map(|text| text.as_string_lit().map(|text| text.value.to_string())).collect()
}

/// The containers that are removed together with the last entry of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Emptied {
    /// The event's list.
    Events,
    /// The event's list, and the `hooks` member if that was its last event.
    All,
}

/// Returns `text` without `entry` and without the containers that held only this entry.
fn without(text: &str, entry: &Entry, emptied: Emptied) -> Result<String, Mistake> {
    let root = read(text)?;
    // The list of the entry's group, the groups of its event, the events, and the settings.
    for level in [4, 2, 1, 0] {
        let (around, index) = (entry.path.get(..level), entry.path.get(level));
        let container = around.and_then(|path| container_at(&root, path));
        let Some((container, index)) = container.zip(index) else { continue };
        let is_last = level == 0 || (level == 1 && emptied == Emptied::Events);
        if is_last || container.members.len() > 1 {
            return Ok(removed(text, &container, *index));
        }
    }
    Ok(text.to_owned())
}

/// Returns an entry that is not needed: it has another shape than the agent reads, the agent's hooks do not
/// include its event, or the event has another entry. An entry for all tools is kept rather than one for some, and else the first.
fn superfluous(text: &str, hooks: &Hooks) -> Result<Option<Entry>, Mistake> {
    let entries = entries(text)?;
    let kept = |event: &str| {
        let is_read = |entry: &&Entry| entry.event == event && entry.shape() == hooks.shape;
        let mut ours = entries.iter().filter(is_read);
        let for_all = ours.clone().find(|entry| entry.matcher.is_none());
        for_all.or_else(|| ours.next()).map(|entry| &entry.path)
    };
    let is_kept = |entry: &Entry| {
        let is_wanted = hooks.events.iter().any(|event| event.name == entry.event);
        is_wanted && kept(&entry.event) == Some(&entry.path)
    };
    Ok(entries.iter().find(|entry| !is_kept(entry)).cloned())
}

/// Returns the last member with this name, which is the one that counts.
fn last<'o, 't>(object: &'o Object<'t>, name: &str) -> Option<&'o ObjectProp<'t>> {
    object.properties.iter().rfind(|member| member.name.as_str() == name)
}

/// Returns the value that these indices lead to.
fn value_at<'o, 't>(root: &'o Object<'t>, path: &[usize]) -> Option<&'o Value<'t>> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(&root.properties.get(*first)?.value, |value, index| match value {
        Value::Object(object) => object.properties.get(*index).map(|member| &member.value),
        Value::Array(list) => list.elements.get(*index),
        _ => None,
    })
}

/// Returns the object or the list that these indices lead to.
fn container_at(root: &Object<'_>, path: &[usize]) -> Option<Container> {
    if path.is_empty() {
        return Some(members(root));
    }
    match value_at(root, path)? {
        Value::Object(object) => Some(members(object)),
        Value::Array(list) => Some(items(list)),
        _ => None,
    }
}

/// Returns the entries of this program, in their order.
fn entries(text: &str) -> Result<Vec<Entry>, Mistake> {
    let (root, mut entries) = (read(text)?, Vec::new());
    for (hooks, member) in root.properties.iter().enumerate() {
        let events = member.value.as_object().filter(|_| member.name.as_str() == HOOKS);
        for (event, member) in events.iter().flat_map(|all| &all.properties).enumerate() {
            let groups = member.value.as_array();
            for (group, value) in groups.iter().flat_map(|all| &all.elements).enumerate() {
                let Some(around) = value.as_object() else { continue };
                let (name, path) = (member.name.as_str(), [hooks, event, group]);
                let list = around.properties.iter().rposition(|one| one.name.as_str() == HOOKS);
                let list = list.and_then(|at| Some((at, around.properties[at].value.as_array()?)));
                let Some((at, list)) = list else {
                    entries.extend(entry_of_program(around, name, around, &path));
                    continue;
                };
                for (hook, value) in list.elements.iter().enumerate() {
                    let (entry, path) = (value.as_object(), [hooks, event, group, at, hook]);
                    entries.extend(entry.and_then(|it| entry_of_program(it, name, around, &path)));
                }
            }
        }
    }
    Ok(entries)
}

/// Reads the entry in a group at this event if it runs this program.
fn entry_of_program(
    entry: &Object<'_>,
    event: &str,
    group: &Object<'_>,
    path: &[usize],
) -> Option<Entry> {
    let member = |name| last(entry, name).map(|member| &member.value);
    let command = member("command")?.as_string_lit()?.value.to_string();
    let args = match member(ARGS) {
        Some(Value::NullKeyword(_)) | None => None,
        Some(args) => Some(texts(args.as_array()?)?),
    };
    let has_args = args.is_some();
    let line = Line::read(&command, args)?;
    let matcher = last(group, "matcher").and_then(|matcher| matcher.value.as_string_lit());
    let matcher = matcher.map(|matcher| matcher.value.to_string());
    let matcher = matcher.filter(|matcher| !EVERYTHING.contains(&&matcher[..]));
    let (event, path) = (event.to_owned(), path.to_vec());
    Some(Entry { event, line, command, has_args, matcher, path })
}
