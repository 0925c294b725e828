//! Rules: what must match, which records count, how they recur, and what to do about it.

use crate::ladder::{Action, Ladder};
use crate::record::{Record, Status, Tag};

/// The most rules in a policy. Every rule costs 10 bytes of a detector and a look at every
/// event; the largest preset has twelve.
pub const RULES_MAX: usize = 12;

/// The most run counters over all cycle rules of a policy, one for each period from 1 to each
/// rule's longest. 2 bytes of a detector each.
pub const RUNS_MAX: usize = 24;

/// The most rules about text-only turns: one for each of [`Texts`](crate::Texts).
pub const TEXT_RULES_MAX: usize = 4;

/// What two calls must have in common to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Args {
    /// The same tool and the same arguments.
    Same,
    /// The same tool and arguments that the adapter holds to be alike.
    Similar,
    /// The same tool.
    SameTool,
    /// Nothing.
    Any,
}

impl Args {
    /// A number of the word's own, for loop ids.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Same => 0,
            Self::Similar => 1,
            Self::SameTool => 2,
            Self::Any => 3,
        }
    }

    /// The word's one spelling, wherever it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Similar => "similar",
            Self::SameTool => "same_tool",
            Self::Any => "any",
        }
    }
}

/// What two outcomes must have in common to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Results {
    /// Nothing.
    Ignored,
    /// The same result.
    Same,
    /// The same result but for its numbers: weak evidence.
    Near,
}

impl Results {
    /// A number of the word's own, for loop ids.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ignored => 0,
            Self::Same => 1,
            Self::Near => 2,
        }
    }

    /// The word's one spelling, wherever it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Same => "same",
            Self::Near => "near",
        }
    }
}

/// Which records a rule sees. The others are skipped, as if they had never been.
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
}

impl Select {
    /// A number of the selection's own, for loop ids.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Every => 0,
            Self::Unreported => 1,
            Self::Tag(tag) => tag.code().saturating_add(2),
            Self::Except(tag) => tag.code().saturating_add(128),
        }
    }
}

/// Which outcome a record that the rule sees must have had. One that had another breaks the
/// pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Outcomes {
    /// Whichever.
    Any,
    /// The call failed. A vetoed call counts as one that did.
    Failed,
    /// The call failed, to match; one that did not is passed over and breaks nothing.
    Failures,
}

impl Outcomes {
    /// Whether the outcome of `record` is one of these.
    pub(crate) fn includes(self, record: &Record) -> bool {
        match self {
            Self::Any => true,
            Self::Failed | Self::Failures => record.has_failed(),
        }
    }

    /// Whether the outcome of `record` breaks a pattern of these.
    pub(crate) fn is_broken_by(self, record: &Record) -> bool {
        self == Self::Failed && !record.has_failed()
    }

    /// A number of the word's own, for digests of rules.
    #[cfg(feature = "serde")]
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Any => 0,
            Self::Failed => 1,
            Self::Failures => 2,
        }
    }
}

/// How matching records recur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Pattern {
    /// `times` matching records in a row.
    Streak {
        /// How many, 2 or more.
        times: u16,
    },
    /// `times` matching records among the last `within`, others between.
    Recurrence {
        /// How many, this one included; 2 or more.
        times: u8,
        /// Among how many, this one included.
        within: u8,
        /// How many novel records may stand after the oldest of the `times` latest matches.
        novel: u8,
    },
    /// A sequence of records, not all equal, repeated.
    Cycle {
        /// The shortest period looked for, in records; 2 or more.
        period_min: u8,
        /// The longest.
        period_max: u8,
        /// How often the sequence must have run, 2 or more.
        laps: u8,
    },
}

impl Pattern {
    /// A recurrence that any number of novel calls may interrupt.
    pub const fn recurrence(times: u8, within: u8) -> Self {
        Self::Recurrence { times, within, novel: u8::MAX }
    }

    /// A cycle with `period_min` to `period_max` records a lap, run `laps` times.
    pub const fn cycle(period_min: u8, period_max: u8, laps: u8) -> Self {
        Self::Cycle { period_min, period_max, laps }
    }

    /// The fewest repetitions at which the pattern holds.
    pub(crate) const fn least(self) -> u16 {
        match self {
            Self::Streak { times } => times,
            Self::Recurrence { times: n, .. } | Self::Cycle { laps: n, .. } => {
                u16::from_le_bytes([n, 0])
            }
        }
    }

    /// The pattern, asking for `patience` more repetitions, or for fewer: never for fewer than 2,
    /// nor for more than can be counted.
    pub(crate) fn patient(self, patience: i16) -> Self {
        // Not `clamp`, which panics where there is nothing between: no compiler sees that a policy
        // was checked.
        let counted = self.least().saturating_add_signed(patience).min(self.most()).max(2);
        let short = u8::try_from(counted).unwrap_or(u8::MAX);
        match self {
            Self::Streak { .. } => Self::Streak { times: counted },
            Self::Recurrence { within, novel, .. } => {
                Self::Recurrence { times: short, within, novel }
            }
            Self::Cycle { period_min, period_max, .. } => {
                Self::Cycle { period_min, period_max, laps: short }
            }
        }
    }

    /// The most repetitions that can be counted.
    pub(crate) const fn most(self) -> u16 {
        match self {
            Self::Recurrence { within, .. } => u16::from_le_bytes([within, 0]),
            Self::Streak { .. } | Self::Cycle { .. } => u16::MAX,
        }
    }

    /// How many run counters the pattern needs: one for each period up to its longest.
    pub(crate) const fn runs(self) -> u8 {
        match self {
            Self::Cycle { period_max, .. } => period_max,
            Self::Streak { .. } | Self::Recurrence { .. } => 0,
        }
    }
}

/// Whether progress inside a pattern means that it is no loop.
///
/// Progress is the same call answered differently than the last time, by the rule's own
/// measure of results. The record that made progress may begin a pattern, but none reaches
/// back across it. In a recurrence it is also progress if, between equal results that did not
/// fail, a novel call of a writing tool worked, or, between silent ones, any call is novel: a
/// check that still passes after another edit says that the edit was good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Progress {
    /// A pattern that holds progress is no loop.
    Respect,
    /// It is one all the same.
    Ignore,
    /// Nothing is a loop as long as the window holds a call that was answered in two ways, by the
    /// rule's own measure of results, or a record that is progress for another reason. A write is no
    /// progress here. Looking for it takes O(W²) time, where a pattern holds and nowhere else.
    Anywhere,
}

/// What silent results say of different calls. Those of equal calls are equal in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Silence {
    /// Nothing: that two calls come back with "ok" does not make them equal, and work between two
    /// silent answers is progress.
    Ignored,
    /// As much as other results: for calls that are much alike.
    Evidence,
}

/// When a rule may ask for more than a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Force {
    /// As its ladder says.
    Always,
    /// Only where running the calls again is known not to help. Each repetition that a forceful rung
    /// counts must have failed as the one before it did, or be of an
    /// [idempotent](crate::Call::idempotent) call with the [same answer](crate::Outcome::raw), byte
    /// for byte. Whatever the call does, [`RUNAWAY_MIN`](crate::RUNAWAY_MIN) equal answers in a row
    /// are proof enough. Polls never are.
    Proven,
}

impl Force {
    /// The word's one spelling, wherever it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Proven => "proven",
        }
    }
}

/// What must match × which records count × how they recur × what to do about it.
///
/// A rule that looks neither at results nor at outcomes is judged when a call is announced,
/// before it runs; any other when the call's record settles.
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
    /// What findings call the rule.
    pub name: &'p str,
    /// What two calls must have in common.
    pub args: Args,
    /// What their outcomes must have in common.
    pub results: Results,
    /// Which records the rule sees.
    pub select: Select,
    /// Which outcome those must have had.
    pub outcomes: Outcomes,
    /// How the matching ones recur.
    pub pattern: Pattern,
    /// Whether progress undoes the pattern.
    pub progress: Progress,
    /// What to do about it.
    pub ladder: Ladder<'p>,
    /// What silent results of different calls say.
    pub silence: Silence,
    /// The most to ask for while the latest outcome is silent, and so hardly any evidence.
    pub silent_max: Action,
    /// When to ask for more than a warning.
    pub force: Force,
}

impl<'p> Rule<'p> {
    /// A rule that sees every record, asks for no outcome, and respects progress.
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

    /// The rule, with another pattern.
    #[must_use]
    pub const fn pattern(mut self, pattern: Pattern) -> Self {
        self.pattern = pattern;
        self
    }

    /// The rule, with another ladder.
    #[must_use]
    pub const fn ladder(mut self, ladder: Ladder<'p>) -> Self {
        self.ladder = ladder;
        self
    }

    /// The rule, seeing only the records that `select` names.
    #[must_use]
    pub const fn select(mut self, select: Select) -> Self {
        self.select = select;
        self
    }

    /// The rule, broken by every record that it sees that did not fail.
    #[must_use]
    pub const fn failed(mut self) -> Self {
        self.outcomes = Outcomes::Failed;
        self
    }

    /// The rule, in which only failures match; what worked stands between them and breaks nothing.
    #[must_use]
    pub const fn failures(mut self) -> Self {
        self.outcomes = Outcomes::Failures;
        self
    }

    /// The rule, asking for more than a warning only on [proof](Force::Proven).
    #[must_use]
    pub const fn forced_on_proof(mut self) -> Self {
        self.force = Force::Proven;
        self
    }

    /// The rule, blind to progress.
    #[must_use]
    pub const fn ignore_progress(mut self) -> Self {
        self.progress = Progress::Ignore;
        self
    }

    /// The rule, silent while there is progress anywhere in the window.
    #[must_use]
    pub const fn respect_progress_anywhere(mut self) -> Self {
        self.progress = Progress::Anywhere;
        self
    }

    /// The rule, holding silent results of different calls equal.
    #[must_use]
    pub const fn count_silence(mut self) -> Self {
        self.silence = Silence::Evidence;
        self
    }

    /// The rule, asking for no more than `most` while the latest outcome is silent.
    #[must_use]
    pub const fn silent_at_most(mut self, most: Action) -> Self {
        self.silent_max = most;
        self
    }

    /// Whether the rule is judged when a call is announced.
    pub const fn is_judged_early(&self) -> bool {
        matches!(
            (self.results, self.outcomes, self.select),
            (Results::Ignored, Outcomes::Any, Select::Every | Select::Tag(_) | Select::Except(_))
        )
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
        let silence = u8::from(self.silence == Silence::Evidence);
        let [select, args, results] = [self.select.code(), self.args.code(), self.results.code()];
        let asks = crate::Digest::of(&[select, args, results, failed, progress, silence]);
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

    /// Whether the rule sees `record`, and its outcome complies.
    pub(crate) fn takes(&self, record: &Record) -> bool {
        self.selects(record) && self.outcomes.includes(record)
    }

    /// Whether the rule sees `record`.
    pub(crate) fn selects(&self, record: &Record) -> bool {
        match self.select {
            _ if record.status == Status::Cancelled => false,
            Select::Every => true,
            Select::Tag(tag) => record.tag == tag,
            Select::Except(tag) => record.tag != tag,
            Select::Unreported => record.status == Status::Unreported,
        }
    }

    /// Whether the outcome of `record` does not break the rule's pattern.
    pub(crate) fn allows(&self, record: &Record) -> bool {
        !self.outcomes.is_broken_by(record)
    }

    /// Whether an announced call can be known to continue a loop of this rule before it runs:
    /// the rule names the call and looks at what comes back.
    pub(crate) const fn can_block_ahead(&self) -> bool {
        !self.is_judged_early() && matches!(self.args, Args::Same | Args::Similar)
    }
}

/// What a rule counts among text-only turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Texts {
    /// Turns in a row: the agent talks and does nothing.
    Any,
    /// Turns in a row with the same text.
    Same,
    /// The same message of the user or the host in a row, with no call between: what it asks for is
    /// not done.
    Prompt,
    /// How often a sequence is repeated inside the text of one turn: see [`Turn::repeated`].
    ///
    /// [`Turn::repeated`]: crate::Turn::repeated
    Inside,
}

impl Texts {
    /// The word's one spelling, wherever it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Same => "same",
            Self::Prompt => "prompt",
            Self::Inside => "inside",
        }
    }
}

/// How much talk is too much, and what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextRule<'p> {
    /// What findings call the rule.
    pub name: &'p str,
    /// What is counted.
    pub texts: Texts,
    /// How many are too many, 2 or more. Only a call, or a new instruction, ends a row of turns.
    pub times: u16,
    /// What to do about it.
    pub ladder: Ladder<'p>,
}

impl<'p> TextRule<'p> {
    /// A rule about `times` turns in a row, or repetitions inside one.
    pub const fn new(name: &'p str, texts: Texts, times: u16, ladder: Ladder<'p>) -> Self {
        Self { name, texts, times, ladder }
    }
}
