//! Calls and outcomes as the engine takes them: digests and flags, no text.

use core::fmt;

use crate::Digest;

/// Which tool a call is for: 32 bits chosen by the host.
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
    /// The tool with a number of the host's own.
    pub const fn new(id: u32) -> Self {
        Self(id)
    }

    /// The tool called `name`, by the folded digest of its name. O(n).
    ///
    /// Two of `n` names share an id with probability n²/2³³: one in a hundred million for ten
    /// tools. A host that numbers its tools has no such doubt.
    pub fn named(name: &str) -> Self {
        Self(Digest::of(name.as_bytes()).folded())
    }

    /// The number.
    pub const fn id(self) -> u32 {
        self.0
    }
}

/// What kind of tool a call is for, where that matters to a rule or to the advice given.
// Checkpoints know a tag by its place here: new ones stand last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Tag {
    /// Nothing that a rule asks for.
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
    /// Asks for the state of something that is on its way.
    Poll,
    /// Only thinks or plans.
    Think,
    /// Ends the run or hands it over.
    Finish,
    /// Throws the work away and starts over.
    StartOver,
    /// Acts, so that an equal confirmation proves nothing: presses a key, clicks, scrolls, moves.
    Act,
}

impl Tag {
    /// Every tag.
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

    /// The tag's one spelling, wherever it is written.
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

    /// A number of the tag's own, which is never reused for another.
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
    /// No tag.
    pub const EMPTY: Self = Self(0);

    /// The set with `tag` in it.
    #[must_use]
    pub const fn with(self, tag: Tag) -> Self {
        Self(self.0 | 1_u16.rotate_left(u32::from_le_bytes([tag.code(), 0, 0, 0])))
    }

    /// Whether `tag` is in the set.
    pub const fn contains(self, tag: Tag) -> bool {
        self.with(tag).0 == self.0
    }
}

/// A tool's name with its arguments, as the agent asked for it.
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
    pub(crate) step: Option<u64>,
}

impl Call {
    /// A call of `tool` with arguments that stand for `args`, in a step of its own.
    ///
    /// The tool is mixed into the digest: equal arguments of two tools are two calls.
    pub const fn new(tool: Tool, args: Digest) -> Self {
        let args = args.mix(tool.digest());
        let similar = args.folded();
        Self { tool, args, similar, tag: Tag::Other, idempotent: false, step: None }
    }

    /// Holds this call alike to every call of the same tool with an equal `similar` digest.
    /// Without it, only equal arguments are alike.
    #[must_use]
    pub const fn similar(mut self, similar: Digest) -> Self {
        self.similar = similar.mix(self.tool.digest()).folded();
        self
    }

    /// Says what kind of tool this is.
    #[must_use]
    pub const fn tag(mut self, tag: Tag) -> Self {
        self.tag = tag;
        self
    }

    /// Marks the call as idempotent: it only reads, or it writes the same content to the same place,
    /// so an equal answer proves that calling again does not help. Without it, the call counts as
    /// one that acts: an equal confirmation may be good news.
    #[must_use]
    pub const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Puts the call into the step `step`: calls that the agent issued together share one.
    #[must_use]
    pub const fn step(mut self, step: u64) -> Self {
        self.step = Some(step);
        self
    }
}

impl Call {
    /// Returns the digest of the tool and the arguments.
    pub const fn digest(&self) -> Digest {
        self.args
    }

    /// What kind of tool this is, as far as the host said.
    pub const fn kind(&self) -> Tag {
        self.tag
    }

    /// Whether this is a call of that kind of tool, as far as the host said.
    pub fn has_tag(&self, tag: Tag) -> bool {
        self.tag == tag
    }

    /// Whether this is the same tool with the same arguments as `other`.
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

/// What came back from a call: a result, and whether it failed.
///
/// ```
/// use unstuck_core::{Digest, Outcome};
///
/// let outcome = Outcome::failed(Digest::of(b"no such file"));
/// let nothing = Outcome::ok(Digest::of(b"")).silent();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each thing to say of an outcome")]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Outcome {
    pub(crate) result: Digest,
    /// The digest of near answers. `None` if only equal answers are near.
    pub(crate) near: Option<u32>,
    pub(crate) score: Score,
    pub(crate) raw: u16,
    pub(crate) failed: bool,
    pub(crate) silent: bool,
    pub(crate) pending: bool,
    pub(crate) late: bool,
}

impl Outcome {
    /// The call worked, with a result that stands for `result`.
    pub const fn ok(result: Digest) -> Self {
        Self::new(result, false)
    }

    /// The call failed, with an error that stands for `result`. It equals no [`Outcome::ok`].
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
            silent: false,
            pending: false,
            late: false,
        }
    }

    /// Returns the digest of the result or of the error. The two never have equal digests.
    pub const fn digest(&self) -> Digest {
        self.result
    }

    /// Whether the call failed.
    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Holds this outcome near to every outcome with an equal `near` digest that failed or
    /// worked alike, whatever the calls were. Without it, only equal results of the same call are near.
    #[must_use]
    pub const fn near(mut self, near: Digest) -> Self {
        let near = if self.failed { near.mix(Digest::new(1)) } else { near };
        self.near = Some(near.folded());
        self
    }

    /// Says what stands for every byte of the answer. Where the digest of the result leaves out
    /// volatile text, two results may be equal and their answers not; only equal answers prove that
    /// an [idempotent](Call::idempotent) call does not help. Of a failure it may stand for what went
    /// wrong, without the noise around it. Without it, equal results are equal answers.
    ///
    /// Sixteen bits of it are kept: five different answers are held equal by chance once in 2⁶⁴.
    #[must_use]
    pub const fn raw(mut self, answer: Digest) -> Self {
        self.raw = half(answer.folded());
        self
    }

    /// Marks the answer as "still under way" (running, pending, queued): the call waited, whatever its
    /// tool is, and its record has the tag [`Tag::Poll`]. A call that tests or ends the run keeps
    /// its own.
    #[must_use]
    pub const fn pending(mut self) -> Self {
        self.pending = true;
        self
    }

    /// Marks the outcome as a time-out. It is judged one repetition later than others: the same call
    /// may come back in time.
    #[must_use]
    pub const fn timed_out(mut self) -> Self {
        self.late = true;
        self
    }

    /// Says how good the outcome is: lower is better, as in the number of failing tests. A score
    /// better than the best so far of tools with the same tag is progress.
    #[must_use]
    pub const fn score(mut self, score: u32) -> Self {
        self.score = Score::new(score);
        self
    }

    /// Marks the result as one that says nothing (empty, "ok", a placeholder): it is no
    /// evidence between calls with different arguments.
    #[must_use]
    pub const fn silent(mut self) -> Self {
        self.silent = true;
        self
    }
}

/// The lower half of `digest`.
const fn half(digest: u32) -> u16 {
    let [low, high, ..] = digest.to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// How good an outcome is; lower is better. The worst number stands for "nobody knows".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Score(u32);

impl Score {
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The worst that is known.
    pub(crate) const WORST: Self = Self(u32::MAX.saturating_sub(1));

    const fn new(score: u32) -> Self {
        if score == Self::NONE.0 { Self::WORST } else { Self(score) }
    }

    pub(crate) const fn is_known(self) -> bool {
        self.0 != Self::NONE.0
    }
}

/// The engine's name for one announced call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CallId {
    seq: u64,
    /// The number was given anew so many times: calls that were taken back have one, too.
    era: u8,
    recorded: bool,
}

impl CallId {
    /// The name of a call that is not recorded.
    pub(crate) const NONE: Self = Self { seq: 0, era: 0, recorded: false };

    pub(crate) const fn new(seq: u64, era: u8) -> Self {
        Self { seq, era, recorded: true }
    }

    /// The call's sequence number: 0 for the first that a detector recorded, then one more
    /// each; a call that was taken back leaves its number to the next. `None` for a call of an
    /// exempt tool, which is not recorded.
    pub const fn seq(self) -> Option<u64> {
        if self.recorded { Some(self.seq) } else { None }
    }

    pub(crate) const fn era(self) -> u8 {
        self.era
    }
}

/// How far a record has come.
// Checkpoints know a status by its place here: new ones stand last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Status {
    /// Announced; its outcome may still come.
    Open,
    /// Its outcome came.
    Reported,
    /// A later step began before an outcome came.
    Unreported,
    /// Too many calls were open at once to wait for it.
    Dropped,
    /// It was not run, since somebody blocked it.
    Vetoed,
    /// It was not run: as if it had never been announced, but for its number.
    Cancelled,
}

/// A call with its outcome, as the engine keeps it until it settles.
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
    /// The digest of the raw answer, its volatile parts included.
    pub(crate) raw: u16,
    pub(crate) tag: Tag,
    pub(crate) status: Status,
    pub(crate) failed: bool,
    pub(crate) silent: bool,
    /// Whether an equal answer proves that calling again does not help.
    pub(crate) idempotent: bool,
    /// Whether it timed out.
    pub(crate) late: bool,
    /// Whether its `args` were nowhere in the window when it was announced.
    pub(crate) novel: bool,
    /// How many of the records directly before it were issued together with it.
    pub(crate) in_step: u8,
    /// Whether it is progress, whatever the same call was answered before.
    pub(crate) moved: bool,
    pub(crate) era: u8,
    pub(crate) score: Score,
}

impl Record {
    /// What takes the place of a record where there is none.
    pub(crate) const NONE: Self = Self::open(&Call::new(Tool::new(0), Digest::new(0)), 0);

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
            silent: false,
            idempotent: call.idempotent,
            late: false,
            novel: false,
            in_step,
            moved: false,
            era: 0,
            score: Score::NONE,
        }
    }

    /// Whether this is a call with the arguments of `other` that may have been run.
    pub(crate) fn is_same_call(&self, other: &Self) -> bool {
        self.args == other.args && self.status != Status::Cancelled
    }

    /// Whether the call failed, or was not run since somebody blocked it.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed || self.status == Status::Vetoed
    }

    /// Whether this is a novel call of a writing tool that worked.
    pub(crate) fn has_written(&self) -> bool {
        self.tag == Tag::Write && self.novel && !self.failed && self.status == Status::Reported
    }

    pub(crate) fn report(&mut self, outcome: &Outcome) {
        self.result = outcome.result.folded();
        // Without a word of the host on what is near, only the same answer to the same call is.
        self.near = outcome.near.unwrap_or_else(|| outcome.result.mix(self.args).folded());
        self.raw = outcome.raw;
        self.failed = outcome.failed;
        self.silent = outcome.silent;
        self.late = outcome.late;
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
    fn every_tag_has_a_place_and_a_name_of_its_own() {
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
