//! The calls of half a window: counters for those that are called most.

use alloc::vec::Vec;

use hashbrown::HashTable;
use unstuck_core::Tool;

use crate::observation::{Key, Observation};
use crate::verdict::Outcome;
use crate::workers::{Mark, Sample};

/// A place among the counters of a generation.
pub(crate) type Slot = u32;

/// What is known of one key in a generation, beside its count.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) tool: Tool,
    /// How many calls may have come before the key had a counter: those of the key whose counter it took
    /// over.
    pub(crate) error: u32,
    /// How many of the calls were made by a worker that had made one in this generation.
    pub(crate) repeats: u32,
    pub(crate) outcome: Outcome,
    who: Who,
    /// The slot in the generation before, or [`NONE`].
    before: Slot,
}

/// The slot of a key that has none.
const NONE: Slot = Slot::MAX;

impl Entry {
    /// The entry of a key of which nothing is known but this.
    pub(crate) const fn new(key: Key, tool: Tool, outcome: Outcome) -> Self {
        Self { key, tool, error: 0, repeats: 0, outcome, who: Who(0), before: NONE }
    }

    /// Says where the key is counted in the generation before.
    pub(crate) fn after(self, before: Option<Slot>) -> Self {
        Self { before: before.unwrap_or(NONE), ..self }
    }

    pub(crate) fn before(&self) -> Option<Slot> {
        (self.before != NONE).then_some(self.before)
    }
}

/// Who made the calls of a key. Nearly all calls are made by one worker, which needs no sample: its mark
/// stands here, and else, with the highest bit set, the place of a sample.
#[derive(Clone, Copy, Debug)]
struct Who(u32);

/// What a [`Who`] says.
enum Made {
    Alone(Mark),
    ByMany(Slot),
}

impl Who {
    const MANY: u32 = 1 << 31;

    const fn alone(mark: Mark) -> Self {
        Self(mark.bits())
    }

    const fn many(place: Slot) -> Self {
        Self(place | Self::MANY)
    }

    fn made(self) -> Made {
        Mark::new(self.0).map_or(Made::ByMany(self.0 & !Self::MANY), Made::Alone)
    }
}

/// The counters of one generation, by Space-Saving (Metwally, Agrawal and El Abbadi, 2005).
///
/// There are as many counters as the capacity says. A key that finds none free takes over the counter of
/// one that was called least, and begins where that one stood; how much of its count is not its own is
/// its error. So a counter is never too low, and without its error never too high; of *n* calls none has
/// an error beyond *n* divided by the capacity; and a key that was called more often than that has a
/// counter.
///
/// The one that was called least is found by a hand that sweeps over the counts, from the first to the
/// last, and stops at each that stands at the floor. The floor is the smallest count when a sweep begins,
/// and every counter that the hand stops at rises above it; so after a sweep all are above it, the next
/// floor is higher, and there are never more than *n* divided by the capacity sweeps: O(1) a call.
#[derive(Clone, Debug)]
pub(crate) struct Generation {
    capacity: usize,
    /// The slot of each key.
    slots: HashTable<Slot>,
    entries: Vec<Entry>,
    /// The count of each entry, its error included, apart so that the hand runs over nothing else.
    counts: Vec<u32>,
    samples: Vec<Sample>,
    /// The samples that no key has.
    free: Vec<Slot>,
    floor: u32,
    hand: usize,
}

const fn hash(key: Key) -> u64 {
    key.digest().bits()
}

impl Generation {
    pub(crate) const fn new(capacity: usize) -> Self {
        Self {
            capacity,
            slots: HashTable::new(),
            entries: Vec::new(),
            counts: Vec::new(),
            samples: Vec::new(),
            free: Vec::new(),
            floor: 0,
            hand: 0,
        }
    }

    /// Forgets all, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.entries.clear();
        self.counts.clear();
        self.samples.clear();
        self.free.clear();
        (self.floor, self.hand) = (0, 0);
    }

    /// The slot of `key`, if it has one. O(1).
    pub(crate) fn find(&self, key: Key) -> Option<Slot> {
        self.slots.find(hash(key), |&slot| self.entries[at(slot)].key == key).copied()
    }

    pub(crate) fn entry(&self, slot: Slot) -> &Entry {
        &self.entries[at(slot)]
    }

    /// How far the sweep has come: its floor, and where its hand stands.
    pub(crate) fn sweep(&self) -> (u32, Slot) {
        (self.floor, Slot::try_from(self.hand).unwrap_or(Slot::MAX))
    }

    pub(crate) const fn capacity(&self) -> usize {
        self.capacity
    }

    /// All slots in use.
    pub(crate) fn slots(&self) -> impl ExactSizeIterator<Item = Slot> + use<> {
        // As many as there are slots fit into the number of one.
        0..Slot::try_from(self.entries.len()).unwrap_or(Slot::MAX)
    }

    /// How many calls were surely made since the key has its counter.
    pub(crate) fn calls(&self, slot: Slot) -> u32 {
        self.counts[at(slot)] - self.entries[at(slot)].error
    }

    /// How many calls may be missing from a counter, at most: its error, or, of a key without one, what
    /// it would take over.
    pub(crate) fn missed(&self, slot: Option<Slot>) -> u32 {
        match slot {
            Some(slot) => self.entries[at(slot)].error,
            None => self.floor,
        }
    }

    /// One more call of the key in `slot`.
    pub(crate) fn count(&mut self, slot: Slot, mark: Mark) {
        let (entry, count) = (&mut self.entries[at(slot)], &mut self.counts[at(slot)]);
        // At the end of what a counter can count, it stands still.
        let one = u32::from(*count < u32::MAX);
        *count += one;
        match entry.who.made() {
            Made::Alone(known) if known == mark => entry.repeats += one,
            Made::Alone(known) => {
                let place = sample(&mut self.samples, &mut self.free);
                entry.who = Who::many(place);
                let sample = &mut self.samples[at(place)];
                sample.add(known);
                sample.add(mark);
            }
            Made::ByMany(place) if self.samples[at(place)].has(mark) => entry.repeats += one,
            Made::ByMany(place) => self.samples[at(place)].add(mark),
        }
    }

    /// The first call of a key that has no counter. O(1), counted over all calls.
    pub(crate) fn add(
        &mut self,
        observation: &Observation,
        mark: Mark,
        before: Option<Slot>,
    ) -> Slot {
        let entry = Entry::new(observation.key(), observation.tool, observation.outcome());
        let entry = Entry { who: Who::alone(mark), ..entry.after(before) };
        if self.entries.len() < self.capacity {
            // It may have had a counter, in a ledger that was smaller when it was kept.
            let error = self.floor;
            return self.push(Entry { error, ..entry }, error.saturating_add(1));
        }
        let slot = self.coldest();
        self.forget(slot);
        let error = self.counts[at(slot)];
        self.counts[at(slot)] = error.saturating_add(1);
        self.entries[at(slot)] = Entry { error, ..entry };
        self.enter(slot);
        slot
    }

    /// Takes up a counter as it was kept: with so many calls of its own by these workers, who are one at
    /// least and at most as many as a sample holds. There is a counter free.
    pub(crate) fn restore(&mut self, mut entry: Entry, calls: u32, workers: &[Mark]) {
        entry.who = match workers {
            [mark] => Who::alone(*mark),
            marks => {
                let place = sample(&mut self.samples, &mut self.free);
                for mark in marks {
                    self.samples[at(place)].add(*mark);
                }
                Who::many(place)
            }
        };
        let count = calls.saturating_add(entry.error);
        self.push(entry, count);
    }

    /// Takes up where the sweep stood, after the counters, if none of them is below its floor.
    #[must_use]
    pub(crate) fn restore_sweep(&mut self, floor: u32, hand: Slot) -> bool {
        (self.floor, self.hand) = (floor, at(hand));
        self.hand <= self.counts.len() && self.counts.iter().all(|count| *count >= floor)
    }

    fn push(&mut self, entry: Entry, count: u32) -> Slot {
        let slot = Slot::try_from(self.entries.len()).unwrap_or(Slot::MAX);
        self.entries.push(entry);
        self.counts.push(count);
        self.enter(slot);
        slot
    }

    /// Makes the key in `slot` known.
    fn enter(&mut self, slot: Slot) {
        let entries = &self.entries;
        let of = |slot: &Slot| hash(entries[at(*slot)].key);
        self.slots.insert_unique(of(&slot), slot, of);
    }

    /// Takes the key in `slot` out of those that are known, and its sample back.
    fn forget(&mut self, slot: Slot) {
        let entry = &self.entries[at(slot)];
        if let Ok(known) = self.slots.find_entry(hash(entry.key), |&other| other == slot) {
            known.remove();
        }
        if let Made::ByMany(place) = entry.who.made() {
            self.free.push(place);
        }
    }

    /// The next slot whose count is the smallest.
    fn coldest(&mut self) -> Slot {
        loop {
            let ahead = &self.counts[self.hand..];
            if let Some(steps) = ahead.iter().position(|count| *count == self.floor) {
                let slot = self.hand + steps;
                self.hand = slot + 1;
                return Slot::try_from(slot).unwrap_or(Slot::MAX);
            }
            self.floor = self.counts.iter().copied().min().unwrap_or(0);
            self.hand = 0;
        }
    }

    /// Whether the worker made a call of this key, as far as is known.
    pub(crate) fn has(&self, slot: Slot, mark: Mark) -> bool {
        match self.entries[at(slot)].who.made() {
            Made::Alone(known) => known == mark,
            Made::ByMany(place) => self.samples[at(place)].has(mark),
        }
    }

    /// How many workers made calls of this key.
    pub(crate) fn count_workers(&self, slot: Slot) -> u32 {
        match self.entries[at(slot)].who.made() {
            Made::Alone(_) => 1,
            Made::ByMany(place) => self.samples[at(place)].count(),
        }
    }

    /// The workers of this key, or a sample of them.
    pub(crate) fn workers(&self, slot: Slot) -> Sample {
        match self.entries[at(slot)].who.made() {
            Made::Alone(known) => {
                let mut sample = Sample::new();
                sample.add(known);
                sample
            }
            Made::ByMany(place) => self.samples[at(place)].clone(),
        }
    }

    /// The bytes of the heap that it has taken.
    pub(crate) fn memory(&self) -> usize {
        self.slots.allocation_size()
            + self.entries.capacity() * size_of::<Entry>()
            + self.counts.capacity() * size_of::<u32>()
            + self.samples.capacity() * size_of::<Sample>()
            + self.free.capacity() * size_of::<Slot>()
    }
}

const fn at(slot: Slot) -> usize {
    slot as usize
}

/// The place of an empty sample.
fn sample(samples: &mut Vec<Sample>, free: &mut Vec<Slot>) -> Slot {
    if let Some(place) = free.pop() {
        samples[at(place)] = Sample::new();
        return place;
    }
    samples.push(Sample::new());
    Slot::try_from(samples.len() - 1).unwrap_or(Slot::MAX)
}
