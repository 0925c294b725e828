//! The conversation: text-only turns in a row, and messages of the user.

use crate::Digest;
use crate::cycle::RepeatedText;
use crate::detector::Detector;
use crate::record::{Call, Record, Status, Tag};
use crate::rule::{Rule, Texts};
use crate::verdict::Verdict;

/// The number of user messages that a detector remembers.
///
/// A message among them is no new instruction. Agents repeat few automatic messages, such as
/// "please continue", so eight are enough. Each takes 32 bits.
pub const MESSAGES_MAX: usize = 8;

/// The current row of text-only turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct TextRow {
    /// The number of turns in the life of the detector.
    pub(crate) turns: u64,
    /// The text of the latest turn.
    pub(crate) latest: Digest,
    /// The number of turns in a row.
    pub(crate) any: u16,
    /// The number of turns in a row with the latest text.
    pub(crate) same: u16,
    /// How many times in a row the latest user message came.
    pub(crate) prompts: u16,
}

impl TextRow {
    /// No turn was taken yet.
    pub(crate) const NONE: Self =
        Self { turns: 0, latest: Digest::new(0), any: 0, same: 0, prompts: 0 };

    /// Adds a turn and returns its number.
    pub(crate) fn add(&mut self, turn: &Turn) -> u64 {
        let number = self.turns;
        self.turns = number.wrapping_add(1);
        self.any = self.any.saturating_add(1);
        self.same = if self.latest == turn.text { self.same.saturating_add(1) } else { 1 };
        self.latest = turn.text;
        number
    }

    /// Ends every row: a call was made, or the history was cleared.
    pub(crate) fn end(&mut self) {
        (self.any, self.same, self.prompts) = (0, 0, 0);
    }
}

/// What the user said since the history began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Heard {
    Nothing,
    /// An instruction, after which no call came yet. It is a new one unless the next call has failed before.
    Instruction,
    /// Instructions after which the agent made a call that had failed before.
    Repeated,
}

/// The fewest repetitions of a call that the user asked for again.
const ASKED_FOR_MIN: u16 = 4;

impl Heard {
    /// Returns the additional repetitions that `rule` asks for: one if it is quick.
    pub(crate) fn patience(self, rule: &Rule<'_>) -> i16 {
        i16::from(self == Self::Repeated && rule.pattern.least() < ASKED_FOR_MIN)
    }
}

impl<const W: usize, const OPEN: usize> Detector<'_, W, OPEN> {
    /// Takes in a turn in which the agent called no tool. O(1).
    pub fn text_turn(&mut self, turn: impl Into<Turn>) -> Verdict {
        let turn = turn.into();
        let number = self.talk.add(&turn);
        let TextRow { any, same, .. } = self.talk;
        self.statistics.check();
        self.judge_text(number, &turn, |texts| match texts {
            Texts::Any => any,
            Texts::Same => same,
            Texts::Prompt => 0,
            Texts::Inside => turn.repeated.laps,
        })
    }

    /// Takes in a message of the user, or of the host in the user's name. `message` stands for its
    /// text. A new instruction clears the history. O(1).
    ///
    /// If the policy has a rule that matches [only failures](crate::Outcomes::Failures), the next call decides: if it
    /// failed before, or it writes and its tool failed before, the agent goes on as before, whatever the user said. The history
    /// stays, and rules that ask for less than four repetitions ask for one more.
    ///
    /// A message among the latest [`MESSAGES_MAX`] (an automatic "please continue", for example)
    /// is not a new instruction. A rule about [prompts](Texts::Prompt) may find it if it comes
    /// again and again with no call between. Use [`Detector::clear`] for an old message that is
    /// meant as a new instruction.
    pub fn user_message(&mut self, message: Digest) -> Verdict {
        let heard = message.folded();
        let is_again = self.messages.iter().next() == Some(&heard);
        let is_known = self.messages.take(|known| *known == heard).is_some();
        self.messages.push(heard);
        if !is_known {
            self.instructed();
        }
        let prompts = if is_again { self.talk.prompts.saturating_add(1) } else { 1 };
        self.talk.prompts = prompts;
        if !is_known {
            return Verdict::PROCEED;
        }
        let turn = Turn::new(message);
        self.judge_text(self.talk.turns, &turn, |texts| match texts {
            Texts::Prompt => prompts,
            Texts::Any | Texts::Same | Texts::Inside => 0,
        })
    }

    /// Takes in news that the host gives to the agent, such as the end of a job. It is no
    /// instruction, but the agent may answer it without a call. O(1).
    pub fn notified(&mut self) {
        self.talk.end();
    }

    /// Returns whether `message` is among the latest [`MESSAGES_MAX`], and so not a new
    /// instruction. O(1).
    pub fn has_heard(&self, message: Digest) -> bool {
        self.messages.iter().any(|heard| *heard == message.folded())
    }

    /// Takes in a new instruction. Calls that wait for their outcomes are given up.
    fn instructed(&mut self) {
        let may_go_on = self.policy.selection().matches_failures();
        if !may_go_on || !self.history.window.holds_failures() {
            self.clear();
            return;
        }
        self.talk.end();
        self.history.heard = Heard::Instruction;
        self.patterns.loops.unblock();
        for record in self.history.open.as_mut_slice() {
            (record.status, record.novel) = (Status::Cancelled, false);
        }
        if self.policy.selection().judges_early() {
            self.rebuild();
        }
        self.settle(&mut |_| {});
    }

    /// Clears the history if the user gave an instruction and `call`, which has this `tag`, tries nothing again that
    /// failed before.
    pub(crate) fn obey(&mut self, call: &Call, tag: Tag) {
        if self.history.heard != Heard::Instruction {
            return;
        }
        let record = Record { tag, ..Record::open(call, 0) };
        if (self.history.window.tried_before(&record) & self.policy.reach()).is_empty() {
            self.clear();
        } else {
            self.history.heard = Heard::Repeated;
        }
    }
}

/// A turn in which the agent called no tool.
///
/// ```
/// use unstuck_core::{Digest, Turn};
///
/// let turn = Turn::new(Digest::of(b"Let me think about it."));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Turn {
    pub(crate) text: Digest,
    pub(crate) repeated: RepeatedText,
    pub(crate) silent: bool,
}

impl Turn {
    /// Creates a turn. `text` stands for its text.
    pub const fn new(text: Digest) -> Self {
        Self { text, repeated: RepeatedText::NONE, silent: false }
    }

    /// Marks the turn as one without text. Rules ask for two repetitions more, because a model may have thought aside.
    #[must_use]
    pub const fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// Adds the repetition that a [`RepeatFinder`](crate::RepeatFinder) found inside the text.
    #[must_use]
    pub const fn repeated(mut self, repeated: RepeatedText) -> Self {
        self.repeated = repeated;
        self
    }
}

impl From<Digest> for Turn {
    fn from(text: Digest) -> Self {
        Self::new(text)
    }
}
