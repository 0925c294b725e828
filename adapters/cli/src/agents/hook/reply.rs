//! What a hook has to say, before it is put in the words of an agent's wire.

use serde::{Deserialize, Serialize};
use unstuck::{Action, Decision, Message};

/// What a hook has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Reply {
    #[default]
    Nothing,
    /// The model is told this, and goes on.
    Tell(String),
    /// The call does not run, and the model is told this in place of a result.
    Refuse(String),
    /// The run ends, and whoever watches it is told this.
    Stop(String),
}

impl Reply {
    /// To a call that is asked for.
    pub(super) fn before(decision: &Decision) -> Self {
        match (decision.action(), decision.message()) {
            (_, None) => Self::Nothing,
            (Action::StartOver | Action::Stop, Some(message)) => Self::Stop(message.note()),
            (Action::Block, Some(_)) => Self::Refuse(decision.refusal()),
            (_, Some(message)) => Self::Tell(message.note()),
        }
    }

    /// To anything that has happened: that call is not to be refused any more, but the next.
    pub(super) fn after(decision: &Decision) -> Self {
        let told = decision.message().map(Message::note);
        match decision.action() {
            Action::StartOver | Action::Stop => told.map_or(Self::Nothing, Self::Stop),
            _ => told.map_or(Self::Nothing, Self::Tell),
        }
    }

    /// How much it asks for.
    pub(super) const fn severity(&self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Tell(_) => 1,
            Self::Refuse(_) => 2,
            Self::Stop(_) => 3,
        }
    }
}

/// A reply in the words of a wire.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// All of it was said; nothing, with an empty text.
    Whole(String),
    /// The event has no place for all of it: this was said, and the reply is to be given again.
    InPart(String),
}
