//! A swarm without a server: replicas that exchange their counts.

mod frame;
mod news;
#[cfg(feature = "std")]
mod shared;
mod topic;
mod topics;

use alloc::vec::Vec;

use unstuck_core::Digest;

pub use frame::{FRAME_MAX, FRAME_MIN, FrameError};
#[cfg(feature = "std")]
pub use shared::SharedReplica;

use crate::ledger::Heat;
use crate::observation::{Observation, Worker};
use crate::rule::{Allowance, Rule, RuleError, Window};
use crate::verdict::{Outcome, Verdict};
use frame::{Cells, Frame};
use news::Cursor;
use topic::{Calls, Id, calls_max};
use topics::Topics;

/// The default number of cells of a replica. A cell is the calls of one worker under one key.
pub const CELLS: usize = 4096;

/// The default number of frames that carry a piece of news. If each frame reaches one peer, the news reaches a
/// thousand peers in fewer.
pub const SPREAD: u8 = 12;

/// The memory of a replica, and the number of times that it sends news.
///
/// ```
/// use unstuck_swarm::Limits;
///
/// let small = Limits { cells: 256, ..Limits::default() };
/// assert_eq!(small.spread, unstuck_swarm::SPREAD);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of cells: at least 1.
    pub cells: usize,
    /// The number of frames that carry a piece of news, before it is only repeated in its turn: at least 1.
    pub spread: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cells: CELLS, spread: SPREAD }
    }
}

/// The effect of a frame on a replica.
///
/// ```
/// use unstuck_swarm::{Digest, FRAME_MAX, Limits, Merged, Observation, Replica, Rule, Tool, Worker};
///
/// let swarm = Digest::of(b"hall 3");
/// let replica = |n| Replica::new(Rule::default(), swarm, Worker::new(n), Limits::default());
/// let (mut first, mut second) = (replica(1)?, replica(2)?);
/// let _ = first.record(&Observation::new(Worker::new(1), Tool::named("go"), Digest::of(b"x")), 0);
/// let mut buffer = [0; FRAME_MAX];
/// let frame = first.frame(&mut buffer, 0);
/// assert_eq!(second.merge(frame, 0), Ok(Merged { news: 1, stale: 0 }));
/// assert_eq!(second.merge(frame, 0), Ok(Merged { news: 0, stale: 0 }));
/// # Ok::<(), unstuck_swarm::RuleError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The number of cells that were new or had higher counts.
    pub news: usize,
    /// The number of cells from a generation that no longer counts here.
    pub stale: usize,
}

/// The calls of a swarm, as one of its members knows them.
///
/// It counts the calls that are made here, writes frames for the host to send, and merges the frames of other
/// replicas. Frames may be lost, repeated, late and in any order. Replicas that receive each other's frames,
/// directly or by others, converge to the same counts. A replica has no clock, no socket and no randomness.
///
/// ```
/// use unstuck_swarm::{Action, Digest, FRAME_MAX, Limits, Replica, Rule, Observation, Tool, Worker};
///
/// let swarm = Digest::of(b"the robots of hall 3");
/// let mut replicas = Vec::new();
/// for number in 0..5 {
///     replicas.push(Replica::new(Rule::default(), swarm, Worker::new(number), Limits::default())?);
/// }
/// let (tool, call) = (Tool::named("move_to"), Digest::of(b"dock 7"));
/// // Each of five robots calls twice, and sends one frame, which all others get.
/// let mut buffer = [0; FRAME_MAX];
/// for from in 0..5 {
///     for _ in 0..2 {
///         let observation = Observation::new(Worker::new(from), tool, call).failed(Digest::of(b"no way"));
///         let verdict = replicas[from as usize].record(&observation, 1_000);
///         assert_eq!(verdict.action == Action::Nudge, verdict.finding.is_some());
///     }
///     let frame = replicas[from as usize].frame(&mut buffer, 1_000);
///     for replica in &mut replicas {
///         replica.merge(frame, 1_000)?;
///     }
/// }
/// // Each of them knows the loop, which none saw alone.
/// for replica in &mut replicas {
///     let finding = replica.look(call, 1_000).finding.expect("a loop");
///     assert_eq!((finding.calls, finding.workers), (10, 5));
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # What is counted
///
/// For each key, worker and generation there is a count that only grows. Of two counts a replica takes the
/// greater one. So the calls of one worker must be recorded on one replica. If they are not, the count is too
/// low, but never too high. After a restart, or if a worker was forgotten, its count goes on from what other
/// replicas still know.
///
/// # Trust
///
/// A sender can claim any calls of any worker. A worker that only counts wrong cannot accuse a call alone: no
/// worker counts for more than its share of a rung, which is the number of calls that each would have made if
/// as many workers as the rule asks for made equally many. A sender that forges frames in the names of several
/// workers can accuse a call, and can fill the memory of replicas so that loops are missed.
///
/// Digests in frames are not keyed. A receiver can guess a short argument by trial, unless the host mixes a
/// secret into its digests. If any of this is a risk, the host authenticates frames with a key of the swarm
/// before it merges them.
///
/// # What is forgotten
///
/// A replica has at most [`Limits::cells`] cells. A further cell takes the place of the key with the fewest
/// calls, and among equals of the one that has not changed for longest. Calls that were recorded here weigh
/// one more. If one key takes all of the room, a further cell of it is dropped. So replicas converge as long
/// as everything fits. Beyond that their counts are lower bounds. The number of missed calls is unknown, and
/// [`missed`](crate::Finding::missed) is 0.
///
/// # Cost
///
/// O(log cells) to record a call or to merge a cell, and O(workers of the key) to judge it.
#[derive(Clone, Debug)]
pub struct Replica {
    rule: Rule,
    swarm: Digest,
    spread: u8,
    calls_max: u32,
    generation: u64,
    refused: u64,
    frames: u16,
    sweep: Cursor,
    topics: Topics,
}

impl Replica {
    /// Creates an empty replica of the swarm with the digest `swarm`, on which `worker` works.
    ///
    /// The worker decides at which key the replica begins to repeat old news, so that all begin at different
    /// keys.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Rule::check`], and [`RuleError::Clock`] if the window counts calls.
    pub fn new(
        rule: Rule,
        swarm: Digest,
        worker: Worker,
        limits: Limits,
    ) -> Result<Self, RuleError> {
        let rule = rule.check()?;
        if let Window::Calls { span: asked } = rule.window {
            return Err(RuleError::Clock { asked });
        }
        Ok(Self {
            calls_max: calls_max(&rule),
            rule,
            swarm,
            spread: limits.spread.max(1),
            generation: 0,
            refused: 0,
            frames: 0,
            sweep: Cursor::new(worker),
            topics: Topics::new(limits.cells.max(1)),
        })
    }

    /// Returns the rule of the replica.
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Counts one call at the time `now`, and judges it by the calls that are known here.
    ///
    /// `now` has the unit of the rule's window. The clocks of a swarm must agree to within half a window. If a
    /// clock is set back by less than that, the replica treats it as standing still. If it is set back by more,
    /// the replica forgets all calls.
    pub fn record(&mut self, observation: &Observation, now: u64) -> Verdict {
        self.turn_to(now);
        let Observation { worker, tool, result, .. } = *observation;
        let allowance = self.rule.allowance_of(tool, observation.outcome());
        if allowance == Allowance::Any {
            return Verdict::PROCEED;
        }
        let (id, max) = (Id::of(observation), self.calls_max);
        let before = self.status(&id);
        let one_more = |calls: &Calls| {
            let [before, now, next] = *calls;
            [before, now.saturating_add(1).min(max), next]
        };
        if self.topics.raise(id, result, worker, one_more) {
            self.mark_own(&id, worker);
            self.mark_news(&id, before, &[worker]);
        }
        self.topics.settle(&id);
        self.judge(&id)
    }

    /// Returns the verdict on the loop of the call with the digest `call`, without counting it. If there are
    /// several loops, returns the strongest verdict.
    pub fn look(&mut self, call: Digest, now: u64) -> Verdict {
        self.turn_to(now);
        let topics = self.topics.from(Id::first(call)).take_while(|(id, _)| id.call == call);
        topics
            .map(|(id, topic)| topic.judge(id, &self.rule))
            .fold(Verdict::PROCEED, Verdict::or_stronger)
    }

    /// Merges a frame of another replica.
    ///
    /// # Errors
    ///
    /// Returns a [`FrameError`] for a frame that cannot be used. No part of it is merged, and
    /// [`Replica::refused`] counts it.
    pub fn merge(&mut self, frame: &[u8], now: u64) -> Result<Merged, FrameError> {
        self.turn_to(now);
        let frame =
            self.read(frame).inspect_err(|_| self.refused = self.refused.saturating_add(1))?;
        let mut merged = Merged::default();
        for group in frame.groups().flatten() {
            self.take(frame.generation, &group, &mut merged);
        }
        Ok(merged)
    }

    /// Returns the keys with the most calls, the hottest first: at most `limit` of them. O(cells).
    pub fn hottest(&mut self, limit: usize, now: u64) -> Vec<Heat> {
        self.turn_to(now);
        let all = self.topics.from(Id::first(Digest::new(0)));
        let mut all: Vec<_> = all.filter_map(|(id, topic)| topic.heat(id, &self.rule)).collect();
        all.sort_by_key(|heat| (u32::MAX - heat.calls, heat.loop_id));
        all.truncate(limit);
        all
    }

    /// Returns the number of cells in use.
    pub const fn cells(&self) -> usize {
        self.topics.cells()
    }

    /// Returns the number of frames that were refused.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Forgets all calls, and joins the swarm with the digest `swarm`.
    ///
    /// If it is the same swarm, peers bring the calls back. To clear a swarm, let all its replicas join a new
    /// one. Frames that are still on their way are then refused.
    pub fn clear(&mut self, swarm: Digest) {
        self.topics.clear();
        self.swarm = swarm;
    }

    fn turn_to(&mut self, now: u64) {
        let generation = self.rule.window.generation(now);
        match generation.checked_sub(self.generation) {
            Some(0) => return,
            Some(generations) => self.topics.turn(generations),
            // Workers read the clock one after the other, and may report their calls in another order.
            None if self.generation - generation == 1 => return,
            None => self.topics.clear(),
        }
        self.generation = generation;
    }

    fn read<'b>(&self, frame: &'b [u8]) -> Result<Frame<'b>, FrameError> {
        let frame = Frame::read(frame, self.swarm)?;
        let (found, now) = (frame.generation, self.generation);
        if found.abs_diff(now) > 1 { Err(FrameError::Generation { found, now }) } else { Ok(frame) }
    }

    /// Merges a group of a frame of this generation.
    fn take(&mut self, generation: u64, group: &Cells<'_>, merged: &mut Merged) {
        let id = group.id;
        if self.rule.allowance_of(id.tool, Outcome::of(group.result)) == Allowance::Any {
            return;
        }
        let before = self.status(&id);
        let mut news = Vec::new();
        for cell in group.cells() {
            let calls = self.shift(generation, [cell.before, cell.now]);
            if calls == [0; 3] {
                merged.stale += 1;
                continue;
            }
            let max = |known: &Calls| {
                let mut greater = calls;
                greater
                    .iter_mut()
                    .zip(known)
                    .for_each(|(calls, known)| *calls = (*calls).max(*known));
                greater
            };
            if self.topics.raise(id, group.result, cell.worker, max) {
                news.push(cell.worker);
            }
        }
        merged.news += news.len();
        if !news.is_empty() {
            self.mark_news(&id, before, &news);
            self.topics.settle(&id);
        }
    }

    /// Shifts the counts of a frame from its generation to the one here.
    fn shift(&self, generation: u64, calls: [u32; 2]) -> Calls {
        let [before, now] = calls.map(|calls| calls.min(self.calls_max));
        match generation.checked_sub(self.generation) {
            None => [now, 0, 0],
            Some(0) => [before, now, 0],
            Some(_) => [0, before, now],
        }
    }

    fn judge(&self, id: &Id) -> Verdict {
        self.topics.topic(id).map_or(Verdict::PROCEED, |topic| topic.judge(id, &self.rule))
    }
}
