//! What a detector was told of its own findings: loops that are none, and rules to be patient with.

use heapless::{HistoryBuf, Vec};

use crate::record::Tool;
use crate::verdict::LoopId;

/// How many silenced loops a detector remembers, 32 bits each. Of more, the one silenced first is
/// forgotten: if it still goes on, it is found again.
pub const SILENCED_MAX: usize = 8;

/// For how many pairs of rule and tool a detector remembers that it was wrong, 8 bytes each.
pub const RAISED_MAX: usize = 8;

/// How far false positives raise what a rule asks of one tool: enough to leave it nearly alone,
/// and not so much that a real loop runs for ever.
pub const RAISE_MAX: u8 = 8;

/// What was learned from false positives.
#[derive(Clone, Debug)]
pub(crate) struct Feedback {
    silenced: HistoryBuf<u32, SILENCED_MAX>,
    /// The pair raised last stands last.
    raised: Vec<Raised, RAISED_MAX>,
}

/// A rule that asks for more repetitions where the call is of one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Raised {
    pub(crate) tool: Tool,
    pub(crate) rule: u8,
    pub(crate) by: u8,
}

impl Feedback {
    pub(crate) const fn new() -> Self {
        Self { silenced: HistoryBuf::new(), raised: Vec::new() }
    }

    pub(crate) fn silence(&mut self, id: LoopId) {
        if !self.is_silenced(id) {
            self.silenced.write(id.folded());
        }
    }

    pub(crate) fn is_silenced(&self, id: LoopId) -> bool {
        self.silenced.as_slice().contains(&id.folded())
    }

    /// The rule at place `rule` was wrong about a call of `tool`. Of too many pairs the one raised
    /// longest ago is forgotten.
    pub(crate) fn raise(&mut self, rule: u8, tool: Tool) {
        let by = self.raised_by(rule, tool).saturating_add(1).min(RAISE_MAX);
        self.raised.retain(|raised| (raised.rule, raised.tool) != (rule, tool));
        if self.raised.is_full() {
            self.raised.remove(0);
        }
        let pushed = self.raised.push(Raised { tool, rule, by });
        debug_assert!(pushed.is_ok(), "one was forgotten");
    }

    /// How many repetitions more the rule at place `rule` asks of `tool`.
    pub(crate) fn raised_by(&self, rule: u8, tool: Tool) -> u8 {
        let raised = self.raised.iter().find(|raised| (raised.rule, raised.tool) == (rule, tool));
        raised.map_or(0, |raised| raised.by)
    }

    #[cfg(feature = "serde")]
    /// The silenced loops, in 32 bits each, the one silenced first at first.
    pub(crate) fn silenced(&self) -> impl Iterator<Item = u32> {
        self.silenced.oldest_ordered().copied()
    }

    #[cfg(feature = "serde")]
    pub(crate) fn raised(&self) -> &[Raised] {
        &self.raised
    }

    #[cfg(feature = "serde")]
    /// Remembers one more silenced loop, as [`Feedback::silenced`] gave it.
    pub(crate) fn restore_silenced(&mut self, folded: u32) {
        self.silenced.write(folded);
    }

    #[cfg(feature = "serde")]
    /// Remembers one more raised rule; false if there is no room, or it is remembered already.
    pub(crate) fn restore_raised(&mut self, raised: Raised) -> bool {
        let known = self.raised_by(raised.rule, raised.tool) > 0;
        let fits = (1..=RAISE_MAX).contains(&raised.by);
        !known && fits && self.raised.push(raised).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{Feedback, RAISE_MAX, RAISED_MAX, SILENCED_MAX};
    use crate::record::Tool;
    use crate::verdict::LoopId;

    #[test]
    fn the_loop_silenced_first_is_forgotten_first() {
        let mut feedback = Feedback::new();
        for n in 0..=SILENCED_MAX as u64 {
            feedback.silence(LoopId::from_bits(n));
            feedback.silence(LoopId::from_bits(n));
        }
        assert!(!feedback.is_silenced(LoopId::from_bits(0)));
        assert!((1..=SILENCED_MAX as u64).all(|n| feedback.is_silenced(LoopId::from_bits(n))));
    }

    #[test]
    fn a_raise_is_bounded_and_is_for_one_rule_and_tool() {
        let mut feedback = Feedback::new();
        for n in 1..=99 {
            feedback.raise(2, Tool::new(7));
            assert_eq!(feedback.raised_by(2, Tool::new(7)), RAISE_MAX.min(n));
        }
        assert_eq!(feedback.raised_by(1, Tool::new(7)), 0);
        assert_eq!(feedback.raised_by(2, Tool::new(8)), 0);
    }

    #[test]
    fn the_pair_raised_longest_ago_is_forgotten_first() {
        let mut feedback = Feedback::new();
        for n in 0..u32::try_from(RAISED_MAX).unwrap() {
            feedback.raise(0, Tool::new(n));
        }
        feedback.raise(0, Tool::new(0));
        feedback.raise(0, Tool::new(99));
        assert_eq!(feedback.raised_by(0, Tool::new(0)), 2);
        assert_eq!(feedback.raised_by(0, Tool::new(1)), 0);
        assert_eq!(feedback.raised.len(), RAISED_MAX);
    }
}
