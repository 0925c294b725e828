//! The guard's answer: a decision, its evidence, and the message for the model.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, Finding, Kind, RuleIndex, Tool};
use unstuck_text::CauseKind;

use crate::payload::ToolOutput;
use crate::wording::Wording;

/// The largest number of blocked calls of one loop. The last of them ends the run: an agent that insists
/// on a refused call does not get out by itself, and each refusal costs a turn of the model. `balanced`
/// itself ends a streak at the third.
pub const BLOCKS_MAX: u8 = 5;

/// The name of an announced call, for its outcome. It is valid for the guard that issued it.
///
/// ```
/// use unstuck::{Guard, Ticket};
///
/// let mut guard = Guard::new();
/// let ticket: Option<Ticket> = guard.before("read_file", r#"{"path":"a.rs"}"#).ticket();
/// let _ = guard.after(ticket, "fn main() {}", false);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    pub(crate) call: unstuck_text::Ticket,
    pub(crate) tool: Tool,
}

/// Whether the host can end a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Possible,
    Impossible,
}

/// An action for the host, with the evidence for it.
///
/// Most decisions are [`Action::Proceed`], without evidence.
///
/// ```
/// use unstuck::{Action, Guard};
///
/// let mut guard = Guard::new();
/// let decision = guard.before("read_file", r#"{"path":"a.rs"}"#);
/// assert_eq!(decision.action(), Action::Proceed);
/// assert!(decision.evidence().is_none() && decision.message().is_none());
/// ```
#[derive(Clone, Debug)]
#[must_use = "the decision says whether to go on"]
pub struct Decision {
    pub(crate) action: Action,
    pub(crate) judged: Action,
    pub(crate) ticket: Option<Ticket>,
    pub(crate) evidence: Option<Evidence>,
    pub(crate) message: Option<Message>,
    /// Whether the decision is about a call that has run.
    pub(crate) has_run: bool,
    /// Whether someone else is asked.
    pub(crate) escalates: bool,
}

impl Decision {
    /// The decision to go on.
    pub(crate) const PROCEED: Self = Self::proceed(None);

    /// Creates the decision to go on with the call of `ticket`.
    #[inline]
    pub(crate) const fn proceed(ticket: Option<Ticket>) -> Self {
        Self {
            action: Action::Proceed,
            judged: Action::Proceed,
            ticket,
            evidence: None,
            message: None,
            has_run: false,
            escalates: false,
        }
    }

    /// Blocks a call that was blocked before, because its announcement has come again.
    pub(crate) fn again(self) -> Self {
        let text = "It is blocked, for the reason that was given: do not retry it.";
        let (action, message) = (Action::Block, Some(Message::new(text)));
        Self { action, judged: action, message, ..self }
    }

    /// Returns the decision with the stronger action. If both actions are equal, it returns the decision
    /// with a message or with evidence.
    pub(crate) fn or_stronger(self, other: Self) -> Self {
        let rank = |decision: &Self| {
            let (message, evidence) = (decision.message.is_some(), decision.evidence.is_some());
            (decision.action, decision.judged, message, evidence)
        };
        let escalates = self.escalates | other.escalates;
        let mut stronger = if rank(&other) > rank(&self) { other } else { self };
        stronger.escalates = escalates;
        stronger
    }

    /// Returns the action for the host. It is [`Action::Proceed`] while the guard only observes.
    pub const fn action(&self) -> Action {
        self.action
    }

    /// Returns the action that the guard asks for, or would ask for if it did not only observe.
    pub const fn judged(&self) -> Action {
        self.judged
    }

    /// Returns the name of the call, for its outcome. Only decisions about a call have one.
    pub const fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }

    /// Returns the evidence for the action, if there is any.
    pub const fn evidence(&self) -> Option<&Evidence> {
        self.evidence.as_ref()
    }

    /// Returns the message for the model. There is one at each new rung of a ladder, for each blocked
    /// call, and at the end of a run.
    pub const fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// Returns the text that a model reads in place of the result of a call that did not run. If the call
    /// has run, it returns the note alone, because "this call was not run" would be untrue.
    pub fn refusal(&self) -> String {
        match self.message() {
            None if self.has_run => format!("{SIGN} This call has run."),
            None => format!("{SIGN} This call was not run."),
            Some(message) if self.has_run => message.note(),
            Some(message) => message.refusal(),
        }
    }

    /// Returns `result` as the model is to read it: with the message appended, if there is one.
    pub fn annotate<'r>(&self, result: impl Into<Cow<'r, str>>) -> Cow<'r, str> {
        let result = result.into();
        match self.message() {
            Some(message) if result.is_empty() => message.note().into(),
            Some(Message { text }) => {
                let note = ["\n\n", SIGN, " ", text];
                let room = note.map(str::len).iter().sum();
                // The host's own buffer grows at most once.
                let mut annotated = match result {
                    Cow::Owned(result) => result,
                    Cow::Borrowed(result) => {
                        let mut copy = String::with_capacity(result.len().saturating_add(room));
                        copy.push_str(result);
                        copy
                    }
                };
                annotated.reserve(room);
                annotated.extend(note);
                annotated.into()
            }
            None => result,
        }
    }

    /// Returns the [refusal](Self::refusal) as the output of the call: a failure.
    pub fn refused(&self) -> ToolOutput {
        ToolOutput::failed(self.refusal())
    }

    /// Returns the output of a call that has run, with its text [annotated](Self::annotate). With the
    /// feature `json`, the output has the shape of each provider's tool result.
    ///
    /// ```
    /// # #[cfg(feature = "json")] {
    /// use unstuck::{Guard, ToolOutput};
    ///
    /// let mut guard = Guard::new();
    /// # let mut last = None;
    /// # for _ in 0..3 {
    /// let before = guard.before("read_file", r#"{"path":"src/mian.rs"}"#);
    /// let output = if before.is_blocked() {
    ///     before.refused()
    /// } else {
    ///     let output = ToolOutput::failed("no such file");
    ///     guard.after(before.ticket(), &output.text, output.failed).annotated(output)
    /// };
    /// let message = output.openai_tool_result("call_1");
    /// # last = Some(message);
    /// # }
    /// # let text = last.unwrap()["content"].to_string();
    /// # assert!(text.starts_with("\"no such file") && text.contains("[unstuck] You have made"));
    /// # }
    /// ```
    pub fn annotated(&self, output: ToolOutput) -> ToolOutput {
        ToolOutput { text: self.annotate(output.text).into_owned(), failed: output.failed }
    }

    /// Returns whether the announced call must not run: it is blocked, or the run ends here.
    pub fn is_blocked(&self) -> bool {
        self.action >= Action::Block
    }

    /// Returns whether the host should let someone else take the next turn, such as a stronger model or a person. It
    /// is so at the first decision to block a loop, as often as [`Builder::escalate`] allows; never if the run ends
    /// here.
    ///
    /// Such a decision is carried out like any other. [`Decision::question`] is what the other one is asked. If they
    /// say that this is no loop, the host calls [`Guard::silence`]; if the run should end, [`Guard::stop`].
    ///
    /// [`Builder::escalate`]: crate::Builder::escalate
    /// [`Guard::silence`]: crate::Guard::silence
    /// [`Guard::stop`]: crate::Guard::stop
    pub fn escalates(&self) -> bool {
        self.escalates && !self.ends_the_run()
    }

    /// Returns the question to the one who takes the next turn, if the decision [escalates](Self::escalates): what
    /// the other model was told, and what to do instead.
    pub fn question(&self) -> Option<String> {
        let message = self.message().filter(|_| self.escalates())?;
        Some([SIGN, " ", STUCK, &message.text, INSTEAD].concat())
    }

    /// Returns whether the run ends here, or starts over.
    pub fn ends_the_run(&self) -> bool {
        self.action >= Action::StartOver
    }
}

/// The evidence for a decision: the engine's finding, with the names of the rule and the tool.
///
/// It holds no arguments and no results, but for the words of the cause. Its `Display` is one line for a log.
///
/// ```
/// use unstuck::{Guard, Kind};
///
/// let mut guard = Guard::new();
/// # let mut decision = guard.text_turn("hm");
/// # for _ in 0..3 {
/// let before = guard.before("bash", r#"{"command":"make"}"#);
/// decision = guard.after(before.ticket(), "no rule to make target", true);
/// # }
/// // The third time:
/// let evidence = decision.evidence().expect("three equal failures");
/// assert_eq!((evidence.finding.kind, evidence.finding.laps), (Kind::Streak, 3));
/// assert!(evidence.to_string().starts_with("same-effect: streak of 3 at `bash`, loop "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// The name of the rule.
    pub rule: &'static str,
    /// The name of the tool of the last call. It is empty for text.
    pub tool: Arc<str>,
    /// The names of the tools of one lap of a cycle, in the order of the calls. It is empty for other
    /// findings.
    pub lap: Vec<Arc<str>>,
    /// The name of the tool that [fails](unstuck_core::Detector::failing) between the calls of the finding, or an empty text.
    pub failing: Arc<str>,
    /// The cause, if the answer to the latest call and those before it tell why.
    pub cause: Option<Cause>,
    /// The action that the rule asks for.
    pub action: Action,
    /// Whether the rule asks for this action for the first time in this loop.
    pub fresh: bool,
    /// The finding of the engine: kind, period, laps, calls, loop id and confidence.
    pub finding: Finding,
    /// The number of workers in the loop: 1, unless a swarm is stuck together.
    pub workers: u32,
    /// The finding of the swarm, if the evidence is the swarm's.
    pub swarm: Option<unstuck_swarm::Finding>,
}

impl Evidence {
    /// Returns whether a swarm is stuck together, rather than this worker alone.
    pub fn is_of_swarm(&self) -> bool {
        self.finding.rule == RuleIndex::ELSEWHERE
    }

    /// Returns the words to the model that go with `action`.
    fn about(&self, action: Action, wording: Wording) -> String {
        let mut text = String::with_capacity(TEXT_ROOM);
        // Writing to a `String` cannot fail.
        let _ = if let Some(swarm) = &self.swarm {
            write!(text, "{}", swarm.nudge(action, &self.tool))
        } else {
            let names = wording.names_tool();
            let (lap, failing) =
                if names { (&self.lap[..], &*self.failing) } else { (&[][..], "") };
            let lap: Vec<&str> = lap.iter().map(|tool| &**tool).collect();
            let nudge = self.finding.nudge(action, &self.tool).lap(&lap).failing(failing);
            write!(text, "{nudge}")
        };
        let mut text = wording.of(text, &self.tool);
        // A run that ends leaves nothing to mend.
        if let Some(cause) = self.cause.as_ref().filter(|_| action < Action::StartOver) {
            let _ = write!(text, " {cause}");
        }
        text
    }
}

/// The cause of a finding: what the answer of the latest call tells, and what earlier calls add to it.
///
/// ```
/// use unstuck::{CauseKind, Guard};
///
/// let mut guard = Guard::new();
/// # let mut decision = guard.text_turn("hm");
/// # for _ in 0..3 {
/// let before = guard.before("bash", r#"{"command":"jq . a.json"}"#);
/// decision = guard.after(before.ticket(), "bash: jq: command not found", true);
/// # }
/// // The third time:
/// let cause = decision.evidence().and_then(|evidence| evidence.cause.as_ref()).expect("a cause");
/// assert_eq!((cause.kind, cause.subject.as_deref()), (CauseKind::ProgramMissing, Some("jq")));
/// let note = decision.message().expect("a note").note();
/// assert!(note.ends_with("The program `jq` is not there. Install it, or use another one."));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The kind of the cause.
    pub kind: CauseKind,
    /// The thing that the cause is about, in one word of the answer. A checkpoint leaves it out.
    #[serde(skip)]
    pub subject: Option<Arc<str>>,
    /// What an earlier call adds to it. A checkpoint leaves it out.
    #[cfg(feature = "clues")]
    #[serde(skip)]
    pub clue: Option<Clue>,
}

/// What an earlier call adds to a [`Cause`]: the call that changed the file, a path like the missing one.
///
/// A guard remembers some 4 KB of the arguments and the answers of its latest 12 calls for this. No checkpoint holds them.
#[cfg(feature = "clues")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clue {
    /// The kind of the clue.
    pub kind: unstuck_text::ClueKind,
    /// The number of calls since the one that shows it: 1 is the latest call before the cause.
    pub ago: u16,
    /// The tool of that call, if its name is a plain word.
    pub tool: Option<Arc<str>>,
    /// The path, program or search that the clue is about, in one word.
    pub subject: Option<Arc<str>>,
}

#[cfg(feature = "clues")]
impl From<unstuck_text::LoopCause<'_>> for Cause {
    fn from(found: unstuck_text::LoopCause<'_>) -> Self {
        let unstuck_text::LoopCause { cause: unstuck_text::Cause { kind, subject }, clue } = found;
        let clue = clue.map(|unstuck_text::Clue { kind, ago, tool, subject }| Clue {
            kind,
            ago,
            tool: tool.map(Arc::from),
            subject: subject.map(Arc::from),
        });
        Self { kind, subject: subject.map(Arc::from), clue }
    }
}

impl fmt::Display for Cause {
    /// Writes the cause, the clue and one way out, in a sentence or two.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = unstuck_text::Cause { kind: self.kind, subject: self.subject.as_deref() };
        #[cfg(feature = "clues")]
        if let Some(Clue { kind, ago, tool, subject }) = &self.clue {
            let (tool, subject) = (tool.as_deref(), subject.as_deref());
            let clue = Some(unstuck_text::Clue { kind: *kind, ago: *ago, tool, subject });
            return unstuck_text::LoopCause { cause, clue }.fmt(f);
        }
        cause.fmt(f)
    }
}

/// The room for the text of a message, in bytes: enough for most names of tools.
const TEXT_ROOM: usize = 512;

impl fmt::Display for Evidence {
    /// Writes one line for a log: `same-effect: streak of 3 at `bash`, loop 9f0c5e8b2a7d4411`.
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

/// A message for the model.
///
/// It consists of fixed words, names of tools, numbers, and at most two words of arguments and answers. It repeats no other
/// part of them, so that text from a web page cannot come back as an instruction.
///
/// To show it with a call, use [`Decision::annotate`] or [`Decision::refusal`], which know whether the
/// call has run.
///
/// ```
/// # let mut guard = unstuck::Guard::new();
/// # let decision = [(); 3].map(|()| guard.text_turn("Let me see."))[2].clone();
/// let message = decision.message().expect("three times the same");
/// assert!(message.note().starts_with("[unstuck] Your last 3 turns were only text"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    text: Cow<'static, str>,
}

/// The end of the message of a stop that cannot end the run.
const HELD_CALL: &str =
    " The call stays refused until the user says something new or a change has worked.";
const HELD_CALLS: &str =
    " These calls stay refused until the user says something new or a change has worked.";

/// The words around the message in a question to someone else.
const STUCK: &str = "The model that works here is stuck, and you take its next turn. It was told: ";
const INSTEAD: &str = " What would you do instead?";

/// The beginning of every message, by which the model recognises the speaker.
pub const SIGN: &str = "[unstuck]";

impl Message {
    pub(crate) fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into() }
    }

    /// Creates the message about `evidence`, for a host that can end a run or cannot.
    pub(crate) fn of(evidence: &Evidence, end: End, wording: Wording) -> Self {
        if evidence.action == Action::Stop && end == End::Impossible {
            let (calls, kind) = (evidence.about(Action::Nudge, wording), evidence.finding.kind);
            // Text is no call that could be refused.
            let held = match kind {
                Kind::Text | Kind::Echo => "",
                Kind::Cycle => HELD_CALLS,
                Kind::Streak | Kind::Recurrence => HELD_CALL,
            };
            return Self::new(calls + held);
        }
        Self::new(evidence.about(evidence.action, wording))
    }

    /// Returns the words alone.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text in place of the result of a call that was not run.
    pub(crate) fn refusal(&self) -> String {
        [SIGN, " This call was not run. ", &self.text].concat()
    }

    /// Returns the text of a user message, or of a note behind the result of a call that has run.
    pub fn note(&self) -> String {
        [SIGN, " ", &self.text].concat()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
