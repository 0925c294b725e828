//! Policies: sets of rules, checked at construction.

use crate::mask::{Mask, WINDOW_MAX};
use crate::policy_error::{
    PolicyError, PolicyErrorKind, PolicyName, error_of_ladder, error_of_pattern,
};
use crate::record::{Call, Tag, TagSet, Tool};
use crate::rule::{Args, Outcomes, RULES_MAX, RUNS_MAX, Results, Rule, TEXT_RULES_MAX, TextRule};
use crate::selection::Selection;
use crate::verdict::{Finding, LoopId, RuleIndex};

/// A set of rules with their ladders, checked at construction.
///
/// Rules are judged in order, and the first rule that fires makes the finding.
///
/// ```
/// use unstuck_core::{Action, Args, Ladder, Pattern, Policy, Results, Rule, Rung};
///
/// let stop = [Rung::new(3, Action::Stop)];
/// let rules = [Rule::new(
///     "three-times",
///     Args::Same,
///     Results::Ignored,
///     Pattern::recurrence(3, 25),
///     Ladder::by_repetitions(&stop),
/// )];
/// let error = Policy::new("mine", 20, &rules).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "policy `mine`, rule `three-times`: looks back over 25 calls, but the window holds 20: \
///      raise the window or lower `within`",
/// );
/// ```
///
/// In a constant the compiler makes the check, and a policy that cannot work does not build:
///
/// ```compile_fail,E0080
/// # use unstuck_core::{Action, Args, Ladder, Pattern, Policy, PolicyError, Results, Rule, Rung};
/// const RULES: &[Rule<'_>] = &[Rule::new(
///     "three-times",
///     Args::Same,
///     Results::Ignored,
///     Pattern::recurrence(3, 25),
///     Ladder::by_repetitions(&[Rung::new(3, Action::Stop)]),
/// )];
/// const POLICY: Policy<'_> = match Policy::new("mine", 20, RULES) {
///     Ok(policy) => policy,
///     Err(PolicyError { .. }) => panic!("the window is shorter than `within`"),
/// };
/// # let _ = POLICY;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy<'p> {
    name: &'p str,
    window: u8,
    rules: &'p [Rule<'p>],
    texts: &'p [TextRule<'p>],
    exempt: TagSet,
    tools: Tools<'p>,
    silenced: &'p [LoopId],
    early: Phase,
    late: Phase,
    needs: Needs,
    selection: Selection,
}

/// The digests that the rules compare, besides equal `args`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each thing to look at")]
pub(crate) struct Needs {
    pub(crate) similar: bool,
    pub(crate) tool: bool,
    pub(crate) result: bool,
    pub(crate) near: bool,
    /// True if some rule is judged with more or less patience than it says.
    pub(crate) patience: bool,
}

impl Needs {
    const NONE: Self =
        Self { similar: false, tool: false, result: false, near: false, patience: false };

    const fn and_of(self, rule: &Rule<'_>) -> Self {
        Self {
            similar: self.similar || matches!(rule.args, Args::Similar),
            // A tool that timed out and works again is progress between failures.
            tool: self.tool
                || matches!(rule.args, Args::SameTool)
                || matches!(rule.outcomes, Outcomes::Failures),
            result: self.result || matches!(rule.results, Results::Same),
            near: self.near || matches!(rule.results, Results::Near),
            patience: self.patience,
        }
    }
}

impl<'p> Policy<'p> {
    /// Creates a policy whose rules look back over the last `window` records.
    ///
    /// # Errors
    ///
    /// Returns an error that names the first rule that cannot work, and the reason.
    pub const fn new(
        name: &'p str,
        window: u8,
        rules: &'p [Rule<'p>],
    ) -> Result<Self, PolicyError> {
        let mut policy = Self {
            name,
            window,
            rules,
            texts: &[],
            exempt: TagSet::EMPTY,
            tools: Tools::NONE,
            silenced: &[],
            early: Phase::NEVER_EARLY,
            late: Phase::NEVER_LATE,
            needs: Needs::NONE,
            selection: Selection::NONE,
        };
        if window == 0 || window > WINDOW_MAX {
            return Err(policy.error(None, PolicyErrorKind::Window { window }));
        }
        if rules.is_empty() {
            return Err(policy.error(None, PolicyErrorKind::NoRules));
        }
        if rules.len() > RULES_MAX {
            return Err(policy.error(None, PolicyErrorKind::TooManyRules { rules: rules.len() }));
        }
        let (mut rest, mut runs, mut place) = (rules, 0_usize, 0_u32);
        while let [rule, tail @ ..] = rest {
            if let Some(kind) = error_of_pattern(rule.pattern, window) {
                return Err(policy.error(Some(rule.name), kind));
            }
            let (least, most) = (rule.pattern.least(), rule.pattern.most());
            if let Some(kind) = error_of_ladder(&rule.ladder, least, most) {
                return Err(policy.error(Some(rule.name), kind));
            }
            runs = runs.saturating_add(usize_from(rule.pattern.runs()));
            if runs > RUNS_MAX {
                return Err(policy.error(Some(rule.name), PolicyErrorKind::TooManyPeriods { runs }));
            }
            policy.needs = policy.needs.and_of(rule);
            policy.selection = policy.selection.with(place, rule);
            (rest, place) = (tail, place.saturating_add(1));
        }
        Ok(policy)
    }

    /// Returns the policy with rules about text-only turns.
    ///
    /// # Errors
    ///
    /// Returns an error that names the first rule that cannot work, and the reason.
    pub const fn with_texts(mut self, rules: &'p [TextRule<'p>]) -> Result<Self, PolicyError> {
        if rules.len() > TEXT_RULES_MAX {
            return Err(self.error(None, PolicyErrorKind::TooManyTextRules { rules: rules.len() }));
        }
        let mut rest = rules;
        while let [rule, tail @ ..] = rest {
            if rule.times < 2 {
                return Err(
                    self.error(Some(rule.name), PolicyErrorKind::TooFewTimes { times: rule.times })
                );
            }
            if let Some(kind) = error_of_ladder(&rule.ladder, rule.times, u16::MAX) {
                return Err(self.error(Some(rule.name), kind));
            }
            rest = tail;
        }
        self.texts = rules;
        Ok(self)
    }

    /// Returns the policy with rules about single tools.
    ///
    /// # Errors
    ///
    /// Returns [`PolicyErrorKind::TooManyTools`] if there are more than [`TOOL_RULES_MAX`] rules, and
    /// [`PolicyErrorKind::ToolTwice`] if two rules are about one tool.
    pub const fn with_tools(mut self, rules: &'p [ToolRule]) -> Result<Self, PolicyError> {
        if rules.len() > TOOL_RULES_MAX {
            return Err(self.error(None, PolicyErrorKind::TooManyTools { tools: rules.len() }));
        }
        let mut rest = rules;
        while let [rule, tail @ ..] = rest {
            let mut others = tail;
            while let [other, beyond @ ..] = others {
                if other.tool.id() == rule.tool.id() {
                    return Err(self.error(None, PolicyErrorKind::ToolTwice { tool: rule.tool }));
                }
                others = beyond;
            }
            if rule.patience != 0 {
                self.needs.patience = true;
            }
            rest = tail;
        }
        self.tools.rules = rules;
        Ok(self)
    }

    /// Returns the policy with these calls allowed to repeat: they are not recorded.
    ///
    /// # Errors
    ///
    /// Returns [`PolicyErrorKind::TooManyAllowed`] if there are more than [`TOOL_RULES_MAX`] calls.
    pub const fn with_allowed(mut self, calls: &'p [Call]) -> Result<Self, PolicyError> {
        if calls.len() > TOOL_RULES_MAX {
            return Err(self.error(None, PolicyErrorKind::TooManyAllowed { calls: calls.len() }));
        }
        self.tools.allowed = calls;
        Ok(self)
    }

    /// Returns the policy with these loops silenced, because a person declared them to be no
    /// loops. The list is searched when a rule fires.
    #[must_use]
    pub const fn with_silenced(mut self, loops: &'p [LoopId]) -> Self {
        self.silenced = loops;
        self
    }

    /// Returns the policy with more or fewer repetitions in the first calls of a run, and after
    /// many calls.
    ///
    /// # Errors
    ///
    /// Returns [`PolicyErrorKind::PhasesOverlap`] if the late phase begins before the early one ends.
    pub const fn with_phases(mut self, early: Phase, late: Phase) -> Result<Self, PolicyError> {
        if early.calls > late.calls {
            let (early, late) = (early.calls, late.calls);
            return Err(self.error(None, PolicyErrorKind::PhasesOverlap { early, late }));
        }
        self.early = early;
        self.late = late;
        self.needs.patience = self.needs.patience || early.patience != 0 || late.patience != 0;
        Ok(self)
    }

    /// Returns the policy with tools of these tags exempt: their calls are not recorded.
    #[must_use]
    pub const fn with_exempt(mut self, tags: TagSet) -> Self {
        self.exempt = tags;
        self
    }

    /// Returns the name of the policy.
    pub const fn name(&self) -> &'p str {
        self.name
    }

    /// Returns the number of records that the rules look back over.
    pub const fn window(&self) -> u8 {
        self.window
    }

    /// Returns the rules in the order in which they are judged.
    pub const fn rules(&self) -> &'p [Rule<'p>] {
        self.rules
    }

    /// Returns the rules about text-only turns in the order in which they are judged.
    pub const fn texts(&self) -> &'p [TextRule<'p>] {
        self.texts
    }

    /// Returns the rules about single tools.
    pub const fn tools(&self) -> &'p [ToolRule] {
        self.tools.rules
    }

    /// Returns the calls that may repeat.
    pub const fn allowed(&self) -> &'p [Call] {
        self.tools.allowed
    }

    /// Returns the silenced loops.
    pub const fn silenced(&self) -> &'p [LoopId] {
        self.silenced
    }

    /// Returns the early phase of a run and the late one.
    pub const fn phases(&self) -> (Phase, Phase) {
        (self.early, self.late)
    }

    /// Returns the tags of the tools whose calls are not recorded.
    pub const fn exempt(&self) -> TagSet {
        self.exempt
    }

    /// Returns the name of the rule at this index, or an empty string if there is no such rule.
    pub fn rule_name(&self, rule: RuleIndex) -> &'p str {
        match rule {
            RuleIndex::Call(place) => {
                self.rules.get(usize::from(place)).map_or("", |rule| rule.name)
            }
            RuleIndex::Text(place) => {
                self.texts.get(usize::from(place)).map_or("", |rule| rule.name)
            }
        }
    }

    /// Returns whether there is a rule at this index.
    pub(crate) const fn has(&self, rule: RuleIndex) -> bool {
        match rule {
            RuleIndex::Call(place) => usize_from(place) < self.rules.len(),
            RuleIndex::Text(place) => usize_from(place) < self.texts.len(),
        }
    }

    /// Returns the records that the rules look back over.
    pub(crate) const fn reach(&self) -> Mask {
        Mask::newest(u32::from_le_bytes([self.window, 0, 0, 0]))
    }

    pub(crate) const fn needs(&self) -> Needs {
        self.needs
    }

    /// Returns the digest of everything that decides what the rules count. A checkpoint can only
    /// be restored under the rules under which it was written.
    #[cfg(feature = "serde")]
    pub(crate) fn digest(&self) -> crate::Digest {
        let window = crate::Digest::new(u64::from(self.window));
        self.rules.iter().fold(window, |digest, rule| digest.mix(rule.digest()))
    }

    /// Returns the digest of all ladders.
    #[cfg(feature = "serde")]
    pub(crate) fn digest_of_ladders(&self) -> crate::Digest {
        let ladders = self.rules.iter().map(|rule| &rule.ladder);
        let texts = self.texts.iter().map(|rule| &rule.ladder);
        let none = crate::Digest::new(0);
        ladders.chain(texts).fold(none, |digest, ladder| digest.mix(ladder.digest()))
    }

    /// Returns the tag under which `call` is recorded, or `None` if it is not recorded.
    pub(crate) fn tag_of(&self, call: &Call) -> Option<Tag> {
        let tag = self.tools.tag_of(call)?;
        (!self.exempt.contains(tag)).then_some(tag)
    }

    /// Returns the number of additional repetitions for a call of `tool` that has `before` earlier
    /// calls in its run.
    pub(crate) fn patience(&self, tool: Tool, before: u64) -> i16 {
        if !self.needs.patience {
            return 0;
        }
        let early = if before < u64::from(self.early.calls) { self.early.patience } else { 0 };
        let late = if before >= u64::from(self.late.calls) { self.late.patience } else { 0 };
        let phase = i16::from(early).saturating_add(i16::from(late));
        self.tools.patience(tool).saturating_add(phase)
    }

    /// Returns the sets of rules that see each kind of record.
    pub(crate) const fn selection(&self) -> &Selection {
        &self.selection
    }

    pub(crate) const fn error(&self, rule: Option<&str>, flaw: PolicyErrorKind) -> PolicyError {
        let rule = match rule {
            Some(rule) => Some(PolicyName::of(rule)),
            None => None,
        };
        PolicyError { policy: PolicyName::of(self.name), rule, flaw }
    }
}

impl Finding {
    /// Returns the name of the rule that fired. `policy` is the policy of the detector that made
    /// the finding.
    pub fn rule_name<'p>(&self, policy: &Policy<'p>) -> &'p str {
        policy.rule_name(self.rule)
    }
}

/// Converts like `usize::from`, but in constants.
pub(crate) const fn usize_from(n: u8) -> usize {
    let mut bytes = [0; size_of::<usize>()];
    let [lowest, ..] = &mut bytes;
    *lowest = n;
    usize::from_le_bytes(bytes)
}

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
