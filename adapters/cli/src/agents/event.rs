//! What happens in a session, whichever agent tells of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// A field that may be anything, or absent.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// One event of one worker of a session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event<'a> {
    /// The event as its agent calls it.
    pub(crate) name: Cow<'a, str>,
    pub(crate) session: Cow<'a, str>,
    /// The subagent, if it is one's.
    pub(crate) subagent: Option<Cow<'a, str>>,
    pub(crate) cwd: Option<Cow<'a, str>>,
    /// What all events between two prompts of the user have in common, where there is such.
    pub(crate) turn: Option<Cow<'a, str>>,
    pub(crate) kind: EventKind<'a>,
}

impl Event<'_> {
    /// Who did it: subagents share the session of the agent that started them.
    pub(crate) fn worker(&self) -> &str {
        self.subagent.as_deref().unwrap_or("main")
    }
}

/// What happens.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EventKind<'a> {
    /// A call is asked for.
    Before(Call<'a>),
    /// A call came to its end.
    After(Call<'a>, Ending<'a>),
    /// All calls that were issued together came to their ends.
    StepEnded,
    /// The user said something.
    Prompt(Cow<'a, str>),
    /// The agent hands back, and says this.
    HandedBack(Cow<'a, str>),
    /// The user broke off what was going on.
    Interrupted,
    /// The model's memory was compacted.
    Compacted,
    /// A conversation begins that knows nothing of any before.
    Began,
    /// The session is over.
    Ended,
    /// Something that tells nothing of loops.
    Other,
}

/// A call that an agent asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call<'a> {
    /// The agent's own name of the call, where there is one.
    pub(crate) id: Option<Cow<'a, str>>,
    pub(crate) tool: Cow<'a, str>,
    /// As JSON, without what a model words anew each time.
    pub(crate) args: Cow<'a, str>,
}

/// How a call came to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending<'a> {
    /// It has run.
    Answered { text: Cow<'a, str>, failed: bool },
    /// It was broken off, or never ran, for no fault of its own.
    Cancelled,
    /// Somebody refused it.
    Refused,
}

/// Why a payload is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BadPayload {
    /// It is not JSON, or a field is not what it should be: how, and at which byte.
    Json(&'static str, usize),
    /// This field is missing.
    Missing(&'static str),
}

impl From<serde_json::Error> for BadPayload {
    fn from(error: serde_json::Error) -> Self {
        // The error's own words may hold what is in the payload.
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

/// The field `name`, without which an event is none.
pub(crate) fn needed<T>(field: Option<T>, name: &'static str) -> Result<T, BadPayload> {
    field.ok_or(BadPayload::Missing(name))
}

/// The JSON of a field.
pub(crate) fn json(raw: Raw<'_>) -> &str {
    raw.map_or("null", RawValue::get)
}

/// The text of a field, if it is one.
pub(crate) fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    raw.and_then(unstuck_trace::text_of)
}

/// The JSON of an object without the members `left_out`; of anything else as it stands.
pub(crate) fn without<'a>(raw: Raw<'a>, left_out: &[&str]) -> Cow<'a, str> {
    let json = json(raw);
    let holds = |name: &&str| json.contains(&format!("\"{name}\""));
    if !json.starts_with('{') || !left_out.iter().any(holds) {
        return Cow::Borrowed(json);
    }
    let members: Result<BTreeMap<Cow<'_, str>, &RawValue>, _> = serde_json::from_str(json);
    let Ok(mut members) = members else { return Cow::Borrowed(json) };
    members.retain(|name, _| !left_out.contains(&name.as_ref()));
    serde_json::to_string(&members).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// The members of an object, as far as `T` names them; none of anything else.
pub(crate) fn members<'a, T: Deserialize<'a>>(raw: Raw<'a>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok().map(|Object(members)| members)
}

/// What is read of an object alone: `serde` would read a struct from an array, too.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(AnyObject(PhantomData)).map(Self)
    }
}

struct AnyObject<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for AnyObject<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
mod tests {
    use super::{BadPayload, without};

    #[test]
    fn members_are_left_out_of_objects_alone() {
        for (json, left) in [
            (r#"{"command":"ls","description":"List"}"#, r#"{"command":"ls"}"#),
            (r#"{"description":"List"}"#, "{}"),
            (r#"{"b":1,"a":{"description":2}}"#, r#"{"a":{"description":2},"b":1}"#),
            (r#"{ "b" : "x" }"#, r#"{ "b" : "x" }"#),
            (r#"["description"]"#, r#"["description"]"#),
            (r#""description""#, r#""description""#),
        ] {
            let raw = serde_json::from_str(json).expect("JSON");
            assert_eq!(without(Some(raw), &["description", "timeout"]), left);
        }
        assert_eq!(without(None, &["description"]), "null");
    }

    #[test]
    fn an_error_says_nothing_of_what_the_payload_holds() {
        let error = serde_json::from_str::<u8>("\"a secret\"").expect_err("no number");
        let bad = BadPayload::from(error);
        assert_eq!(bad.to_string(), "bad payload: a field is not of its type, column 10");
    }
}
