//! The cycle scan: whether the latest calls are one lap, made again and again.
//!
//! The run of a period *p* is the number of latest calls in a row that equal the call *p* before
//! them. A new call makes a run longer by one or ends it, so one counter for each period is all that
//! a scan remembers, and no two calls are compared twice. A run of *(n − 1) · p* calls is a tail of
//! *n* laps:
//!
//! ```text
//! calls             A B C A B C A B C
//! run of period 3         1 2 3 4 5 6    two laps after the sixth call, three after the ninth
//! ```
//!
//! The shortest period wins whose laps are primitive: no shorter period explains the whole tail.
//! A A A A is A four times, and not A A twice, even for a rule about laps of two calls and more.
//! The whole tail counts: the last two calls of A A B A A B A A are one call, run twice, but the
//! loop is A A B. If any shorter period with complete laps counted instead, that loop would be lost
//! at every second step.

use crate::Digest;
use crate::mask::Mask;

/// A lap that the latest calls repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cycle {
    /// The number of calls of a lap.
    pub(crate) period: u8,
    /// The number of complete laps.
    pub(crate) laps: u16,
    /// The number of laps that were asked for.
    pub(crate) asked: u16,
    /// The number of calls of all laps, with those of a lap that is not complete.
    pub(crate) length: u32,
}

/// Takes in the latest call, and returns the cycle of at least `laps` laps that it ends. `runs` has
/// a counter for each period from 1 up, and `equal` the earlier calls that equal the latest. A lap
/// has at least `period_min` calls. O(longest period).
pub(crate) fn scan(runs: &mut [u16], equal: Mask, period_min: u8, laps: u16) -> Option<Cycle> {
    count(runs, (0..).map(|between| equal.has(between)));
    let runs = &*runs;
    for (&run, period) in runs.iter().zip(1_u8..) {
        let length = u16::from(period);
        let tail = length.saturating_mul(laps);
        if period < period_min
            || run < tail.saturating_sub(length)
            || !is_primitive(runs, period, tail)
        {
            continue;
        }
        let done = run.checked_div(length).unwrap_or(0).saturating_add(1);
        let length = u32::from(run).saturating_add(u32::from(period));
        return Some(Cycle { period, laps: done, asked: laps, length });
    }
    None
}

/// Makes the run of each period longer by one, or ends it. `equal` tells whether the latest call
/// equals the one before it, the one before that, and so on.
fn count(runs: &mut [u16], mut equal: impl Iterator<Item = bool>) {
    for run in runs {
        let goes_on = equal.next().unwrap_or(false);
        *run = if goes_on { run.saturating_add(1) } else { 0 };
    }
}

/// Returns whether no shorter period explains the whole tail of `tail` calls with `period`. By the
/// theorem of Fine and Wilf (1965), a shorter period that does would divide `period`.
pub(crate) fn is_primitive(runs: &[u16], period: u8, tail: u16) -> bool {
    let shorter = runs.iter().zip(1_u8..).take_while(|&(_, divisor)| divisor < period);
    !shorter.into_iter().any(|(&run, divisor)| {
        period.checked_rem(divisor) == Some(0) && run >= tail.saturating_sub(u16::from(divisor))
    })
}

/// A repeated sequence.
///
/// ```
/// use unstuck_core::{Digest, RepeatedText, Turn};
///
/// let turn = Turn::new(Digest::of(b"wait wait wait")).repeated(RepeatedText { period: 1, laps: 3 });
/// assert_ne!(turn, Turn::new(Digest::of(b"wait wait wait")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RepeatedText {
    /// The number of digests in a lap.
    pub period: u8,
    /// The number of laps in a row. It is 1 if the sequence does not repeat.
    pub laps: u16,
}

impl RepeatedText {
    /// No repetition.
    pub const NONE: Self = Self { period: 1, laps: 1 };
}

/// A finder of the repetition at the end of a sequence of digests, with periods from 1 to `P`, at
/// most 64.
///
/// It is the cycle scan of the engine for any sequence. For example, an adapter hashes the words
/// of a text, and checks after each word or only after the last. Each digest takes O(P) time.
///
/// ```
/// use unstuck_core::{Digest, RepeatedText, RepeatFinder};
///
/// let mut finder: RepeatFinder<8> = RepeatFinder::new();
/// for word in "wait . let me check . let me check . let me check .".split(' ') {
///     finder.push(Digest::of(word.as_bytes()));
/// }
/// assert_eq!(finder.latest(), RepeatedText { period: 4, laps: 3 });
/// ```
#[derive(Clone, Debug)]
pub struct RepeatFinder<const P: usize> {
    /// The latest digests. The `n`th digest is at index `n % P`.
    latest: [Digest; P],
    /// For each period from 1 on, the number of latest digests that equal the digest a period
    /// before.
    runs: [u16; P],
    /// The number of digests pushed.
    count: u64,
}

impl<const P: usize> RepeatFinder<P> {
    /// Creates an empty sequence.
    pub const fn new() -> Self {
        const { assert!(P >= 1 && P <= 64, "periods are 1 to 64") };
        Self { latest: [Digest::new(0); P], runs: [0; P], count: 0 }
    }

    /// Appends `digest` to the sequence. O(P).
    pub fn push(&mut self, digest: Digest) {
        let slots = u64::try_from(P).unwrap_or(u64::MAX);
        let slot = self.count.checked_rem(slots).and_then(|slot| usize::try_from(slot).ok());
        let slot = slot.unwrap_or(0);
        let known = usize::try_from(self.count).unwrap_or(usize::MAX);
        // The digest a period back is as many slots before. First come the slots below, then, from
        // the end, the slots written in the round before.
        let (newer, older) = self.latest.split_at_checked(slot).unwrap_or_default();
        let back = newer.iter().rev().chain(older.iter().rev()).take(known);
        count(&mut self.runs, back.map(|earlier| *earlier == digest));
        if let Some(place) = self.latest.get_mut(slot) {
            *place = digest;
        }
        self.count = self.count.saturating_add(1);
    }

    /// Returns the repetition at the end, with the shortest period that ran at least twice. O(P).
    pub fn latest(&self) -> RepeatedText {
        let mut runs = self.runs.iter().zip(1_u8..);
        let shortest = runs.find(|(run, period)| **run >= u16::from(*period));
        shortest.map_or(RepeatedText::NONE, |(run, period)| {
            let laps = run.checked_div(u16::from(period)).unwrap_or(0).saturating_add(1);
            RepeatedText { period, laps }
        })
    }
}

impl<const P: usize> Default for RepeatFinder<P> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::{Cycle, RepeatFinder, RepeatedText, scan};
    use crate::Digest;
    use crate::mask::Mask;

    const LONGEST: usize = 4;

    /// Returns the cycle at the end of `word`, one scan a call.
    fn scanned(word: &[u32], period_min: u8, laps: u16) -> Option<Cycle> {
        let mut runs = [0; LONGEST];
        let mut found = None;
        for (place, call) in word.iter().enumerate() {
            let before = word[..place].iter();
            let equal = before.fold(Mask::NONE, |mask, earlier| mask.then(earlier == call));
            found = scan(&mut runs, equal, period_min, laps);
        }
        found
    }

    /// Returns the period and the length of the cycle at the end of `word`, by the definition.
    fn defined(word: &[u32], period_min: usize, laps: usize) -> Option<(usize, usize)> {
        let repeats = |tail: &[u32], period| tail.iter().zip(&tail[period..]).all(|(a, b)| a == b);
        (period_min..=LONGEST).find_map(|period| {
            let tail = &word[word.len().checked_sub(period * laps)?..];
            let is_lap = repeats(tail, period) && !(1..period).any(|p| repeats(tail, p));
            let of_length = |length: &usize| repeats(&word[word.len() - length..], period);
            is_lap.then(|| (period, (period..=word.len()).rev().find(of_length).unwrap()))
        })
    }

    #[test]
    fn the_shortest_lap_that_explains_the_whole_tail_is_found() {
        for length in 1..=9_u32 {
            for code in 0..3_u32.pow(length) {
                let word: Vec<u32> = (0..length).map(|n| code / 3_u32.pow(n) % 3).collect();
                for (period_min, laps) in [(1, 2), (1, 3), (2, 2), (2, 3), (3, 2)] {
                    let found = scanned(&word, period_min, laps);
                    let expected = defined(&word, period_min.into(), laps.into());
                    let as_defined = found.map(|cycle| {
                        assert_eq!(cycle.length / u32::from(cycle.period), cycle.laps.into());
                        (usize::from(cycle.period), usize::try_from(cycle.length).unwrap())
                    });
                    assert_eq!(
                        as_defined, expected,
                        "{word:?}, {laps} laps of {period_min} or more"
                    );
                }
            }
        }
    }

    #[test]
    fn a_loop_with_a_call_made_twice_is_not_lost_at_that_call() {
        let (a, b) = (0, 1);
        let word = [a, a, b, a, a, b, a, a];
        let found =
            |word| scanned(word, 2, 2).map(|cycle| (cycle.period, cycle.laps, cycle.length));
        assert_eq!(found(&word[..6]), Some((3, 2, 6)));
        assert_eq!(found(&word), Some((3, 2, 8)));
        assert_eq!(found(&[a, a, a, a]), None);
    }

    /// Returns the repetition by its definition: the shortest period with two laps or more at the
    /// end of `word`, and all its laps there.
    fn expected(word: &[u32], periods: usize) -> RepeatedText {
        for period in 1..=periods {
            let pairs = word.iter().rev().zip(word.iter().rev().skip(period));
            let run = pairs.take_while(|(new, old)| new == old).count();
            if run >= period {
                let period = u8::try_from(period).unwrap();
                let laps = u16::try_from(run).unwrap() / u16::from(period) + 1;
                return RepeatedText { period, laps };
            }
        }
        RepeatedText::NONE
    }

    fn agree<const P: usize>(word: &[u32]) {
        let mut finder: RepeatFinder<P> = RepeatFinder::new();
        for (n, symbol) in word.iter().enumerate() {
            finder.push(Digest::new(u64::from(*symbol)));
            assert_eq!(finder.latest(), expected(&word[..=n], P), "{P} {:?}", &word[..=n]);
        }
    }

    #[test]
    fn every_word_over_three_symbols_has_the_repetition_of_its_definition() {
        for length in 1..=10_u32 {
            for code in 0..3_u32.pow(length) {
                let word: Vec<u32> = (0..length).map(|n| code / 3_u32.pow(n) % 3).collect();
                agree::<1>(&word);
                agree::<4>(&word);
            }
        }
    }

    #[test]
    fn the_count_goes_on_beyond_what_is_held() {
        let word: Vec<u32> = (0..500).map(|n| n % 7).collect();
        agree::<7>(&word);
        agree::<64>(&word);
    }

    #[test]
    fn the_first_digests_equal_nothing() {
        // An empty slot holds a digest, too.
        agree::<4>(&[0, 0, 0, 0, 0, 0]);
    }
}
