//! What a guard remembers of the swarm that its worker is one of.
//!
//! It is part of a checkpoint whether or not a guard has a board, so that a feature changes no format.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use unstuck_core::{CallId, Digest, LoopId, Tool};
#[cfg(feature = "swarm")]
use {
    unstuck_core::{Action, Outcome},
    unstuck_swarm::{Counts, Finding, Outcome as Came, Verdict},
};

use crate::steps::OPEN_MAX;

/// How many loops of the swarm are remembered; of more, the one that was heard of longest ago is
/// forgotten.
const LOOPS_MAX: usize = 8;

/// How many different calls are remembered by what was written before them.
const MADE_MAX: usize = 32;

/// For how long a call stays blocked without a word of the board, in milliseconds. Then it may be made
/// once more; the board hears of that, and says whether the loop still goes on.
#[cfg(feature = "swarm")]
const BLOCKED_FOR: u64 = 60_000;

/// For how long it is remembered what was said of a loop, in milliseconds since the board spoke of it
/// last.
#[cfg(feature = "swarm")]
const SAID_FOR: u64 = 600_000;

/// What a guard remembers of its swarm.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Heard {
    /// The calls that the board is to be told of at their end, the oldest first.
    open: VecDeque<Open>,
    /// The calls that came to an end last, with how many novel writes there had been: the oldest first.
    made: VecDeque<(Digest, u32)>,
    /// How many there had been before the call that was forgotten last.
    floor: u32,
    /// How many novel writes there were.
    writes: u32,
    /// What the board said, the oldest first.
    loops: VecDeque<Known>,
    /// The loops that the host says are none, the oldest first.
    silenced: VecDeque<LoopId>,
}

/// A call whose end may come.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Open {
    pub(crate) id: CallId,
    pub(crate) call: Digest,
    pub(crate) writes: bool,
}

/// A loop of the swarm.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Known {
    pub(crate) loop_id: LoopId,
    call: Digest,
    pub(crate) tool: Tool,
    /// When the board said so last: milliseconds since 1970.
    at: u64,
    /// The highest rung that the worker has heard of.
    pub(crate) rung: u8,
    state: State,
    pub(crate) calls: u32,
    pub(crate) workers: u32,
    missed: u32,
    /// Whether all of them failed, if it is known how they ended.
    pub(crate) failed: Option<bool>,
    pub(crate) confidence: u8,
}

/// What a loop is to the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    /// Its call may be made.
    Told,
    /// Its call is blocked.
    Blocked,
    /// A person has spoken since, or the call came to another end: it may be made until the board
    /// answers to it with this loop.
    Lifted,
}

impl Heard {
    /// A new run begins: nothing was said in it, and no call is out. What the host said stays.
    pub(crate) fn clear(&mut self) {
        let silenced = std::mem::take(&mut self.silenced);
        *self = Self { silenced, ..Self::default() };
    }

    /// A person has spoken: what was said before is as if it had not been.
    pub(crate) fn lift(&mut self) {
        for known in &mut self.loops {
            (known.state, known.rung) = (State::Lifted, 0);
        }
    }

    /// The call is out no more; gives it, if the board is to be told of its end.
    pub(crate) fn close(&mut self, id: CallId) -> Option<Open> {
        let place = self.open.iter().position(|open| open.id == id)?;
        self.open.remove(place)
    }

    /// The loop is none, says the host.
    pub(crate) fn silence(&mut self, id: LoopId) {
        self.forget(id);
        push(&mut self.silenced, id, LOOPS_MAX);
    }

    fn forget(&mut self, id: LoopId) -> Option<Known> {
        let place = self.loops.iter().position(|known| known.loop_id == id)?;
        self.loops.remove(place)
    }

    pub(crate) fn fits(&self) -> bool {
        self.open.len() <= OPEN_MAX
            && self.made.len() <= MADE_MAX
            && self.loops.len() <= LOOPS_MAX
            && self.silenced.len() <= LOOPS_MAX
    }
}

#[cfg(feature = "swarm")]
impl Heard {
    /// Of this call the board is to be told.
    pub(crate) fn open(&mut self, open: Open) {
        push(&mut self.open, open, OPEN_MAX);
    }

    /// The call that is out, if the board is to be told of it.
    pub(crate) fn find(&self, id: CallId) -> Option<Open> {
        self.open.iter().find(|open| open.id == id).copied()
    }

    /// A call came to its end. Gives whether there was a novel write since it was made last: whoever
    /// looks again after a change is not stuck.
    pub(crate) fn made(
        &mut self,
        Open { call, writes, .. }: Open,
        outcome: Option<Outcome>,
    ) -> bool {
        let has_changed = self.has_changed(call);
        let place = self.made.iter().position(|(known, _)| *known == call);
        let is_novel = place.and_then(|place| self.made.remove(place)).is_none();
        if writes && is_novel && outcome.is_some_and(|outcome| !outcome.has_failed()) {
            self.writes = self.writes.saturating_add(1);
        }
        if let Some((_, floor)) = push(&mut self.made, (call, self.writes), MADE_MAX) {
            self.floor = floor;
        }
        has_changed
    }

    /// Whether there was a novel write since the call was made last.
    fn has_changed(&self, call: Digest) -> bool {
        let known = self.made.iter().find(|(known, _)| *known == call);
        self.writes > known.map_or(self.floor, |(_, writes)| *writes)
    }

    /// The loop for which the call is blocked before it is made, with its rung: by what the board
    /// `looked` up, or by what it said before. Not after a change, which may have ended it.
    pub(crate) fn blocked(
        &mut self,
        call: Digest,
        looked: Verdict,
        now: u64,
    ) -> Option<(Known, u8)> {
        if self.has_changed(call) {
            return None;
        }
        if looked.action >= Action::Block && self.concerns(call, looked) {
            return self.take_in(call, looked, now).map(|known| (known, looked.rung));
        }
        let holds = |known: &&Known| {
            let is_recent = now.abs_diff(known.at) < BLOCKED_FOR;
            known.call == call && known.state == State::Blocked && is_recent
        };
        self.loops.iter().rev().find(holds).map(|known| (*known, known.rung))
    }

    /// Whether what the board knows of a call is also the worker's own: it has never made the call, or
    /// was told of that loop. Else its call may come to another end than those of the others.
    fn concerns(&self, call: Digest, looked: Verdict) -> bool {
        let id = looked.finding.map(|finding| finding.loop_id);
        let known = self.loops.iter().find(|known| Some(known.loop_id) == id);
        match known {
            Some(known) => known.state != State::Lifted,
            None => !self.made.iter().any(|(made, _)| *made == call),
        }
    }

    /// What the board answers to a call. Gives the loop as it was known before, with the new numbers.
    pub(crate) fn take_in(&mut self, call: Digest, verdict: Verdict, now: u64) -> Option<Known> {
        let Some(finding) = verdict.finding else {
            // It came to another end than the others, or nobody can be asked.
            let of_call = |known: &&mut Known| known.call == call;
            self.loops.iter_mut().filter(of_call).for_each(|known| known.state = State::Lifted);
            return None;
        };
        if self.silenced.contains(&finding.loop_id) {
            return None;
        }
        let before = self.forget(finding.loop_id);
        let before = before.filter(|known| now.abs_diff(known.at) < SAID_FOR);
        let rung = before.map_or(0, |known| known.rung);
        let blocks = verdict.action >= Action::Block;
        let state = if blocks { State::Blocked } else { State::Told };
        let known = Known::new(call, &finding, Said { at: now, rung, state });
        push(&mut self.loops, known, LOOPS_MAX);
        Some(known)
    }

    /// The worker was told of this rung.
    pub(crate) fn said(&mut self, id: LoopId, rung: u8) {
        if let Some(known) = self.loops.iter_mut().find(|known| known.loop_id == id) {
            known.rung = rung;
        }
    }
}

/// What a worker has heard of a loop, and when.
#[cfg(feature = "swarm")]
struct Said {
    at: u64,
    rung: u8,
    state: State,
}

#[cfg(feature = "swarm")]
impl Known {
    fn new(call: Digest, finding: &Finding, Said { at, rung, state }: Said) -> Self {
        let failed = match finding.outcome {
            Came::Unknown => None,
            Came::Worked => Some(false),
            Came::Failed => Some(true),
        };
        let &Finding { loop_id, tool, calls, workers, missed, confidence, .. } = finding;
        Self { loop_id, call, tool, at, rung, state, calls, workers, missed, failed, confidence }
    }

    /// The evidence, as the board gave it.
    pub(crate) fn evidence(&self) -> Finding {
        let outcome = match self.failed {
            None => Came::Unknown,
            Some(false) => Came::Worked,
            Some(true) => Came::Failed,
        };
        let Self { calls, workers, missed, .. } = *self;
        let counts = Counts { calls, workers, missed, beyond: 0 };
        let mut finding = Finding::new(self.loop_id, self.tool, outcome, counts);
        finding.confidence = self.confidence;
        finding
    }
}

/// Puts one more behind the others, of which there are never more than `max`; gives the one that had to
/// make room.
fn push<T>(all: &mut VecDeque<T>, one: T, max: usize) -> Option<T> {
    let oldest = if all.len() >= max { all.pop_front() } else { None };
    all.push_back(one);
    oldest
}

#[cfg(all(test, feature = "swarm"))]
mod tests {
    use unstuck_core::Call;

    use super::*;
    use crate::guard::Guard;

    const HOUR: u64 = 3_600_000;

    fn call(n: u64) -> Digest {
        Call::new(Tool::named("bash"), Digest::new(n)).digest()
    }

    /// What a board says of the loop `id` at that rung.
    fn said(id: u64, rung: u8, action: Action) -> Verdict {
        let counts = Counts { calls: 12, workers: 3, missed: 1, beyond: 2 };
        let (id, tool) = (LoopId::from_bits(id), Tool::named("bash"));
        Verdict { action, rung, finding: Some(Finding::new(id, tool, Came::Unknown, counts)) }
    }

    fn open(n: u64, writes: bool) -> Open {
        let ticket = Guard::new().before("bash", "{}").ticket().expect("a call has one");
        Open { id: ticket.call, call: call(n), writes }
    }

    fn blocks(heard: &mut Heard, n: u64, now: u64) -> bool {
        heard.blocked(call(n), Verdict::PROCEED, now).is_some()
    }

    #[test]
    fn a_block_ends_by_itself() {
        let mut heard = Heard::default();
        let block = said(7, 3, Action::Block);
        assert!(heard.take_in(call(1), block, HOUR).is_some());
        let last = HOUR + BLOCKED_FOR - 1;
        assert!(blocks(&mut heard, 1, last) && !blocks(&mut heard, 2, last));
        // A clock that was set back is as good as one that went on.
        for later in [last + 1, 9 * HOUR, HOUR - BLOCKED_FOR] {
            assert!(!blocks(&mut heard, 1, later), "{later}");
        }
        assert!(heard.take_in(call(1), said(7, 1, Action::Nudge), HOUR).is_some());
        assert!(!blocks(&mut heard, 1, HOUR), "the board has taken it back");
    }

    #[test]
    fn what_was_said_is_new_again_when_the_loop_was_long_gone() {
        let mut heard = Heard::default();
        let nudge = said(7, 1, Action::Nudge);
        let rung = |heard: &mut Heard, now| heard.take_in(call(1), nudge, now).map(|one| one.rung);
        assert_eq!(rung(&mut heard, 0), Some(0));
        heard.said(LoopId::from_bits(7), 1);
        for now in [1, SAID_FOR, 2 * SAID_FOR - 1] {
            assert_eq!(rung(&mut heard, now), Some(1), "each word renews it");
        }
        assert_eq!(rung(&mut heard, 9 * HOUR), Some(0));
    }

    #[test]
    fn what_a_board_looks_up_blocks_whom_it_concerns() {
        let block = said(7, 3, Action::Block);
        let is_blocked = |heard: &mut Heard| heard.blocked(call(1), block, HOUR).is_some();
        let again = open(1, false);
        let ok = Some(Outcome::ok(Digest::new(0)));
        assert!(is_blocked(&mut Heard::default()), "it never made the call");
        let mut other_end = Heard::default();
        let _ = (other_end.made(again, ok), other_end.take_in(call(1), Verdict::PROCEED, 0));
        assert!(!is_blocked(&mut other_end), "its call came to another end");
        let _ = other_end.take_in(call(1), said(7, 1, Action::Nudge), 0);
        assert!(is_blocked(&mut other_end), "it was told");
        other_end.lift();
        assert!(!is_blocked(&mut other_end), "a person has spoken");
        let _ = other_end.take_in(call(1), said(7, 1, Action::Nudge), 0);
        let write = open(2, true);
        let _ = other_end.made(write, ok);
        assert!(!is_blocked(&mut other_end), "it has changed something");
        let _ = other_end.made(again, ok);
        assert!(is_blocked(&mut other_end), "that was no help");
    }

    #[test]
    fn it_is_bounded_and_forgets_the_oldest_first() {
        let mut heard = Heard::default();
        for n in 0..100 {
            let made = open(n, n % 2 == 0);
            heard.open(made);
            let _ = heard.made(made, Some(Outcome::ok(Digest::new(n))));
            let _ = heard.take_in(call(n), said(n, 3, Action::Block), 0);
            heard.silence(LoopId::from_bits(1000 + n));
        }
        assert!(heard.fits());
        assert!(blocks(&mut heard, 99, 0) && !blocks(&mut heard, 50, 0));
        assert!(heard.take_in(call(1), said(1099, 1, Action::Nudge), 0).is_none());
        assert!(heard.take_in(call(1), said(1001, 1, Action::Nudge), 0).is_some());
        // Whoever goes round in many calls has written nothing since, though each is forgotten.
        let rounds =
            |heard: &mut Heard| (200..240).filter(|n| heard.made(open(*n, false), None)).count();
        assert!(rounds(&mut heard) > 0);
        assert_eq!(rounds(&mut heard), 0);
    }

    #[test]
    fn the_evidence_is_kept_as_it_was_given() {
        let verdict = said(7, 1, Action::Nudge);
        for outcome in [Came::Unknown, Came::Worked, Came::Failed] {
            let mut finding = verdict.finding.expect("one");
            finding.outcome = outcome;
            let known = Known::new(call(1), &finding, Said { at: 0, rung: 0, state: State::Told });
            assert_eq!(known.evidence(), finding);
        }
    }
}
