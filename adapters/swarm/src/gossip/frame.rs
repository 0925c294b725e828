//! Frames, the packets that replicas exchange.
//!
//! A frame is a sequence of `postcard` values: a [`Head`], then groups, then a checksum of four bytes. Each
//! group is a [`Group`] and its cells. A digest takes eight bytes, and a count as few as it needs. Workers are
//! not written as differences: in the order of a hundred digests the next is about 57 bits away, and such a
//! difference takes nine bytes.

use core::fmt;

use serde::{Deserialize, Serialize};
use unstuck_core::{Digest, Tool};

use crate::gossip::topic::Id;
use crate::observation::{CallResult, Observation, Worker};

/// The maximum length of a frame. With the headers of UDP and IPv6 it passes every network in one packet.
pub const FRAME_MAX: usize = 1024;

/// The minimum length of a buffer for frames: enough for the cell of one worker, as news and as a repetition.
pub const FRAME_MIN: usize = 128;

/// The version of the format that this crate writes, and the only one that it reads.
const VERSION: u8 = 1;

/// The length of the checksum at the end of a frame.
const SUM: usize = size_of::<u32>();

// A cell takes at least nine bytes, so that the number of cells of a group fits into its length.
const _: () = assert!(FRAME_MAX / 9 < Length::OLDER as usize);

/// The beginning of a frame.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Head {
    version: u8,
    swarm: [u8; 4],
    generation: u64,
}

/// The beginning of a group of cells, with their common fields.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Group {
    call: Digest,
    tool: [u8; 4],
    result: WireResult,
    /// The last field, so that it can be written after the cells.
    length: Length,
}

/// A result in a frame.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum WireResult {
    Unknown,
    Worked(Digest),
    Failed(Digest),
}

/// The number of cells of a group. The highest bit is set if each cell also has the calls of the previous
/// generation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Length(u8);

impl Length {
    const OLDER: u8 = 1 << 7;

    const fn has_older(self) -> bool {
        self.0 & Self::OLDER != 0
    }

    const fn cells(self) -> u8 {
        self.0 & !Self::OLDER
    }
}

/// The calls of one worker in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellRecord {
    pub(crate) worker: Worker,
    /// The calls in the generation of the frame.
    pub(crate) now: u32,
    /// The calls in the generation before it.
    pub(crate) before: u32,
}

/// The reason for which a frame was refused. No part of it was merged.
///
/// ```
/// use unstuck_swarm::{Digest, FrameError, Limits, Replica, Rule, Worker};
///
/// let swarm = Digest::of(b"hall 3");
/// let mut replica = Replica::new(Rule::default(), swarm, Worker::new(1), Limits::default())?;
/// assert_eq!(replica.merge(b"noise", 0), Err(FrameError::Version { found: b'n' }));
/// # Ok::<(), unstuck_swarm::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// The frame is too long.
    TooLong {
        /// Its length, in bytes.
        length: usize,
    },
    /// The frame has another version of the format.
    Version {
        /// Its version.
        found: u8,
    },
    /// The frame belongs to another swarm.
    OtherSwarm,
    /// The frame was damaged on its way, or cut short.
    Damaged,
    /// The checksum is right, but no replica writes such a frame.
    Malformed,
    /// The sender's generation is neither this one nor a neighbour of it: the clocks are too far apart, or the
    /// frame was on its way for too long.
    Generation {
        /// The generation of the sender.
        found: u64,
        /// The generation here.
        now: u64,
    },
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { length } => {
                write!(f, "the frame has {length} bytes, but the limit is {FRAME_MAX}")
            }
            Self::Version { found } => write!(
                f,
                "the frame has version {found}, but this replica reads {VERSION}: run one version in all \
                 of the swarm"
            ),
            Self::OtherSwarm => f.write_str("the frame belongs to another swarm"),
            Self::Damaged => f.write_str("the frame was damaged on its way"),
            Self::Malformed => f.write_str("no replica writes such a frame"),
            Self::Generation { found, now } => write!(
                f,
                "the frame is of generation {found}, and here it is {now}: set the clocks to within half a \
                 window of each other"
            ),
        }
    }
}

impl core::error::Error for FrameError {}

/// A frame that was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'b> {
    pub(crate) generation: u64,
    groups: &'b [u8],
}

impl<'b> Frame<'b> {
    /// Reads the whole frame, so that later reads of its groups cannot fail.
    pub(crate) fn read(bytes: &'b [u8], swarm: Digest) -> Result<Self, FrameError> {
        let length = bytes.len();
        if length > FRAME_MAX {
            return Err(FrameError::TooLong { length });
        }
        let (whole, sum) = bytes.split_last_chunk::<SUM>().ok_or(FrameError::Damaged)?;
        match whole.first() {
            None => return Err(FrameError::Damaged),
            Some(&VERSION) => {}
            Some(&found) => return Err(FrameError::Version { found }),
        }
        let read = postcard::take_from_bytes::<Head>(whole);
        let (head, groups) = read.map_err(|_| FrameError::Damaged)?;
        if head.swarm != short(swarm) {
            return Err(FrameError::OtherSwarm);
        }
        if *sum != sum_of(whole, swarm) {
            return Err(FrameError::Damaged);
        }
        let frame = Self { generation: head.generation, groups };
        if frame.groups().all(|group| group.is_some()) {
            Ok(frame)
        } else {
            Err(FrameError::Malformed)
        }
    }

    /// Returns the groups. A group that cannot be read is `None` and the last one.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Option<Cells<'b>>> + use<'b> {
        let mut rest = self.groups;
        core::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let group = Cells::read(rest);
            rest = group.as_ref().map_or(&[], |(_, after)| *after);
            Some(group.map(|(cells, _)| cells))
        })
    }
}

/// A group of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells<'b> {
    pub(crate) id: Id,
    pub(crate) result: Option<CallResult>,
    length: Length,
    bytes: &'b [u8],
}

impl<'b> Cells<'b> {
    /// Reads a group, and returns the rest of the bytes.
    fn read(bytes: &'b [u8]) -> Option<(Self, &'b [u8])> {
        let (group, bytes) = postcard::take_from_bytes::<Group>(bytes).ok()?;
        let Group { call, tool, result, length } = group;
        let result = match result {
            WireResult::Unknown => None,
            WireResult::Worked(digest) => Some(CallResult { digest, failed: false }),
            WireResult::Failed(digest) => Some(CallResult { digest, failed: true }),
        };
        let worker = Worker::new(0);
        let tool = Tool::new(u32::from_le_bytes(tool));
        let id = Id::of(&Observation { worker, tool, call, result });
        let mut rest = bytes;
        for _ in 0..length.cells() {
            let (cell, after) = read_cell(rest, length)?;
            if cell.now == 0 && cell.before == 0 {
                return None;
            }
            rest = after;
        }
        (length.cells() > 0).then_some((Self { id, result, length, bytes }, rest))
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = CellRecord> + use<'b> {
        let (mut rest, length) = (self.bytes, self.length);
        (0..length.cells()).map_while(move |_| {
            let (cell, after) = read_cell(rest, length)?;
            rest = after;
            Some(cell)
        })
    }
}

fn read_cell(bytes: &[u8], length: Length) -> Option<(CellRecord, &[u8])> {
    let ((worker, now), rest) = postcard::take_from_bytes(bytes).ok()?;
    let (before, rest) =
        if length.has_older() { postcard::take_from_bytes(rest).ok()? } else { (0, rest) };
    Some((CellRecord { worker, now, before }, rest))
}

/// Writes a frame.
pub(crate) struct Packer<'b> {
    buffer: &'b mut [u8],
    used: usize,
    /// The number of bytes of the buffer that may be used for now.
    limit: usize,
    swarm: Digest,
    head: usize,
    group: Option<Open>,
}

/// A group that is being written.
#[derive(Clone, Copy)]
struct Open {
    start: usize,
    /// The position of its length.
    place: usize,
    length: Length,
}

impl<'b> Packer<'b> {
    /// Begins a frame in `buffer`, if that is long enough.
    pub(crate) fn new(buffer: &'b mut [u8], swarm: Digest, generation: u64) -> Option<Self> {
        if buffer.len() < FRAME_MIN {
            return None;
        }
        let limit = buffer.len().min(FRAME_MAX) - SUM;
        let mut packer = Self { buffer, used: 0, limit, swarm, head: 0, group: None };
        packer.put(&Head { version: VERSION, swarm: short(swarm), generation });
        packer.head = packer.used;
        Some(packer)
    }

    /// Keeps a quarter of the room for repetitions.
    pub(crate) fn hold_back(&mut self) {
        self.limit = self.limit / 4 * 3;
    }

    /// Releases all of the room.
    pub(crate) fn give_all(&mut self) {
        self.limit = self.buffer.len().min(FRAME_MAX) - SUM;
    }

    /// Begins a group. Returns whether it fits.
    pub(crate) fn open(&mut self, id: &Id, result: Option<CallResult>, has_older: bool) -> bool {
        let result = match result {
            None => WireResult::Unknown,
            Some(CallResult { digest, failed: false }) => WireResult::Worked(digest),
            Some(CallResult { digest, failed: true }) => WireResult::Failed(digest),
        };
        let length = Length(if has_older { Length::OLDER } else { 0 });
        let (start, tool) = (self.used, id.tool.id().to_le_bytes());
        let fits = self.put(&Group { call: id.call, tool, result, length });
        self.group = fits.then(|| Open { start, place: self.used - 1, length });
        fits
    }

    /// Adds a cell to the group. Returns whether it fits.
    pub(crate) fn add(&mut self, cell: CellRecord) -> bool {
        let Some(group) = self.group else { return false };
        let fits = if group.length.has_older() {
            self.put(&(cell.worker, cell.now, cell.before))
        } else {
            self.put(&(cell.worker, cell.now))
        };
        if fits {
            self.group = Some(Open { length: Length(group.length.0 + 1), ..group });
        }
        fits
    }

    /// Ends the group. A group without cells is removed.
    pub(crate) fn close(&mut self) {
        let Some(group) = self.group.take() else { return };
        if group.length.cells() == 0 {
            self.used = group.start;
        } else {
            self.buffer[group.place] = group.length.0;
        }
    }

    /// Returns the frame, which is empty if it has no cells.
    pub(crate) fn finish(self) -> &'b [u8] {
        if self.used == self.head {
            return &[];
        }
        let sum = sum_of(&self.buffer[..self.used], self.swarm);
        let end = self.used + SUM;
        self.buffer[self.used..end].copy_from_slice(&sum);
        &self.buffer[..end]
    }

    fn put(&mut self, value: &impl Serialize) -> bool {
        let Some(room) = self.buffer.get_mut(self.used..self.limit) else { return false };
        let Ok(written) = postcard::to_slice(value, room) else { return false };
        self.used += written.len();
        true
    }
}

/// Returns half of a digest.
const fn short(digest: Digest) -> [u8; 4] {
    let [a, b, c, d, ..] = digest.bits().to_le_bytes();
    [a, b, c, d]
}

/// Returns the checksum of a frame: of its bytes and the whole digest of the swarm, so that a frame of another
/// swarm is not accepted by chance.
fn sum_of(bytes: &[u8], swarm: Digest) -> [u8; SUM] {
    short(Digest::of(bytes).mix(swarm))
}
