//! The calls of half a window: counters for the most frequent keys.

use alloc::vec::Vec;

use hashbrown::HashTable;
use unstuck_core::Tool;

use crate::observation::{Key, Observation};
use crate::verdict::Outcome;
use crate::workers::{Mark, Sample};

/// The position of a counter in a generation.
pub(crate) type Slot = u32;

/// The state of one key in a generation, beside its count.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) tool: Tool,
    /// The maximum number of calls before the key had a counter: the count of the key whose counter it took
    /// over.
    pub(crate) error: u32,
    /// The number of calls by workers that had made one in this generation.
    pub(crate) repeats: u32,
    pub(crate) outcome: Outcome,
    workers: PackedWorkers,
    /// The slot in the previous generation, or [`NONE`].
    before: Slot,
}

/// The slot of a key without a counter.
const NONE: Slot = Slot::MAX;

impl Entry {
    pub(crate) fn before(&self) -> Option<Slot> {
        (self.before != NONE).then_some(self.before)
    }
}

/// The workers that made the calls of a key, packed. One worker makes nearly all calls and needs no sample,
/// so this is its mark. Otherwise it is the position of a sample, with the highest bit set.
#[derive(Clone, Copy, Debug)]
struct PackedWorkers(u32);

/// The workers of a key.
enum Workers {
    One(Mark),
    Many(Slot),
}

impl PackedWorkers {
    const MANY: u32 = 1 << 31;

    const fn one(mark: Mark) -> Self {
        Self(mark.bits())
    }

    const fn many(place: Slot) -> Self {
        Self(place | Self::MANY)
    }

    fn unpack(self) -> Workers {
        Mark::new(self.0).map_or(Workers::Many(self.0 & !Self::MANY), Workers::One)
    }
}

/// The counters of one generation, by Space-Saving (Metwally, Agrawal and El Abbadi, 2005).
///
/// The capacity is the number of counters. If no counter is free, a new key takes over the counter of a key
/// with the fewest calls, and starts from its count. The count that it took over is its error. So a counter
/// is never too low, and without its error never too high. After *n* calls no error is above *n* divided by
/// the capacity, and every key with more calls than that has a counter.
///
/// A hand finds the counter with the fewest calls. It sweeps over the counts from the first to the last, and
/// stops at each that equals the floor. The floor is the smallest count when a sweep begins, and every counter
/// at which the hand stops rises above it. So after a sweep all counts are above the floor, and the next floor
/// is higher. There are at most *n* divided by the capacity sweeps: O(1) a call.
#[derive(Clone, Debug)]
pub(crate) struct Generation {
    capacity: usize,
    /// The slot of each key.
    slots: HashTable<Slot>,
    entries: Vec<Entry>,
    /// The count of each entry, with its error. They are apart, so that the hand reads only counts.
    counts: Vec<u32>,
    samples: Vec<Sample>,
    /// The samples that no key uses.
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

    /// Forgets all keys, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.entries.clear();
        self.counts.clear();
        self.samples.clear();
        self.free.clear();
        (self.floor, self.hand) = (0, 0);
    }

    /// Returns the slot of `key`, if it has one. O(1).
    pub(crate) fn find(&self, key: Key) -> Option<Slot> {
        self.slots.find(hash(key), |&slot| self.entries[at(slot)].key == key).copied()
    }

    pub(crate) fn entry(&self, slot: Slot) -> &Entry {
        &self.entries[at(slot)]
    }

    /// Returns all slots in use.
    pub(crate) fn slots(&self) -> impl ExactSizeIterator<Item = Slot> + use<> {
        // The number of slots fits into a slot's number.
        0..Slot::try_from(self.entries.len()).unwrap_or(Slot::MAX)
    }

    /// Returns the number of calls that were surely made since the key has its counter.
    pub(crate) fn calls(&self, slot: Slot) -> u32 {
        self.counts[at(slot)] - self.entries[at(slot)].error
    }

    /// Returns the maximum number of calls that a counter misses: its error, or the floor for a key without
    /// a counter.
    pub(crate) fn missed(&self, slot: Option<Slot>) -> u32 {
        match slot {
            Some(slot) => self.entries[at(slot)].error,
            None => self.floor,
        }
    }

    /// Counts one more call of the key in `slot`.
    pub(crate) fn count(&mut self, slot: Slot, mark: Mark) {
        let (entry, count) = (&mut self.entries[at(slot)], &mut self.counts[at(slot)]);
        // A counter stays at its maximum.
        let one = u32::from(*count < u32::MAX);
        *count += one;
        match entry.workers.unpack() {
            Workers::One(known) if known == mark => entry.repeats += one,
            Workers::One(known) => {
                let place = sample(&mut self.samples, &mut self.free);
                entry.workers = PackedWorkers::many(place);
                let sample = &mut self.samples[at(place)];
                sample.add(known);
                sample.add(mark);
            }
            Workers::Many(place) if self.samples[at(place)].has(mark) => entry.repeats += one,
            Workers::Many(place) => self.samples[at(place)].add(mark),
        }
    }

    /// Adds a counter with the first call of a key. Amortised O(1).
    pub(crate) fn add(
        &mut self,
        observation: &Observation,
        mark: Mark,
        before: Option<Slot>,
    ) -> Slot {
        let entry = Entry {
            key: observation.key(),
            tool: observation.tool,
            error: 0,
            repeats: 0,
            outcome: observation.outcome(),
            workers: PackedWorkers::one(mark),
            before: before.unwrap_or(NONE),
        };
        if self.entries.len() < self.capacity {
            return self.push(entry);
        }
        let slot = self.coldest();
        self.forget(slot);
        let error = self.counts[at(slot)];
        self.counts[at(slot)] = error.saturating_add(1);
        self.entries[at(slot)] = Entry { error, ..entry };
        self.enter(slot);
        slot
    }

    /// Adds a counter with one call.
    fn push(&mut self, entry: Entry) -> Slot {
        let slot = Slot::try_from(self.entries.len()).unwrap_or(Slot::MAX);
        self.entries.push(entry);
        self.counts.push(1);
        self.enter(slot);
        slot
    }

    /// Adds the key in `slot` to the index.
    fn enter(&mut self, slot: Slot) {
        let entries = &self.entries;
        let of = |slot: &Slot| hash(entries[at(*slot)].key);
        self.slots.insert_unique(of(&slot), slot, of);
    }

    /// Removes the key in `slot` from the index, and frees its sample.
    fn forget(&mut self, slot: Slot) {
        let entry = &self.entries[at(slot)];
        if let Ok(known) = self.slots.find_entry(hash(entry.key), |&other| other == slot) {
            known.remove();
        }
        if let Workers::Many(place) = entry.workers.unpack() {
            self.free.push(place);
        }
    }

    /// Returns the next slot with the smallest count.
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

    /// Returns whether the worker is known to have made a call of this key.
    pub(crate) fn has(&self, slot: Slot, mark: Mark) -> bool {
        match self.entries[at(slot)].workers.unpack() {
            Workers::One(known) => known == mark,
            Workers::Many(place) => self.samples[at(place)].has(mark),
        }
    }

    /// Returns the number of workers that made calls of this key.
    pub(crate) fn count_workers(&self, slot: Slot) -> u32 {
        match self.entries[at(slot)].workers.unpack() {
            Workers::One(_) => 1,
            Workers::Many(place) => self.samples[at(place)].count(),
        }
    }

    /// Returns the workers of this key, or a sample of them.
    pub(crate) fn workers(&self, slot: Slot) -> Sample {
        match self.entries[at(slot)].workers.unpack() {
            Workers::One(known) => {
                let mut sample = Sample::new();
                sample.add(known);
                sample
            }
            Workers::Many(place) => self.samples[at(place)].clone(),
        }
    }

    /// Returns the bytes of the heap in use.
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

/// Returns the position of an empty sample.
fn sample(samples: &mut Vec<Sample>, free: &mut Vec<Slot>) -> Slot {
    if let Some(place) = free.pop() {
        samples[at(place)] = Sample::new();
        return place;
    }
    samples.push(Sample::new());
    Slot::try_from(samples.len() - 1).unwrap_or(Slot::MAX)
}
