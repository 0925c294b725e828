//! Frames: what replicas send to each other, and how it is read.
//!
//! A frame is a row of `postcard` values: a [`Head`]; then groups, each a [`Group`] and as many cells as
//! it says; then four bytes that sum up the rest. Digests stand as eight bytes, counts as few as they
//! need. Workers are not written as differences: in the order of a hundred digests the next is some 57 bits
//! away, and those take nine bytes.

use core::fmt;

use serde::{Deserialize, Serialize};
use unstuck_core::{Digest, Tool};

use crate::gossip::topic::Id;
use crate::observation::{Answer, Observation, Worker};

/// The most bytes of a frame: with the heads of UDP and IPv6 it passes every network unbroken.
pub const FRAME_MAX: usize = 1024;

/// The fewest bytes that a buffer for frames must have: enough for the cell of one worker, as news and
/// again as a reminder.
pub const FRAME_MIN: usize = 128;

/// The version of the format that this crate writes, and the only one that it reads.
const VERSION: u8 = 1;

/// The length of what stands at the end of a frame, and sums up the rest.
const SUM: usize = size_of::<u32>();

/// A cell takes nine bytes at least, so that no group has more cells than its length can say.
const _: () = assert!(FRAME_MAX / 9 < Length::OLDER as usize);

/// What a frame begins with.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Head {
    version: u8,
    swarm: [u8; 4],
    generation: u64,
}

/// What the cells after it have in common.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Group {
    call: Digest,
    tool: [u8; 4],
    answer: Came,
    /// It comes last, so that it can be written when the cells are.
    length: Length,
}

/// What came back.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Came {
    Unknown,
    Worked(Digest),
    Failed(Digest),
}

/// How many cells there are, and in the highest bit whether each says how many calls its worker made in the
/// generation before, too.
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

/// The calls of one worker, as a frame tells of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) worker: Worker,
    /// How many in the generation of the frame.
    pub(crate) now: u32,
    /// How many in the one before.
    pub(crate) before: u32,
}

/// Why a frame was refused. Nothing of it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// It is longer than frames are.
    TooLong {
        /// Its length, in bytes.
        length: usize,
    },
    /// It has another version of the format.
    Version {
        /// Its version.
        found: u8,
    },
    /// It is of another swarm.
    OtherSwarm,
    /// It was damaged on its way, or cut short.
    Damaged,
    /// It is whole, and yet nothing that a replica writes.
    Malformed,
    /// Its sender is in a generation that is neither this one nor a neighbour of it: the clocks are too
    /// far apart, or it was on its way for too long.
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
                write!(f, "{length} bytes are no frame: one has {FRAME_MAX} at most")
            }
            Self::Version { found } => write!(
                f,
                "the frame has version {found}, but this replica reads {VERSION}: run one version in all \
                 of the swarm"
            ),
            Self::OtherSwarm => f.write_str("the frame is of another swarm"),
            Self::Damaged => f.write_str("the frame was damaged on its way"),
            Self::Malformed => f.write_str("these bytes are no frame of a replica"),
            Self::Generation { found, now } => write!(
                f,
                "the frame is of generation {found}, and here it is {now}: set the clocks to within half a \
                 window of each other"
            ),
        }
    }
}

impl core::error::Error for FrameError {}

/// A frame that was found to be whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'b> {
    pub(crate) generation: u64,
    groups: &'b [u8],
}

impl<'b> Frame<'b> {
    /// Reads all of it, so that what is taken from it later is known to be there.
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

    /// The groups, and nothing in place of one that cannot be read, nor after it.
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
    pub(crate) answer: Option<Answer>,
    length: Length,
    bytes: &'b [u8],
}

impl<'b> Cells<'b> {
    /// A group, and what comes after it.
    fn read(bytes: &'b [u8]) -> Option<(Self, &'b [u8])> {
        let (group, bytes) = postcard::take_from_bytes::<Group>(bytes).ok()?;
        let Group { call, tool, answer, length } = group;
        let answer = match answer {
            Came::Unknown => None,
            Came::Worked(digest) => Some(Answer { digest, failed: false }),
            Came::Failed(digest) => Some(Answer { digest, failed: true }),
        };
        let nobody = Worker::new(0);
        let tool = Tool::new(u32::from_le_bytes(tool));
        let id = Id::of(&Observation { worker: nobody, tool, call, answer });
        let mut rest = bytes;
        for _ in 0..length.cells() {
            let (cell, after) = told(rest, length)?;
            if cell.now == 0 && cell.before == 0 {
                return None;
            }
            rest = after;
        }
        (length.cells() > 0).then_some((Self { id, answer, length, bytes }, rest))
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = Told> + use<'b> {
        let (mut rest, length) = (self.bytes, self.length);
        (0..length.cells()).map_while(move |_| {
            let (cell, after) = told(rest, length)?;
            rest = after;
            Some(cell)
        })
    }
}

fn told(bytes: &[u8], length: Length) -> Option<(Told, &[u8])> {
    let ((worker, now), rest) = postcard::take_from_bytes(bytes).ok()?;
    let (before, rest) =
        if length.has_older() { postcard::take_from_bytes(rest).ok()? } else { (0, rest) };
    Some((Told { worker, now, before }, rest))
}

/// Writes a frame.
pub(crate) struct Packer<'b> {
    buffer: &'b mut [u8],
    used: usize,
    /// How much of the buffer may be used for now.
    limit: usize,
    swarm: Digest,
    head: usize,
    group: Option<Open>,
}

/// A group that is being written.
#[derive(Clone, Copy)]
struct Open {
    start: usize,
    /// Where its length stands.
    place: usize,
    length: Length,
}

impl<'b> Packer<'b> {
    /// A frame into `buffer`, if that has enough room.
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

    /// Leaves a quarter of the room for what comes later.
    pub(crate) fn hold_back(&mut self) {
        self.limit = self.limit / 4 * 3;
    }

    /// Gives all of the room.
    pub(crate) fn give_all(&mut self) {
        self.limit = self.buffer.len().min(FRAME_MAX) - SUM;
    }

    /// Begins a group, if it fits.
    pub(crate) fn open(&mut self, id: &Id, answer: Option<Answer>, has_older: bool) -> bool {
        let answer = match answer {
            None => Came::Unknown,
            Some(Answer { digest, failed: false }) => Came::Worked(digest),
            Some(Answer { digest, failed: true }) => Came::Failed(digest),
        };
        let length = Length(if has_older { Length::OLDER } else { 0 });
        let (start, tool) = (self.used, id.tool.id().to_le_bytes());
        let fits = self.put(&Group { call: id.call, tool, answer, length });
        self.group = fits.then(|| Open { start, place: self.used - 1, length });
        fits
    }

    /// Adds a cell to the group, if it fits.
    pub(crate) fn add(&mut self, told: Told) -> bool {
        let Some(group) = self.group else { return false };
        let fits = if group.length.has_older() {
            self.put(&(told.worker, told.now, told.before))
        } else {
            self.put(&(told.worker, told.now))
        };
        if fits {
            self.group = Some(Open { length: Length(group.length.0 + 1), ..group });
        }
        fits
    }

    /// Ends the group; one without a cell is taken back.
    pub(crate) fn close(&mut self) {
        let Some(group) = self.group.take() else { return };
        if group.length.cells() == 0 {
            self.used = group.start;
        } else {
            self.buffer[group.place] = group.length.0;
        }
    }

    /// The frame; nothing if it would say nothing.
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

/// Half of a digest.
const fn short(digest: Digest) -> [u8; 4] {
    let [a, b, c, d, ..] = digest.bits().to_le_bytes();
    [a, b, c, d]
}

/// The sum of a frame: of its bytes and of all that the swarm is known by, so that frames of another one
/// do not pass for its own by chance.
fn sum_of(bytes: &[u8], swarm: Digest) -> [u8; SUM] {
    short(Digest::of(bytes).mix(swarm))
}
