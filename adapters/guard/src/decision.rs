//! What the guard answers: a decision, its evidence, and the message for the model.

use std::borrow::Cow;
use std::fmt;

use unstuck_core::{Action, CallId, Finding, RuleIndex, Tool};

/// The name of a call for which an outcome may come. It belongs to the guard that gave it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    pub(crate) call: CallId,
    pub(crate) tool: Tool,
}

/// What to do now, and why.
///
/// Most of the time there is nothing to do, and the action is [`Action::Proceed`].
#[derive(Clone, Debug)]
#[must_use = "a decision that nobody looks at helps nobody"]
pub struct Decision {
    pub(crate) action: Action,
    pub(crate) judged: Action,
    pub(crate) ticket: Option<Ticket>,
    pub(crate) found: Option<Found>,
    pub(crate) message: Option<Message>,
}

impl Decision {
    /// Go on.
    pub(crate) const PROCEED: Self = Self {
        action: Action::Proceed,
        judged: Action::Proceed,
        ticket: None,
        found: None,
        message: None,
    };

    /// What was decided before on an event that comes again: the call stays blocked.
    pub(crate) fn again(self) -> Self {
        let said = "It is blocked, for the reason that was given: do not retry it.";
        let (action, message) = (Action::Block, Some(Message::new(said.to_owned())));
        Self { action, judged: action, message, ..self }
    }

    /// The one that asks for more; of two that ask for the same, the one that says more.
    pub(crate) fn or_stronger(self, other: Self) -> Self {
        let rank = |decision: &Self| {
            (decision.action, decision.judged, decision.message.is_some(), decision.found.is_some())
        };
        if rank(&other) > rank(&self) { other } else { self }
    }

    /// What to do. [`Action::Proceed`] while the guard only observes.
    pub const fn action(&self) -> Action {
        self.action
    }

    /// What the guard would do if it did not only observe.
    pub const fn judged(&self) -> Action {
        self.judged
    }

    /// The name of the call, for its outcome. A decision on anything else than a call has none.
    pub const fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }

    /// The evidence, where there is any.
    pub const fn found(&self) -> Option<&Found> {
        self.found.as_ref()
    }

    /// What to tell the model: once for each rung of a ladder, and whenever a call is blocked or
    /// the run is to end.
    pub const fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// The text of a tool result in place of that of the call that was blocked.
    pub fn refusal(&self) -> String {
        self.message()
            .map_or_else(|| format!("{SIGN} This call was not run."), Message::tool_result)
    }

    /// `result` as the model is to read it: with the message behind it, if there is one.
    pub fn annotate<'r>(&self, result: impl Into<Cow<'r, str>>) -> Cow<'r, str> {
        let result = result.into();
        match self.message() {
            Some(message) if result.is_empty() => message.note().into(),
            Some(message) => format!("{result}\n\n{}", message.note()).into(),
            None => result,
        }
    }

    /// Whether the call that was announced must not run: it is blocked, or the run ends here.
    pub fn is_blocked(&self) -> bool {
        self.action >= Action::Block
    }

    /// Whether the run ends here, or starts over.
    pub fn ends_the_run(&self) -> bool {
        self.action >= Action::StartOver
    }
}

/// The evidence for a decision, with the names that a person knows. It holds no arguments and no
/// results.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The name of the rule.
    pub rule: &'static str,
    /// The name of the tool of the last call; empty for text.
    pub tool: String,
    /// The names of the tools of one lap of a cycle, in the order of the calls. Empty for other
    /// findings.
    pub lap: Vec<String>,
    /// What the rule asks for.
    pub action: Action,
    /// Whether it asks for that since just now.
    pub fresh: bool,
    /// Kind, period, laps, calls, loop id and confidence.
    pub finding: Finding,
    /// How many workers the loop is of: 1, unless a swarm is stuck together.
    pub workers: u32,
    /// What the swarm says, where it is the swarm that says it.
    #[cfg(feature = "swarm")]
    pub swarm: Option<unstuck_swarm::Finding>,
}

impl Found {
    /// Whether a swarm is stuck together, and not this worker alone.
    pub fn is_of_swarm(&self) -> bool {
        self.finding.rule == RuleIndex::ELSEWHERE
    }
}

impl fmt::Display for Found {
    /// One line for a log: `same-effect: streak of 3 of `bash`, loop 9f0c5e8b2a7d4411`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { kind, laps, period, loop_id, .. } = self.finding;
        write!(f, "{}: ", self.rule)?;
        match period {
            0 | 1 => write!(f, "{kind} of {laps}")?,
            _ => write!(f, "{kind} of {period}, {laps} laps")?,
        }
        if !self.tool.is_empty() {
            write!(f, " at `{}`", self.tool)?;
        }
        if self.is_of_swarm() {
            write!(f, " by {} workers", self.workers)?;
        }
        write!(f, ", loop {loop_id}")
    }
}

/// What to tell the model, ready to send.
///
/// It is made of the guard's own words, the tool's name and numbers; arguments and results are not
/// echoed, so that nothing that a web page said comes back as an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub(crate) text: String,
}

/// What every message begins with, so that the model knows who speaks.
pub const SIGN: &str = "[unstuck]";

impl Message {
    pub(crate) fn new(text: String) -> Self {
        Self { text }
    }

    /// What `found` says to the model.
    pub(crate) fn of(found: &Found) -> Self {
        #[cfg(feature = "swarm")]
        if let Some(swarm) = &found.swarm {
            return Self::new(swarm.nudge(found.action, &found.tool).to_string());
        }
        let lap: Vec<&str> = found.lap.iter().map(String::as_str).collect();
        Self::new(found.finding.nudge(found.action, &found.tool).lap(&lap).to_string())
    }

    /// The words alone.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a tool result in place of that of a call that was blocked.
    pub fn tool_result(&self) -> String {
        format!("{SIGN} This call was not run. {}", self.text)
    }

    /// The text of a user message, or what to append to the result of a call that ran.
    pub fn note(&self) -> String {
        format!("{SIGN} {}", self.text)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
