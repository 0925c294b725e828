//! The memory that the engine takes, which is that of its values: it has no other.

use core::mem::size_of;

use unstuck_core::{Announced, Detector, Finding, OPEN_MAX, Verdict};

/// What a detector takes beside its records and open calls: the state of every rule that a policy
/// may have (176 bytes), loops (136), what feedback taught (104), statistics (76), the flags of the
/// window (72), the best scores (40), messages (36), and what remains.
const FIXED_MAX: usize = 720;

/// A record: a digest of 64 bits, three of 32 and one of 16, a tool and its tag.
const RECORD: usize = 27;

/// An open call: a record, its tag and flags, and what aligns them.
const OPEN: usize = 40;

#[test]
fn a_detector_grows_by_its_records_and_its_open_calls_and_by_nothing_else() {
    assert_eq!(size_of::<Detector<'_, 64>>() - size_of::<Detector<'_, 24>>(), 40 * RECORD);
    assert_eq!(size_of::<Detector<'_, 24>>() - size_of::<Detector<'_, 8>>(), 16 * RECORD);
    assert_eq!(size_of::<Detector<'_, 20, 9>>() - size_of::<Detector<'_, 20, 1>>(), 8 * OPEN);
}

#[test]
fn nothing_takes_more_than_its_budget() {
    let detector = |window: usize| FIXED_MAX + window * RECORD + OPEN_MAX * OPEN;
    // Budgets for pointers of 64 bits; with narrower ones everything takes less.
    for (what, size, budget) in [
        ("Detector<8>", size_of::<Detector<'_, 8>>(), detector(8)),
        ("Detector<20>", size_of::<Detector<'_, 20>>(), detector(20).min(1_600)),
        ("Detector<64>", size_of::<Detector<'_, 64>>(), detector(64)),
        ("Detector<20, 1>", size_of::<Detector<'_, 20, 1>>(), FIXED_MAX + 20 * RECORD + OPEN),
        // Every event returns one or two, so they stay within a cache line each.
        ("Verdict", size_of::<Verdict>(), 64),
        ("Announced", size_of::<Announced>(), 128),
        // Fits beside the action and the rung into the line of its verdict.
        ("Finding", size_of::<Finding>(), 56),
    ] {
        assert!(size <= budget, "{what} takes {size} bytes, and its budget is {budget}");
    }
}
