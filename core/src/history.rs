//! The history of a run: the records that a detector holds, and how they are numbered.

use core::mem::replace;
use core::num::NonZeroU64;

use crate::mask::Mask;
use crate::queue::Queue;
use crate::record::{CallId, Record, Status, Tool};
use crate::selection::RuleSet;
use crate::talk::Heard;
use crate::verdict::{Finding, Kind};
use crate::window::Window;

/// The settled and the open records of a run, with the counters that number and place them.
#[derive(Clone, Debug)]
pub(crate) struct History<const W: usize, const OPEN: usize> {
    /// The latest settled records.
    pub(crate) window: Window<W>,
    /// The records that have not settled, in the order of their calls.
    pub(crate) open: Queue<Record, OPEN>,
    /// The rules that saw each of them and may still use it.
    open_seen: Queue<RuleSet, OPEN>,
    /// The sequence number of the next record.
    pub(crate) next: u64,
    /// The sequence number of the first record of this run.
    pub(crate) begun: u64,
    /// The step of the latest record.
    pub(crate) step: Option<NonZeroU64>,
    /// The number of records of that step, which all stand before the next record.
    pub(crate) in_step: u8,
    /// How many times calls were taken back.
    pub(crate) era: u8,
    /// True if the next record is progress because the host said so.
    pub(crate) moved: bool,
    /// The number of latest calls in a row that were equal and came back with equal bytes.
    pub(crate) unbroken: u16,
    /// What the user said since the history began.
    pub(crate) heard: Heard,
}

impl<const W: usize, const OPEN: usize> History<W, OPEN> {
    /// Returns an empty history.
    pub(crate) const fn new() -> Self {
        Self {
            window: Window::new(),
            open: Queue::new(Record::NONE),
            open_seen: Queue::new(0),
            next: 0,
            begun: 0,
            step: None,
            in_step: 0,
            era: 0,
            moved: false,
            unbroken: 0,
            heard: Heard::Nothing,
        }
    }

    /// Forgets every record and begins a new run. Sequence numbers go on.
    pub(crate) fn clear(&mut self) {
        self.window.clear();
        self.open.clear();
        self.open_seen.clear();
        self.begun = self.next;
        self.step = None;
        self.in_step = 0;
        self.moved = false;
        self.unbroken = 0;
        self.heard = Heard::Nothing;
    }

    /// Adds a record that waits for its outcome, and that the rules in `seen` saw.
    pub(crate) fn hold(&mut self, record: Record, seen: RuleSet) {
        let held = self.open.push(record) && self.open_seen.push(seen);
        debug_assert!(held, "room was made before");
    }

    /// Takes back the newest record, and returns whether it was open.
    pub(crate) fn take_back(&mut self) -> Option<(Record, bool)> {
        if let Some(record) = self.open.pop_newest() {
            self.open_seen.pop_newest();
            return Some((record, true));
        }
        Some((self.window.pop()?, false))
    }

    /// Takes out all open records.
    pub(crate) fn take_open(&mut self) -> Queue<Record, OPEN> {
        self.open_seen.clear();
        replace(&mut self.open, Queue::new(Record::NONE))
    }

    /// Returns the records that the rules in `one` saw and may still use: open ones first if these rules are judged `early`,
    /// then those of the window. O(W).
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn seen_by(&self, one: RuleSet, early: bool) -> Mask {
        let settled = self.window.seen_by(one);
        if early { self.open_seen_by(one, settled) } else { settled }
    }

    /// Returns the mask `earlier` after the open records, of which the ones that the rules in `one` saw are in the mask.
    pub(crate) fn open_seen_by(&self, one: RuleSet, earlier: Mask) -> Mask {
        self.open_seen.as_slice().iter().fold(earlier, |mask, seen| mask.then(seen & one != 0))
    }

    /// Makes the rules in `broken` forget all records. O(W) if there are any.
    pub(crate) fn forget(&mut self, broken: RuleSet) {
        if broken == 0 {
            return;
        }
        self.window.forget(broken);
        for seen in self.open_seen.as_mut_slice() {
            *seen &= !broken;
        }
    }

    /// Gives up waiting for the outcomes of the `n` oldest open calls.
    pub(crate) fn give_up(&mut self, n: usize, status: Status) {
        let oldest = self.open.as_mut_slice().iter_mut().take(n);
        for record in oldest.filter(|record| record.status == Status::Open) {
            record.status = status;
        }
    }

    /// Takes out the oldest record, with its sequence number and the rules that saw it, if it has settled.
    pub(crate) fn pop_settled(&mut self) -> Option<(u64, Record, RuleSet)> {
        let seq = self.first_open();
        if self.open.oldest()?.status == Status::Open {
            return None;
        }
        Some((seq, self.open.pop_oldest()?, self.open_seen.pop_oldest().unwrap_or(0)))
    }

    /// Returns the sequence number of the oldest open record, or of the next record if none is open.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn first_open(&self) -> u64 {
        self.next.wrapping_sub(u64::from(self.open.len()))
    }

    /// Returns the tool of the call with the sequence number `seq` if its record is still held.
    pub(crate) fn tool_of(&self, seq: u64) -> Option<Tool> {
        let first_open = self.first_open();
        match first_open.checked_sub(seq) {
            None | Some(0) => {
                let place = usize::try_from(seq.checked_sub(first_open)?).ok()?;
                self.open.as_slice().get(place).map(|record| record.tool)
            }
            Some(back) => self.window.tool(u32::try_from(back.checked_sub(1)?).ok()?),
        }
    }

    /// Returns the sequence number of the latest failure between the calls of `finding`, if its tool failed there more than
    /// once.
    pub(crate) fn failing(&self, finding: &Finding) -> Option<u64> {
        let newest = self.first_open().checked_sub(1)?;
        let age = self.window.failing(|age| {
            let seq = newest.saturating_sub(age.into());
            let is_between = (finding.first..finding.last).contains(&seq);
            // The calls of a cycle are different calls, and each of them may fail.
            is_between
                && (finding.kind == Kind::Cycle || finding.calls().all(|judged| judged != seq))
        })?;
        newest.checked_sub(age.into())
    }

    /// Restores the `seen` records of the rules in `one`, as far as they are held, in the form that
    /// [`History::seen_by`] returns.
    #[cfg(feature = "serde")]
    pub(crate) fn restore_seen(&mut self, one: RuleSet, early: bool, seen: Mask) {
        let open = if early { u32::from(self.open_seen.len()) } else { 0 };
        for age in seen.places() {
            match age.checked_sub(open) {
                Some(age) => self.window.restore_seen(one, age),
                None => {
                    if let Some(seen) = usize::try_from(age)
                        .ok()
                        .and_then(|age| self.open_seen.as_mut_slice().iter_mut().nth_back(age))
                    {
                        *seen |= one;
                    }
                }
            }
        }
    }

    /// Returns the record of `call` if it still waits for its outcome.
    pub(crate) fn open_record(&mut self, call: CallId) -> Option<&mut Record> {
        let age = call.seq()?.checked_sub(self.first_open())?;
        let record = self.open.as_mut_slice().get_mut(usize::try_from(age).ok()?)?;
        (record.status == Status::Open && record.era == call.era()).then_some(record)
    }
}
