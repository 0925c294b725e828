//! Maps the engine's sequence numbers to indexes in the file.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::push;

/// The most stretches of a worker's calls whose indexes are kept. If two workers alternate call by
/// call, each call is a stretch. Only the beginning of a very long streak can be further back.
const STRETCHES_MAX: usize = 4096;

/// The index of each sequence number. Both rise by one until another worker makes a call.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Numbering {
    /// The beginning of each stretch, in rising order.
    stretches: VecDeque<(u64, usize)>,
}

impl Numbering {
    /// Notes that `seq` has `index`. Both rise from one call to the next.
    pub(super) fn set(&mut self, seq: u64, index: usize) {
        if self.stretches.is_empty() || self.index(seq) != index {
            push(&mut self.stretches, (seq, index), STRETCHES_MAX);
        }
    }

    /// Returns the index of `seq`, or the oldest index that is still kept.
    pub(super) fn index(&self, seq: u64) -> usize {
        let after = self.stretches.partition_point(|&(start, _)| start <= seq);
        let stretch = self.stretches.get(after.saturating_sub(1));
        stretch.map_or(0, |&(start, index)| {
            index + usize::try_from(seq.saturating_sub(start)).unwrap_or(usize::MAX - index)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_follows_interleaved_workers() {
        let indexes = [0, 1, 4, 5, 9, 10, 11];
        let mut numbering = Numbering::default();
        for (seq, index) in (0..).zip(indexes) {
            numbering.set(seq, index);
        }
        assert!((0..).zip(indexes).all(|(seq, index)| numbering.index(seq) == index));
        assert_eq!(numbering.stretches.len(), 3);
    }

    #[test]
    fn numbering_drops_old_stretches() {
        let most = STRETCHES_MAX as u64;
        let mut numbering = Numbering::default();
        for seq in 0..2 * most {
            numbering.set(seq, 10 * usize::try_from(seq).expect("few"));
        }
        assert_eq!(numbering.stretches.len(), STRETCHES_MAX);
        assert_eq!(numbering.index(2 * most - 1), 10 * (2 * STRETCHES_MAX - 1));
        assert_eq!(numbering.index(most), 10 * STRETCHES_MAX);
    }
}
