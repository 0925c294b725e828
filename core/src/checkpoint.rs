//! Checkpoints: a detector as bytes, and its restoration with every field checked.
//!
//! The format is the `serde` representation of the fields of one struct, in their order. With
//! `postcard` it is a byte for the version, followed by variable-length numbers. Digests are
//! written as bytes, the lowest first. [`Detector::save`] appends a checksum of four bytes. Each
//! change of the format gets a new [`VERSION`].
//!
//! A checkpoint contains neither the policy nor its ladders. Hosts change actions more often than
//! rules, and a robot that wakes up with a milder ladder keeps its history.

use core::fmt;
use core::num::NonZeroU64;

use heapless::Vec;
use serde::de::{Deserializer, Error as _};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::Digest;
use crate::detector::{Detector, Statistics};
use crate::feedback::{Feedback, RAISED_MAX, Raised, SILENCED_MAX};
use crate::history::History;
use crate::ladder::{REMINDERS_MAX, RUNGS_MAX};
use crate::loops::{Blocker, LOOPS_MAX, Loop, Loops};
use crate::mask::Mask;
use crate::pattern;
use crate::policy::Policy;
use crate::record::{Record, Score, Status, Tag};
use crate::rule::{RULES_MAX, RUNS_MAX, Rule};
use crate::selection::RuleSet;
use crate::talk::{Heard, MESSAGES_MAX, TextRow};
use crate::verdict::RuleIndex;
use crate::window::Window;

/// The version of the format that this engine writes, and the only version that it reads.
pub const VERSION: u8 = 6;

/// A limit above the number of calls or turns of any detector, so that later ones can still be
/// counted.
const COUNT_MAX: u64 = u64::MAX >> 1;

/// The highest rung that a verdict can have: a rung of a ladder, or a reminder above the last
/// rung.
const RUNG_MAX: u8 = {
    let [rungs, ..] = RUNGS_MAX.to_le_bytes();
    rungs.saturating_add(REMINDERS_MAX)
};

/// The length of the checksum at the end of a checkpoint.
#[cfg(feature = "postcard")]
const SUM: usize = size_of::<u32>();

/// The reason why a checkpoint was not written or not restored.
///
/// ```
/// use unstuck_core::CheckpointError;
///
/// let error = CheckpointError::Version { found: 9 };
/// assert!(error.to_string().starts_with("the checkpoint has version 9"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The buffer is too short for the checkpoint.
    BufferTooShort {
        /// The length of the buffer in bytes.
        length: usize,
        /// A length that is always enough.
        enough: usize,
    },
    /// The bytes are not a checkpoint, were cut short or damaged, or hold more than this detector
    /// can.
    Malformed,
    /// The checkpoint was written in another version of the format.
    Version {
        /// The version of the checkpoint.
        found: u8,
    },
    /// The checkpoint was written under a policy with other rules.
    OtherPolicy,
    /// The window of the policy is longer than the detector's capacity.
    PolicyDoesNotFit,
    /// A field holds a value that no detector writes.
    Corrupt {
        /// The name of the field.
        field: &'static str,
    },
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BufferTooShort { length, enough } => write!(
                f,
                "the buffer holds {length} bytes, too few for the checkpoint; {enough} are always \
                 enough"
            ),
            Self::Malformed => f.write_str(
                "these bytes are no checkpoint of a detector of this size: begin with a new one",
            ),
            Self::Version { found } => write!(
                f,
                "the checkpoint has version {found}, but this engine reads {VERSION}: begin with \
                 a new detector"
            ),
            Self::OtherPolicy => f.write_str(
                "the checkpoint was written under other rules: restore it with the policy that it \
                 was written under, or begin with a new detector",
            ),
            Self::PolicyDoesNotFit => f.write_str(
                "the window of the policy is longer than this detector holds: use a larger one",
            ),
            Self::Corrupt { field } => {
                write!(f, "the checkpoint is corrupt: no detector writes such a `{field}`")
            }
        }
    }
}

impl core::error::Error for CheckpointError {}

/// The serialised form of a detector. It has the memory of as many rules as the policy has.
#[derive(Serialize, Deserialize)]
struct State<const W: usize, const OPEN: usize> {
    version: Version,
    rules: Digest,
    ladders: Digest,
    next: u64,
    begun: u64,
    step: Option<NonZeroU64>,
    in_step: u8,
    findings: u16,
    rung: u8,
    era: u8,
    moved: bool,
    unbroken: u16,
    heard: Heard,
    text: TextRow,
    settled: Vec<Record, W>,
    open: Vec<Record, OPEN>,
    tracks: Vec<(Mask, u16), RULES_MAX>,
    runs: Vec<u16, RUNS_MAX>,
    loops: Vec<Loop, LOOPS_MAX>,
    silenced: Vec<u32, SILENCED_MAX>,
    raised: Vec<Raised, RAISED_MAX>,
    messages: Vec<u32, MESSAGES_MAX>,
    best: [Score; Tag::ALL.len()],
    statistics: Statistics,
}

/// The version that this engine reads.
struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(VERSION)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u8::deserialize(deserializer)? {
            VERSION => Ok(Self),
            found => Err(D::Error::custom(CheckpointError::Version { found })),
        }
    }
}

impl<const W: usize, const OPEN: usize> State<W, OPEN> {
    fn of(detector: &Detector<'_, W, OPEN>) -> Self {
        let rules = detector.policy.rules();
        let runs = rules.iter().map(|rule| usize::from(rule.pattern.runs()));
        let runs = runs.fold(0, usize::saturating_add);
        let window = &detector.history.window;
        let tracks = rules.iter().zip(detector.patterns.rules.streaks());
        Self {
            version: Version,
            rules: detector.policy.digest(),
            ladders: detector.policy.digest_of_ladders(),
            next: detector.history.next,
            begun: detector.history.begun,
            step: detector.history.step,
            in_step: detector.history.in_step,
            findings: detector.patterns.findings,
            rung: detector.patterns.rung,
            era: detector.history.era,
            moved: detector.history.moved,
            unbroken: detector.history.unbroken,
            heard: detector.history.heard,
            text: detector.talk,
            settled: listed((0..window.len()).rev().filter_map(|age| window.record(age))),
            open: listed(detector.history.open.as_slice().iter().copied()),
            tracks: listed((0_u8..).zip(tracks).map(|(place, (rule, streak))| {
                let seen = detector.history.seen_by(pattern::one(place), rule.is_judged_early());
                (seen, streak)
            })),
            runs: listed(detector.patterns.rules.runs().iter().take(runs).copied()),
            loops: listed(detector.patterns.loops.as_slice().iter().copied()),
            silenced: listed(detector.feedback.silenced()),
            raised: listed(detector.feedback.raised()),
            messages: listed(detector.messages.iter().rev().copied()),
            best: detector.best,
            statistics: detector.statistics,
        }
    }

    /// Restores the detector if the state is one that a detector could have written.
    fn restore(&mut self, detector: &mut Detector<'_, W, OPEN>) -> Result<(), CheckpointError> {
        let policy = detector.policy;
        let corrupt = |field| CheckpointError::Corrupt { field };
        let check = |holds: bool, field| if holds { Ok(()) } else { Err(corrupt(field)) };
        if self.rules != policy.digest() {
            return Err(CheckpointError::OtherPolicy);
        }
        if self.ladders != policy.digest_of_ladders() {
            // The rungs of other ladders have no meaning here, so the rungs of these are reported
            // again.
            self.rung = 0;
            for known in &mut self.loops {
                known.rung = 0;
                known.blocker = Blocker::NONE;
            }
        }
        if !Detector::<W, OPEN>::fits(policy) {
            return Err(CheckpointError::PolicyDoesNotFit);
        }
        let held = self.settled.len().saturating_add(self.open.len());
        let numbers = u64::try_from(held).unwrap_or(u64::MAX);
        check((numbers..COUNT_MAX).contains(&self.next), "next")?;
        check(self.begun <= self.next, "begun")?;
        check(self.rung <= RUNG_MAX, "rung")?;
        check(self.text.same <= self.text.any, "text")?;
        check((u64::from(self.text.any)..COUNT_MAX).contains(&self.text.turns), "text")?;
        check(self.text.prompts == 0 || !self.messages.is_empty(), "text")?;
        detector.history.next = self.next;
        detector.history.begun = self.begun;
        detector.history.step = self.step;
        detector.history.in_step = self.in_step;
        detector.patterns.findings = self.findings;
        detector.patterns.rung = self.rung;
        detector.history.era = self.era;
        detector.history.moved = self.moved;
        let calls = u16::try_from(self.next).unwrap_or(u16::MAX);
        detector.history.unbroken = self.unbroken.min(calls);
        detector.history.heard = self.heard;
        detector.talk = self.text;
        detector.best = self.best;
        detector.statistics = self.statistics;
        check(restore_settled(&mut detector.history.window, &self.settled), "settled")?;
        check(restore_open(&mut detector.history, &self.open), "open")?;
        restore_tracks(detector, &self.tracks, &self.runs).ok_or(corrupt("tracks"))?;
        check(
            restore_loops(&mut detector.patterns.loops, &self.loops, self.next, policy),
            "loops",
        )?;
        check(
            restore_feedback(&mut detector.feedback, &self.silenced, &self.raised, policy),
            "raised",
        )?;
        for message in &self.messages {
            detector.messages.push(*message);
        }
        Ok(())
    }
}

/// Returns the `values` as a list. There are never more than `N`. Unlike `collect`, it has no way
/// to panic, because the compiler cannot see that they fit.
fn listed<T, const N: usize>(mut values: impl Iterator<Item = T>) -> Vec<T, N> {
    let mut list = Vec::new();
    let all = values.try_for_each(|value| list.push(value).ok());
    debug_assert!(all.is_some(), "each list is as long as what it is a list of");
    list
}

/// Fills `window` with these records, the oldest first. Returns `false` if one has not settled.
fn restore_settled<const W: usize>(window: &mut Window<W>, records: &[Record]) -> bool {
    for record in records {
        window.push(record, 0);
    }
    records.iter().all(|record| record.status != Status::Open)
}

/// Fills `history` with the waiting records. Returns `false` if the first one does not wait for its
/// outcome.
fn restore_open<const W: usize, const OPEN: usize>(
    history: &mut History<W, OPEN>,
    records: &[Record],
) -> bool {
    for record in records {
        history.hold(*record, 0);
    }
    records.first().is_none_or(|record| record.status == Status::Open)
}

/// Gives each rule its memory, as far as the records are held.
fn restore_tracks<const W: usize, const OPEN: usize>(
    detector: &mut Detector<'_, W, OPEN>,
    tracks: &[(Mask, u16)],
    counts: &[u16],
) -> Option<()> {
    let calls = u16::try_from(detector.history.next).unwrap_or(u16::MAX);
    let mut counts = counts.iter();
    let mut tracks = tracks.iter();
    let mut is_complete = true;
    let history = &mut detector.history;
    detector.patterns.rules.for_each(
        detector.policy.rules(),
        RuleSet::MAX,
        &mut |place, rule, track, runs| {
            let Some((seen, streak)) = tracks.next() else {
                is_complete = false;
                return;
            };
            for run in &mut *runs {
                let count = counts.next();
                is_complete &= count.is_some();
                *run = count.copied().unwrap_or(0).min(calls);
            }
            track.restore((*streak).min(calls), runs.iter().any(|run| *run > 0));
            history.restore_seen(pattern::one(place), rule.is_judged_early(), *seen);
        },
    );
    let is_complete = is_complete && tracks.next().is_none() && counts.next().is_none();
    is_complete.then_some(())
}

/// Fills `restored` with these loops. Returns `false` if no detector can know such a loop.
fn restore_loops(restored: &mut Loops, loops: &[Loop], next: u64, policy: &Policy<'_>) -> bool {
    loops.iter().all(|known| {
        let blocker = known.blocker.rule().map(|(place, _)| policy.rules().get(usize::from(place)));
        let blocks = match blocker {
            Some(rule) => rule.is_some_and(Rule::can_block_ahead),
            None => known.blocker == Blocker::NONE,
        };
        let fits = blocks && known.rung <= RUNG_MAX && known.is_past(next);
        fits && restored.restore(*known)
    })
}

/// Fills `feedback` with these entries. Returns `false` if no detector can have such an entry.
fn restore_feedback(
    feedback: &mut Feedback,
    silenced: &[u32],
    raised: &[Raised],
    policy: &Policy<'_>,
) -> bool {
    for id in silenced {
        feedback.restore_silenced(*id);
    }
    let (rules, texts) = (policy.rules().len(), policy.texts().len());
    let mut pairs = raised.iter();
    let known = |pair: &Raised| match pair.index() {
        RuleIndex::Call(place) => usize::from(place) < rules,
        RuleIndex::Text(place) => usize::from(place) < texts,
    };
    pairs.all(|pair| known(pair) && feedback.restore_raised(*pair))
}

impl<const W: usize, const OPEN: usize> Serialize for Detector<'_, W, OPEN> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        State::of(self).serialize(serializer)
    }
}

impl<'p, const W: usize, const OPEN: usize> Detector<'p, W, OPEN> {
    /// Restores a serialised detector, which goes on under the same policy. The host chooses the
    /// format. [`Detector::restore`] reads the bytes that [`Detector::save`] writes.
    ///
    /// # Errors
    ///
    /// Returns the error of the deserializer, or an error with the message of a
    /// [`CheckpointError`].
    pub fn deserialize<'de, D: Deserializer<'de>>(
        policy: &'p Policy<'p>,
        deserializer: D,
    ) -> Result<Self, D::Error> {
        let mut detector = Self::fresh(policy);
        let mut state: State<W, OPEN> = State::deserialize(deserializer)?;
        state.restore(&mut detector).map_err(D::Error::custom)?;
        Ok(detector)
    }
}

#[cfg(feature = "postcard")]
impl<'p, const W: usize, const OPEN: usize> Detector<'p, W, OPEN> {
    /// A buffer size that is enough for every checkpoint of this detector, in bytes.
    ///
    /// It is 48 bytes for each record, 20 for each loop, 13 for each rule, 3 for each run counter,
    /// and 486 for the rest. These are the maximum sizes of the fields, rounded up.
    pub const CHECKPOINT_MAX: usize = W
        .saturating_add(OPEN)
        .saturating_mul(48)
        .saturating_add(LOOPS_MAX.saturating_mul(20))
        .saturating_add(RULES_MAX.saturating_mul(13))
        .saturating_add(RUNS_MAX.saturating_mul(3))
        .saturating_add(486);

    /// Writes everything except the policy to the start of `buffer`, and returns the part that was
    /// written. [`Detector::CHECKPOINT_MAX`] bytes are always enough.
    ///
    /// ```
    /// use unstuck_core::{Call, Detector, Digest, Tool, presets};
    ///
    /// type Mine = Detector<'static, 20>;
    ///
    /// let mut detector = Mine::new(&presets::REPEAT)?;
    /// let _ = detector.announce(Call::new(Tool::named("ls"), Digest::of(b"{}")));
    /// let mut flash = [0; Mine::CHECKPOINT_MAX];
    /// let written = detector.save(&mut flash)?;
    ///
    /// let restored = Mine::restore(&presets::REPEAT, written)?;
    /// assert_eq!(restored.statistics().checks(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointError::BufferTooShort`] if the checkpoint does not fit.
    pub fn save<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b mut [u8], CheckpointError> {
        let (length, enough) = (buffer.len(), Self::CHECKPOINT_MAX);
        let short = CheckpointError::BufferTooShort { length, enough };
        let written = postcard::to_slice(self, buffer).map_err(|_| short)?;
        let (sum, end) = (Digest::of(written).folded(), written.len());
        let all = buffer.get_mut(..end.saturating_add(SUM)).ok_or(short)?;
        if let Some(last) = all.last_chunk_mut() {
            *last = sum.to_le_bytes();
        }
        Ok(all)
    }

    /// Restores the detector that [`Detector::save`] wrote, and continues with its history.
    ///
    /// # Errors
    ///
    /// Returns the reason why `bytes` are not a checkpoint that this detector could have written
    /// under `policy`. The bytes may be arbitrary.
    pub fn restore(policy: &'p Policy<'p>, bytes: &[u8]) -> Result<Self, CheckpointError> {
        match bytes {
            [VERSION, ..] => {}
            [found, ..] => return Err(CheckpointError::Version { found: *found }),
            [] => return Err(CheckpointError::Malformed),
        }
        let mut detector = Self::fresh(policy);
        detector.fill(bytes)?;
        Ok(detector)
    }

    /// Restores the fields from `bytes`. This is a separate function because the state and the
    /// detector are both large, and neither should lie on the stack twice.
    #[inline(never)]
    fn fill(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let (bytes, sum) = bytes.split_last_chunk().ok_or(CheckpointError::Malformed)?;
        if Digest::of(bytes).folded() != u32::from_le_bytes(*sum) {
            return Err(CheckpointError::Malformed);
        }
        let mut reader = postcard::Deserializer::from_bytes(bytes);
        let mut read = State::<W, OPEN>::deserialize(&mut reader);
        match (&mut read, reader.finalize()) {
            (Ok(state), Ok([])) => state.restore(self),
            _ => Err(CheckpointError::Malformed),
        }
    }
}
