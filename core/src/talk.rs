//! The conversation: text-only turns in a row, repetitions inside a turn, and messages of the user.

use crate::Digest;
use crate::detector::Detector;
use crate::mask::Mask;
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
        if self.policy.needs().early {
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
        let reach = Mask::newest(u32::from(self.policy.window()));
        if (self.history.window.tried_before(&record) & reach).is_empty() {
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

    /// Adds the repetition that a [`RepeatFinder`] found inside the text.
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

/// A repeated sequence.
///
/// ```
/// use unstuck_core::{Digest, RepeatedText, Turn};
///
/// let turn = Turn::new(Digest::of(b"wait wait wait")).repeated(RepeatedText { period: 1, laps: 3 });
/// assert_ne!(turn, Turn::new(Digest::of(b"wait wait wait")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RepeatedText {
    /// The number of digests in a lap.
    pub period: u8,
    /// The number of laps in a row. It is 1 if the sequence does not repeat.
    pub laps: u16,
}

impl RepeatedText {
    /// No repetition.
    pub const NONE: Self = Self { period: 1, laps: 1 };
}

/// A finder of the repetition at the end of a sequence of digests, with periods from 1 to `P`, at
/// most 64.
///
/// It is the cycle scan of the engine for any sequence. For example, an adapter hashes the words
/// of a text, and checks after each word or only after the last. Each digest takes O(P) time.
///
/// ```
/// use unstuck_core::{Digest, RepeatedText, RepeatFinder};
///
/// let mut finder: RepeatFinder<8> = RepeatFinder::new();
/// for word in "wait . let me check . let me check . let me check .".split(' ') {
///     finder.push(Digest::of(word.as_bytes()));
/// }
/// assert_eq!(finder.latest(), RepeatedText { period: 4, laps: 3 });
/// ```
#[derive(Clone, Debug)]
pub struct RepeatFinder<const P: usize> {
    /// The latest digests. The `n`th digest is at index `n % P`.
    latest: [Digest; P],
    /// For each period from 1 on, the number of latest digests that equal the digest a period
    /// before.
    runs: [u16; P],
    /// The number of digests pushed.
    count: u64,
}

impl<const P: usize> RepeatFinder<P> {
    /// Creates an empty sequence.
    pub const fn new() -> Self {
        const { assert!(P >= 1 && P <= 64, "periods are 1 to 64") };
        Self { latest: [Digest::new(0); P], runs: [0; P], count: 0 }
    }

    /// Appends `digest` to the sequence. O(P).
    pub fn push(&mut self, digest: Digest) {
        let slots = u64::try_from(P).unwrap_or(u64::MAX);
        let slot = self.count.checked_rem(slots).and_then(|slot| usize::try_from(slot).ok());
        let slot = slot.unwrap_or(0);
        let known = usize::try_from(self.count).unwrap_or(usize::MAX);
        // The digest a period back is as many slots before. First come the slots below, then, from
        // the end, the slots written in the round before.
        let (newer, older) = self.latest.split_at_checked(slot).unwrap_or_default();
        let back = newer.iter().rev().chain(older.iter().rev()).take(known);
        let mut equal = back.map(|earlier| *earlier == digest);
        for run in &mut self.runs {
            let goes_on = equal.next().unwrap_or(false);
            *run = if goes_on { run.saturating_add(1) } else { 0 };
        }
        if let Some(place) = self.latest.get_mut(slot) {
            *place = digest;
        }
        self.count = self.count.saturating_add(1);
    }

    /// Returns the repetition at the end, with the shortest period that ran at least twice. O(P).
    pub fn latest(&self) -> RepeatedText {
        let mut runs = self.runs.iter().zip(1_u8..);
        let shortest = runs.find(|(run, period)| **run >= u16::from(*period));
        shortest.map_or(RepeatedText::NONE, |(run, period)| {
            let laps = run.checked_div(u16::from(period)).unwrap_or(0).saturating_add(1);
            RepeatedText { period, laps }
        })
    }
}

impl<const P: usize> Default for RepeatFinder<P> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::{RepeatFinder, RepeatedText};
    use crate::Digest;

    /// Returns the repetition by its definition: the shortest period with two laps or more at the
    /// end of `word`, and all its laps there.
    fn expected(word: &[u32], periods: usize) -> RepeatedText {
        for period in 1..=periods {
            let pairs = word.iter().rev().zip(word.iter().rev().skip(period));
            let run = pairs.take_while(|(new, old)| new == old).count();
            if run >= period {
                let period = u8::try_from(period).unwrap();
                let laps = u16::try_from(run).unwrap() / u16::from(period) + 1;
                return RepeatedText { period, laps };
            }
        }
        RepeatedText::NONE
    }

    fn agree<const P: usize>(word: &[u32]) {
        let mut finder: RepeatFinder<P> = RepeatFinder::new();
        for (n, symbol) in word.iter().enumerate() {
            finder.push(Digest::new(u64::from(*symbol)));
            assert_eq!(finder.latest(), expected(&word[..=n], P), "{P} {:?}", &word[..=n]);
        }
    }

    #[test]
    fn every_word_over_three_symbols_has_the_repetition_of_its_definition() {
        for length in 1..=10_u32 {
            for code in 0..3_u32.pow(length) {
                let word: Vec<u32> = (0..length).map(|n| code / 3_u32.pow(n) % 3).collect();
                agree::<1>(&word);
                agree::<4>(&word);
            }
        }
    }

    #[test]
    fn the_count_goes_on_beyond_what_is_held() {
        let word: Vec<u32> = (0..500).map(|n| n % 7).collect();
        agree::<7>(&word);
        agree::<64>(&word);
    }

    #[test]
    fn the_first_digests_equal_nothing() {
        // An empty slot holds a digest, too.
        agree::<4>(&[0, 0, 0, 0, 0, 0]);
    }
}
