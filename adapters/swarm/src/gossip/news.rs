//! What a replica tells others, and in which order: this decides how soon a loop is known.
//!
//! Nearly all calls are made by one worker alone, and of no concern to anybody else; there are far too
//! many of them to tell everybody. So a call is told to a few peers at first (as many as there are frames
//! that carry it), and goes on from those only where there is room for it. Once two workers' calls meet, on the replica of one of them or on one that heard of
//! both, the key is *shared*: what is known of it goes on from everyone who learns it, and reaches all.
//! That ends with the last rung, when there is nothing more to be found. What is left of a frame repeats
//! what is known, key by key in turn, so that what was lost, or cut off, is made good.

use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::gossip::Replica;
use crate::gossip::frame::{Packer, Told};
use crate::gossip::topic::{BEFORE, Cell, Id, NOW, RUNGS_MAX, Topic};
use crate::gossip::topics::Urgency;
use crate::observation::{Answer, Worker};

/// What was known of a topic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    /// Whether several workers make the call.
    shared: bool,
    /// Whether no further call changes the verdict.
    settled: bool,
}

/// How far the repetition has come: the last cell that was repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    id: Id,
    worker: Option<Worker>,
}

impl Cursor {
    /// Somewhere, elsewhere for each worker.
    pub(crate) const fn new(worker: Worker) -> Self {
        Self { id: Id::first(worker.digest()), worker: None }
    }
}

impl Replica {
    /// Writes the next frame to send, and gives it: no more than [`FRAME_MAX`](crate::FRAME_MAX) bytes,
    /// and none where nothing is known.
    ///
    /// Each frame carries other news, so that each is best sent to another peer, chosen at random, or to
    /// all in reach. A buffer of less than [`FRAME_MIN`](crate::FRAME_MIN) bytes gets no frame.
    pub fn frame<'b>(&mut self, buffer: &'b mut [u8], now: u64) -> &'b [u8] {
        self.turn_to(now);
        let Some(mut packer) = Packer::new(buffer, self.swarm, self.generation) else { return &[] };
        self.frames = self.frames.wrapping_add(1);
        packer.hold_back();
        self.tell_news(&mut packer);
        packer.give_all();
        self.repeat(&mut packer);
        packer.finish()
    }

    /// What is known of a topic before it changes.
    pub(super) fn heard(&self, id: &Id) -> Heard {
        let Some(topic) = self.topics.topic(id) else {
            return Heard { shared: false, settled: false };
        };
        let settled = topic.judge(id, &self.rule).rung >= RUNGS_MAX;
        Heard { shared: topic.cells.len() > 1, settled }
    }

    /// A call of `worker` was recorded here: it goes out, whether anybody else makes it or not.
    pub(super) fn own(&mut self, id: &Id, worker: Worker) {
        let Some(topic) = self.topics.topic_mut(id) else { return };
        topic.own = true;
        for cell in topic.cells.iter_mut().filter(|cell| cell.worker == worker) {
            cell.left = self.spread;
        }
        self.topics.announce(id, Urgency::Own);
    }

    /// What is known of these workers has changed: it goes on to others, if there is more to be found, and
    /// the sooner if several workers make the call.
    pub(super) fn spread(&mut self, id: &Id, before: Heard, workers: &[Worker]) {
        let Some(topic) = self.topics.topic_mut(id) else { return };
        if before.settled {
            return;
        }
        let (urgency, left) = match topic.cells.len() {
            0 | 1 => (Urgency::Heard, self.spread.div_ceil(PASSED_ON)),
            _ => (Urgency::Shared, self.spread),
        };
        let allowance = self.rule.allowance_of(id.tool, topic.outcome());
        let is_news = |cell: &Cell| !before.shared || workers.contains(&cell.worker);
        let told = topic.cells.iter_mut().filter(|cell| Topic::tells(cell, allowance));
        let mut some = false;
        for cell in told.filter(|cell| is_news(cell)) {
            cell.left = cell.left.max(left);
            some = true;
        }
        if some {
            self.topics.announce(id, urgency);
        }
    }

    /// The news, the most urgent first.
    fn tell_news(&mut self, packer: &mut Packer<'_>) {
        // Some go to the end of the row, and must not come again in this frame.
        let news: Vec<_> = self.topics.news().take(NEWS_MAX).collect();
        for (urgency, id) in news {
            let number = self.frames;
            let Some(topic) = self.topics.topic_mut(&id) else { continue };
            let mut cells: Vec<_> = topic.cells.iter_mut().filter(|cell| cell.left > 0).collect();
            cells.sort_by_key(|cell| Reverse(cell.left));
            let (some, all) = pack(packer, &id, topic.answer, cells, |cell| {
                cell.left -= 1;
                cell.frame = number;
            });
            if topic.cells.iter().all(|cell| cell.left == 0) {
                self.topics.told(&id);
            } else if some || all {
                self.topics.announce(&id, urgency);
            }
            if !all {
                return;
            }
        }
    }

    /// What was not told for longest, as far as there is room.
    fn repeat(&mut self, packer: &mut Packer<'_>) {
        // All topics, and the first one again, of which the last time may have left some.
        for _ in 0..=self.topics.len() {
            let Cursor { id, worker } = self.sweep;
            let number = self.frames;
            if let Some(topic) = self.topics.topic_mut(&id) {
                let last = &mut self.sweep.worker;
                let cells = topic.cells.iter_mut();
                let cells = cells.filter(|cell| Some(cell.worker) > worker && cell.frame != number);
                let (_, all) = pack(packer, &id, topic.answer, cells.collect(), |cell| {
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

/// The part of its frames in which a call goes on from who heard of it, where one worker alone makes it.
const PASSED_ON: u8 = 4;

/// The most topics of which a frame has news: more than fit.
const NEWS_MAX: usize = 64;

/// Writes a group of these cells, as many as fit, and calls `mark` with each that did. Says whether some
/// did, and whether all did.
fn pack(
    packer: &mut Packer<'_>,
    id: &Id,
    answer: Option<Answer>,
    cells: Vec<&mut Cell>,
    mut mark: impl FnMut(&mut Cell),
) -> (bool, bool) {
    let has_older = cells.iter().any(|cell| cell.calls[BEFORE] > 0);
    // Calls of the next generation are not for this frame: soon they are of this one.
    let cells = cells.into_iter().filter(|cell| cell.calls[BEFORE] > 0 || cell.calls[NOW] > 0);
    let mut cells = cells.peekable();
    if cells.peek().is_none() {
        return (false, true);
    }
    if !packer.open(id, answer, has_older) {
        return (false, false);
    }
    let (mut some, mut all) = (false, true);
    for cell in cells {
        let [before, now, _] = cell.calls;
        if !packer.add(Told { worker: cell.worker, now, before }) {
            all = false;
            break;
        }
        mark(cell);
        some = true;
    }
    packer.close();
    (some, all)
}
