//! The loops that a detector remembers: how often each was found, and how far up its ladder.

use heapless::Vec;

use crate::verdict::LoopId;

/// How many loops are remembered. A worker is seldom in more than two at once; eight leave
/// room for those that have ended but not yet left the window.
pub const LOOPS_MAX: usize = 8;

/// One loop that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) id: LoopId,
    /// The record with which it was last found.
    last: u64,
    pub(crate) findings: u16,
    pub(crate) rung: u8,
    /// Whether its latest outcome was a failure.
    pub(crate) failed: bool,
    /// The rule that blocks its calls before they run, from when the ladder says so.
    pub(crate) blocked_by: Option<u8>,
}

/// The loops found lately.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    known: Vec<Loop, LOOPS_MAX>,
}

impl Loops {
    pub(crate) const fn new() -> Self {
        Self { known: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }

    /// The loop `id`, found again with record `seq`, or for the first time; one that `window`
    /// records have passed without is over, and begins anew. The oldest makes room.
    pub(crate) fn found(&mut self, id: LoopId, seq: u64, window: u8) -> Option<&mut Loop> {
        self.forget_ended(seq, window);
        if self.known(id).is_none() {
            self.remember(id, seq);
        }
        let known = self.known(id)?;
        known.last = seq;
        known.findings = known.findings.saturating_add(1);
        Some(known)
    }

    fn remember(&mut self, id: LoopId, last: u64) {
        let new = Loop { id, last, findings: 0, rung: 0, failed: false, blocked_by: None };
        if let Err(new) = self.known.push(new)
            && let Some(oldest) = self.known.iter_mut().min_by_key(|known| known.last)
        {
            *oldest = new;
        }
    }

    /// The loop `id`, if it is remembered.
    pub(crate) fn known(&mut self, id: LoopId) -> Option<&mut Loop> {
        self.known.iter_mut().find(|known| known.id == id)
    }

    /// The loops whose calls are blocked as of record `seq`, with the rule that blocks each.
    pub(crate) fn blocked(&self, seq: u64, window: u8) -> impl Iterator<Item = (&Loop, u8)> {
        let alive = self.known.iter().filter(move |known| !known.is_over(seq, window));
        alive.filter_map(|known| Some((known, known.blocked_by?)))
    }

    fn forget_ended(&mut self, seq: u64, window: u8) {
        self.known.retain(|known| !known.is_over(seq, window));
    }
}

impl Loop {
    fn is_over(&self, seq: u64, window: u8) -> bool {
        seq.saturating_sub(self.last) > u64::from(window)
    }
}

#[cfg(test)]
mod tests {
    use super::{LOOPS_MAX, Loops};
    use crate::Digest;
    use crate::verdict::LoopId;

    fn id(n: u64) -> LoopId {
        LoopId::new(Digest::new(n))
    }

    #[test]
    fn a_loop_ends_when_a_window_has_passed_without_it() {
        let mut loops = Loops::new();
        assert_eq!(loops.found(id(1), 10, 20).map(|known| known.findings), Some(1));
        assert_eq!(loops.found(id(1), 30, 20).map(|known| known.findings), Some(2));
        assert_eq!(loops.found(id(1), 51, 20).map(|known| known.findings), Some(1));
    }

    #[test]
    fn the_loop_not_found_for_longest_makes_room() {
        let mut loops = Loops::new();
        for n in 0..LOOPS_MAX as u64 {
            loops.found(id(n), n, 64);
        }
        loops.found(id(0), 20, 64);
        loops.found(id(99), 21, 64);
        assert_eq!(loops.found(id(0), 22, 64).map(|known| known.findings), Some(3));
        assert_eq!(loops.found(id(2), 23, 64).map(|known| known.findings), Some(2));
        assert_eq!(loops.found(id(1), 24, 64).map(|known| known.findings), Some(1));
    }
}
