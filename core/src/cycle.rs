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
pub(crate) fn scan(runs: &mut [u16], equal: Mask, period_min: u8, laps: u8) -> Option<Cycle> {
    for (run, between) in runs.iter_mut().zip(0_u32..) {
        *run = if equal.has(between) { run.saturating_add(1) } else { 0 };
    }
    let runs = &*runs;
    for (&run, period) in runs.iter().zip(1_u8..) {
        let (length, laps) = (u16::from(period), u16::from(laps));
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

/// Returns whether no shorter period explains the whole tail of `tail` calls with `period`. By the
/// theorem of Fine and Wilf (1965), a shorter period that does would divide `period`.
pub(crate) fn is_primitive(runs: &[u16], period: u8, tail: u16) -> bool {
    let shorter = runs.iter().zip(1_u8..).take_while(|&(_, divisor)| divisor < period);
    !shorter.into_iter().any(|(&run, divisor)| {
        period.checked_rem(divisor) == Some(0) && run >= tail.saturating_sub(u16::from(divisor))
    })
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::{Cycle, scan};
    use crate::mask::Mask;

    const LONGEST: usize = 4;

    /// Returns the cycle at the end of `word`, one scan a call.
    fn scanned(word: &[u32], period_min: u8, laps: u8) -> Option<Cycle> {
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
}
