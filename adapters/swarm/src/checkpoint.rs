//! Checkpoints of a ledger: a value for any format of `serde`, and bytes.

use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use unstuck_core::{Digest, Tool};

use crate::generation::{Entry, Generation};
use crate::ledger::{LOOPS_MAX, Ledger};
use crate::observation::Key;
use crate::rule::{Rule, RuleError, Window};
use crate::verdict::Outcome;
use crate::workers::{Mark, SAMPLE};

/// The version of the format that this crate writes, and the only one that it reads.
pub const CHECKPOINT_VERSION: u8 = 1;

/// The length of the checksum at the end of the bytes.
const SUM: usize = size_of::<u64>();

/// The state of a ledger without its rule: digests and numbers, no arguments and no results.
///
/// It can be written in any format of `serde`, for example JSON, which writes digests as 16 hexadecimal
/// digits. It can also be written as bytes that end with a checksum.
///
/// ```
/// use unstuck_swarm::{Checkpoint, Digest, Ledger, Rule, Observation, Tool, Worker};
///
/// let mut ledger = Ledger::new(Rule::default())?;
/// let call = Observation::new(Worker::new(1), Tool::named("bash"), Digest::of(b"make all"));
/// let _ = ledger.record(&call, 1000);
///
/// let bytes = ledger.checkpoint().to_bytes();
/// let kept = Checkpoint::from_bytes(&bytes)?;
/// assert_eq!(serde_json::from_str::<Checkpoint>(&serde_json::to_string(&kept)?)?, kept);
/// let restored = Ledger::restore(Rule::default(), 100, &kept, 2000)?;
/// assert_eq!(restored.checkpoint(), kept);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    version: u8,
    window: WindowRecord,
    generation: u64,
    ticks: u64,
    now: GenerationRecord,
    before: GenerationRecord,
    loops: Vec<(Hex, Hex)>,
}

/// A window in a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WindowRecord {
    Time(u64),
    Calls(u64),
}

/// The counters of a generation. Their order decides which one the hand reaches first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GenerationRecord {
    /// The maximum number of calls of a key without a counter.
    floor: u32,
    /// The position of the hand.
    hand: u32,
    rows: Vec<CounterRecord>,
}

/// One counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CounterRecord {
    key: Hex,
    tool: Tool,
    outcome: Outcome,
    calls: u32,
    error: u32,
    repeats: u32,
    workers: Vec<u32>,
}

/// A digest: a word in text formats, a number in binary ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hex(u64);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            to.collect_str(&format_args!("{:016x}", self.0))
        } else {
            to.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if !from.is_human_readable() {
            return u64::deserialize(from).map(Self);
        }
        let word = <alloc::borrow::Cow<'de, str>>::deserialize(from)?;
        let is_digest = word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = is_digest.then(|| u64::from_str_radix(&word, 16).ok()).flatten();
        let wrong = || serde::de::Error::custom("a digest is 16 hexadecimal digits");
        bits.map(Self).ok_or_else(wrong)
    }
}

impl Checkpoint {
    /// Returns the checkpoint as bytes, for [`Checkpoint::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        // Only a lack of memory could make this fail.
        let mut bytes = postcard::to_extend(self, Vec::new()).unwrap_or_default();
        let sum = Digest::of(&bytes).bits();
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// Reads the bytes of [`Checkpoint::to_bytes`]. Any bytes may be given.
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointError::Malformed`] or [`CheckpointError::Version`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        match bytes {
            [CHECKPOINT_VERSION, ..] => {}
            [found, ..] => return Err(CheckpointError::Version { found: *found }),
            [] => return Err(CheckpointError::Malformed),
        }
        let (whole, sum) = bytes.split_last_chunk::<SUM>().ok_or(CheckpointError::Malformed)?;
        if Digest::of(whole).bits() != u64::from_le_bytes(*sum) {
            return Err(CheckpointError::Malformed);
        }
        match postcard::take_from_bytes(whole) {
            Ok((checkpoint, [])) => Ok(checkpoint),
            _ => Err(CheckpointError::Malformed),
        }
    }
}

impl Ledger {
    /// Returns the state of the ledger.
    pub fn checkpoint(&self) -> Checkpoint {
        let loops = self.loops.iter();
        Checkpoint {
            version: CHECKPOINT_VERSION,
            window: WindowRecord::of(self.rule.window),
            generation: self.generation,
            ticks: self.ticks,
            now: generation_record(&self.now),
            before: generation_record(&self.before),
            loops: loops.map(|(call, key)| (Hex(call.bits()), Hex(key.digest().bits()))).collect(),
        }
    }

    /// Restores a ledger at the time `now`, with `capacity` counters a generation.
    ///
    /// If `now` is before the time of the checkpoint, another clock is assumed, and the calls count as if they
    /// were made just now.
    ///
    /// # Errors
    ///
    /// Returns a [`CheckpointError`] if no ledger can have this state. Any [`Checkpoint`] may be given.
    pub fn restore(
        rule: Rule,
        capacity: usize,
        kept: &Checkpoint,
        now: u64,
    ) -> Result<Self, CheckpointError> {
        let mut ledger = Self::with_capacity(rule, capacity).map_err(CheckpointError::Rule)?;
        kept.check(ledger.rule.window, ledger.now.capacity())?;
        read(&kept.before, &mut ledger.before, None)?;
        read(&kept.now, &mut ledger.now, Some(&ledger.before))?;
        let loops = kept.loops.iter();
        let loops = loops.map(|(call, key)| (Digest::new(call.0), Key::new(Digest::new(key.0))));
        ledger.loops.extend(loops);
        ledger.ticks = kept.ticks;
        let now = ledger.rule.window.generation(ledger.time(now));
        ledger.generation = kept.generation.min(now);
        ledger.turn_to(now);
        Ok(ledger)
    }
}

impl Checkpoint {
    fn check(&self, window: Window, capacity: usize) -> Result<(), CheckpointError> {
        let counters = self.now.rows.len().max(self.before.rows.len());
        match self {
            Self { version, .. } if *version != CHECKPOINT_VERSION => {
                Err(CheckpointError::Version { found: *version })
            }
            Self { window: kept, .. } if *kept != WindowRecord::of(window) => {
                Err(CheckpointError::Window)
            }
            _ if counters > capacity => Err(CheckpointError::Capacity { counters, capacity }),
            _ if self.loops.len() > LOOPS_MAX => Err(CheckpointError::Malformed),
            _ => Ok(()),
        }
    }
}

impl WindowRecord {
    const fn of(window: Window) -> Self {
        match window {
            Window::Time { span } => Self::Time(span),
            Window::Calls { span } => Self::Calls(span),
        }
    }
}

fn generation_record(generation: &Generation) -> GenerationRecord {
    let row = |slot| {
        let Entry { key, tool, outcome, error, repeats, .. } = *generation.entry(slot);
        let mut workers: Vec<_> = generation.workers(slot).iter().map(Mark::bits).collect();
        workers.sort_unstable();
        let (key, calls) = (Hex(key.digest().bits()), generation.calls(slot));
        CounterRecord { key, tool, outcome, calls, error, repeats, workers }
    };
    let (floor, hand) = generation.sweep();
    GenerationRecord { floor, hand, rows: generation.slots().map(row).collect() }
}

/// Adds the counters of `half` to `generation`, which is empty and has room for them.
fn read(
    half: &GenerationRecord,
    generation: &mut Generation,
    before: Option<&Generation>,
) -> Result<(), CheckpointError> {
    for row in &half.rows {
        let marks = row.marks().ok_or(CheckpointError::Malformed)?;
        let key = Key::new(Digest::new(row.key.0));
        if generation.find(key).is_some() {
            return Err(CheckpointError::Malformed);
        }
        let entry = Entry::new(key, row.tool, row.outcome);
        let mut entry = entry.after(before.and_then(|before| before.find(key)));
        (entry.error, entry.repeats) = (row.error, row.repeats);
        generation.restore(entry, row.calls, &marks);
    }
    let fits = generation.restore_sweep(half.floor, half.hand);
    if fits { Ok(()) } else { Err(CheckpointError::Malformed) }
}

impl CounterRecord {
    /// Returns the workers, or `None` if no counter can have this state.
    fn marks(&self) -> Option<Vec<Mark>> {
        let Self { calls, error, repeats, workers, .. } = self;
        let marks: Vec<_> = workers.iter().map_while(|bits| Mark::new(*bits)).collect();
        let are_marks = marks.len() == workers.len() && (1..=SAMPLE).contains(&marks.len());
        let in_order = marks.is_sorted_by(|one, next| one < next);
        // The first call of each worker is not a repetition.
        let made = u32::try_from(marks.len()).ok()?.checked_add(*repeats)?;
        let fits = made <= *calls && calls.checked_add(*error).is_some();
        (are_marks && in_order && fits).then_some(marks)
    }
}

/// An error of reading or restoring a checkpoint.
///
/// ```
/// use unstuck_swarm::{Checkpoint, CheckpointError};
///
/// assert_eq!(Checkpoint::from_bytes(b""), Err(CheckpointError::Malformed));
/// assert_eq!(Checkpoint::from_bytes(&[9]), Err(CheckpointError::Version { found: 9 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The bytes or the value are not a checkpoint, or it was cut short or damaged.
    Malformed,
    /// The checkpoint was written in another version of the format.
    Version {
        /// Its version.
        found: u8,
    },
    /// The checkpoint was counted within another window.
    Window,
    /// A generation of the checkpoint has more counters than the ledger.
    Capacity {
        /// The number of its counters.
        counters: usize,
        /// The capacity of the ledger.
        capacity: usize,
    },
    /// The rule cannot work.
    Rule(RuleError),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str(
                "this is not a ledger checkpoint, or it is damaged: start with an empty ledger",
            ),
            Self::Version { found } => write!(
                f,
                "the checkpoint has version {found}, but this ledger reads {CHECKPOINT_VERSION}: \
                 start with an empty ledger"
            ),
            Self::Window => f.write_str(
                "the checkpoint was counted within another window: restore it with that",
            ),
            Self::Capacity { counters, capacity } => write!(
                f,
                "the checkpoint has {counters} counters, and there is room for {capacity}: restore \
                 it with a capacity of {counters} or more"
            ),
            Self::Rule(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for CheckpointError {}
