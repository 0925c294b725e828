//! Rules: which calls match, which records count, how they recur, and which action follows.

use crate::ladder::{Action, Ladder};
use crate::record::{Record, Status, Tag, Tool};

/// The maximum number of rules in a policy. Each rule costs a byte of a detector, a bit of each record and a check at
/// every event. The largest preset has fourteen, so that two of a user's own fit beside it.
pub const RULES_MAX: usize = 16;

/// The highest number of records in a row that is counted. A longer streak stays at it.
pub const STREAK_MAX: u16 = 255;

/// The maximum number of run counters over all cycle rules of a policy. A rule needs one for each
/// period from 1 to its longest. Each takes 2 bytes of a detector.
pub const RUNS_MAX: usize = 24;

/// The maximum number of rules about text-only turns, one for each of [`Texts`](crate::Texts).
pub const TEXT_RULES_MAX: usize = 4;

/// The part of two calls that must be equal for them to match.
///
/// ```
/// use unstuck_core::Args;
///
/// assert_eq!(Args::SameTool.name(), "same_tool");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Args {
    /// The same tool and the same arguments.
    Same,
    /// The same tool, and arguments that the adapter considers similar.
    Similar,
    /// The same tool.
    SameTool,
    /// Any two calls match.
    Any,
}

impl Args {
    /// All values.
    pub const ALL: [Self; 4] = [Self::Same, Self::Similar, Self::SameTool, Self::Any];

    /// Returns the number of this value in loop ids.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Same => 0,
            Self::Similar => 1,
            Self::SameTool => 2,
            Self::Any => 3,
        }
    }

    /// Returns the name that reports and configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Similar => "similar",
            Self::SameTool => "same_tool",
            Self::Any => "any",
        }
    }
}

/// The part of two outcomes that must be equal for them to match.
///
/// ```
/// use unstuck_core::Results;
///
/// assert_eq!(Results::Near.name(), "near");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Results {
    /// Results are not compared.
    Ignored,
    /// The same result.
    Same,
    /// The same result except for its numbers, which is weak evidence.
    Near,
}

impl Results {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Ignored, Self::Same, Self::Near];

    /// Returns the number of this value in loop ids.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ignored => 0,
            Self::Same => 1,
            Self::Near => 2,
        }
    }

    /// Returns the name that reports and configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Same => "same",
            Self::Near => "near",
        }
    }
}

/// The records that a rule sees. It skips all others.
///
/// ```
/// use unstuck_core::{Action, Args, Ladder, Pattern, Results, Rule, Rung, Select, Tag};
///
/// const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(4, Action::Warn)]);
/// const FAILING_TESTS: Rule<'_> =
///     Rule::new("tests", Args::Any, Results::Ignored, Pattern::Streak { times: 4 }, LADDER)
///         .select(Select::Tag(Tag::Test))
///         .failed();
/// assert_eq!(FAILING_TESTS.select, Select::Tag(Tag::Test));
/// ```
///
/// A rule for one tool, which sees no call of another:
///
/// ```
/// use unstuck_core::{Action, Args, Call, Detector, Digest, Ladder, Pattern, Policy, Results, Rule, Rung, Select, Tool};
///
/// const RUNGS: [Rung; 1] = [Rung::new(2, Action::Warn)];
/// let (deploy, read) = (Tool::named("deploy"), Tool::named("read"));
/// let twice = Pattern::Streak { times: 2 };
/// let rule = Rule::new("no-second-deploy", Args::SameTool, Results::Ignored, twice, Ladder::by_repetitions(&RUNGS));
/// let rules = [rule.select(Select::Tool(deploy))];
/// let policy = Policy::new("mine", 8, &rules)?;
///
/// let mut detector: Detector<'_, 8> = Detector::new(&policy)?;
/// let mut call = |tool| detector.announce(Call::new(tool, Digest::of(b"{}"))).verdict.action;
/// assert_eq!([read, read, deploy, read].map(&mut call), [Action::Proceed; 4]);
/// assert_eq!(call(deploy), Action::Warn);
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Select {
    /// Every record.
    Every,
    /// Calls of tools with this tag.
    Tag(Tag),
    /// Calls of tools with any other tag.
    Except(Tag),
    /// Calls whose outcome never came.
    Unreported,
    /// Calls of this tool.
    Tool(Tool),
}

impl Select {
    /// Returns the number of this selection in loop ids.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Every => 0,
            Self::Unreported => 1,
            Self::Tag(tag) => tag.code().saturating_add(2),
            Self::Tool(_) => 127,
            Self::Except(tag) => tag.code().saturating_add(128),
        }
    }

    /// Returns the number of the tool that this selection is for, or 0.
    pub(crate) const fn tool(self) -> u32 {
        match self {
            Self::Tool(tool) => tool.id(),
            Self::Every | Self::Unreported | Self::Tag(_) | Self::Except(_) => 0,
        }
    }
}

/// The outcome that a record must have if the rule sees it. A record with another outcome breaks
/// the pattern.
///
/// ```
/// use unstuck_core::{Action, Args, Ladder, Outcomes, Pattern, Results, Rule, Rung};
///
/// const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(4, Action::Warn)]);
/// const RULE: Rule<'_> =
///     Rule::new("errors", Args::Any, Results::Near, Pattern::recurrence(4, 10), LADDER);
/// assert_eq!(RULE.outcomes, Outcomes::Any);
/// assert_eq!(RULE.failures().outcomes, Outcomes::Failures);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Outcomes {
    /// Any outcome.
    Any,
    /// The call failed. A vetoed call counts as a failure.
    Failed,
    /// Only failures match. A call that did not fail is skipped and does not break the pattern.
    Failures,
}

impl Outcomes {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Any, Self::Failed, Self::Failures];

    /// Returns the name that configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Failed => "failed",
            Self::Failures => "failures",
        }
    }

    /// Returns whether the outcome of `record` is one of these.
    pub(crate) fn includes(self, record: &Record) -> bool {
        match self {
            Self::Any => true,
            Self::Failed | Self::Failures => record.has_failed(),
        }
    }

    /// Returns whether the outcome of `record` breaks a pattern of these.
    pub(crate) fn is_broken_by(self, record: &Record) -> bool {
        self == Self::Failed && !record.has_failed()
    }

    /// Returns the number of this value in digests of rules.
    #[cfg(feature = "serde")]
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Any => 0,
            Self::Failed => 1,
            Self::Failures => 2,
        }
    }
}

/// The way in which matching records recur.
///
/// ```
/// use unstuck_core::Pattern;
///
/// let [three_in_a_row, three_among_twelve, two_laps] =
///     [Pattern::Streak { times: 3 }, Pattern::recurrence(3, 12), Pattern::cycle(2, 10, 2)];
/// assert_ne!(three_in_a_row, three_among_twelve);
/// assert_eq!(two_laps, Pattern::Cycle { period_min: 2, period_max: 10, laps: 2 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Pattern {
    /// `times` matching records in a row.
    Streak {
        /// The number of records, 2 or more.
        times: u16,
    },
    /// `times` matching records among the last `within`, with others between.
    Recurrence {
        /// The number of matching records, this one included. 2 or more.
        times: u8,
        /// The number of latest records to look at, this one included.
        within: u8,
        /// The maximum number of novel records after the oldest of the `times` latest matches.
        novel: u8,
    },
    /// A repeated sequence of records that are not all equal.
    Cycle {
        /// The shortest period to look for, in records. 2 or more.
        period_min: u8,
        /// The longest period to look for.
        period_max: u8,
        /// The number of times that the sequence must have run, 2 or more.
        laps: u8,
    },
}

impl Pattern {
    /// Creates a recurrence that any number of novel calls may interrupt.
    pub const fn recurrence(times: u8, within: u8) -> Self {
        Self::Recurrence { times, within, novel: u8::MAX }
    }

    /// Creates a cycle of `period_min` to `period_max` records that has run `laps` times.
    pub const fn cycle(period_min: u8, period_max: u8, laps: u8) -> Self {
        Self::Cycle { period_min, period_max, laps }
    }

    /// Returns the smallest number of repetitions at which the pattern holds.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) const fn least(self) -> u16 {
        match self {
            Self::Streak { times } => times,
            Self::Recurrence { times: n, .. } | Self::Cycle { laps: n, .. } => {
                u16::from_le_bytes([n, 0])
            }
        }
    }

    /// Returns the number of repetitions that the pattern asks for with `patience` more of them, or fewer if it is
    /// negative. The number stays between 2 and the highest that can be counted.
    pub(crate) fn asked(self, patience: i16) -> u16 {
        let most = match self {
            // A run is counted further, but patience never asks for more laps than a rule can.
            Self::Cycle { .. } => u16::from(u8::MAX),
            Self::Streak { .. } | Self::Recurrence { .. } => self.most(),
        };
        if patience == 0 {
            return self.least();
        }
        // This does not use `clamp`, which panics if its range is empty. The compiler cannot see
        // that the policy was checked.
        self.least().saturating_add_signed(patience).min(most).max(2)
    }

    /// Returns the highest number of repetitions that can be counted.
    pub(crate) const fn most(self) -> u16 {
        match self {
            Self::Recurrence { within, .. } => u16::from_le_bytes([within, 0]),
            Self::Streak { .. } => STREAK_MAX,
            Self::Cycle { .. } => u16::MAX,
        }
    }

    /// Returns the number of run counters that the pattern needs, one for each period up to its
    /// longest.
    pub(crate) const fn runs(self) -> u8 {
        match self {
            Self::Cycle { period_max, .. } => period_max,
            Self::Streak { .. } | Self::Recurrence { .. } => 0,
        }
    }
}

/// The effect of progress inside a pattern.
///
/// Progress is a different answer to the same call than the last time, by the rule's own measure
/// of results. The record that made progress may begin a pattern, but no pattern reaches back
/// across it. For example, a check that still passes after another edit shows that the edit was
/// good. So in a recurrence a novel call of a writing tool that worked is progress between equal
/// results that did not fail, and any novel call is progress between silent results.
///
/// ```
/// use unstuck_core::{Action, Args, Ladder, Pattern, Progress, Results, Rule, Rung};
///
/// const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(3, Action::Warn)]);
/// const RULE: Rule<'_> =
///     Rule::new("same", Args::Same, Results::Same, Pattern::Streak { times: 3 }, LADDER);
/// assert_eq!(RULE.progress, Progress::Respect);
/// assert_eq!(RULE.ignore_progress().progress, Progress::Ignore);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Progress {
    /// A pattern that holds progress is no loop.
    Respect,
    /// Such a pattern is a loop nevertheless.
    Ignore,
    /// No pattern is a loop while the window holds a call with two answers, by the rule's own
    /// measure of results, or a record that is progress for another reason. A write is no progress
    /// here. The search takes O(W²) time, and runs only if a pattern holds.
    Anywhere,
}

impl Progress {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Respect, Self::Ignore, Self::Anywhere];

    /// Returns the name that configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Respect => "respect",
            Self::Ignore => "ignore",
            Self::Anywhere => "anywhere",
        }
    }
}

/// The results that are evidence between different calls. Between equal calls all are.
///
/// ```
/// use unstuck_core::{Action, Args, Ladder, Pattern, Results, Rule, Rung, Silence};
///
/// const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(5, Action::Warn)]);
/// const RULE: Rule<'_> =
///     Rule::new("alike", Args::Similar, Results::Same, Pattern::recurrence(5, 8), LADDER);
/// assert_eq!(RULE.silence, Silence::Ignored);
/// assert_eq!(RULE.count_silence().silence, Silence::Evidence);
/// assert_eq!(RULE.only_telling().silence, Silence::Telling);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Silence {
    /// Two calls that come back with "ok" are not equal for that, and work between two silent
    /// answers is progress.
    Ignored,
    /// They weigh as much as other results. This suits calls that are very similar.
    Evidence,
    /// Only [telling](crate::Outcome::telling) results are evidence. This suits calls that have
    /// little in common.
    Telling,
}

impl Silence {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Ignored, Self::Evidence, Self::Telling];

    /// Returns the name that configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Evidence => "evidence",
            Self::Telling => "telling",
        }
    }
}

/// The condition under which a rule may ask for more than a warning.
///
/// ```
/// use unstuck_core::{Action, Args, Force, Ladder, Pattern, Results, Rule, Rung};
///
/// const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(3, Action::Block)]);
/// const RULE: Rule<'_> =
///     Rule::new("same", Args::Same, Results::Same, Pattern::Streak { times: 3 }, LADDER);
/// assert_eq!(RULE.force, Force::Always);
/// assert_eq!(RULE.forced_on_proof().force, Force::Proven);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Force {
    /// The ladder alone decides.
    Always,
    /// The rule needs proof that running the calls again does not help. Each repetition that a
    /// forceful rung counts must have failed like the one before it, or be of an
    /// [idempotent](crate::Call::idempotent) call with the [same answer](crate::Outcome::raw),
    /// byte for byte. Whatever the call does, [`RUNAWAY_MIN`](crate::RUNAWAY_MIN) equal answers in
    /// a row are enough. Polls never prove anything, and while the window holds one that was
    /// answered, equal answers to calls that work do not, either: they may change by themselves.
    Proven,
}

impl Force {
    /// All values.
    pub const ALL: [Self; 2] = [Self::Always, Self::Proven];

    /// Returns the name that configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Proven => "proven",
        }
    }
}

/// A rule: which calls match, which records count, how they recur, and which action follows.
///
/// A rule that compares neither results nor outcomes is judged when a call is announced, before it
/// runs. Any other rule is judged when the call's record settles.
///
/// ```
/// use unstuck_core::{Action, Args, Ladder, Pattern, Results, Rule, Rung};
///
/// const RULE: Rule<'_> = Rule::new(
///     "same-effect",
///     Args::Same,
///     Results::Same,
///     Pattern::Streak { times: 3 },
///     Ladder::by_repetitions(&[Rung::new(3, Action::Nudge), Rung::new(5, Action::Block)]),
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule<'p> {
    /// The name of the rule in findings.
    pub name: &'p str,
    /// The part of two calls that must be equal.
    pub args: Args,
    /// The part of their outcomes that must be equal.
    pub results: Results,
    /// The records that the rule sees.
    pub select: Select,
    /// The outcome that those records must have.
    pub outcomes: Outcomes,
    /// The way in which matching records recur.
    pub pattern: Pattern,
    /// The effect of progress inside the pattern.
    pub progress: Progress,
    /// The actions to take.
    pub ladder: Ladder<'p>,
    /// The results that are evidence between different calls.
    pub silence: Silence,
    /// The strongest action while the latest outcome is silent and hardly any evidence.
    pub silent_max: Action,
    /// The condition for more than a warning.
    pub force: Force,
}

impl<'p> Rule<'p> {
    /// Returns whether calls that match by `other` match by this rule, too: it compares no more of their arguments and of
    /// their results.
    pub(crate) fn finds_all_of(&self, other: &Rule<'_>) -> bool {
        let left = |results| match results {
            Results::Same => 0_u8,
            Results::Near => 1,
            Results::Ignored => 2,
        };
        other.args.code() <= self.args.code() && left(other.results) <= left(self.results)
    }

    /// Creates a rule that sees every record, accepts any outcome, and respects progress.
    pub const fn new(
        name: &'p str,
        args: Args,
        results: Results,
        pattern: Pattern,
        ladder: Ladder<'p>,
    ) -> Self {
        Self {
            name,
            args,
            results,
            select: Select::Every,
            outcomes: Outcomes::Any,
            pattern,
            progress: Progress::Respect,
            ladder,
            silence: Silence::Ignored,
            silent_max: Action::Stop,
            force: Force::Always,
        }
    }

    /// Returns the rule with another pattern.
    #[must_use]
    pub const fn pattern(mut self, pattern: Pattern) -> Self {
        self.pattern = pattern;
        self
    }

    /// Returns the rule with another ladder.
    #[must_use]
    pub const fn ladder(mut self, ladder: Ladder<'p>) -> Self {
        self.ladder = ladder;
        self
    }

    /// Returns the rule restricted to the records that `select` names.
    #[must_use]
    pub const fn select(mut self, select: Select) -> Self {
        self.select = select;
        self
    }

    /// Returns the rule in which every record that did not fail breaks the pattern.
    #[must_use]
    pub const fn failed(mut self) -> Self {
        self.outcomes = Outcomes::Failed;
        self
    }

    /// Returns the rule in which only failures match. Calls that worked may stand between them.
    #[must_use]
    pub const fn failures(mut self) -> Self {
        self.outcomes = Outcomes::Failures;
        self
    }

    /// Returns the rule that asks for more than a warning only on [proof](Force::Proven).
    #[must_use]
    pub const fn forced_on_proof(mut self) -> Self {
        self.force = Force::Proven;
        self
    }

    /// Returns the rule that ignores progress.
    #[must_use]
    pub const fn ignore_progress(mut self) -> Self {
        self.progress = Progress::Ignore;
        self
    }

    /// Returns the rule that does not fire while there is progress anywhere in the window.
    #[must_use]
    pub const fn respect_progress_anywhere(mut self) -> Self {
        self.progress = Progress::Anywhere;
        self
    }

    /// Returns the rule in which silent results of different calls count as equal.
    #[must_use]
    pub const fn count_silence(mut self) -> Self {
        self.silence = Silence::Evidence;
        self
    }

    /// Returns the rule in which only telling results of different calls count as equal.
    #[must_use]
    pub const fn only_telling(mut self) -> Self {
        self.silence = Silence::Telling;
        self
    }

    /// Returns the rule that asks for at most `most` while the latest outcome is silent.
    #[must_use]
    pub const fn silent_at_most(mut self, most: Action) -> Self {
        self.silent_max = most;
        self
    }

    /// Returns whether the rule is judged when a call is announced.
    pub const fn is_judged_early(&self) -> bool {
        matches!((self.results, self.outcomes), (Results::Ignored, Outcomes::Any))
            && !matches!(self.select, Select::Unreported)
    }

    /// Returns the digest of the rule without its name and its ladder.
    #[cfg(feature = "serde")]
    pub(crate) fn digest(&self) -> crate::Digest {
        let failed = self.outcomes.code();
        let progress = match self.progress {
            Progress::Ignore => 0,
            Progress::Respect => 1,
            Progress::Anywhere => 2,
        };
        let silence = match self.silence {
            Silence::Ignored => 0,
            Silence::Evidence => 1,
            Silence::Telling => 2,
        };
        let [select, args, results] = [self.select.code(), self.args.code(), self.results.code()];
        let asks = crate::Digest::of(&[select, args, results, failed, progress, silence]);
        let asks = asks.mix(crate::Digest::new(self.select.tool().into()));
        let pattern = match self.pattern {
            Pattern::Streak { times } => {
                let [low, high] = times.to_le_bytes();
                [0, low, high, 0]
            }
            Pattern::Recurrence { times, within, novel } => [1, times, within, novel],
            Pattern::Cycle { period_min, period_max, laps } => [2, period_min, period_max, laps],
        };
        asks.mix(crate::Digest::of(&pattern))
    }

    /// Returns whether the rule sees `record`.
    pub(crate) fn selects(&self, record: &Record) -> bool {
        match self.select {
            _ if record.status == Status::Cancelled => false,
            Select::Every => true,
            Select::Tag(tag) => record.tag == tag,
            Select::Except(tag) => record.tag != tag,
            Select::Unreported => record.status == Status::Unreported,
            Select::Tool(tool) => record.tool == tool,
        }
    }

    /// Returns whether the outcome of `record` leaves the rule's pattern intact.
    pub(crate) fn allows(&self, record: &Record) -> bool {
        !self.outcomes.is_broken_by(record)
    }

    /// Returns whether the engine can know that an announced call continues a loop of this rule
    /// before the call runs. The rule must name the call and compare its outcome.
    pub(crate) const fn can_block_ahead(&self) -> bool {
        !self.is_judged_early() && matches!(self.args, Args::Same | Args::Similar)
    }
}

/// The quantity that a rule counts among text-only turns.
///
/// ```
/// use unstuck_core::Texts;
///
/// assert_eq!(Texts::Inside.name(), "inside");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Texts {
    /// Turns in a row, in which the agent talks without acting.
    Any,
    /// Turns in a row with the same text.
    Same,
    /// The same message of the user or the host in a row, with no call between. The agent does not
    /// do what the message asks for.
    Prompt,
    /// Repetitions of a sequence inside the text of one turn. See [`Turn::repeated`].
    ///
    /// [`Turn::repeated`]: crate::Turn::repeated
    Inside,
}

impl Texts {
    /// All values.
    pub const ALL: [Self; 4] = [Self::Any, Self::Same, Self::Prompt, Self::Inside];

    /// Returns the name that reports and configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Same => "same",
            Self::Prompt => "prompt",
            Self::Inside => "inside",
        }
    }
}

/// A rule about text: how much is too much, and which action follows.
///
/// ```
/// use unstuck_core::{Action, Ladder, Rung, TextRule, Texts};
///
/// // Three turns of talk in a row are nudged, and five are warned of.
/// const TALK: TextRule<'_> = TextRule::new(
///     "talk",
///     Texts::Any,
///     3,
///     Ladder::by_repetitions(&[Rung::new(3, Action::Nudge), Rung::new(5, Action::Warn)]),
/// );
/// assert_eq!(TALK.times, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextRule<'p> {
    /// The name of the rule in findings.
    pub name: &'p str,
    /// The quantity that is counted.
    pub texts: Texts,
    /// The number that is too many, 2 or more. Only a call or a new instruction ends a row of
    /// turns.
    pub times: u16,
    /// The actions to take.
    pub ladder: Ladder<'p>,
}

impl<'p> TextRule<'p> {
    /// Creates a rule about `times` turns in a row, or repetitions inside one turn.
    pub const fn new(name: &'p str, texts: Texts, times: u16, ladder: Ladder<'p>) -> Self {
        Self { name, texts, times, ladder }
    }
}
