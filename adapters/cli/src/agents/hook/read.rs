//! The texts of an event, read before the state of its worker is locked: other hooks wait for that lock.

use memchr::memmem;
use unstuck::{Asked, Payload, Recipe, SIGN};
use unstuck_core::Digest;
use unstuck_trace::error_without_notes;

use crate::agents::Agent;
use crate::agents::event::{Call, Ending, Event, EventKind};

/// An event whose texts are read, as far as that needs no state.
pub(super) struct ReadEvent<'e> {
    pub(super) event: &'e Event<'e>,
    /// The call that is about to run or has ended.
    pub(super) call: Option<ReadCall<'e>>,
    /// The end of that call.
    pub(super) end: Option<End<'e>>,
    /// The digest of the user's message.
    pub(super) prompt: Option<Digest>,
    /// Whether the result has a note of this program: the call went through its proxy.
    pub(super) is_told: bool,
}

impl<'e> ReadEvent<'e> {
    /// Reads the texts of an event of `agent`, which came as `payload`, for a guard with this recipe.
    pub(super) fn of(agent: Agent, event: &'e Event<'e>, payload: &[u8], recipe: &Recipe) -> Self {
        let mut read = Self { event, call: None, end: None, prompt: None, is_told: false };
        match &event.kind {
            EventKind::Before(call) => read.call = Some(ReadCall::of(call).ahead(recipe)),
            EventKind::After(call, ending) => {
                let call = ReadCall::of(call).ahead(recipe);
                let mut end = End::of(ending);
                if let End::Answered(text, failed) = &mut end {
                    *failed = *failed || agent.host().tells_failure(event, call.call);
                    *text = text.clone().read_ahead(recipe, &call.asked, *failed);
                }
                (read.call, read.end) = (Some(call), Some(end));
                read.is_told = NOTES.iter().any(|note| memmem::find(payload, note).is_some());
            }
            EventKind::Prompt(text) => read.prompt = Some(Digest::of(text.as_bytes())),
            _ => {}
        }
        read
    }
}

/// A note behind a result, as a block of its own, and in a structured result: in JSON.
const NOTES: [&[u8]; 2] = [br"\n\n[unstuck] You", br#""[unstuck] "#];

/// A call with its digests.
pub(super) struct ReadCall<'e> {
    pub(super) call: &'e Call<'e>,
    /// The call as the guard takes it.
    pub(super) asked: Asked<'e>,
}

impl<'e> ReadCall<'e> {
    pub(super) fn of(call: &'e Call<'e>) -> Self {
        let asked = Asked::new(&call.tool, &*call.args);
        let asked = match &call.id {
            Some(id) => asked.id(id),
            None => asked,
        };
        Self { call, asked }
    }

    /// Makes the digests of the guard, too.
    fn ahead(self, recipe: &Recipe) -> Self {
        Self { asked: self.asked.read_ahead(recipe), ..self }
    }

    /// Returns the digest of the call without the arguments that only describe it.
    pub(super) fn digest(&self) -> Digest {
        Recipe::BALANCED.call(&self.call.tool, &self.call.args).digest()
    }
}

/// The end of a call, as the guard takes it.
pub(super) enum End<'e> {
    /// The result, and whether the call failed.
    Answered(Payload<'e>, bool),
    Untold,
    Cancelled,
    Refused,
}

impl<'e> End<'e> {
    pub(super) fn of(ending: &'e Ending<'e>) -> Self {
        match ending {
            // The proxy has refused it.
            Ending::Answered { text, failed: true } if is_refused(text) => Self::Refused,
            Ending::Answered { text, failed } => {
                Self::Answered(error_without_notes(text).into(), *failed)
            }
            Ending::Untold => Self::Untold,
            Ending::Cancelled => Self::Cancelled,
            Ending::Refused => Self::Refused,
        }
    }
}

/// Returns whether the proxy of this program has refused the call. Some agents write their own words before its own.
fn is_refused(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.starts_with(SIGN) || line.contains("[unstuck] This call was not run.")
}
