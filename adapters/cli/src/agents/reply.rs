//! The reply of a hook, before an agent's wire encodes it.

use serde::{Deserialize, Serialize};
use unstuck::{Action, Decision, Evidence, SIGN, Share, Wording};
use unstuck_report::redact::masked;

use crate::output::what_was_found;

/// The reply to one event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reply {
    #[default]
    Nothing,
    /// Gives the model this text; the run goes on.
    Tell(String),
    /// Refuses the call.
    Refuse(Words),
    /// Asks the person, with this line, whether the call may run. Only for agents that can ask.
    Ask(String),
    /// Ends the turn. The user reads the reason. An agent whose turn no hook can end refuses the call
    /// instead.
    Stop(Words),
    /// Starts over before the next call, because of what was found: this text for the person. No wire sees it.
    StartOver(String),
}

/// The words of a reply that the user should see, too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Words {
    /// The text that the model reads.
    pub(crate) model: String,
    /// One line for the user, for agents that show it.
    pub(crate) person: String,
}

impl Reply {
    /// The reply to a call that has not run yet, for an agent whose turn a hook can end or cannot.
    pub(crate) fn before(decision: &Decision, ends_turn: bool) -> Self {
        let words = |what| Words {
            model: for_model(&decision.refusal()),
            person: person(what, decision.evidence()),
        };
        match (decision.action(), decision.message()) {
            (_, None) => Self::Nothing,
            (Action::StartOver, Some(_)) => Self::start_over(decision),
            (Action::Stop, Some(_)) if ends_turn => Self::Stop(words(ENDED)),
            (Action::Stop, Some(_)) => Self::Stop(words(REFUSED)),
            (Action::Block, Some(_)) => Self::Refuse(words(REFUSED)),
            (_, Some(message)) => Self::Tell(for_model(&message.note())),
        }
    }

    /// The reply to anything that has happened. It is too late to refuse that call; the next one can be.
    pub(crate) fn after(decision: &Decision) -> Self {
        let Some(message) = decision.message() else { return Self::Nothing };
        let model = for_model(&message.note());
        match decision.action() {
            Action::StartOver => Self::start_over(decision),
            Action::Stop => Self::Stop(Words { model, person: person(ENDED, decision.evidence()) }),
            _ => Self::Tell(model),
        }
    }

    /// The reply if the user has allowed to start over. Without that a hook stops instead.
    fn start_over(decision: &Decision) -> Self {
        Self::StartOver(decision.evidence().map(what_was_found).unwrap_or_default())
    }

    /// The reply to a call that the agent did not announce. The next such call will not be announced
    /// either, so that no refusal is promised.
    pub(crate) fn unannounced(decision: &Decision, wording: Wording) -> Self {
        match (decision.action(), decision.evidence(), decision.message()) {
            (Action::Block, Some(evidence), Some(_)) if !evidence.is_of_swarm() => {
                let warning = evidence.finding.nudge(Action::Warn, &evidence.tool).to_string();
                let warning = wording.of(warning, &evidence.tool);
                Self::Tell(for_model(&format!("{SIGN} {warning}")))
            }
            _ => Self::after(decision),
        }
    }

    /// The refusal of a call because of `evidence`, which counts that call.
    pub(crate) fn refused(evidence: &Evidence, wording: Wording) -> Self {
        let nudge = evidence.finding.nudge(Action::Block, &evidence.tool).to_string();
        let nudge = wording.of(nudge, &evidence.tool);
        let model = for_model(&format!("{SIGN} This call was not run. {nudge}"));
        Self::Refuse(Words { model, person: person(REFUSED, Some(evidence)) })
    }

    /// The question whether a call may run that would be refused because of `evidence`.
    pub(crate) fn question(evidence: &Evidence) -> Self {
        let why = what_was_found(evidence);
        Self::Ask(format!(
            "{SIGN} This looks like a loop: {why}. Let it run? You are asked about this loop once."
        ))
    }

    /// Adds a sentence for the model. A run that ends leaves nothing to mend.
    pub(crate) fn with(mut self, clue: Option<&str>) -> Self {
        if let (Self::Tell(text) | Self::Refuse(Words { model: text, .. }), Some(clue)) =
            (&mut self, clue)
        {
            text.push(' ');
            text.push_str(&for_model(clue));
        }
        self
    }

    /// The reply to a call for which nothing is left of a limit. It ends the turn if the model insists.
    pub(crate) fn over_budget(share: &Share, ends_turn: bool) -> Self {
        let model = format!("{SIGN} This call was not run. {}", share.refusal());
        let what = if ends_turn { ENDED } else { REFUSED };
        let words = Words { model, person: format!("{SIGN} {what}: {share} are spent.") };
        if ends_turn { Self::Stop(words) } else { Self::Refuse(words) }
    }

    /// The question whether a call may run for which nothing is left of a limit.
    pub(crate) fn question_of_budget(share: &Share) -> Self {
        Self::Ask(format!("{SIGN} {share} are spent. Go on? You are asked about this limit once."))
    }

    /// Returns the reply with a note about a budget, unless the agent reads more than a note already.
    pub(crate) fn with_note(self, note: &str) -> Self {
        match self {
            Self::Nothing => Self::Tell(format!("{SIGN} {note}")),
            Self::Tell(text) => Self::Tell(format!("{text} {note}")),
            other => other,
        }
    }

    /// Returns whether the call does not run.
    pub(crate) const fn is_refusal(&self) -> bool {
        matches!(self, Self::Refuse(_) | Self::Stop(_))
    }

    /// Returns the more severe of two replies, or this one.
    pub(crate) fn or(self, other: Self) -> Self {
        if other.severity() > self.severity() { other } else { self }
    }

    /// Returns the rank of the reply: a stronger one replaces a weaker one that is still pending.
    pub(crate) const fn severity(&self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Tell(_) => 1,
            Self::Ask(_) | Self::Refuse(_) => 2,
            Self::Stop(_) | Self::StartOver(_) => 3,
        }
    }
}

/// Returns a text for a model. It names tools, and their names come from others.
fn for_model(text: &str) -> String {
    masked(text).into_owned()
}

/// What the user reads that the program did.
const REFUSED: &str = "Refused a call";
const ENDED: &str = "Ended the turn";

/// Returns the line for the user.
fn person(what: &str, evidence: Option<&Evidence>) -> String {
    let why = evidence.map_or_else(|| "it came back after a stop".to_owned(), what_was_found);
    format!("{SIGN} {what}: {why}. See: unstuck status")
}

/// A reply as the text that an agent reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Encoded {
    /// The whole reply. An empty text means silence.
    Whole(String),
    /// The part that this event has a place for. The whole reply has to be given again at a later event.
    Partial(String),
}
