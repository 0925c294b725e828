//! The history of a run: the records that a detector holds, and how they are numbered.

use core::num::NonZeroU64;

use crate::queue::Queue;
use crate::record::{CallId, Record, Status, Tool};
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
        self.begun = self.next;
        self.step = None;
        self.in_step = 0;
        self.moved = false;
        self.unbroken = 0;
        self.heard = Heard::Nothing;
    }

    /// Adds a record that waits for its outcome.
    pub(crate) fn hold(&mut self, record: Record) {
        let held = self.open.push(record);
        debug_assert!(held, "room was made before");
    }

    /// Gives up waiting for the outcomes of the `n` oldest open calls.
    pub(crate) fn give_up(&mut self, n: usize, status: Status) {
        let oldest = self.open.as_mut_slice().iter_mut().take(n);
        for record in oldest.filter(|record| record.status == Status::Open) {
            record.status = status;
        }
    }

    /// Takes out the oldest record, with its sequence number, if it has settled.
    pub(crate) fn pop_settled(&mut self) -> Option<(u64, Record)> {
        let seq = self.first_open();
        self.open.oldest().filter(|record| record.status != Status::Open)?;
        Some((seq, self.open.pop_oldest()?))
    }

    /// Returns the sequence number of the oldest open record, or of the next record if none is open.
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

    /// Returns the record of `call` if it still waits for its outcome.
    pub(crate) fn open_record(&mut self, call: CallId) -> Option<&mut Record> {
        let age = call.seq()?.checked_sub(self.first_open())?;
        let record = self.open.as_mut_slice().get_mut(usize::try_from(age).ok()?)?;
        (record.status == Status::Open && record.era == call.era()).then_some(record)
    }
}
