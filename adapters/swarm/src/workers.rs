//! Which workers made a call: all of them while they are few, and a fair sample of many.

use serde::{Deserialize, Serialize};

use crate::observation::Worker;

/// How many workers a [`Sample`] holds; it tells one less apart without a doubt.
pub(crate) const SAMPLE: usize = 16;

/// What a sample knows a worker by: 31 bits of what stands for its name. Of `n` workers two share one
/// with probability n²/2³²; they count as one then, and a first call of the second as a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Mark(u32);

impl Mark {
    /// How many marks there are.
    const BITS: u32 = 31;

    /// No worker's: what a place in a sample holds that is free.
    const FREE: Self = Self(u32::MAX);

    pub(crate) fn of(worker: Worker) -> Self {
        let [a, b, c, d, ..] = worker.digest().bits().to_le_bytes();
        Self(u32::from_le_bytes([a, b, c, d]) >> 1)
    }

    /// The mark with these bits, if it is a worker's.
    pub(crate) const fn new(bits: u32) -> Option<Self> {
        if bits >> Self::BITS == 0 { Some(Self(bits)) } else { None }
    }

    pub(crate) const fn bits(self) -> u32 {
        self.0
    }
}

/// The workers with the smallest marks, of all that were added: all of them while there is room.
///
/// Marks are spread evenly, so how far the sample reaches tells how many workers there are beyond it
/// (the *k* minimum values of Bar-Yossef, Jayram, Kumar, Sivakumar and Trevisan, 2002). With 16 marks
/// the standard error is 27 %, and a set of fewer is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Sample {
    /// The largest stands first, as which a free place counts; the others in no order.
    marks: [Mark; SAMPLE],
}

impl Sample {
    pub(crate) const fn new() -> Self {
        Self { marks: [Mark::FREE; SAMPLE] }
    }

    /// Whether the worker was added and is among those that are remembered.
    pub(crate) fn has(&self, mark: Mark) -> bool {
        // Without a way out in the middle, so that the processor compares several at a time.
        self.marks.iter().filter(|known| **known == mark).count() > 0
    }

    /// Adds a worker. O(size of the sample).
    pub(crate) fn add(&mut self, mark: Mark) {
        if mark >= self.largest() || self.has(mark) {
            return;
        }
        let [first, others @ ..] = &mut self.marks;
        *first = mark;
        if let Some(largest) = others.iter_mut().max().filter(|largest| **largest > mark) {
            core::mem::swap(first, largest);
        }
    }

    const fn largest(&self) -> Mark {
        let [first, ..] = self.marks;
        first
    }

    /// The marks that it holds.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Mark> + '_ {
        self.marks.iter().copied().filter(|mark| *mark != Mark::FREE)
    }

    /// How many workers were added: exact below [`SAMPLE`], else estimated.
    pub(crate) fn count(&self) -> u32 {
        let held = u32::try_from(SAMPLE).unwrap_or(u32::MAX);
        if self.largest() == Mark::FREE {
            return u32::try_from(self.iter().count()).unwrap_or(held);
        }
        // The largest of the sample is the sample's size-th of all, in a row of 2³¹ places.
        let reach = u64::from(self.largest().0) + 1;
        let all = (u64::from(held - 1) << Mark::BITS) / reach;
        u32::try_from(all).unwrap_or(u32::MAX).max(held)
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, SAMPLE, Sample, Worker};

    fn marks(range: core::ops::Range<u64>) -> impl Iterator<Item = Mark> {
        range.map(|number| Mark::of(Worker::new(number)))
    }

    #[test]
    fn few_workers_are_counted_without_a_doubt() {
        let mut sample = Sample::new();
        for (before, mark) in marks(0..15).enumerate() {
            assert_eq!(usize::try_from(sample.count()), Ok(before));
            assert!(!sample.has(mark));
            sample.add(mark);
            sample.add(mark);
            assert!(sample.has(mark));
        }
        assert_eq!(sample.count(), 15);
    }

    /// Four standard errors: of a thousand such tests none should fail by chance, and these numbers
    /// are always the same.
    #[test]
    fn many_workers_are_counted_as_well_as_a_sample_can() {
        for workers in [16, 100, 1_000, 100_000] {
            let mut sample = Sample::new();
            marks(0..workers).for_each(|mark| sample.add(mark));
            let counted = u64::from(sample.count());
            let off = counted.abs_diff(workers) * 100 / workers;
            assert!(off <= 108, "{workers} workers were counted as {counted}");
            assert!(counted >= u64::try_from(SAMPLE).unwrap());
        }
    }

    #[test]
    fn the_order_in_which_workers_are_added_changes_nothing() {
        let (mut forth, mut back) = (Sample::new(), Sample::new());
        let all: std::vec::Vec<_> = marks(0..100).collect();
        for (one, other) in all.iter().zip(all.iter().rev()) {
            forth.add(*one);
            back.add(*other);
        }
        let sorted = |sample: &Sample| {
            let mut marks: std::vec::Vec<_> = sample.iter().collect();
            marks.sort_unstable();
            marks
        };
        assert_eq!(sorted(&forth), sorted(&back));
        let mut smallest = all;
        smallest.sort_unstable();
        assert_eq!(sorted(&forth), smallest[..SAMPLE]);
    }
}
