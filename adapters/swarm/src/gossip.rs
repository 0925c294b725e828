//! A swarm without a server: replicas that send each other what they know.

mod frame;
#[cfg(feature = "std")]
mod shared;
mod tell;
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
use tell::Cursor;
use topic::{Calls, Id, calls_max};
use topics::Topics;

/// How many cells a replica has room for, unless it is told otherwise. A cell is the calls of one worker
/// under one key.
pub const CELLS: usize = 4096;

/// In how many frames a piece of news goes out, unless a replica is told otherwise: what reaches one peer
/// in each of them reaches a thousand long before that.
pub const SPREAD: u8 = 12;

/// How much a replica remembers, and how often it repeats itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most cells that it remembers: 1 at least.
    pub cells: usize,
    /// In how many frames a piece of news goes out, before it is only repeated in its turn: 1 at least.
    pub spread: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self { cells: CELLS, spread: SPREAD }
    }
}

/// What came of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// How many cells were new, or said more than was known.
    pub news: usize,
    /// How many cells were of a generation that does not count here any more.
    pub stale: usize,
}

/// What one member of a swarm knows of the calls of all of them.
///
/// It counts the calls that are made here, writes frames for whomever the host likes to send them to, and
/// takes those of others in. Frames may be lost, come twice, late and in any order: replicas that hear of
/// each other, by whatever ways, come to know the same. It has no clock, no socket and no randomness.
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
///         let said = replicas[from as usize].record(&observation, 1_000);
///         assert_eq!(said.action == Action::Nudge, said.finding.is_some());
///     }
///     let frame = replicas[from as usize].frame(&mut buffer, 1_000);
///     for replica in &mut replicas {
///         replica.merge(frame, 1_000)?;
///     }
/// }
/// // They know what nobody of them saw alone.
/// for replica in &mut replicas {
///     let finding = replica.look(call, 1_000).finding.expect("a loop");
///     assert_eq!((finding.calls, finding.workers), (10, 5));
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # What is counted
///
/// Under each key, for each worker and generation, a count that only grows: a replica that hears of two
/// takes the greater one. So the calls of one worker are to be recorded on one replica, else too few are
/// counted, and never too many. A worker that begins anew, or is forgotten, is counted on from what others
/// still know of it.
///
/// # Who may lie
///
/// Whoever sends a frame can say anything of any worker. A frame of a worker that counts wrong does no
/// harm that others do not share in: nobody stands for more than a share of a rung, which is what each
/// worker must have made if as many as the rule asks for made equally many. Whoever forges frames in the
/// names of several workers can accuse a call, and can fill the memory of replicas, so that loops are not
/// found. Digests in frames are not keyed: whoever hears them can try out what a short argument may have
/// been, unless the host mixes a secret into its digests. Where any of that is to be feared, the host authenticates frames, with a key that all of the swarm
/// have, before it merges them.
///
/// # What is forgotten
///
/// A replica remembers as many cells as its limit says. Where another comes, the key of the fewest calls
/// is forgotten (calls that were recorded here weigh one more), of equals the one that has not changed for
/// longest; where one key takes all of the room, what comes is not taken in. So as long as all fits,
/// replicas come to know the same; beyond that what they count is surely called, and may be too little.
/// How much was missed nobody knows: [`missed`](crate::Finding::missed) is 0.
///
/// # Cost
///
/// To record a call, or to take in a cell, is O(log cells), and O(workers) of the key to judge it.
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
    /// A replica of the swarm that stands for `swarm`, on which `worker` works. It has seen nothing.
    ///
    /// The worker decides where the replica begins to repeat what it knows, so that all begin elsewhere.
    ///
    /// # Errors
    ///
    /// Those of [`Rule::check`], and [`RuleError::Clock`] where the window counts calls.
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

    /// The rule that it judges by.
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Counts one call at the time `now`, and judges it by what is known here of the swarm.
    ///
    /// `now` is read by the clock that the rule's window is measured by. The clocks of a swarm need to agree
    /// to within half a window. One that is set back by less than that stands still, as far as the
    /// replica is concerned; one that is set back by more begins anew, and all calls are forgotten.
    pub fn record(&mut self, observation: &Observation, now: u64) -> Verdict {
        self.turn_to(now);
        let Observation { worker, tool, answer, .. } = *observation;
        let allowance = self.rule.allowance_of(tool, observation.outcome());
        if allowance == Allowance::Any {
            return Verdict::PROCEED;
        }
        let (id, max) = (Id::of(observation), self.calls_max);
        let before = self.heard(&id);
        let one_more = |calls: &Calls| {
            let [before, now, next] = *calls;
            [before, now.saturating_add(1).min(max), next]
        };
        if self.topics.raise(id, answer, worker, one_more) {
            self.own(&id, worker);
            self.spread(&id, before, &[worker]);
        }
        self.topics.settle(&id);
        self.judge(&id)
    }

    /// What is known here of the call with the digest `call`: the verdict on the loop that it is in, if it
    /// is in one, or of several the one that asks for most. It counts nothing.
    pub fn look(&mut self, call: Digest, now: u64) -> Verdict {
        self.turn_to(now);
        let topics = self.topics.from(Id::first(call)).take_while(|(id, _)| id.call == call);
        topics
            .map(|(id, topic)| topic.judge(id, &self.rule))
            .fold(Verdict::PROCEED, Verdict::or_stronger)
    }

    /// Takes in a frame of another replica.
    ///
    /// # Errors
    ///
    /// [`FrameError`], which says what is wrong with it. Nothing of such a frame is taken in, and it is
    /// counted by [`Replica::refused`].
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

    /// The keys that are called most, the hottest first: at most `limit` of them. O(cells).
    pub fn hottest(&mut self, limit: usize, now: u64) -> Vec<Heat> {
        self.turn_to(now);
        let all = self.topics.from(Id::first(Digest::new(0)));
        let mut all: Vec<_> = all.filter_map(|(id, topic)| topic.heat(id, &self.rule)).collect();
        all.sort_by_key(|heat| (u32::MAX - heat.calls, heat.loop_id));
        all.truncate(limit);
        all
    }

    /// How many cells it remembers.
    pub const fn cells(&self) -> usize {
        self.topics.cells()
    }

    /// How many frames were refused since there is this replica.
    pub const fn refused(&self) -> u64 {
        self.refused
    }

    /// Forgets all calls, and goes on in the swarm that stands for `swarm`.
    ///
    /// If that is the swarm it was in, peers bring back what they know. To clear a swarm, let each of its
    /// replicas go on in another one: what is still on its way is refused then.
    pub fn clear(&mut self, swarm: Digest) {
        self.topics.clear();
        self.swarm = swarm;
    }

    fn turn_to(&mut self, now: u64) {
        let generation = self.rule.window.generation(now);
        match generation.checked_sub(self.generation) {
            Some(0) => return,
            Some(generations) => self.topics.turn(generations),
            // Workers read the clock one after the other, and may tell of their calls in another order.
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

    /// Takes in a group of a frame of this generation.
    fn take(&mut self, generation: u64, group: &Cells<'_>, merged: &mut Merged) {
        let id = group.id;
        if self.rule.allowance_of(id.tool, Outcome::of(group.answer)) == Allowance::Any {
            return;
        }
        let before = self.heard(&id);
        let mut news = Vec::new();
        for told in group.cells() {
            let heard = self.place(generation, [told.before, told.now]);
            if heard == [0; 3] {
                merged.stale += 1;
                continue;
            }
            let max = |known: &Calls| {
                let mut greater = heard;
                greater
                    .iter_mut()
                    .zip(known)
                    .for_each(|(calls, known)| *calls = (*calls).max(*known));
                greater
            };
            if self.topics.raise(id, group.answer, told.worker, max) {
                news.push(told.worker);
            }
        }
        merged.news += news.len();
        if !news.is_empty() {
            self.spread(&id, before, &news);
            self.topics.settle(&id);
        }
    }

    /// Calls in a frame of this generation, and in the one before it, as they stand here.
    fn place(&self, generation: u64, told: [u32; 2]) -> Calls {
        let [before, now] = told.map(|calls| calls.min(self.calls_max));
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
