//! The reply of a hook, before an agent's wire encodes it.

use serde::{Deserialize, Serialize};
use unstuck::{Action, Decision, Message};

/// The reply to one event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reply {
    #[default]
    Nothing,
    /// Gives the model this text; the run goes on.
    Tell(String),
    /// Refuses the call. The model reads this text in place of a result.
    Refuse(String),
    /// Ends the run. The user reads this text.
    Stop(String),
}

impl Reply {
    /// The reply to a call that has not run yet.
    pub(crate) fn before(decision: &Decision) -> Self {
        match (decision.action(), decision.message()) {
            (_, None) => Self::Nothing,
            (Action::StartOver | Action::Stop, Some(message)) => Self::Stop(message.note()),
            (Action::Block, Some(_)) => Self::Refuse(decision.refusal()),
            (_, Some(message)) => Self::Tell(message.note()),
        }
    }

    /// The reply to anything that has happened. It is too late to refuse that call; the next one can be.
    pub(crate) fn after(decision: &Decision) -> Self {
        let note = decision.message().map(Message::note);
        match decision.action() {
            Action::StartOver | Action::Stop => note.map_or(Self::Nothing, Self::Stop),
            _ => note.map_or(Self::Nothing, Self::Tell),
        }
    }

    /// Returns the rank of the reply: a stronger one replaces a weaker one that is still pending.
    pub(crate) const fn severity(&self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Tell(_) => 1,
            Self::Refuse(_) => 2,
            Self::Stop(_) => 3,
        }
    }
}

/// A reply as the text that an agent reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Encoded {
    /// The whole reply. An empty text means silence.
    Whole(String),
    /// The part that this event has a place for. The whole reply has to be given again at a later event.
    Partial(String),
}
