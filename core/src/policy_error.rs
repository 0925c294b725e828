//! The errors of a policy, with messages for its author.

use core::fmt;

use crate::ladder::{Basis, Ladder, RUNGS_MAX};
use crate::mask::WINDOW_MAX;
use crate::policy::TOOL_RULES_MAX;
use crate::record::Tool;
use crate::rule::{Pattern, RULES_MAX, RUNS_MAX, TEXT_RULES_MAX};

/// The error of a policy, or of a detector with it: the rule and the reason.
///
/// It borrows nothing, so `?` works in a function that owns the policy:
///
/// ```
/// use unstuck_core::{Detector, Policy, PolicyError, PolicyErrorKind, presets};
///
/// fn rules(window: u8) -> Result<usize, PolicyError> {
///     let rules = presets::BALANCED.rules().to_vec();
///     let policy = Policy::new("mine", window, &rules)?;
///     let detector: Detector<'_, 20> = Detector::new(&policy)?;
///     Ok(detector.policy().rules().len())
/// }
/// assert!(rules(20).is_ok());
///
/// let error = rules(30).unwrap_err();
/// assert_eq!(error.flaw, PolicyErrorKind::WindowBeyondCapacity { window: 30, capacity: 20 });
/// assert!(error.to_string().starts_with("policy `mine`: the window is 30 calls, but the detector"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PolicyError {
    /// The policy's name.
    pub policy: PolicyName,
    /// The name of the rule that cannot work, or `None` if no single rule is at fault.
    pub rule: Option<PolicyName>,
    /// The reason.
    pub flaw: PolicyErrorKind,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy `{}`", self.policy)?;
        if let Some(rule) = self.rule {
            write!(f, ", rule `{rule}`")?;
        }
        write!(f, ": {}", self.flaw)
    }
}

impl core::error::Error for PolicyError {}

/// Drops the names of the policy and the rule.
impl From<PolicyError> for PolicyErrorKind {
    fn from(error: PolicyError) -> Self {
        error.flaw
    }
}

/// The longest name in an error, in bytes.
const NAME_MAX: usize = 40;

/// A copy of the name of a policy or of a rule, for an error that outlives both.
///
/// A name of more than 40 bytes is cut at the end of a character.
///
/// ```
/// use unstuck_core::Policy;
///
/// let error = Policy::new("mine", 20, &[]).unwrap_err();
/// assert_eq!(error.policy.as_str(), "mine");
/// assert_eq!(error.rule, None);
///
/// let error = Policy::new(&"é".repeat(30), 20, &[]).unwrap_err();
/// assert_eq!(error.policy.as_str(), "é".repeat(20));
/// assert!(error.to_string().starts_with(&format!("policy `{}…`: ", "é".repeat(20))));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PolicyName {
    bytes: [u8; NAME_MAX],
    length: u8,
    is_cut: bool,
}

impl PolicyName {
    pub(crate) const fn of(name: &str) -> Self {
        let mut end = if name.len() < NAME_MAX { name.len() } else { NAME_MAX };
        while !name.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        let mut bytes = [0; NAME_MAX];
        let (mut place, mut rest): (&mut [u8], _) = (&mut bytes, name.as_bytes());
        let mut length: u8 = 0;
        while let ([byte, places @ ..], [first, tail @ ..]) = (place, rest)
            && end > 0
        {
            *byte = *first;
            length = length.saturating_add(1);
            end = end.saturating_sub(1);
            (place, rest) = (places, tail);
        }
        Self { bytes, length, is_cut: !rest.is_empty() }
    }

    /// Returns the name, or its beginning if it is long.
    pub fn as_str(&self) -> &str {
        let name = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        core::str::from_utf8(name).unwrap_or_default()
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        f.write_str(if self.is_cut { "…" } else { "" })
    }
}

impl fmt::Debug for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for PolicyName {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::Format::format(self.as_str(), f);
    }
}

impl core::error::Error for PolicyErrorKind {}

/// The reason why a policy cannot work, without names.
///
/// ```
/// use unstuck_core::{Policy, PolicyErrorKind};
///
/// let error = Policy::new("mine", 20, &[]).unwrap_err();
/// assert_eq!(error.flaw, PolicyErrorKind::NoRules);
/// assert_eq!(error.to_string(), "policy `mine`: there is no rule; add at least one");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PolicyErrorKind {
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
        /// The number of rules.
        rules: usize,
    },
    /// There are more than [`TEXT_RULES_MAX`] rules about text-only turns.
    TooManyTextRules {
        /// The number of rules.
        rules: usize,
    },
    /// There are more than [`TOOL_RULES_MAX`] rules about single tools.
    TooManyTools {
        /// The number of tools.
        tools: usize,
    },
    /// Two rules are about one tool.
    ToolTwice {
        /// The tool.
        tool: Tool,
    },
    /// More than [`TOOL_RULES_MAX`] calls are allowed to repeat.
    TooManyAllowed {
        /// The number of calls.
        calls: usize,
    },
    /// The late phase of a run begins before the early one ends.
    PhasesOverlap {
        /// The number of calls in the early phase.
        early: u32,
        /// The number of calls before the late phase.
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
        /// The number of rungs.
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
        /// The highest count that can be reached.
        most: u16,
    },
    /// A rung never holds, because the next rung is reached at once.
    RungPassedOver {
        /// The rung's count.
        count: u16,
        /// The count at which the pattern first holds.
        least: u16,
    },
    /// A rung above one that clears the history and its count.
    RungAfterReset {
        /// The upper rung's count.
        count: u16,
    },
}

impl fmt::Display for PolicyErrorKind {
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

/// Returns the error of a pattern under a policy that looks back over `window` records.
pub(crate) const fn error_of_pattern(pattern: Pattern, window: u8) -> Option<PolicyErrorKind> {
    match pattern {
        Pattern::Streak { times } if times < 2 => Some(PolicyErrorKind::TooFewTimes { times }),
        Pattern::Recurrence { times: 0 | 1, .. } => {
            Some(PolicyErrorKind::TooFewTimes { times: pattern.least() })
        }
        Pattern::Recurrence { within, .. } if within > window => {
            Some(PolicyErrorKind::WithinBeyondWindow { within, window })
        }
        Pattern::Recurrence { times, within, .. } if times > within => {
            Some(PolicyErrorKind::TimesBeyondWithin { times, within })
        }
        Pattern::Cycle { laps: laps @ (0 | 1), .. } => Some(PolicyErrorKind::TooFewLaps { laps }),
        Pattern::Cycle { period_min, period_max, .. }
            if period_min < 2 || period_max < period_min =>
        {
            Some(PolicyErrorKind::Periods { period_min, period_max })
        }
        Pattern::Cycle { period_max, .. } if period_max > window => {
            Some(PolicyErrorKind::PeriodBeyondWindow { period: period_max, window })
        }
        Pattern::Streak { .. } | Pattern::Recurrence { .. } | Pattern::Cycle { .. } => None,
    }
}

/// Returns the error of a ladder whose pattern holds from `least` to `most` repetitions.
pub(crate) const fn error_of_ladder(
    ladder: &Ladder<'_>,
    least: u16,
    most: u16,
) -> Option<PolicyErrorKind> {
    if ladder.rungs.is_empty() || ladder.rungs.len() > RUNGS_MAX {
        return Some(PolicyErrorKind::Rungs { rungs: ladder.rungs.len() });
    }
    // If findings are counted, the first finding has the count 1.
    let (least, most) = match ladder.basis {
        Basis::Repetitions => (least, most),
        Basis::LoopFindings | Basis::AllFindings => (1, u16::MAX),
    };
    let mut rest = ladder.rungs;
    while let [rung, tail @ ..] = rest {
        let count = rung.count;
        if count == 0 || count > most {
            return Some(PolicyErrorKind::RungOutOfReach { count, most });
        }
        if let [next, ..] = tail {
            if next.count <= count {
                return Some(PolicyErrorKind::CountsDoNotRise { count, next: next.count });
            }
            if next.action.strength() < rung.action.strength() {
                return Some(PolicyErrorKind::ActionsFall { count: next.count });
            }
            if next.count <= least {
                return Some(PolicyErrorKind::RungPassedOver { count, least });
            }
            if rung.action.clears() {
                return Some(PolicyErrorKind::RungAfterReset { count: next.count });
            }
        }
        rest = tail;
    }
    None
}
