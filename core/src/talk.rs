//! The conversation beside the calls: text-only turns in a row.

use crate::Digest;
use crate::repeated_text::Turn;

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
