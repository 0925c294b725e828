//! The content of frames and its order, which decide how soon a loop is known.
//!
//! One worker alone makes nearly all calls. They do not matter to other workers, and there are far too many of
//! them to send to all replicas. So a call first goes to a few peers, one for each frame that carries it. These
//! pass it on only if a frame has room left. Once a replica knows of two workers with the same call, the key is
//! *shared*: every replica that learns of it passes it on, and it reaches all. That ends with the last rung,
//! because no further call changes the verdict. The rest of a frame repeats old news, key by key in turn, to
//! repair losses.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::gossip::Replica;
use crate::gossip::frame::{CellRecord, Packer};
use crate::gossip::topic::{BEFORE, Cell, Id, NOW, RUNGS_MAX, Topic};
use crate::gossip::topics::Urgency;
use crate::observation::{CallResult, Worker};

/// The status of a topic before a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TopicStatus {
    /// `true` if several workers make the call.
    shared: bool,
    /// `true` if no further call changes the verdict.
    settled: bool,
}

/// The position of the repetition: the last cell that was repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    id: Id,
    worker: Option<Worker>,
}

impl Cursor {
    /// Returns a start position, which differs for each worker.
    pub(crate) const fn new(worker: Worker) -> Self {
        Self { id: Id::first(worker.digest()), worker: None }
    }
}

impl Replica {
    /// Writes the next frame to send, and returns it: at most [`FRAME_MAX`](crate::FRAME_MAX) bytes. It is empty
    /// if there is nothing to send.
    ///
    /// Each frame carries different news. Send each to another peer, chosen at random, or to all in reach. The
    /// frame is also empty if the buffer has fewer than [`FRAME_MIN`](crate::FRAME_MIN) bytes.
    pub fn frame<'b>(&mut self, buffer: &'b mut [u8], now: u64) -> &'b [u8] {
        self.turn_to(now);
        let Some(mut packer) = Packer::new(buffer, self.swarm, self.generation) else { return &[] };
        self.frames = self.frames.wrapping_add(1);
        packer.hold_back();
        self.write_news(&mut packer);
        packer.give_all();
        self.repeat(&mut packer);
        packer.finish()
    }

    /// Returns the status of a topic.
    pub(super) fn status(&self, id: &Id) -> TopicStatus {
        let Some(topic) = self.topics.topic(id) else {
            return TopicStatus { shared: false, settled: false };
        };
        let settled = topic.judge(id, &self.rule).rung >= RUNGS_MAX;
        TopicStatus { shared: topic.cells.len() > 1, settled }
    }

    /// Marks a call of `worker`, which was recorded here, as news. It is sent even if no other worker makes it.
    pub(super) fn mark_own(&mut self, id: &Id, worker: Worker) {
        let Some(topic) = self.topics.topic_mut(id) else { return };
        topic.own = true;
        for cell in topic.cells.iter_mut().filter(|cell| cell.worker == worker) {
            cell.left = self.spread;
        }
        self.topics.announce(id, Urgency::Own);
    }

    /// Marks the cells of these workers, which have changed, as news, unless the verdict is final. They are more
    /// urgent if several workers make the call.
    pub(super) fn mark_news(&mut self, id: &Id, before: TopicStatus, workers: &[Worker]) {
        let Some(topic) = self.topics.topic_mut(id) else { return };
        if before.settled {
            return;
        }
        let (urgency, left) = match topic.cells.len() {
            0 | 1 => (Urgency::Remote, self.spread.div_ceil(PASSED_ON)),
            _ => (Urgency::Shared, self.spread),
        };
        let allowance = self.rule.allowance_of(id.tool, topic.outcome());
        let is_news = |cell: &Cell| !before.shared || workers.contains(&cell.worker);
        let sent = topic.cells.iter_mut().filter(|cell| Topic::is_worth_sending(cell, allowance));
        let mut some = false;
        for cell in sent.filter(|cell| is_news(cell)) {
            cell.left = cell.left.max(left);
            some = true;
        }
        if some {
            self.topics.announce(id, urgency);
        }
    }

    /// Writes the news, the most urgent first.
    fn write_news(&mut self, packer: &mut Packer<'_>) {
        // Some move to the end of the queue, and must not come again in this frame.
        let news: Vec<_> = self.topics.news().take(NEWS_MAX).collect();
        for (urgency, id) in news {
            let number = self.frames;
            let Some(topic) = self.topics.topic_mut(&id) else { continue };
            let mut cells: Vec<_> = topic.cells.iter_mut().filter(|cell| cell.left > 0).collect();
            cells.sort_by_key(|cell| Reverse(cell.left));
            let (some, all) = pack(packer, &id, topic.result, cells, |cell| {
                cell.left -= 1;
                cell.frame = number;
            });
            if topic.cells.iter().all(|cell| cell.left == 0) {
                self.topics.retract(&id);
            } else if some || all {
                self.topics.announce(&id, urgency);
            }
            if !all {
                return;
            }
        }
    }

    /// Repeats the cells that were not sent for longest, as far as there is room.
    fn repeat(&mut self, packer: &mut Packer<'_>) {
        // All topics, and then the first one again, which the last frame may have left unfinished.
        for _ in 0..=self.topics.len() {
            let Cursor { id, worker } = self.sweep;
            let number = self.frames;
            if let Some(topic) = self.topics.topic_mut(&id) {
                let last = &mut self.sweep.worker;
                let cells = topic.cells.iter_mut();
                let cells = cells.filter(|cell| Some(cell.worker) > worker && cell.frame != number);
                let (_, all) = pack(packer, &id, topic.result, cells.collect(), |cell| {
                    *last = Some(cell.worker);
                    cell.frame = number;
                });
                if !all {
                    return;
                }
            }
            let Some(next) = self.topics.after(id).or_else(|| self.topics.first()) else { return };
            self.sweep = Cursor { id: next, worker: None };
        }
    }
}

/// A call of one worker alone is passed on in this fraction of the frames.
const PASSED_ON: u8 = 4;

/// The maximum number of topics with news in a frame: more than fit.
const NEWS_MAX: usize = 64;

/// Writes a group of these cells, as many as fit, and calls `mark` with each that fits. Returns whether some
/// did, and whether all did.
fn pack(
    packer: &mut Packer<'_>,
    id: &Id,
    result: Option<CallResult>,
    cells: Vec<&mut Cell>,
    mut mark: impl FnMut(&mut Cell),
) -> (bool, bool) {
    let has_older = cells.iter().any(|cell| cell.calls[BEFORE] > 0);
    // Calls of the next generation are left out: a later frame has them as current.
    let cells = cells.into_iter().filter(|cell| cell.calls[BEFORE] > 0 || cell.calls[NOW] > 0);
    let mut cells = cells.peekable();
    if cells.peek().is_none() {
        return (false, true);
    }
    if !packer.open(id, result, has_older) {
        return (false, false);
    }
    let (mut some, mut all) = (false, true);
    for cell in cells {
        let [before, now, _] = cell.calls;
        if !packer.add(CellRecord { worker: cell.worker, now, before }) {
            all = false;
            break;
        }
        mark(cell);
        some = true;
    }
    packer.close();
    (some, all)
}
