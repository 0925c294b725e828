//! The loops that a detector remembers, with their findings and rungs.

use crate::Digest;
use crate::queue::Queue;
use crate::verdict::LoopId;

/// The number of loops that a detector remembers. A worker is seldom in more than two at once.
/// Eight leave room for loops that have ended but not yet left the window.
pub const LOOPS_MAX: usize = 8;

/// A loop that was found, in 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Loop {
    pub(crate) id: LoopId,
    /// The lower half of the number of the record that found it last, which is enough to compute
    /// its age.
    pub(crate) last: u32,
    pub(crate) findings: u16,
    pub(crate) rung: u8,
    pub(crate) blocker: Blocker,
}

/// The rule that blocks the calls of a loop before they run, if there is one, and whether the
/// latest outcome of the loop was a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Blocker(u8);

impl Blocker {
    pub(crate) const NONE: Self = Self(0);

    /// Creates a blocker from the rule at `place`, which is less than
    /// [`RULES_MAX`](crate::RULES_MAX).
    pub(crate) fn new(place: u8, failed: bool) -> Self {
        Self(place.wrapping_shl(2) | u8::from(failed).wrapping_shl(1) | 1)
    }

    /// Returns the place of the rule, and whether the latest outcome was a failure.
    pub(crate) fn rule(self) -> Option<(u8, bool)> {
        (self.0 & 1 == 1).then_some((self.0.wrapping_shr(2), self.0 & 2 == 2))
    }
}

/// The loops found lately.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    known: Queue<Loop, LOOPS_MAX>,
}

impl Loops {
    pub(crate) const fn new() -> Self {
        Self { known: Queue::new(Loop::new(LoopId::new(Digest::new(0)), 0)) }
    }

    /// Blocks no call of any loop, until its rule asks for it again.
    pub(crate) fn unblock(&mut self) {
        for known in self.known.as_mut_slice() {
            known.blocker = Blocker::NONE;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }

    /// Records that the loop `id` was found with record `seq`, and returns it. A loop without a
    /// finding in the last `window` records has ended and begins again. The oldest loop makes
    /// room.
    pub(crate) fn count_finding(&mut self, id: LoopId, seq: u64, window: u8) -> Option<&mut Loop> {
        self.known.retain(|known| !known.is_over(seq, window));
        if !self.known.as_slice().iter().any(|known| known.id == id) {
            let (new, full) = (Loop::new(id, lower_half(seq)), self.known.is_full());
            if !full {
                self.known.push(new);
            } else if let Some(oldest) =
                self.known.as_mut_slice().iter_mut().max_by_key(|known| known.age(seq))
            {
                *oldest = new;
            }
        }
        let known = self.known.as_mut_slice().iter_mut().find(|known| known.id == id)?;
        known.last = lower_half(seq);
        known.findings = known.findings.saturating_add(1);
        Some(known)
    }

    /// Forgets the loop `id`.
    pub(crate) fn forget(&mut self, id: LoopId) {
        self.known.retain(|known| known.id != id);
    }

    /// Returns the loops whose calls are blocked as of record `seq`, each with the rule that
    /// blocks it and whether its latest outcome was a failure.
    pub(crate) fn blocked(&self, seq: u64, window: u8) -> impl Iterator<Item = (&Loop, u8, bool)> {
        let alive = self.known.as_slice().iter().filter(move |known| !known.is_over(seq, window));
        alive.filter_map(|known| {
            let (place, failed) = known.blocker.rule()?;
            Some((known, place, failed))
        })
    }

    #[cfg(feature = "serde")]
    pub(crate) fn as_slice(&self) -> &[Loop] {
        self.known.as_slice()
    }

    /// Adds a loop. Returns `false` if there is no room, or the loop is present already.
    #[cfg(feature = "serde")]
    pub(crate) fn restore(&mut self, restored: Loop) -> bool {
        let known = self.as_slice().iter().any(|known| known.id == restored.id);
        !known && self.known.push(restored)
    }
}

impl Loop {
    /// Returns the loop `id` with its first record, before it is counted.
    const fn new(id: LoopId, last: u32) -> Self {
        Self { id, last, findings: 0, rung: 0, blocker: Blocker::NONE }
    }

    /// Returns how many records passed from its last finding to the record `seq`, or 0 if the
    /// record came before. The result is wrong after 2³¹ records without any finding, and a rung
    /// may then be reported once too few.
    fn age(&self, seq: u64) -> u32 {
        let age = lower_half(seq).wrapping_sub(self.last).cast_signed();
        age.max(0).unsigned_abs()
    }

    /// Returns whether the loop can have been found before the record numbered `next`. A loop
    /// found at a turn is ahead of `next` by the calls that were taken back since.
    #[cfg(feature = "serde")]
    pub(crate) fn is_past(&self, next: u64) -> bool {
        let next = lower_half(next).wrapping_add(u32::from(u8::MAX));
        next.wrapping_sub(self.last).cast_signed() >= 0
    }

    /// Returns the number of records between its last finding and the record `seq`.
    pub(crate) fn since(&self, seq: u64) -> Option<u32> {
        self.age(seq).checked_sub(1)
    }

    fn is_over(&self, seq: u64, window: u8) -> bool {
        self.age(seq) > u32::from(window)
    }
}

const fn lower_half(seq: u64) -> u32 {
    let [a, b, c, d, ..] = seq.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::{Blocker, LOOPS_MAX, Loops};
    use crate::Digest;
    use crate::verdict::LoopId;

    fn id(n: u64) -> LoopId {
        LoopId::new(Digest::new(n))
    }

    #[test]
    fn a_blocker_keeps_its_rule() {
        assert_eq!(Blocker::NONE.rule(), None);
        for place in 0..u8::try_from(crate::RULES_MAX).unwrap() {
            for failed in [false, true] {
                assert_eq!(Blocker::new(place, failed).rule(), Some((place, failed)));
            }
        }
    }

    #[test]
    fn a_loop_ends_when_a_window_has_passed_without_it() {
        let mut loops = Loops::new();
        assert_eq!(loops.count_finding(id(1), 10, 20).map(|known| known.findings), Some(1));
        assert_eq!(loops.count_finding(id(1), 30, 20).map(|known| known.findings), Some(2));
        assert_eq!(loops.count_finding(id(1), 51, 20).map(|known| known.findings), Some(1));
    }

    #[test]
    fn the_loop_not_found_for_longest_makes_room() {
        let mut loops = Loops::new();
        for n in 0..LOOPS_MAX as u64 {
            loops.count_finding(id(n), n, 64);
        }
        loops.count_finding(id(0), 20, 64);
        loops.count_finding(id(99), 21, 64);
        assert_eq!(loops.count_finding(id(0), 22, 64).map(|known| known.findings), Some(3));
        assert_eq!(loops.count_finding(id(2), 23, 64).map(|known| known.findings), Some(2));
        assert_eq!(loops.count_finding(id(1), 24, 64).map(|known| known.findings), Some(1));
    }
}
