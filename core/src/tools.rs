//! Rules about single tools and calls, and the phases of a run.

use crate::record::{Call, Tag, Tool};

/// The maximum number of rules about single tools, and of allowed calls. Each announcement looks
/// through them, and hosts seldom offer more than 64 tools at once.
pub const TOOL_RULES_MAX: usize = 64;

/// A rule about the calls of one tool.
///
/// ```
/// use unstuck_core::{Tool, ToolRule};
///
/// let rules = [
///     ToolRule::new(Tool::named("think")).exempt(),
///     ToolRule::new(Tool::named("job_status")).poll(),
///     ToolRule::new(Tool::named("screenshot")).patience(2),
/// ];
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolRule {
    /// The tool.
    pub tool: Tool,
    /// True if its calls are not recorded. The engine then treats them as if they had never been
    /// made.
    pub exempt: bool,
    /// True if its calls have the tag [`Tag::Poll`], regardless of the tag that the host gives.
    pub poll: bool,
    /// The number of additional repetitions that rules ask for if their pattern ends with a call
    /// of this tool. A negative number means fewer, but never fewer than 2.
    pub patience: i8,
}

impl ToolRule {
    /// Creates a rule that changes nothing.
    pub const fn new(tool: Tool) -> Self {
        Self { tool, exempt: false, poll: false, patience: 0 }
    }

    /// Returns the rule with the tool's calls not recorded.
    #[must_use]
    pub const fn exempt(mut self) -> Self {
        self.exempt = true;
        self
    }

    /// Returns the rule with the tool's calls treated as polls.
    #[must_use]
    pub const fn poll(mut self) -> Self {
        self.poll = true;
        self
    }

    /// Returns the rule with this number of additional repetitions. A negative number means fewer.
    #[must_use]
    pub const fn patience(mut self, more: i8) -> Self {
        self.patience = more;
        self
    }
}

/// A part of a run in which the rules of a policy ask for more repetitions, or fewer.
///
/// A run begins with a new instruction of the user, or when the history is cleared.
///
/// ```
/// use unstuck_core::{Phase, presets};
///
/// // The first ten calls of a run may repeat twice more. Later calls get the usual patience.
/// let policy = presets::BALANCED.with_phases(Phase::new(10, 2), Phase::NEVER_LATE)?;
/// assert_eq!(policy.phases().0.calls, 10);
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// For an early phase, the number of calls it lasts. For a late phase, the number of calls
    /// before it.
    pub calls: u32,
    /// The number of additional repetitions. A negative number means fewer, but never fewer than
    /// 2.
    pub patience: i8,
}

impl Phase {
    /// No early phase.
    pub const NEVER_EARLY: Self = Self::new(0, 0);

    /// No late phase.
    pub const NEVER_LATE: Self = Self::new(u32::MAX, 0);

    /// Creates a phase of the first `calls` calls, or of the calls after them.
    pub const fn new(calls: u32, patience: i8) -> Self {
        Self { calls, patience }
    }
}

/// The rules of a policy about single tools and calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tools<'p> {
    pub(crate) rules: &'p [ToolRule],
    pub(crate) allowed: &'p [Call],
}

impl Tools<'_> {
    pub(crate) const NONE: Self = Self { rules: &[], allowed: &[] };

    /// Returns the tag under which `call` is recorded, or `None` if it is not recorded. O(rules +
    /// allowed calls).
    pub(crate) fn tag_of(&self, call: &Call) -> Option<Tag> {
        let is_allowed = self.allowed.iter().any(|allowed| allowed.is_same(call));
        let rule = self.rule(call.tool);
        if is_allowed || rule.is_some_and(|rule| rule.exempt) {
            return None;
        }
        Some(if rule.is_some_and(|rule| rule.poll) { Tag::Poll } else { call.tag })
    }

    pub(crate) fn patience(&self, tool: Tool) -> i16 {
        self.rule(tool).map_or(0, |rule| i16::from(rule.patience))
    }

    fn rule(&self, tool: Tool) -> Option<&ToolRule> {
        self.rules.iter().find(|rule| rule.tool == tool)
    }
}
