//! Calls and outcomes in the form that the engine takes: digests and flags, no text.

use core::fmt;
use core::num::NonZeroU64;

use crate::Digest;

/// The tool that a call is for: 32 bits chosen by the host.
///
/// ```
/// use unstuck_core::Tool;
///
/// assert_eq!(Tool::named("bash"), Tool::named("bash"));
/// assert_ne!(Tool::named("bash"), Tool::new(7));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tool(u32);

impl Tool {
    /// Creates a tool from the host's own number.
    pub const fn new(id: u32) -> Self {
        Self(id)
    }

    /// Creates a tool from the folded digest of its name. O(n).
    ///
    /// Two of `n` names share an id with probability n²/2³³, which is one in a hundred million for
    /// ten tools. Numbers chosen by the host never collide.
    pub fn named(name: &str) -> Self {
        Self(Digest::of(name.as_bytes()).folded())
    }

    /// Returns the number.
    pub const fn id(self) -> u32 {
        self.0
    }
}

/// The kind of tool that a call is for, if a rule or the advice depends on it.
///
/// ```
/// use unstuck_core::Tag;
///
/// assert_eq!(Tag::default(), Tag::Other);
/// assert_eq!(Tag::Search.name(), "search");
/// ```
// Checkpoints store a tag as its index here, so new tags go to the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Tag {
    /// A kind that no rule asks for.
    #[default]
    Other,
    /// Runs tests.
    Test,
    /// Runs commands.
    Shell,
    /// Reads a file or a page.
    Read,
    /// Writes or edits a file.
    Write,
    /// Searches.
    Search,
    /// Asks for the state of something that is under way.
    Poll,
    /// Only thinks or plans.
    Think,
    /// Ends the run or hands it over.
    Finish,
    /// Throws the work away and begins again.
    StartOver,
    /// Presses a key, clicks, scrolls or moves. An equal confirmation proves nothing.
    Act,
}

impl Tag {
    /// All tags.
    pub const ALL: [Self; 11] = [
        Self::Other,
        Self::Test,
        Self::Shell,
        Self::Read,
        Self::Write,
        Self::Search,
        Self::Poll,
        Self::Think,
        Self::Finish,
        Self::StartOver,
        Self::Act,
    ];

    /// Returns the name that reports and configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Test => "test",
            Self::Shell => "shell",
            Self::Read => "read",
            Self::Write => "write",
            Self::Search => "search",
            Self::Poll => "poll",
            Self::Think => "think",
            Self::Finish => "finish",
            Self::StartOver => "start_over",
            Self::Act => "act",
        }
    }

    /// Returns the number of the tag. Numbers are never reused.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Other => 0,
            Self::Test => 1,
            Self::Shell => 2,
            Self::Read => 3,
            Self::Write => 4,
            Self::Search => 5,
            Self::Poll => 6,
            Self::Think => 7,
            Self::Finish => 8,
            Self::StartOver => 9,
            Self::Act => 10,
        }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of tags.
///
/// ```
/// use unstuck_core::{Tag, TagSet};
///
/// const QUIET: TagSet = TagSet::EMPTY.with(Tag::Think).with(Tag::Finish);
/// assert!(QUIET.contains(Tag::Think) && !QUIET.contains(Tag::Shell));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TagSet(u16);

impl TagSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// Returns the set with `tag` added.
    #[must_use]
    pub const fn with(self, tag: Tag) -> Self {
        Self(self.0 | 1_u16.wrapping_shl(u32::from_le_bytes([tag.code(), 0, 0, 0])))
    }

    /// Returns whether `tag` is in the set.
    pub const fn contains(self, tag: Tag) -> bool {
        self.with(tag).0 == self.0
    }
}

/// A call of a tool with its arguments, as the agent asked for it.
///
/// ```
/// use unstuck_core::{Call, Digest, Tag, Tool};
///
/// let call = Call::new(Tool::named("bash"), Digest::of(br#"{"command":"ls"}"#))
///     .tag(Tag::Shell)
///     .step(4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Call {
    pub(crate) tool: Tool,
    pub(crate) args: Digest,
    pub(crate) similar: u32,
    pub(crate) tag: Tag,
    pub(crate) idempotent: bool,
    /// The number of the step, and one.
    pub(crate) step: Option<NonZeroU64>,
}

impl Call {
    /// Creates a call of `tool` in a step of its own. `args` stands for the arguments.
    ///
    /// The tool is mixed into the digest, so equal arguments of two tools are different calls.
    pub const fn new(tool: Tool, args: Digest) -> Self {
        let args = args.mix(tool.digest());
        let similar = args.folded();
        Self { tool, args, similar, tag: Tag::Other, idempotent: false, step: None }
    }

    /// Makes this call similar to every call of the same tool with an equal `similar` digest. By
    /// default, only calls with equal arguments are similar.
    #[must_use]
    pub const fn similar(mut self, similar: Digest) -> Self {
        self.similar = similar.mix(self.tool.digest()).folded();
        self
    }

    /// Sets the kind of tool.
    #[must_use]
    pub const fn tag(mut self, tag: Tag) -> Self {
        self.tag = tag;
        self
    }

    /// Marks the call as idempotent: it only reads, or it writes the same content to the same
    /// place. An equal answer then proves that calling again does not help. By default a call
    /// counts as one that acts, for which an equal confirmation may be good news.
    #[must_use]
    pub const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Puts the call into the step `step`. Calls that the agent issued together share a step.
    /// [`u64::MAX`] stands for a step of the call's own.
    #[must_use]
    pub const fn step(mut self, step: u64) -> Self {
        self.step = NonZeroU64::new(step.wrapping_add(1));
        self
    }
}

impl Call {
    /// Returns the digest of the tool and the arguments.
    pub const fn digest(&self) -> Digest {
        self.args
    }

    /// Returns the kind of tool that the host gave.
    pub const fn kind(&self) -> Tag {
        self.tag
    }

    /// Returns whether the host gave this kind of tool.
    pub fn has_tag(&self, tag: Tag) -> bool {
        self.tag == tag
    }

    /// Returns whether `other` is a call of the same tool with the same arguments.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.tool == other.tool && self.args == other.args
    }
}

impl Tool {
    const fn digest(self) -> Digest {
        let [a, b, c, d] = self.0.to_le_bytes();
        Digest::new(u64::from_le_bytes([a, b, c, d, 0, 0, 0, 0]))
    }
}

/// The outcome of a call: a result, and whether the call failed.
///
/// ```
/// use unstuck_core::{Digest, Outcome};
///
/// let outcome = Outcome::failed(Digest::of(b"no such file"));
/// let nothing = Outcome::ok(Digest::of(b"")).silent();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Outcome {
    pub(crate) result: Digest,
    /// The digest of near answers. `None` if only equal answers are near.
    pub(crate) near: Option<u32>,
    pub(crate) score: Score,
    pub(crate) raw: u16,
    pub(crate) failed: bool,
    pub(crate) says: Says,
    pub(crate) pending: bool,
    pub(crate) transient: bool,
}

impl Outcome {
    /// Creates the outcome of a call that worked. `result` stands for the result.
    pub const fn ok(result: Digest) -> Self {
        Self::new(result, false)
    }

    /// Creates the outcome of a call that failed. `result` stands for the error. It never equals
    /// an [`Outcome::ok`].
    pub const fn failed(result: Digest) -> Self {
        Self::new(result.mix(Digest::new(1)), true)
    }

    const fn new(result: Digest, failed: bool) -> Self {
        Self {
            result,
            near: None,
            score: Score::NONE,
            raw: half(result.folded()),
            failed,
            says: Says::Something,
            pending: false,
            transient: false,
        }
    }

    /// Returns the digest of the result or of the error. The two never have equal digests.
    pub const fn digest(&self) -> Digest {
        self.result
    }

    /// Returns whether the call failed.
    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Makes this outcome near to every outcome of any call with an equal `near` digest, if both
    /// failed or both worked. By default, only equal results of the same call are near.
    #[must_use]
    pub const fn near(mut self, near: Digest) -> Self {
        let near = if self.failed { near.mix(Digest::new(1)) } else { near };
        self.near = Some(near.folded());
        self
    }

    /// Sets the digest of the whole answer, byte for byte. By default, equal results are equal
    /// answers.
    ///
    /// The digest of the result may leave out volatile text, so two answers can differ although
    /// their results are equal. Only equal answers prove that an [idempotent](Call::idempotent)
    /// call does not help. For a failure, `answer` may be the digest of the error message without
    /// the noise around it.
    ///
    /// The engine keeps sixteen bits, so five different answers look equal by chance once in 2⁶⁴.
    #[must_use]
    pub const fn raw(mut self, answer: Digest) -> Self {
        self.raw = half(answer.folded());
        self
    }

    /// Marks the answer as "still under way" (running, pending, queued). The record then has the
    /// tag [`Tag::Poll`], whatever the tool is. A call that tests, ends the run or starts over
    /// keeps its own tag.
    #[must_use]
    pub const fn pending(mut self) -> Self {
        self.pending = true;
        self
    }

    /// Marks the answer as the start of a job that is still under way. It is [pending](Self::pending), but who starts the
    /// job again does not wait for it: a rule about polls asks for three repetitions less.
    #[must_use]
    pub const fn started(mut self) -> Self {
        self.says = Says::Little;
        self.pending()
    }

    /// Marks the outcome as a failure that may pass by itself: a time-out, a rate limit, a service
    /// that starts, a lock. Rules ask for two repetitions more, because the same call may work later.
    #[must_use]
    pub const fn transient(mut self) -> Self {
        self.transient = true;
        self
    }

    /// Sets how good the outcome is. Lower is better, as for the number of failing tests. A score
    /// better than the best so far of tools with the same tag is progress.
    #[must_use]
    pub const fn score(mut self, score: u32) -> Self {
        self.score = Score::new(score);
        self
    }

    /// Marks the result as telling: it says so much that an equal answer to another call is no
    /// coincidence. By default no result is.
    #[must_use]
    pub const fn telling(mut self) -> Self {
        self.says = Says::Much;
        self
    }

    /// Marks the outcome as weak evidence between different calls: a bare number, the failure to look up one thing among
    /// others, or a complaint of a program that did its work all the same. Rules that compare different calls ask for
    /// three repetitions more.
    #[must_use]
    pub const fn weak(mut self) -> Self {
        self.says = Says::Little;
        self
    }

    /// Marks the result as silent: it says nothing (empty, "ok", a placeholder). It is no evidence
    /// between calls with different arguments.
    #[must_use]
    pub const fn silent(mut self) -> Self {
        self.says = Says::Nothing;
        self
    }
}

/// Returns the lower half of `digest`.
const fn half(digest: u32) -> u16 {
    let [low, high, ..] = digest.to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// The weight of a result as evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Says {
    /// It is silent: equal results of different calls are none.
    Nothing,
    Something,
    /// It is telling: an equal result of another call is no coincidence.
    Much,
    /// It is weak evidence between different calls. Of a job under way: it was started.
    Little,
}

/// The quality of an outcome. Lower is better, and the highest number means "unknown".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Score(u32);

impl Score {
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The worst known score.
    pub(crate) const WORST: Self = Self(u32::MAX.saturating_sub(1));

    const fn new(score: u32) -> Self {
        if score == Self::NONE.0 { Self::WORST } else { Self(score) }
    }

    pub(crate) const fn is_known(self) -> bool {
        self.0 != Self::NONE.0
    }
}

/// The engine's name for an announced call.
///
/// ```
/// use unstuck_core::{Call, Detector, Digest, Tool, presets};
///
/// let mut detector: Detector<'_, 20> = Detector::new(&presets::BALANCED)?;
/// let announced = detector.announce(Call::new(Tool::named("ls"), Digest::of(b"{}")));
/// assert_eq!(announced.id.seq(), Some(0));
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CallId {
    seq: u64,
    /// How many times calls were taken back before this number was given. Numbers are given again
    /// after that.
    era: u8,
    recorded: bool,
}

impl CallId {
    /// The id of a call that is not recorded.
    pub(crate) const NONE: Self = Self { seq: 0, era: 0, recorded: false };

    pub(crate) const fn new(seq: u64, era: u8) -> Self {
        Self { seq, era, recorded: true }
    }

    /// Returns the sequence number of the call, or `None` if its tool is exempt and the call is
    /// not recorded.
    ///
    /// The first recorded call has the number 0, and each further call has one more. If a call is
    /// taken back, the next call gets its number.
    pub const fn seq(self) -> Option<u64> {
        if self.recorded { Some(self.seq) } else { None }
    }

    pub(crate) const fn era(self) -> u8 {
        self.era
    }
}

/// The progress of a record from its announcement to its end.
// Checkpoints store a status as its index here, so new ones go to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Status {
    /// Announced. Its outcome may still come.
    Open,
    /// Its outcome came.
    Reported,
    /// A later step began before an outcome came.
    Unreported,
    /// Too many calls were open at once to wait for it.
    Dropped,
    /// Blocked by the host or the engine, so it did not run.
    Vetoed,
    /// Not run. The record counts as if it had never been announced, but keeps its number.
    Cancelled,
}

/// A call with its outcome, which the engine keeps until the record settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each thing to know of a record")]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Record {
    pub(crate) args: Digest,
    /// The digest of the result, folded.
    pub(crate) result: u32,
    pub(crate) similar: u32,
    pub(crate) near: u32,
    pub(crate) tool: Tool,
    /// The digest of the raw answer, including its volatile parts.
    pub(crate) raw: u16,
    pub(crate) tag: Tag,
    pub(crate) status: Status,
    pub(crate) failed: bool,
    pub(crate) says: Says,
    /// True if an equal answer proves that calling again does not help.
    pub(crate) idempotent: bool,
    /// True if the call timed out.
    pub(crate) transient: bool,
    /// True if its `args` were absent from the window when it was announced.
    pub(crate) novel: bool,
    /// The number of records directly before it that were issued together with it.
    pub(crate) in_step: u8,
    /// True if it is progress, whatever earlier answers of the same call were.
    pub(crate) moved: bool,
    pub(crate) era: u8,
    pub(crate) score: Score,
}

impl Record {
    /// The filler for an empty place, all zeros.
    pub(crate) const NONE: Self = Self {
        args: Digest::new(0),
        similar: 0,
        says: Says::Nothing,
        score: Score(0),
        ..Self::open(&Call::new(Tool::new(0), Digest::new(0)), 0)
    };

    pub(crate) const fn open(call: &Call, in_step: u8) -> Self {
        Self {
            args: call.args,
            result: 0,
            similar: call.similar,
            near: 0,
            tool: call.tool,
            raw: 0,
            tag: call.tag,
            status: Status::Open,
            failed: false,
            says: Says::Something,
            idempotent: call.idempotent,
            transient: false,
            novel: false,
            in_step,
            moved: false,
            era: 0,
            score: Score::NONE,
        }
    }

    /// Returns whether this is a call with the arguments of `other` that may have run.
    pub(crate) fn is_same_call(&self, other: &Self) -> bool {
        self.args == other.args && self.status != Status::Cancelled
    }

    /// Returns whether the result is silent.
    pub(crate) fn is_silent(&self) -> bool {
        self.says == Says::Nothing
    }

    /// Returns whether the call failed, or was blocked.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed || self.status == Status::Vetoed
    }

    /// Returns whether this is a novel call of a writing tool that worked.
    pub(crate) fn has_written(&self) -> bool {
        self.tag == Tag::Write && self.novel && !self.failed && self.status == Status::Reported
    }

    /// Returns the record as it was before its outcome. A cancelled call stays cancelled.
    pub(crate) fn without_outcome(&self) -> Self {
        let is_cancelled = self.status == Status::Cancelled;
        Self {
            status: if is_cancelled { Status::Cancelled } else { Status::Open },
            result: 0,
            near: 0,
            raw: 0,
            failed: false,
            says: Says::Something,
            transient: false,
            score: Score::NONE,
            ..*self
        }
    }

    pub(crate) fn report(&mut self, outcome: &Outcome) {
        self.result = outcome.result.folded();
        // If the host gave no digest for near results, only the same answer to the same call is
        // near.
        self.near = outcome.near.unwrap_or_else(|| outcome.result.mix(self.args).folded());
        self.raw = outcome.raw;
        self.failed = outcome.failed;
        self.says = outcome.says;
        self.transient = outcome.transient;
        self.score = outcome.score;
        self.status = Status::Reported;
        if outcome.pending && !matches!(self.tag, Tag::Test | Tag::Finish | Tag::StartOver) {
            self.tag = Tag::Poll;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Call, Outcome, Tag, TagSet, Tool};
    use crate::Digest;

    #[test]
    fn equal_arguments_of_two_tools_are_two_calls() {
        let args = Digest::of(b"{}");
        let (a, b) = (Call::new(Tool::new(1), args), Call::new(Tool::new(2), args));
        assert_ne!(a.args, b.args);
        assert_ne!(a.similar, b.similar);
        assert_ne!(a.similar(args).similar, b.similar(args).similar);
    }

    #[test]
    fn a_failure_never_equals_a_success() {
        let text = Digest::of(b"x");
        let (ok, failed) = (Outcome::ok(text), Outcome::failed(text));
        assert_ne!(ok.result, failed.result);
        assert_ne!(ok.near(text).near, failed.near(text).near);
    }

    #[test]
    fn tags_differ_in_index_and_name() {
        for (i, tag) in Tag::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(tag.code()), i);
            let set = TagSet::EMPTY.with(tag);
            for other in Tag::ALL {
                assert_eq!(set.contains(other), other == tag);
                assert_eq!(other.name() == tag.name(), other == tag);
            }
        }
    }
}
