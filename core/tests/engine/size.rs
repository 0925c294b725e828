//! The memory of the engine, which is the size of its values.

use core::mem::size_of;

use unstuck_core::{Announced, Detector, Finding, OPEN_MAX, Verdict};

/// The size of a detector without its records and open calls: loops (136), feedback (88), run counters and streaks
/// (69), statistics (48), the best scores (44), messages (36), numbers (30), text turns (24), and the rest.
const FIXED_MAX: usize = 512;

/// The size of a record: a digest of 64 bits, three of 32 and one of 16, a tool, its tag, what is known of it, and the
/// rules that saw it.
const RECORD: usize = 30;

/// The size of an open call: a record, its tag and flags, and the rules that saw it.
const OPEN: usize = 42;

#[test]
fn a_detector_grows_only_by_its_records_and_open_calls() {
    assert_eq!(size_of::<Detector<'_, 64>>() - size_of::<Detector<'_, 24>>(), 40 * RECORD);
    assert_eq!(size_of::<Detector<'_, 24>>() - size_of::<Detector<'_, 8>>(), 16 * RECORD);
    assert_eq!(size_of::<Detector<'_, 20, 9>>() - size_of::<Detector<'_, 20, 1>>(), 8 * OPEN);
}

#[test]
fn nothing_takes_more_than_its_budget() {
    let detector = |window: usize| FIXED_MAX + window * RECORD + OPEN_MAX * OPEN;
    // These are budgets for 64-bit pointers. With narrower pointers everything takes less.
    for (what, size, budget) in [
        ("Detector<8, 1>", size_of::<Detector<'_, 8, 1>>(), 800),
        ("Detector<8>", size_of::<Detector<'_, 8>>(), detector(8)),
        ("Detector<20>", size_of::<Detector<'_, 20>>(), detector(20).min(1_450)),
        ("Detector<64>", size_of::<Detector<'_, 64>>(), detector(64)),
        ("Detector<20, 1>", size_of::<Detector<'_, 20, 1>>(), FIXED_MAX + 20 * RECORD + OPEN),
        // Every event returns one or two verdicts, so each of them fits into a cache line.
        ("Verdict", size_of::<Verdict>(), 64),
        ("Announced", size_of::<Announced>(), 128),
        // A finding fits beside the action and the rung into the line of its verdict.
        ("Finding", size_of::<Finding>(), 56),
    ] {
        assert!(size <= budget, "{what} takes {size} bytes, and its budget is {budget}");
    }
}
