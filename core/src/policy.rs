//! Policies: a set of rules, checked when it is made.

use core::fmt;

use crate::ladder::{Basis, Ladder};
use crate::record::{Call, Record, Tag, TagSet, Tool};
use crate::rule::{Args, Outcomes, Pattern, Results, Rule, TextRule};
use crate::tools::{Phase, ToolRule, Tools};
use crate::verdict::{LoopId, RuleIndex};

/// The longest window: one bit a record in a 64-bit mask.
pub const WINDOW_MAX: u8 = 64;

/// The most rules in a policy. Every rule costs 16 bytes of a detector and a look at every
/// event; the largest preset has seven.
pub const RULES_MAX: usize = 8;

/// The most run counters over all cycle rules of a policy, one for each period from 1 to each
/// rule's longest. 2 bytes of a detector each.
pub const RUNS_MAX: usize = 24;

/// The most rungs of a ladder: there are five actions above `Proceed`, and room for one rung
/// that repeats each.
pub const RUNGS_MAX: usize = 10;

/// The most rules about text-only turns: one for each of [`Texts`](crate::Texts), and one to spare.
pub const TEXT_RULES_MAX: usize = 4;

/// The most rules about single tools, and the most allowed calls: each announcement looks through
/// them, and hosts seldom offer more than 64 tools at once.
pub const TOOL_RULES_MAX: usize = 64;

/// A set of rules with their ladders, checked when constructed.
///
/// Rules are judged in order; the first that fires makes the finding.
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
/// In a constant the check is made by the compiler, and a policy that cannot work does not build:
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
}

/// What the rules look at, beside equal `args`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each thing to look at")]
pub(crate) struct Needs {
    pub(crate) similar: bool,
    pub(crate) tool: bool,
    pub(crate) result: bool,
    pub(crate) near: bool,
    /// Whether some rule matches calls with different arguments that did not fail.
    pub(crate) beyond_args: bool,
    /// Whether some rule does with any.
    pub(crate) beyond_failed: bool,
    /// Whether some rule is judged when a call is announced.
    pub(crate) early: bool,
    /// Whether rules are judged with more or less patience than they say.
    pub(crate) patience: bool,
}

impl Needs {
    const NONE: Self = Self {
        similar: false,
        tool: false,
        result: false,
        near: false,
        beyond_args: false,
        beyond_failed: false,
        early: false,
        patience: false,
    };

    const fn and_of(self, rule: &Rule<'_>) -> Self {
        Self {
            similar: self.similar || matches!(rule.args, Args::Similar),
            tool: self.tool || matches!(rule.args, Args::SameTool),
            result: self.result || matches!(rule.results, Results::Same),
            near: self.near || matches!(rule.results, Results::Near),
            early: self.early || rule.is_judged_early(),
            beyond_args: self.beyond_args
                || !matches!(rule.args, Args::Same) && !matches!(rule.outcomes, Outcomes::Failed),
            beyond_failed: self.beyond_failed || !matches!(rule.args, Args::Same),
            patience: self.patience,
        }
    }
}

impl<'p> Policy<'p> {
    /// A policy whose rules look back over the last `window` records.
    ///
    /// # Errors
    ///
    /// One that names the first rule that cannot work, and why.
    pub const fn new(
        name: &'p str,
        window: u8,
        rules: &'p [Rule<'p>],
    ) -> Result<Self, PolicyError<'p>> {
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
        };
        if window == 0 || window > WINDOW_MAX {
            return Err(policy.error(None, Flaw::Window { window }));
        }
        if rules.is_empty() {
            return Err(policy.error(None, Flaw::NoRules));
        }
        if rules.len() > RULES_MAX {
            return Err(policy.error(None, Flaw::TooManyRules { rules: rules.len() }));
        }
        let (mut rest, mut runs) = (rules, 0_usize);
        while let [rule, tail @ ..] = rest {
            if let Some(flaw) = flaw_of_pattern(rule.pattern, window) {
                return Err(policy.error(Some(rule.name), flaw));
            }
            let (least, most) = (rule.pattern.least(), rule.pattern.most());
            if let Some(flaw) = flaw_of_ladder(&rule.ladder, least, most) {
                return Err(policy.error(Some(rule.name), flaw));
            }
            runs = runs.saturating_add(usize_from(rule.pattern.runs()));
            if runs > RUNS_MAX {
                return Err(policy.error(Some(rule.name), Flaw::TooManyPeriods { runs }));
            }
            policy.needs = policy.needs.and_of(rule);
            rest = tail;
        }
        Ok(policy)
    }

    /// The policy with rules about text-only turns.
    ///
    /// # Errors
    ///
    /// One that names the first rule that cannot work, and why.
    pub const fn with_texts(mut self, rules: &'p [TextRule<'p>]) -> Result<Self, PolicyError<'p>> {
        if rules.len() > TEXT_RULES_MAX {
            return Err(self.error(None, Flaw::TooManyTextRules { rules: rules.len() }));
        }
        let mut rest = rules;
        while let [rule, tail @ ..] = rest {
            if rule.times < 2 {
                return Err(self.error(Some(rule.name), Flaw::TooFewTimes { times: rule.times }));
            }
            if let Some(flaw) = flaw_of_ladder(&rule.ladder, rule.times, u16::MAX) {
                return Err(self.error(Some(rule.name), flaw));
            }
            rest = tail;
        }
        self.texts = rules;
        Ok(self)
    }

    /// The policy with rules about single tools.
    ///
    /// # Errors
    ///
    /// [`Flaw::TooManyTools`] if there are more than [`TOOL_RULES_MAX`], and [`Flaw::ToolTwice`]
    /// if two are about one tool.
    pub const fn with_tools(mut self, rules: &'p [ToolRule]) -> Result<Self, PolicyError<'p>> {
        if rules.len() > TOOL_RULES_MAX {
            return Err(self.error(None, Flaw::TooManyTools { tools: rules.len() }));
        }
        let mut rest = rules;
        while let [rule, tail @ ..] = rest {
            let mut others = tail;
            while let [other, beyond @ ..] = others {
                if other.tool.id() == rule.tool.id() {
                    return Err(self.error(None, Flaw::ToolTwice { tool: rule.tool }));
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

    /// The policy with these calls allowed to repeat: they are not recorded.
    ///
    /// # Errors
    ///
    /// [`Flaw::TooManyAllowed`] if there are more than [`TOOL_RULES_MAX`].
    pub const fn with_allowed(mut self, calls: &'p [Call]) -> Result<Self, PolicyError<'p>> {
        if calls.len() > TOOL_RULES_MAX {
            return Err(self.error(None, Flaw::TooManyAllowed { calls: calls.len() }));
        }
        self.tools.allowed = calls;
        Ok(self)
    }

    /// The policy with these loops left alone, since somebody said that they are none. Looked
    /// through where a rule fires.
    #[must_use]
    pub const fn with_silenced(mut self, loops: &'p [LoopId]) -> Self {
        self.silenced = loops;
        self
    }

    /// The policy, asking for more repetitions or fewer in the first calls of a run, and after
    /// many.
    ///
    /// # Errors
    ///
    /// [`Flaw::PhasesOverlap`] if the late phase begins before the early one ends.
    pub const fn with_phases(mut self, early: Phase, late: Phase) -> Result<Self, PolicyError<'p>> {
        if early.calls > late.calls {
            let (early, late) = (early.calls, late.calls);
            return Err(self.error(None, Flaw::PhasesOverlap { early, late }));
        }
        self.early = early;
        self.late = late;
        self.needs.patience = self.needs.patience || early.patience != 0 || late.patience != 0;
        Ok(self)
    }

    /// The policy with tools of these tags exempt: their calls are not recorded.
    #[must_use]
    pub const fn with_exempt(mut self, tags: TagSet) -> Self {
        self.exempt = tags;
        self
    }

    /// What the policy is called.
    pub const fn name(&self) -> &'p str {
        self.name
    }

    /// How many records the rules look back over.
    pub const fn window(&self) -> u8 {
        self.window
    }

    /// The rules, in the order in which they are judged.
    pub const fn rules(&self) -> &'p [Rule<'p>] {
        self.rules
    }

    /// The rules about text-only turns, in the order in which they are judged.
    pub const fn texts(&self) -> &'p [TextRule<'p>] {
        self.texts
    }

    /// The rules about single tools.
    pub const fn tools(&self) -> &'p [ToolRule] {
        self.tools.rules
    }

    /// The calls that may repeat.
    pub const fn allowed(&self) -> &'p [Call] {
        self.tools.allowed
    }

    /// The loops that are left alone.
    pub const fn silenced(&self) -> &'p [LoopId] {
        self.silenced
    }

    /// The early phase of a run, and the late one.
    pub const fn phases(&self) -> (Phase, Phase) {
        (self.early, self.late)
    }

    /// Whose calls are not recorded.
    pub const fn exempt(&self) -> TagSet {
        self.exempt
    }

    /// What a rule is called; nothing if there is none at that place.
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

    pub(crate) const fn needs(&self) -> Needs {
        self.needs
    }

    /// What stands for all that decides what the rules count: checkpoints are read under the rules
    /// that they were written under.
    #[cfg(feature = "serde")]
    pub(crate) fn digest(&self) -> crate::Digest {
        let window = crate::Digest::new(u64::from(self.window));
        self.rules.iter().fold(window, |digest, rule| digest.mix(rule.digest()))
    }

    /// What stands for every ladder.
    #[cfg(feature = "serde")]
    pub(crate) fn digest_of_ladders(&self) -> crate::Digest {
        let ladders = self.rules.iter().map(|rule| &rule.ladder);
        let texts = self.texts.iter().map(|rule| &rule.ladder);
        let none = crate::Digest::new(0);
        ladders.chain(texts).fold(none, |digest, ladder| digest.mix(ladder.digest()))
    }

    /// The tag under which `call` is recorded; none if it is not.
    pub(crate) fn tag_of(&self, call: &Call) -> Option<Tag> {
        let tag = self.tools.tag_of(call)?;
        (!self.exempt.contains(tag)).then_some(tag)
    }

    /// How many repetitions more are asked for at a call of `tool`, the one after `before`
    /// others in its run.
    pub(crate) fn patience(&self, tool: Tool, before: u64) -> i16 {
        if !self.needs.patience {
            return 0;
        }
        let early = if before < u64::from(self.early.calls) { self.early.patience } else { 0 };
        let late = if before >= u64::from(self.late.calls) { self.late.patience } else { 0 };
        let phase = i16::from(early).saturating_add(i16::from(late));
        self.tools.patience(tool).saturating_add(phase)
    }

    /// Whether some rule could match `record` with a call of other arguments.
    pub(crate) fn looks_beyond_args(&self, record: &Record) -> bool {
        let failed = Outcomes::Failed.includes(record);
        let possible = if failed { self.needs.beyond_failed } else { self.needs.beyond_args };
        possible && self.rules.iter().any(|rule| rule.args != Args::Same && rule.takes(record))
    }

    pub(crate) const fn error(&self, rule: Option<&'p str>, flaw: Flaw) -> PolicyError<'p> {
        PolicyError { policy: self.name, rule, flaw }
    }
}

/// `usize::from`, for constants.
const fn usize_from(n: u8) -> usize {
    let mut bytes = [0; size_of::<usize>()];
    let [lowest, ..] = &mut bytes;
    *lowest = n;
    usize::from_le_bytes(bytes)
}

const fn flaw_of_pattern(pattern: Pattern, window: u8) -> Option<Flaw> {
    match pattern {
        Pattern::Streak { times } if times < 2 => Some(Flaw::TooFewTimes { times }),
        Pattern::Recurrence { times: 0 | 1, .. } => {
            Some(Flaw::TooFewTimes { times: pattern.least() })
        }
        Pattern::Recurrence { within, .. } if within > window => {
            Some(Flaw::WithinBeyondWindow { within, window })
        }
        Pattern::Recurrence { times, within, .. } if times > within => {
            Some(Flaw::TimesBeyondWithin { times, within })
        }
        Pattern::Cycle { laps: laps @ (0 | 1), .. } => Some(Flaw::TooFewLaps { laps }),
        Pattern::Cycle { period_min, period_max, .. }
            if period_min < 2 || period_max < period_min =>
        {
            Some(Flaw::Periods { period_min, period_max })
        }
        Pattern::Cycle { period_max, .. } if period_max > window => {
            Some(Flaw::PeriodBeyondWindow { period: period_max, window })
        }
        Pattern::Streak { .. } | Pattern::Recurrence { .. } | Pattern::Cycle { .. } => None,
    }
}

/// What is wrong with a ladder whose pattern holds from `least` to `most` repetitions.
const fn flaw_of_ladder(ladder: &Ladder<'_>, least: u16, most: u16) -> Option<Flaw> {
    if ladder.rungs.is_empty() || ladder.rungs.len() > RUNGS_MAX {
        return Some(Flaw::Rungs { rungs: ladder.rungs.len() });
    }
    // Where findings are counted, the first finding is the first count.
    let (least, most) = match ladder.basis {
        Basis::Repetitions => (least, most),
        Basis::LoopFindings | Basis::AllFindings => (1, u16::MAX),
    };
    let mut rest = ladder.rungs;
    while let [rung, tail @ ..] = rest {
        let count = rung.count;
        if count == 0 || count > most {
            return Some(Flaw::RungOutOfReach { count, most });
        }
        if let [next, ..] = tail {
            if next.count <= count {
                return Some(Flaw::CountsDoNotRise { count, next: next.count });
            }
            if next.action.strength() < rung.action.strength() {
                return Some(Flaw::ActionsFall { count: next.count });
            }
            if next.count <= least {
                return Some(Flaw::RungPassedOver { count, least });
            }
            if rung.action.clears() {
                return Some(Flaw::RungAfterReset { count: next.count });
            }
        }
        rest = tail;
    }
    None
}

/// Why a policy, or a detector with it, cannot be made: which rule, and what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PolicyError<'p> {
    /// The policy's name.
    pub policy: &'p str,
    /// The name of the rule that cannot work, or `None` if no single rule is at fault.
    pub rule: Option<&'p str>,
    /// What is wrong with it.
    pub flaw: Flaw,
}

impl fmt::Display for PolicyError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy `{}`", self.policy)?;
        if let Some(rule) = self.rule {
            write!(f, ", rule `{rule}`")?;
        }
        write!(f, ": {}", self.flaw)
    }
}

impl core::error::Error for PolicyError<'_> {}

/// What can be wrong with a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Flaw {
    /// The window is empty or longer than [`WINDOW_MAX`].
    Window {
        /// The window asked for.
        window: u8,
    },
    /// The policy's window is longer than the detector's capacity.
    WindowBeyondCapacity {
        /// The policy's window.
        window: u8,
        /// The records that the detector can hold.
        capacity: usize,
    },
    /// There is no rule.
    NoRules,
    /// There are more than [`RULES_MAX`] rules.
    TooManyRules {
        /// How many there are.
        rules: usize,
    },
    /// There are more than [`TEXT_RULES_MAX`] rules about text-only turns.
    TooManyTextRules {
        /// How many there are.
        rules: usize,
    },
    /// There are more than [`TOOL_RULES_MAX`] rules about single tools.
    TooManyTools {
        /// How many there are.
        tools: usize,
    },
    /// Two rules are about one tool.
    ToolTwice {
        /// Which tool.
        tool: Tool,
    },
    /// More than [`TOOL_RULES_MAX`] calls are allowed to repeat.
    TooManyAllowed {
        /// How many there are.
        calls: usize,
    },
    /// The late phase of a run begins before the early one ends.
    PhasesOverlap {
        /// How many calls the early phase lasts.
        early: u32,
        /// How many calls come before the late one.
        late: u32,
    },
    /// Fewer than 2 times: everything happens once.
    TooFewTimes {
        /// The times asked for.
        times: u16,
    },
    /// Fewer than 2 laps.
    TooFewLaps {
        /// The laps asked for.
        laps: u8,
    },
    /// `within` is longer than the window.
    WithinBeyondWindow {
        /// The `within` asked for.
        within: u8,
        /// The policy's window.
        window: u8,
    },
    /// More times than there are records to look at.
    TimesBeyondWithin {
        /// The times asked for.
        times: u8,
        /// The records looked at.
        within: u8,
    },
    /// The range of periods is empty, or begins below 2.
    Periods {
        /// The shortest period.
        period_min: u8,
        /// The longest period.
        period_max: u8,
    },
    /// A period is longer than the window.
    PeriodBeyondWindow {
        /// The longest period.
        period: u8,
        /// The policy's window.
        window: u8,
    },
    /// The cycle rules together need more than [`RUNS_MAX`] run counters.
    TooManyPeriods {
        /// The counters needed.
        runs: usize,
    },
    /// A ladder has no rung, or more than [`RUNGS_MAX`].
    Rungs {
        /// How many it has.
        rungs: usize,
    },
    /// The counts of a ladder do not rise.
    CountsDoNotRise {
        /// A rung's count.
        count: u16,
        /// The next rung's count.
        next: u16,
    },
    /// The actions of a ladder fall.
    ActionsFall {
        /// The count of the rung with the weaker action.
        count: u16,
    },
    /// A rung can never be reached.
    RungOutOfReach {
        /// The rung's count.
        count: u16,
        /// The highest count that there can be.
        most: u16,
    },
    /// A rung never holds, since the next one is reached at once.
    RungPassedOver {
        /// The rung's count.
        count: u16,
        /// The count at which the pattern first holds.
        least: u16,
    },
    /// A rung stands above one that clears the history, and with it the count.
    RungAfterReset {
        /// The upper rung's count.
        count: u16,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Window { window } => {
                write!(f, "the window is {window} calls, but must be 1 to {WINDOW_MAX}")
            }
            Self::WindowBeyondCapacity { window, capacity } => write!(
                f,
                "the window is {window} calls, but the detector holds {capacity}: \
                 use a `Detector<{window}>` or a shorter window"
            ),
            Self::NoRules => f.write_str("there is no rule; add at least one"),
            Self::TooManyRules { rules } => {
                write!(f, "there are {rules} rules, but at most {RULES_MAX} are allowed")
            }
            Self::TooManyTextRules { rules } => write!(
                f,
                "there are {rules} rules about text, but at most {TEXT_RULES_MAX} are allowed"
            ),
            Self::TooManyTools { tools } => write!(
                f,
                "there are rules about {tools} tools, but at most {TOOL_RULES_MAX} are allowed: \
                 leave out those that change nothing"
            ),
            Self::ToolTwice { tool } => write!(
                f,
                "two rules are about the tool with the id {}: join them into one",
                tool.id()
            ),
            Self::TooManyAllowed { calls } => write!(
                f,
                "{calls} calls are allowed to repeat, but at most {TOOL_RULES_MAX} may be: \
                 exempt their tool"
            ),
            Self::PhasesOverlap { early, late } => write!(
                f,
                "the early phase lasts {early} calls, but the late one begins after {late}: \
                 let it begin after {early} or more"
            ),
            Self::TooFewTimes { times } => {
                write!(f, "`times` is {times}, but must be 2 or more: everything happens once")
            }
            Self::TooFewLaps { laps } => {
                write!(f, "`laps` is {laps}, but must be 2 or more: everything runs once")
            }
            Self::WithinBeyondWindow { within, window } => write!(
                f,
                "looks back over {within} calls, but the window holds {window}: \
                 raise the window or lower `within`"
            ),
            Self::TimesBeyondWithin { times, within } => write!(
                f,
                "asks for {times} matches among {within} calls: lower `times` or raise `within`"
            ),
            Self::Periods { period_min, period_max } => write!(
                f,
                "looks for periods {period_min} to {period_max}, but they must begin at 2 or \
                 more and rise: a period of 1 is a streak"
            ),
            Self::PeriodBeyondWindow { period, window } => write!(
                f,
                "looks for a period of {period} calls, but the window holds {window}: \
                 raise the window or lower the longest period"
            ),
            Self::TooManyPeriods { runs } => write!(
                f,
                "the cycle rules need {runs} run counters, but there are {RUNS_MAX}: \
                 lower their longest periods"
            ),
            Self::Rungs { rungs } => {
                write!(f, "the ladder has {rungs} rungs, but must have 1 to {RUNGS_MAX}")
            }
            Self::CountsDoNotRise { count, next } => {
                write!(f, "the ladder's counts must rise, but {next} follows {count}")
            }
            Self::ActionsFall { count } => write!(
                f,
                "the ladder's actions must not fall, but the rung at {count} is weaker than \
                 the one before it"
            ),
            Self::RungOutOfReach { count, most } => {
                write!(f, "the rung at {count} is never reached: counts go from 1 to {most}")
            }
            Self::RungPassedOver { count, least } => write!(
                f,
                "the rung at {count} never holds: the pattern needs {least}, where the next \
                 rung already holds"
            ),
            Self::RungAfterReset { count } => write!(
                f,
                "the rung at {count} is never reached: the rung below it clears the history"
            ),
        }
    }
}
