//! A pattern that holds at a record, as found by a rule.

use crate::mask::Mask;
use crate::rule::Rule;
use crate::verdict::Kind;

/// A pattern that holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) kind: Kind,
    pub(crate) period: u8,
    pub(crate) repetitions: u16,
    /// The number of repetitions that the rule asked for.
    pub(crate) asked: u16,
    /// The number of calls from the first of the pattern to the last.
    pub(crate) span: u64,
    /// The number of records in the pattern that the window still shows.
    pub(crate) shown: u32,
    /// The records of the pattern: bit *k* is the call *k* before the last.
    pub(crate) evidence: Mask,
    /// The records that the rule saw before this one.
    pub(crate) seen: Mask,
    /// The records before this one that match it.
    pub(crate) matches: Mask,
    /// The novel calls between the matches of a recurrence.
    pub(crate) novel: u32,
}

impl Hit {
    /// Returns the repetitions as the ladder of `rule` counts them, as if the rule's own number
    /// had been asked for.
    pub(crate) fn count_for(&self, rule: &Rule<'_>) -> u16 {
        let least = rule.pattern.least();
        let less = self.repetitions.saturating_sub(self.asked.saturating_sub(least));
        less.saturating_add(least.saturating_sub(self.asked))
    }
}
