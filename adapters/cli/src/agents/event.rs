//! The events of a session, in a form that is the same for every agent.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;
use unstuck_core::Digest;

/// A field that may be anything, or absent.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// One event of one worker of a session.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    /// The event as its agent calls it.
    pub(crate) name: Cow<'a, str>,
    pub(crate) session: Cow<'a, str>,
    /// The subagent's id, if a subagent caused the event.
    pub(crate) subagent: Option<Cow<'a, str>>,
    pub(crate) cwd: Option<Cow<'a, str>>,
    /// The agent's name of the model, if the payload tells it.
    pub(crate) model: Option<Cow<'a, str>>,
    /// The path of the session's transcript, for agents whose transcript tells more than their events.
    pub(crate) transcript: Option<Cow<'a, str>>,
    /// An id that all events between two prompts of the user share, if the agent has one.
    pub(crate) turn: Option<Cow<'a, str>>,
    pub(crate) kind: EventKind<'a>,
}

impl Event<'_> {
    /// Shortens the ids, the model's name and the folder that are stored if they are absurdly long, so that they do not fill
    /// the state.
    pub(crate) fn bounded(mut self) -> Self {
        let ids = [Some(&mut self.session), self.subagent.as_mut(), self.model.as_mut()];
        let ids = ids.into_iter().flatten();
        ids.for_each(|id| bound(id, ID_MAX));
        self.cwd.iter_mut().for_each(|folder| bound(folder, FOLDER_MAX));
        let calls: &mut dyn Iterator<Item = &mut Call<'_>> = match &mut self.kind {
            EventKind::Before(call) | EventKind::After(call, _) => &mut std::iter::once(call),
            EventKind::CallsEnded(calls) | EventKind::StepEnded(calls) => {
                &mut calls.iter_mut().map(|listed| &mut listed.call)
            }
            _ => &mut std::iter::empty(),
        };
        calls.filter_map(|call| call.id.as_mut()).for_each(|id| bound(id, ID_MAX));
        self
    }

    /// Returns the name of the worker. Subagents share the session of the agent that started them.
    pub(crate) fn worker(&self) -> &str {
        self.subagent.as_deref().unwrap_or("main")
    }
}

/// The longest id of a session, a subagent or a call, in bytes. Agents give ids of at most a hundred.
const ID_MAX: usize = 256;

/// The longest name of a folder, in bytes: the longest path of most systems.
const FOLDER_MAX: usize = 4096;

/// Shortens `text` to `max` bytes, the last of which are a digest of the whole.
fn bound(text: &mut Cow<'_, str>, max: usize) {
    if text.len() > max {
        let digest = format!("~{:016x}", Digest::of(text.as_bytes()).bits());
        let mut end = max - digest.len();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        *text = Cow::Owned(text[..end].to_owned() + &digest);
    }
}

/// The kinds of events.
#[derive(Debug)]
pub(crate) enum EventKind<'a> {
    /// The model asks for a call, which has not run yet.
    Before(Call<'a>),
    /// A call has ended.
    After(Call<'a>, Ending<'a>),
    /// These calls have ended. Calls that the agent rejected may appear only here.
    CallsEnded(Vec<Listed<'a>>),
    /// All calls that the model issued together have ended: these, if the agent names them. Calls that
    /// the agent rejected may appear only here.
    StepEnded(Vec<Listed<'a>>),
    /// The user sent a message.
    Prompt(Cow<'a, str>),
    /// The agent ends its turn with this text.
    HandedBack(Cow<'a, str>),
    /// The user interrupted the turn.
    Interrupted,
    /// The model's memory was compacted.
    Compacted,
    /// A conversation without any memory begins.
    Began,
    /// The session is over.
    Ended,
    /// An event that does not matter for loops.
    Other,
}

/// A call of a tool.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call<'a> {
    /// The agent's id of the call, if it has one.
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) tool: Cow<'a, str>,
    /// The arguments as JSON.
    pub(crate) args: Cow<'a, str>,
}

/// A call in the list of a step that has ended.
#[derive(Debug)]
pub(crate) struct Listed<'a> {
    pub(crate) call: Call<'a>,
    /// The result as the agent gives it. Most calls had an event of their own, so that reading it would be
    /// in vain.
    pub(crate) result: Raw<'a>,
    pub(crate) read: fn(Raw<'_>) -> Ending<'_>,
}

impl<'a> Listed<'a> {
    /// Reads the end of the call.
    pub(crate) fn ending(&self) -> Ending<'a> {
        (self.read)(self.result)
    }
}

/// The end of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending<'a> {
    /// The call ran and has a result.
    Answered { text: Cow<'a, str>, failed: bool },
    /// The call has ended, and the payload has no result: nothing proves that it was the same as another.
    Untold,
    /// The call was interrupted or never ran, and that was not its own fault.
    Cancelled,
    /// The user or a rule of the agent refused the call.
    Refused,
}

/// The reason why a payload is not an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BadPayload {
    /// The payload is not JSON, or a field has the wrong type. The number is the byte of its line.
    Json(&'static str, usize),
    /// This field is missing.
    Missing(&'static str),
}

impl From<serde_json::Error> for BadPayload {
    fn from(error: serde_json::Error) -> Self {
        // The text of the error may quote the payload, which must not get into the log.
        let how = match error.classify() {
            Category::Eof => "it breaks off",
            Category::Data => "a field is not of its type",
            Category::Syntax | Category::Io => "it is not JSON",
        };
        Self::Json(how, error.column())
    }
}

impl fmt::Display for BadPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(how, column) => write!(f, "bad payload: {how}, column {column}"),
            Self::Missing(field) => write!(f, "bad payload: it has no {field}"),
        }
    }
}

/// Returns the field `name`, or an error if it is missing.
pub(crate) fn needed<T>(field: Option<T>, name: &'static str) -> Result<T, BadPayload> {
    field.ok_or(BadPayload::Missing(name))
}

/// Returns the JSON of a field, or `null` if it is missing.
pub(crate) fn json(raw: Raw<'_>) -> &str {
    raw.map_or("null", RawValue::get)
}

/// Returns the text of a field if it is a string.
pub(crate) fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    raw.and_then(unstuck_trace::text_of)
}

/// Returns the text of a field if it is a string, and else its JSON.
pub(crate) fn shown(raw: Raw<'_>) -> Cow<'_, str> {
    text(raw).unwrap_or_else(|| Cow::Borrowed(json(raw)))
}

/// Returns the members of an object with these names. Returns `None` if the value is not an object.
pub(crate) fn fields<'a, const N: usize>(raw: Raw<'a>, names: [&str; N]) -> Option<[Raw<'a>; N]> {
    let members: Members<'_> = serde_json::from_str(raw?.get()).ok()?;
    Some(members.named(names))
}

/// Returns the members of an object in a line of JSON, like [`fields`].
pub(crate) fn fields_of<'a, const N: usize>(
    line: &'a str,
    names: [&str; N],
) -> Option<[Raw<'a>; N]> {
    serde_json::from_str::<Members<'_>>(line).ok().map(|members| members.named(names))
}

/// The members of an object. Their values are read where they are used.
#[derive(Deserialize)]
pub(crate) struct Members<'a>(#[serde(borrow)] BTreeMap<Name<'a>, Raw<'a>>);

/// The name of a member. Without escapes it needs no copy, which `serde` makes of a bare `Cow`.
#[derive(PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Members<'a> {
    /// Returns the members with these names, the last one if there are two. A member that is null is missing.
    pub(crate) fn named<const N: usize>(&self, names: [&str; N]) -> [Raw<'a>; N] {
        names.map(|name| self.0.get(name).copied().flatten())
    }
}

impl Borrow<str> for Name<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{BadPayload, Call, Event, EventKind, FOLDER_MAX, ID_MAX, json, shown};

    #[test]
    fn long_ids_become_short_and_stay_different() {
        let event = |id: &str| {
            let own = || Some(id.to_owned().into());
            let call = Call { id: own(), tool: "t".into(), args: "{}".into() };
            let event = Event {
                name: "".into(),
                session: id.to_owned().into(),
                subagent: own(),
                cwd: own(),
                model: own(),
                transcript: own(),
                turn: None,
                kind: EventKind::Before(call),
            };
            event.bounded()
        };
        let long = "é".repeat(FOLDER_MAX);
        let (one, other) = (event(&long), event(&format!("{long}x")));
        for event in [&one, &other] {
            let EventKind::Before(call) = &event.kind else { unreachable!("it is one") };
            let own = [&event.subagent, &event.model, &call.id].map(|id| id.as_ref().unwrap());
            let ids = [&[&event.session], &own[..]].concat();
            assert!(ids.iter().all(|id| id.len() <= ID_MAX && id.starts_with('é')), "{ids:?}");
            assert!(event.cwd.as_ref().is_some_and(|cwd| cwd.len() <= FOLDER_MAX));
        }
        assert_ne!(one.session, other.session);
        assert_ne!(format!("{:?}", one.kind), format!("{:?}", other.kind));
        assert_eq!(format!("{:?}", event(&long)), format!("{one:?}"));
        let usual = "é".repeat(ID_MAX / 2);
        assert_eq!(event(&usual).session, usual);
    }

    #[test]
    fn a_field_that_is_missing_is_null() {
        assert_eq!(json(None), "null");
        assert_eq!(shown(None), "null");
    }

    #[test]
    fn an_error_does_not_quote_the_payload() {
        let error = serde_json::from_str::<u8>("\"a secret\"").expect_err("no number");
        let bad = BadPayload::from(error);
        assert_eq!(bad.to_string(), "bad payload: a field is not of its type, column 10");
    }
}
