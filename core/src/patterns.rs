//! The memory of a policy's rules: their states, their run counters and the loops they found.

use core::mem::take;

use crate::loops::Loops;
use crate::rule::{RUNS_MAX, Rule};
use crate::track::RuleStates;

/// Everything that the rules have counted since the history was cleared.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    pub(crate) rules: RuleStates,
    /// The run counters of all cycle rules, in the order of the rules. See [`RunsLeft`].
    pub(crate) runs: [u16; RUNS_MAX],
    pub(crate) loops: Loops,
    /// The findings of all rules.
    pub(crate) findings: u16,
    /// The highest rung that this number of findings reached.
    pub(crate) rung: u8,
}

impl Patterns {
    /// Returns the memory of rules that have seen no record.
    pub(crate) const fn new() -> Self {
        Self {
            rules: RuleStates::NEW,
            runs: [0; RUNS_MAX],
            loops: Loops::new(),
            findings: 0,
            rung: 0,
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.rules = RuleStates::NEW;
        self.runs = [0; RUNS_MAX];
        self.loops.clear();
        (self.findings, self.rung) = (0, 0);
    }
}

/// The run counters that remain to be handed out, rule by rule in the order of the policy.
pub(crate) struct RunsLeft<'r>(pub(crate) &'r mut [u16]);

impl<'r> RunsLeft<'r> {
    /// Returns the counters of `rule`, which must be the next rule of the policy.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn next_of(&mut self, rule: &Rule<'_>) -> &'r mut [u16] {
        let count = usize::from(rule.pattern.runs());
        let (own, others) = take(&mut self.0).split_at_mut_checked(count).unwrap_or_default();
        self.0 = others;
        own
    }
}
