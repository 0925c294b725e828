//! The wire between this program and its plugins.
//!
//! A payload is an object with the members of [`Payload`]. The answer is an object with one of `tell`,
//! `refuse` and `stop`, each with the text for the model, and with `person`, a line for the user.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use unstuck::SIGN;
use unstuck_trace::opencode_tool;

use crate::agents::event::{BadPayload, Call, Ending, Event, EventKind, Raw, json, needed, text};
use crate::agents::reply::{Encoded, Reply, Words};

/// A call that is about to run.
pub(crate) const SAMPLE: &str = concat!(
    r#"{"event":"before","session":"unstuck-doctor","cwd":"/","#,
    r#""call":"call_unstuck_doctor","tool":"bash","args":{"command":"true"}}"#,
);

/// The beginnings of the errors of calls that the user or a rule of the agent refused.
const REFUSED: [&str; 2] =
    ["The user rejected permission to use", "The user has specified a rule which prevents you"];

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Payload<'a> {
    /// The kind of event.
    event: Option<Cow<'a, str>>,
    session: Option<Cow<'a, str>>,
    /// The id of the subagent's session, whose parent is `session`.
    subagent: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    /// The id of the call.
    call: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    args: Raw<'a>,
    /// The result of the call, or its error.
    output: Raw<'a>,
    #[serde(default)]
    failed: bool,
    #[serde(default)]
    cancelled: bool,
    /// The exit code of a command.
    exit: Raw<'a>,
    /// The text of a message.
    text: Raw<'a>,
}

/// Reads a payload.
pub(crate) fn decode(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    let payload: Payload<'_> = serde_json::from_slice(payload)?;
    let name = needed(payload.event.clone(), "event")?;
    let kind = match name.as_ref() {
        "before" => EventKind::Before(payload.call()?),
        "after" => EventKind::After(payload.call()?, payload.ending()),
        "prompt" => EventKind::Prompt(text(payload.text).unwrap_or_default()),
        "idle" => EventKind::HandedBack(text(payload.text).unwrap_or_default()),
        "interrupted" => EventKind::Interrupted,
        "compacted" => EventKind::Compacted,
        "began" => EventKind::Began,
        "ended" => EventKind::Ended,
        _ => EventKind::Other,
    };
    Ok(Event {
        model: None,
        transcript: None,
        name,
        session: needed(payload.session, "session")?,
        subagent: payload.subagent,
        cwd: payload.cwd,
        turn: None,
        kind,
    })
}

impl<'a> Payload<'a> {
    fn call(&self) -> Result<Call<'a>, BadPayload> {
        let args = Cow::Borrowed(json(self.args));
        let tool = opencode_tool(needed(self.tool.clone(), "tool")?, &args);
        Ok(Call { id: self.call.clone(), tool, args })
    }

    fn ending(&self) -> Ending<'a> {
        let text = text(self.output).unwrap_or_default();
        let exit = self.exit.and_then(|exit| exit.get().parse::<i64>().ok());
        let failed = self.failed || exit.is_some_and(|exit| exit != 0);
        // The error of a call that this program has refused is what it said.
        let is_refused = |text: &str| REFUSED.iter().chain([&SIGN]).any(|by| text.starts_with(by));
        match text {
            _ if self.cancelled => Ending::Cancelled,
            _ if self.output.is_none() && self.exit.is_none() && !failed => Ending::Untold,
            text if failed && is_refused(&text) => Ending::Refused,
            text => Ending::Answered { text, failed },
        }
    }
}

/// Writes a reply as the plugins read it.
pub(crate) fn encode(reply: &Reply, event: &Event<'_>) -> Encoded {
    let answer =
        |what: &str, Words { model, person }: &Words| json!({ what: model, "person": person });
    Encoded::Whole(match (reply, &event.kind) {
        // At the end of a turn there is nothing left to stop.
        (Reply::Nothing, _) | (Reply::Stop(_), EventKind::HandedBack(_)) => String::new(),
        (Reply::Tell(text), EventKind::After(..)) => json!({ "tell": text }).to_string(),
        (Reply::Refuse(words), EventKind::Before(_)) => answer("refuse", words).to_string(),
        (Reply::Stop(words), EventKind::Before(_) | EventKind::After(..)) => {
            answer("stop", words).to_string()
        }
        _ => return Encoded::Partial(String::new()),
    })
}
