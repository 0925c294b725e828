//! What a policy says of single tools and calls, and of when in a run it is patient.

use crate::record::{Call, Tag, Tool};

/// The most rules about single tools, and the most allowed calls: each announcement looks through
/// them, and hosts seldom offer more than 64 tools at once.
pub const TOOL_RULES_MAX: usize = 64;

/// What holds for the calls of one tool.
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
    /// Which tool.
    pub tool: Tool,
    /// Whether its calls are not recorded: as if they had never been made.
    pub exempt: bool,
    /// Whether its calls have the tag [`Tag::Poll`], whatever the host says.
    pub poll: bool,
    /// How many repetitions more than a rule says are asked for where its pattern ends with a
    /// call of this tool; fewer, if negative. Never fewer than 2.
    pub patience: i8,
}

impl ToolRule {
    /// A rule that changes nothing yet.
    pub const fn new(tool: Tool) -> Self {
        Self { tool, exempt: false, poll: false, patience: 0 }
    }

    /// The rule, with the tool's calls not recorded.
    #[must_use]
    pub const fn exempt(mut self) -> Self {
        self.exempt = true;
        self
    }

    /// The rule, with the tool's calls taken as polls.
    #[must_use]
    pub const fn poll(mut self) -> Self {
        self.poll = true;
        self
    }

    /// The rule, asking for so many more repetitions, or fewer.
    #[must_use]
    pub const fn patience(mut self, more: i8) -> Self {
        self.patience = more;
        self
    }
}

/// A part of a run in which a policy asks for more repetitions than its rules say, or fewer.
///
/// A run begins with a new instruction of the user, and when the history is cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// For an early phase, how many calls it lasts; for a late one, how many come before it.
    pub calls: u32,
    /// How many repetitions more are asked for; fewer, if negative. Never fewer than 2.
    pub patience: i8,
}

impl Phase {
    /// No early phase.
    pub const NEVER_EARLY: Self = Self::new(0, 0);

    /// No late phase.
    pub const NEVER_LATE: Self = Self::new(u32::MAX, 0);

    /// A phase of, or after, `calls` calls.
    pub const fn new(calls: u32, patience: i8) -> Self {
        Self { calls, patience }
    }
}

/// What a policy knows of single tools and calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tools<'p> {
    pub(crate) rules: &'p [ToolRule],
    pub(crate) allowed: &'p [Call],
}

impl Tools<'_> {
    pub(crate) const NONE: Self = Self { rules: &[], allowed: &[] };

    /// The tag under which `call` is recorded; none if it is not. O(rules + allowed calls).
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
