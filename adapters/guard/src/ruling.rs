//! The host's answer to a finding.

use unstuck_core::Action;

/// The host's answer to a finding, for [`Builder::on_finding`](crate::Builder::on_finding).
///
/// ```
/// use unstuck::{Evidence, Guard, Ruling};
///
/// // No harm is done if the same page is reloaded.
/// let judge = |evidence: &Evidence| match &*evidence.tool {
///     "reload" => Ruling::FalsePositive,
///     _ => Ruling::Agree,
/// };
/// let guard = Guard::builder().on_finding(judge).build()?;
/// # Ok::<(), unstuck::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// Takes the action that the rule asks for.
    Agree,
    /// Takes this action instead.
    Instead(Action),
    /// Does nothing, because this is no loop. It is not found again, and its rule becomes more patient with
    /// that tool.
    FalsePositive,
}
