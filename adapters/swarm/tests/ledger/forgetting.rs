//! Bounded memory: the calls that a ledger forgets, and the error that it reports.

use std::collections::BTreeMap;

use proptest::prelude::*;
use unstuck_swarm::{Ledger, LoopId, Rule, Window, Worker};

use super::call;

/// One generation that never ends.
fn endless() -> Rule {
    Rule::default().window(Window::Time { span: u64::MAX })
}

/// The number of calls of each key.
fn true_counts(calls: &[u64]) -> BTreeMap<LoopId, u32> {
    let mut counts = BTreeMap::new();
    for number in calls {
        *counts.entry(call(0, *number).key().loop_id()).or_insert(0) += 1;
    }
    counts
}

/// Checks the three guarantees of Space-Saving, as its inventors state them.
fn check(calls: &[u64], capacity: usize) -> Result<(), TestCaseError> {
    let mut ledger = Ledger::with_capacity(endless(), capacity).unwrap();
    for number in calls {
        let _ = ledger.record(&call(*number % 3, *number), 0);
    }
    let counts = true_counts(calls);
    let heats = ledger.hottest(usize::MAX, 0);
    prop_assert_eq!(heats.len(), counts.len().min(capacity));
    prop_assert_eq!(heats.len(), ledger.counters());
    let bound = u32::try_from(calls.len() / capacity).unwrap();
    for heat in &heats {
        let count = counts[&heat.loop_id];
        // The reported calls were surely made, and the error is at least the number of missed calls...
        prop_assert!(heat.calls <= count && count <= heat.calls + heat.missed);
        // ...and at most the calls divided by the counters.
        prop_assert!(heat.missed <= bound, "{} > {bound}", heat.missed);
    }
    for (id, count) in counts {
        // A key with more calls than that has a counter.
        prop_assert!(count <= bound || heats.iter().any(|heat| heat.loop_id == id));
    }
    let total: u64 = heats.iter().map(|heat| u64::from(heat.calls + heat.missed)).sum();
    prop_assert_eq!(total, calls.len() as u64);
    Ok(())
}

proptest! {
    #[test]
    fn those_that_are_called_most_stay(
        calls in proptest::collection::vec(prop_oneof![0..5_u64, 0..40_u64, 0..1000_u64], 1..400),
        capacity in 1..30_usize,
    ) {
        check(&calls, capacity)?;
    }
}

#[test]
fn every_sequence_of_a_few_calls_keeps_the_guarantees() {
    // Three keys and up to nine calls, for one and for two counters.
    for length in 1..=9_u32 {
        for word in 0..3_u64.pow(length) {
            let calls: Vec<_> = (0..length).map(|place| word / 3_u64.pow(place) % 3).collect();
            for capacity in [1, 2] {
                check(&calls, capacity).unwrap();
            }
        }
    }
}

#[test]
fn a_dead_end_is_found_in_a_flood_of_other_calls() {
    let capacity = 256;
    let mut ledger = Ledger::with_capacity(endless(), capacity).unwrap();
    let mut found = None;
    // Every hundredth call is the dead end: more often than once in 256.
    for n in 0..100_000_u64 {
        let number = if n % 100 == 0 { 0 } else { n };
        let verdict = ledger.record(&call(n / 100 % 5, number), 0);
        found = found.or(verdict.finding.map(|finding| (n, finding)));
    }
    let (n, finding) = found.expect("it was called a thousand times");
    assert_eq!((finding.calls, finding.workers), (10, 5));
    assert_eq!((n, finding.missed), (900, 0), "the hand did not come round before");
    assert_eq!(ledger.hottest(1, 0)[0].calls, 1000);
}

#[test]
fn memory_is_bounded_for_any_calls() {
    let mut ledger =
        Ledger::with_capacity(endless().window(Window::Calls { span: 20_000 }), 1000).unwrap();
    let mut most = 0;
    for n in 0..200_000_u64 {
        // Two workers call every key, so that each key needs a sample.
        let _ = ledger.record(&call(n % 2, n / 2), 0);
        most = most.max(ledger.memory());
    }
    assert_eq!(ledger.counters(), 2000);
    assert!(most <= 2 * 1000 * 2 * (32 + 4 + 5 + 64 + 4), "{most} bytes");
}

#[test]
fn the_workers_of_a_counter_are_those_of_its_key() {
    let mut ledger = Ledger::with_capacity(endless(), 1).unwrap();
    for worker in 0..5 {
        let _ = ledger.record(&call(worker, 1), 0);
    }
    let _ = ledger.record(&call(9, 2), 0);
    let heat = ledger.hottest(1, 0)[0];
    assert_eq!((heat.calls, heat.workers, heat.missed), (1, 1, 5));
    assert_eq!(heat.loop_id, call(0, 2).key().loop_id());
    let _ = ledger.record(&call(8, 2), 0);
    assert_eq!(ledger.hottest(1, 0)[0].workers, 2);
}

/// Beyond 15 workers their number is estimated, and the number of calls is still exact.
#[test]
fn a_hundred_thousand_workers_are_one_loop() {
    let mut ledger = Ledger::new(endless()).unwrap();
    for worker in 0..100_000 {
        let _ = ledger.record(&call(worker, 0), 0);
    }
    let heat = ledger.hottest(1, 0)[0];
    assert_eq!((heat.calls, heat.missed), (100_000, 0));
    assert!((50_000..200_000).contains(&heat.workers), "{}", heat.workers);
    assert_ne!(Worker::new(0), Worker::new(1));
}
