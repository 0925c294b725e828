//! Verdicts: what to do, and the evidence for it.

use core::fmt;
use core::str::FromStr;

use crate::Digest;
use crate::ladder::Action;
use crate::mask::Mask;
use crate::record::{Tag, Tool};
use crate::rule::{Args, Results};

/// How something recurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// The same thing several times in a row.
    Streak,
    /// The same thing several times with others between.
    Recurrence,
    /// A sequence, repeated.
    Cycle,
    /// Text-only turns in a row.
    Text,
    /// A sequence repeated inside the text of one turn.
    Echo,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Streak, Self::Recurrence, Self::Cycle, Self::Text, Self::Echo];

    /// The kind's place in [`Kind::ALL`], which is never another's.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Streak => 0,
            Self::Recurrence => 1,
            Self::Cycle => 2,
            Self::Text => 3,
            Self::Echo => 4,
        }
    }

    /// The kind's one spelling, wherever it is written.
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

/// The stable id of a loop: the same whichever of its calls is found first.
///
/// It depends on digests alone, so it is the same in every run in which the same calls,
/// answered the same, go round in the same order. Displayed as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LoopId(Digest);

impl LoopId {
    pub(crate) const fn new(digest: Digest) -> Self {
        Self(digest)
    }

    /// The id that [`LoopId::bits`] gave, or that was read where it was printed.
    pub const fn from_bits(bits: u64) -> Self {
        Self(Digest::new(bits))
    }

    /// The id as 64 bits.
    pub const fn bits(self) -> u64 {
        self.0.bits()
    }

    pub(crate) const fn folded(self) -> u32 {
        self.0.folded()
    }
}

impl FromStr for LoopId {
    type Err = ParseLoopIdError;

    /// Reads what [`Display`](fmt::Display) writes: 16 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, ParseLoopIdError> {
        if text.len() != 16 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(ParseLoopIdError);
        }
        u64::from_str_radix(text, 16).map(Self::from_bits).map_err(|_| ParseLoopIdError)
    }
}

/// What was read as a [`LoopId`] is none.
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

/// Which rule of a policy made a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum RuleIndex {
    /// The rule with this place among [`Policy::rules`](crate::Policy::rules), counted from 0.
    Call(u8),
    /// The rule with this place among [`Policy::texts`](crate::Policy::texts), counted from 0.
    Text(u8),
}

impl RuleIndex {
    /// A rule that stands in no policy.
    pub const ELSEWHERE: Self = Self::Call(u8::MAX);
}

/// The evidence for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Finding {
    /// The rule that fired.
    pub rule: RuleIndex,
    /// How things recur.
    pub kind: Kind,
    /// What the calls have in common.
    pub args: Args,
    /// What their outcomes have in common.
    pub results: Results,
    /// The tool of the last call.
    pub tool: Tool,
    /// What kind of tool that is.
    pub tag: Tag,
    /// Whether the last call failed.
    pub failed: bool,
    /// How many calls make a lap: 1 but for cycles, and for [`Kind::Echo`], where it is how many
    /// words do.
    pub period: u8,
    /// How often the calls matched: laps of a cycle; records of a streak or recurrence; turns.
    pub laps: u16,
    /// The first call of the pattern, by sequence number; for [`Kind::Text`] and [`Kind::Echo`] the
    /// first turn, counted likewise among text-only turns.
    ///
    /// Exact while the pattern lies within the window. Of a longer one in which the rule skips
    /// calls, the calls skipped beyond the window are not counted.
    pub first: u64,
    /// The last call of the pattern: the one that was judged.
    pub last: u64,
    /// Which loop it is.
    pub loop_id: LoopId,
    /// How sure the engine is, in percent.
    ///
    /// Arguments count 100 where they are the same, 85 where similar, 70 where only the tool
    /// is the same, 60 where anything goes; results 100 where the same, 80 where near, 75
    /// where ignored. The product of the two is what a bare pattern is worth, less 5 for each
    /// novel call between the matches of a recurrence. Each repetition beyond those that the rule
    /// asks for halves the doubt that is left.
    pub confidence: u8,
    /// The most that more of the same can lead to: [`Action::Warn`] where the rule asks for
    /// [proof](crate::Force::Proven) and there is none so far.
    pub most: Action,
    pub(crate) evidence: Mask,
}

impl Finding {
    /// A finding that no detector made: of a host that learns of a loop in another way, and shows it as
    /// it shows others. The call `seq` is made again and again, and comes back as it did before.
    ///
    /// Its fields are the host's to change. It is nothing to tell a detector of as a
    /// [false positive](crate::Detector::false_positive).
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
            failed: false,
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

    /// Whether the loop is known by calls, results or texts, and not only by its rule.
    pub(crate) const fn names_its_loop(&self) -> bool {
        let named = matches!(self.args, Args::Same | Args::Similar);
        named || !matches!(self.results, Results::Ignored)
    }

    /// The calls that prove it, by sequence number, from the oldest that the window still
    /// shows to the last. Empty for findings about text.
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

    /// Whether it is about the same message of the user, sent again and again, and not about turns of
    /// the agent.
    pub const fn is_about_prompts(&self) -> bool {
        matches!((self.kind, self.results), (Kind::Text, Results::Same))
    }
}

/// How sure a finding is; the formula stands at [`Finding::confidence`].
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

/// The engine's answer to one event: what to do, and why.
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
    /// What to do.
    pub action: Action,
    /// The rung of the ladder that is reached, counted from 1; 0 below the first.
    pub rung: u8,
    /// Whether that rung was reached just now: a host that speaks only then speaks once a rung.
    pub fresh: bool,
    /// The evidence, where a rule fired.
    pub finding: Option<Finding>,
}

impl Verdict {
    /// Nothing was found: go on.
    pub const PROCEED: Self =
        Self { action: Action::Proceed, rung: 0, fresh: false, finding: None };

    /// The verdict that asks for more; of two that ask for the same, the fresh one, or the one
    /// with a finding, or else `self`.
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
    fn of_two_verdicts_that_ask_for_the_same_the_first_stays() {
        let first = Verdict { action: Action::Warn, rung: 1, ..Verdict::PROCEED };
        let second = Verdict { rung: 2, ..first };
        assert_eq!(first.or_stronger(second), first);
        assert_eq!(second.or_stronger(first), second);
        let fresh = Verdict { fresh: true, ..second };
        assert_eq!(first.or_stronger(fresh), fresh);
        assert_eq!(fresh.or_stronger(first), fresh);
    }

    #[test]
    fn every_kind_has_a_place_of_its_own() {
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(kind.code()), place);
        }
    }

    #[test]
    fn a_loop_id_is_read_as_it_is_written() {
        for bits in [0, 1, 0x9f0c_5e8b_2a7d_4411, u64::MAX] {
            let id = LoopId::from_bits(bits);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for text in ["", "9f0c", "+f0c5e8b2a7d4411", "9f0c5e8b2a7d44111", "9f0c5e8b2a7d441g"] {
            assert_eq!(text.parse::<LoopId>(), Err(ParseLoopIdError), "{text}");
        }
    }
}
