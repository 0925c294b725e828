//! Feedback on findings: silenced loops, and rules that became more patient.
//!
//! A silenced loop silences the other rules that find the same calls, too. A user who says that
//! three calls in a row are no loop does not want to hear about them again among twelve. The
//! reverse does not hold: a call that may come back now and then may still not be made without end.
//! So a false positive also names the kind of finding.
//!
//! With a rule, those become more patient that would find the same calls next: they compare no more of
//! arguments and results.

use crate::queue::Recent;
use crate::record::Tool;
use crate::rule::Rule;
use crate::verdict::{Kind, LoopId, RuleIndex};

/// The number of silenced loops that a detector remembers, 32 bits each. If there are more, the
/// loop silenced first is forgotten and can be found again.
pub const SILENCED_MAX: usize = 8;

/// The number of pairs of rule and tool for which a detector remembers false positives, 6 bytes
/// each.
pub const RAISED_MAX: usize = 8;

/// The maximum number of additional repetitions that false positives demand of a rule for one
/// tool. It leaves the tool nearly alone, but a real loop does not run for ever.
pub const RAISE_MAX: u8 = 8;

/// The feedback from false positives.
#[derive(Clone, Debug)]
pub(crate) struct Feedback {
    /// The silenced loops: 29 bits of the id, and 3 bits for the kind of finding.
    silenced: Recent<u32, SILENCED_MAX>,
    raised: Recent<Raised, RAISED_MAX>,
}

/// A rule that asks for more repetitions if the call is of one tool. It is packed into six bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(2))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Raised {
    pub(crate) tool: Tool,
    /// The index of the rule. The highest bit is set for a rule about text.
    pub(crate) rule: u8,
    pub(crate) by: u8,
}

/// The bit that separates rules about text from rules about calls.
const TEXT: u8 = 0x80;

/// The code that stands for every kind of finding.
const ANY_KIND: u8 = 7;

const fn code_of(rule: RuleIndex) -> u8 {
    match rule {
        RuleIndex::Call(place) => place,
        RuleIndex::Text(place) => place | TEXT,
    }
}

fn key(id: LoopId, kind: u8) -> u32 {
    id.folded() & !7 | u32::from(kind)
}

#[cfg(feature = "serde")]
impl Raised {
    /// Returns the rule.
    pub(crate) const fn index(self) -> RuleIndex {
        if self.rule & TEXT == 0 {
            RuleIndex::Call(self.rule)
        } else {
            RuleIndex::Text(self.rule & !TEXT)
        }
    }
}

impl Feedback {
    pub(crate) const fn new() -> Self {
        let none = Raised { tool: Tool::new(0), rule: 0, by: 0 };
        Self { silenced: Recent::new(0), raised: Recent::new(none) }
    }

    /// Silences the loop for every kind of finding.
    pub(crate) fn silence(&mut self, id: LoopId) {
        self.remember(key(id, ANY_KIND));
    }

    /// Silences the loop for one kind of finding. For example, a call that may come back may still
    /// not be made without end.
    pub(crate) fn silence_kind(&mut self, id: LoopId, kind: Kind) {
        self.remember(key(id, kind.code()));
    }

    fn remember(&mut self, key: u32) {
        if !self.silenced.iter().any(|silenced| *silenced == key) {
            self.silenced.push(key);
        }
    }

    pub(crate) fn is_silenced(&self, id: LoopId, kind: Kind) -> bool {
        let keys = [key(id, ANY_KIND), key(id, kind.code())];
        self.silenced.iter().any(|silenced| keys.contains(silenced))
    }

    /// Records that the rule was wrong about a call of `tool`, for which it asked for `before` additional repetitions. If
    /// there are too many pairs, the one raised longest ago is forgotten.
    pub(crate) fn raise(&mut self, rule: RuleIndex, tool: Tool, before: u8) {
        let rule = code_of(rule);
        self.raised.take(|raised| (raised.rule, raised.tool) == (rule, tool));
        let by = before.saturating_add(1).min(RAISE_MAX);
        self.raised.push(Raised { tool, rule, by });
    }

    /// Returns the number of additional repetitions that the rule asks of `tool`.
    pub(crate) fn raised_by(&self, rule: RuleIndex, tool: Tool) -> u8 {
        let rule = code_of(rule);
        self.raised_where(tool, |raised| raised == rule)
    }

    /// Returns the number of additional repetitions that `rule` asks of `tool`, because it was wrong before, or one of the
    /// `rules` that compares no less.
    pub(crate) fn raised_for(&self, rule: &Rule<'_>, rules: &[Rule<'_>], tool: Tool) -> u8 {
        self.raised_where(tool, |place| {
            let wrong = rules.get(usize::from(place));
            wrong.is_some_and(|wrong| rule.finds_all_of(wrong))
        })
    }

    fn raised_where(&self, tool: Tool, is_meant: impl Fn(u8) -> bool) -> u8 {
        let raised = self.raised.iter().filter(|it| { it.tool } == tool && is_meant(it.rule));
        raised.fold(0, |most, raised| most.max(raised.by))
    }

    /// Returns the silenced loops as they are stored, the first silenced first.
    #[cfg(feature = "serde")]
    pub(crate) fn silenced(&self) -> impl Iterator<Item = u32> {
        self.silenced.iter().rev().copied()
    }

    /// Returns the raised rules, the one raised longest ago first.
    #[cfg(feature = "serde")]
    pub(crate) fn raised(&self) -> impl Iterator<Item = Raised> {
        self.raised.iter().rev().copied()
    }

    /// Adds a silenced loop in the form that [`Feedback::silenced`] returns.
    #[cfg(feature = "serde")]
    pub(crate) fn restore_silenced(&mut self, folded: u32) {
        self.silenced.push(folded);
    }

    /// Adds a raised rule. Returns `false` if it is present already, or raised too far.
    #[cfg(feature = "serde")]
    pub(crate) fn restore_raised(&mut self, raised: Raised) -> bool {
        let fits = self.raised_by(raised.index(), raised.tool) == 0
            && (1..=RAISE_MAX).contains(&raised.by);
        if fits {
            self.raised.push(raised);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::{Feedback, RAISE_MAX, RAISED_MAX, SILENCED_MAX};
    use crate::record::Tool;
    use crate::verdict::{Kind, LoopId, RuleIndex};

    /// Returns an id whose lowest bits, which are not stored, are zero.
    fn id(n: usize) -> LoopId {
        LoopId::from_bits(u64::try_from(8 * n).unwrap())
    }

    #[test]
    fn the_loop_silenced_first_is_forgotten_first() {
        let mut feedback = Feedback::new();
        for n in 0..=SILENCED_MAX {
            feedback.silence(id(n));
            feedback.silence(id(n));
        }
        assert!(!feedback.is_silenced(id(0), Kind::Cycle));
        assert!((1..=SILENCED_MAX).all(|n| feedback.is_silenced(id(n), Kind::Cycle)));
    }

    #[test]
    fn a_kind_is_silenced_by_itself() {
        for (kind, low) in Kind::ALL.into_iter().flat_map(|kind| (0..8).map(move |n| (kind, n))) {
            // The lowest bits of the id are not stored, so they must not matter.
            let one = LoopId::from_bits(id(1).bits() | low);
            let mut feedback = Feedback::new();
            feedback.silence_kind(one, kind);
            for other in Kind::ALL {
                assert_eq!(feedback.is_silenced(one, other), other == kind);
                assert!(!feedback.is_silenced(id(2), other));
            }
        }
    }

    const SECOND: RuleIndex = RuleIndex::Call(1);

    #[test]
    fn a_raise_is_bounded_and_is_for_one_rule_and_tool() {
        let mut feedback = Feedback::new();
        for n in 1..=99 {
            feedback.raise(SECOND, Tool::new(7), feedback.raised_by(SECOND, Tool::new(7)));
            assert_eq!(feedback.raised_by(SECOND, Tool::new(7)), RAISE_MAX.min(n));
        }
        assert_eq!(feedback.raised_by(RuleIndex::Call(0), Tool::new(7)), 0);
        assert_eq!(feedback.raised_by(RuleIndex::Text(1), Tool::new(7)), 0);
        assert_eq!(feedback.raised_by(SECOND, Tool::new(8)), 0);
    }

    #[test]
    fn the_pair_raised_longest_ago_is_forgotten_first() {
        let mut feedback = Feedback::new();
        for n in 0..u32::try_from(RAISED_MAX).unwrap() {
            feedback.raise(SECOND, Tool::new(n), 0);
        }
        feedback.raise(SECOND, Tool::new(0), 1);
        feedback.raise(SECOND, Tool::new(99), 0);
        assert_eq!(feedback.raised_by(SECOND, Tool::new(0)), 2);
        assert_eq!(feedback.raised_by(SECOND, Tool::new(1)), 0);
        assert_eq!(feedback.raised.iter().count(), RAISED_MAX);
    }
}
