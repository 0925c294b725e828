//! What a host may say to a finding.

use unstuck_core::Action;

/// What a host says to a finding, before anything comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// Do what the rule asks for.
    Agree,
    /// Do this instead.
    Instead(Action),
    /// It is no loop: nothing is done, the loop is not found again, and its rule is more patient
    /// with that tool.
    FalsePositive,
}
