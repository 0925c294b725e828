//! Verdicts: the action to take, and the evidence for it.

use core::fmt;
use core::str::FromStr;

use crate::Digest;
use crate::ladder::Action;
use crate::mask::Mask;
use crate::record::{Tag, Tool};
use crate::rule::{Args, Results};

/// The way in which something recurs.
///
/// ```
/// use unstuck_core::Kind;
///
/// assert_eq!(Kind::Recurrence.to_string(), "recurrence");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// The same several times in a row.
    Streak,
    /// The same several times, with other calls between.
    Recurrence,
    /// A sequence that repeats.
    Cycle,
    /// Text-only turns in a row.
    Text,
    /// A sequence that repeats inside the text of one turn.
    Echo,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Streak, Self::Recurrence, Self::Cycle, Self::Text, Self::Echo];

    /// Returns the index of the kind in [`Kind::ALL`].
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Streak => 0,
            Self::Recurrence => 1,
            Self::Cycle => 2,
            Self::Text => 3,
            Self::Echo => 4,
        }
    }

    /// Returns the name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Streak => "streak",
            Self::Recurrence => "recurrence",
            Self::Cycle => "cycle",
            Self::Text => "text",
            Self::Echo => "echo",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The stable id of a loop. It is the same whichever call of the loop is found first.
///
/// The id depends on digests alone. It is the same in every run in which the same calls with the
/// same answers repeat in the same order. It is displayed as 16 hexadecimal digits.
///
/// ```
/// use unstuck_core::LoopId;
///
/// let id: LoopId = "9f0c5e8b2a7d4411".parse()?;
/// assert_eq!(id.to_string(), "9f0c5e8b2a7d4411");
/// assert_eq!(LoopId::from_bits(id.bits()), id);
/// # Ok::<(), unstuck_core::ParseLoopIdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoopId(Digest);

impl LoopId {
    pub(crate) const fn new(digest: Digest) -> Self {
        Self(digest)
    }

    /// Creates the id from the bits that [`LoopId::bits`] returned, or that were read from a
    /// report.
    pub const fn from_bits(bits: u64) -> Self {
        Self(Digest::new(bits))
    }

    /// Returns the id as 64 bits.
    pub const fn bits(self) -> u64 {
        self.0.bits()
    }

    pub(crate) const fn folded(self) -> u32 {
        self.0.folded()
    }
}

impl FromStr for LoopId {
    type Err = ParseLoopIdError;

    /// Parses the 16 hexadecimal digits that [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, ParseLoopIdError> {
        if text.len() != 16 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(ParseLoopIdError);
        }
        u64::from_str_radix(text, 16).map(Self::from_bits).map_err(|_| ParseLoopIdError)
    }
}

/// The error for a text that is not a [`LoopId`].
///
/// ```
/// use unstuck_core::{LoopId, ParseLoopIdError};
///
/// assert_eq!("9f0c".parse::<LoopId>(), Err(ParseLoopIdError));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseLoopIdError;

impl fmt::Display for ParseLoopIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a loop id is 16 hexadecimal digits, like 9f0c5e8b2a7d4411")
    }
}

impl core::error::Error for ParseLoopIdError {}

impl fmt::Display for LoopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.bits())
    }
}

/// The index of the rule that made a finding.
///
/// ```
/// use unstuck_core::{RuleIndex, presets};
///
/// assert_eq!(presets::BALANCED.rule_name(RuleIndex::Call(1)), "cycle");
/// assert_eq!(presets::BALANCED.rule_name(RuleIndex::Text(1)), "echo");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RuleIndex {
    /// The index into [`Policy::rules`](crate::Policy::rules), counted from 0.
    Call(u8),
    /// The index into [`Policy::texts`](crate::Policy::texts), counted from 0.
    Text(u8),
}

impl RuleIndex {
    /// The index of findings that no policy made.
    pub const ELSEWHERE: Self = Self::Call(u8::MAX);
}

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Failure {
    /// One that stays until its cause is gone.
    Lasting,
    /// One that [may pass by itself](crate::Outcome::transient).
    Transient,
}

/// The end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) enum Ended {
    Worked,
    /// It worked, and is idempotent: it would do the same again.
    Settled,
    /// It started a job that ran already.
    Started,
    Failed(Failure),
}

/// The evidence for a verdict.
///
/// ```
/// use unstuck_core::{Call, Detector, Digest, Kind, Tool, presets};
///
/// let mut detector: Detector<'_, 20> = Detector::new(&presets::REPEAT)?;
/// let call = Call::new(Tool::named("ls"), Digest::of(b"{}"));
/// let verdicts = [(); 3].map(|()| detector.announce(call).verdict);
/// let finding = verdicts[2].finding.expect("three calls are a finding");
/// assert_eq!((finding.kind, finding.laps), (Kind::Recurrence, 3));
/// assert!(finding.calls().eq([0, 1, 2]));
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Finding {
    /// The rule that fired.
    pub rule: RuleIndex,
    /// The kind of recurrence.
    pub kind: Kind,
    /// The part of the calls that matches.
    pub args: Args,
    /// The part of their outcomes that matches.
    pub results: Results,
    /// The tool of the last call.
    pub tool: Tool,
    /// The kind of that tool.
    pub tag: Tag,
    pub(crate) ended: Ended,
    /// The number of calls in a lap: 1 except for cycles. For [`Kind::Echo`], the number of words
    /// in a lap.
    pub period: u8,
    /// The number of repetitions: laps of a cycle, records of a streak or a recurrence, or turns.
    pub laps: u16,
    /// The sequence number of the first call of the pattern. For [`Kind::Text`] and
    /// [`Kind::Echo`], the number of the first turn among text-only turns.
    ///
    /// The number is exact if the pattern lies within the window. For a longer pattern, calls that
    /// the rule skips beyond the window are not counted.
    pub first: u64,
    /// The sequence number of the last call of the pattern, which was judged.
    pub last: u64,
    /// The id of the loop.
    pub loop_id: LoopId,
    /// The confidence of the engine, in percent.
    ///
    /// Arguments count 100 if they are the same, 85 if similar, 70 if only the tool is the same,
    /// and 60 if anything matches. Results count 100 if they are the same, 80 if near, and 75 if
    /// ignored. The product of the two, less 5 for each novel call between the matches of a
    /// recurrence, is the confidence of a bare pattern. Each repetition beyond the number that the
    /// rule asks for halves the remaining doubt.
    pub confidence: u8,
    /// The strongest action that more of the same can lead to. It is [`Action::Warn`] if the rule
    /// asks for [proof](crate::Force::Proven) and there is none so far.
    pub most: Action,
    pub(crate) evidence: Mask,
}

impl Finding {
    /// Returns how the last call failed, if it did.
    pub const fn failure(&self) -> Option<Failure> {
        match self.ended {
            Ended::Failed(failure) => Some(failure),
            Ended::Worked | Ended::Settled | Ended::Started => None,
        }
    }

    /// Returns the finding with another [failure](Finding::failure) of the last call.
    #[must_use]
    pub const fn with_failure(self, failure: Option<Failure>) -> Self {
        let ended = match failure {
            Some(failure) => Ended::Failed(failure),
            None => Ended::Worked,
        };
        Self { ended, ..self }
    }

    /// Returns whether the last call failed.
    pub const fn has_failed(&self) -> bool {
        self.failure().is_some()
    }

    /// Creates a finding that no detector made, for a host that learns of a loop in another way
    /// and reports it like other findings. It says that the call `seq` is made again and again
    /// with the same result.
    ///
    /// The host may change its fields. Do not give it to a detector as a [false
    /// positive](crate::Detector::false_positive).
    ///
    /// ```
    /// use unstuck_core::{Action, Finding, LoopId, RuleIndex, Tool};
    ///
    /// let mut finding = Finding::elsewhere(LoopId::from_bits(7), Tool::named("bash"), 4);
    /// finding.laps = 12;
    /// assert_eq!(finding.rule, RuleIndex::ELSEWHERE);
    /// assert!(finding.calls().eq([4]));
    /// ```
    pub const fn elsewhere(loop_id: LoopId, tool: Tool, seq: u64) -> Self {
        Self {
            rule: RuleIndex::ELSEWHERE,
            kind: Kind::Recurrence,
            args: Args::Same,
            results: Results::Same,
            tool,
            tag: Tag::Other,
            ended: Ended::Worked,
            period: 1,
            laps: 1,
            first: seq,
            last: seq,
            loop_id,
            confidence: 100,
            most: Action::Stop,
            evidence: Mask::newest(1),
        }
    }

    /// Returns whether calls, results or texts identify the loop, and not only its rule.
    pub(crate) const fn names_its_loop(&self) -> bool {
        let named = matches!(self.args, Args::Same | Args::Similar);
        named || !matches!(self.results, Results::Ignored)
    }

    /// Returns the sequence numbers of the calls that prove the finding, from the oldest that the
    /// window still holds to the last. It is empty for findings about text.
    pub fn calls(&self) -> impl Iterator<Item = u64> + use<> {
        let (evidence, last) = (self.evidence, self.last);
        (0_u32..64)
            .rev()
            .filter(move |&back| evidence.has(back))
            .map(move |back| last.saturating_sub(u64::from(back)))
    }

    /// Returns the last lap of a cycle by sequence number, in the order of the calls. It is the last
    /// call alone for a streak or a recurrence, and empty for findings about text.
    ///
    /// See [`Nudge`](crate::Nudge) for an example.
    pub fn lap(&self) -> impl Iterator<Item = u64> + use<> {
        let calls = usize::try_from(self.evidence.count()).unwrap_or(usize::MAX);
        let period = if self.kind == Kind::Cycle { self.period } else { 1 };
        self.calls().skip(calls.saturating_sub(usize::from(period)))
    }

    /// Returns whether the finding is about repeated messages of the user, and not about turns of
    /// the agent.
    pub const fn is_about_prompts(&self) -> bool {
        matches!((self.kind, self.results), (Kind::Text, Results::Same))
    }
}

/// Returns the confidence of a finding by the formula at [`Finding::confidence`].
pub(crate) fn confidence(args: Args, results: Results, novel: u32, beyond: u16) -> u8 {
    let args: u32 = match args {
        Args::Same => 100,
        Args::Similar => 85,
        Args::SameTool => 70,
        Args::Any => 60,
    };
    let results: u32 = match results {
        Results::Same => 100,
        Results::Near => 80,
        Results::Ignored => 75,
    };
    let product = args.saturating_mul(results).checked_div(100).unwrap_or(0);
    let sure = product.saturating_sub(novel.saturating_mul(5)).min(100);
    let doubt = 100_u32.saturating_sub(sure);
    let left = doubt.checked_shr(u32::from(beyond)).unwrap_or(0);
    u8::try_from(100_u32.saturating_sub(left)).unwrap_or(100)
}

/// The engine's answer to one event: the action to take, and the evidence.
///
/// ```
/// use unstuck_core::{Action, Verdict};
///
/// assert_eq!(Verdict::PROCEED.action, Action::Proceed);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use = "a verdict that nobody looks at helps nobody"]
#[non_exhaustive]
pub struct Verdict {
    /// The action to take.
    pub action: Action,
    /// The rung of the ladder that is reached, counted from 1. It is 0 below the first rung.
    pub rung: u8,
    /// True if that rung was reached just now. A host that speaks only then speaks once for each
    /// rung.
    pub fresh: bool,
    /// The evidence, if a rule fired.
    pub finding: Option<Finding>,
}

impl Verdict {
    /// The verdict without a finding.
    pub const PROCEED: Self =
        Self { action: Action::Proceed, rung: 0, fresh: false, finding: None };

    /// Returns the verdict that asks for more. If both ask for the same, the fresh one wins, then
    /// the one with a finding, then `self`.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub fn or_stronger(self, other: Self) -> Self {
        let rank = |verdict: &Self| (verdict.action, verdict.fresh, verdict.finding.is_some());
        if rank(&other) > rank(&self) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString as _;

    use super::{Kind, LoopId, ParseLoopIdError, Verdict, confidence};
    use crate::ladder::Action;
    use crate::rule::{Args, Results};

    #[test]
    fn confidence_follows_its_formula() {
        for (args, results, novel, beyond, expected) in [
            (Args::Same, Results::Same, 0, 0, 100),
            (Args::Same, Results::Same, 2, 0, 90),
            (Args::Same, Results::Same, 2, 1, 95),
            (Args::Same, Results::Ignored, 0, 0, 75),
            (Args::SameTool, Results::Same, 3, 0, 55),
            (Args::Any, Results::Ignored, 99, 0, 0),
            (Args::Any, Results::Near, 0, u16::MAX, 100),
        ] {
            assert_eq!(confidence(args, results, novel, beyond), expected, "{args:?} {results:?}");
        }
    }

    #[test]
    fn the_first_of_two_equally_strong_verdicts_stays() {
        let first = Verdict { action: Action::Warn, rung: 1, ..Verdict::PROCEED };
        let second = Verdict { rung: 2, ..first };
        assert_eq!(first.or_stronger(second), first);
        assert_eq!(second.or_stronger(first), second);
        let fresh = Verdict { fresh: true, ..second };
        assert_eq!(first.or_stronger(fresh), fresh);
        assert_eq!(fresh.or_stronger(first), fresh);
    }

    #[test]
    fn kinds_differ_in_index() {
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(kind.code()), place);
        }
    }

    #[test]
    fn a_displayed_loop_id_parses_to_itself() {
        for bits in [0, 1, 0x9f0c_5e8b_2a7d_4411, u64::MAX] {
            let id = LoopId::from_bits(bits);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for text in ["", "9f0c", "+f0c5e8b2a7d4411", "9f0c5e8b2a7d44111", "9f0c5e8b2a7d441g"] {
            assert_eq!(text.parse::<LoopId>(), Err(ParseLoopIdError), "{text}");
        }
    }
}
