//! Checkpoints: a restored ledger goes on like the original.

use proptest::prelude::*;
use serde_json::{Value, json};
use unstuck_swarm::{Checkpoint, CheckpointError, Digest, Ledger, Rule, Window};

use super::call;

fn rule() -> Rule {
    Rule::default().calls(4).window(Window::Time { span: 40 })
}

fn ledger(calls: &[(u64, u64, u64)], capacity: usize) -> (Ledger, u64) {
    let mut ledger = Ledger::with_capacity(rule(), capacity).unwrap();
    let mut now = 0;
    for (worker, number, wait) in calls {
        now += wait;
        let _ = ledger.record(&call(*worker, *number), now);
    }
    (ledger, now)
}

fn calls(most: usize) -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    proptest::collection::vec((0..20_u64, 0..12_u64, 0..3_u64), 0..most)
}

proptest! {
    #[test]
    fn what_was_kept_goes_on_as_if_nothing_had_happened(
        first in calls(200),
        second in calls(100),
        capacity in 1..16_usize,
    ) {
        let (mut one, mut now) = ledger(&first, capacity);
        let bytes = one.checkpoint().to_bytes();
        let kept = Checkpoint::from_bytes(&bytes).unwrap();
        let text = serde_json::to_string(&kept).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Checkpoint>(&text).unwrap(), &kept);
        let mut other = Ledger::restore(rule(), capacity, &kept, now).unwrap();
        prop_assert_eq!(&other.checkpoint(), &kept);
        for (worker, number, wait) in second {
            now += wait;
            let observation = call(worker, number);
            prop_assert_eq!(one.look(observation.call, now), other.look(observation.call, now));
            prop_assert_eq!(one.record(&observation, now), other.record(&observation, now));
        }
        prop_assert_eq!(one.checkpoint(), other.checkpoint());
    }

    #[test]
    fn what_is_forgotten_is_not_forgotten_to_have_been(
        first in calls(300),
        second in calls(100),
        small in 1..4_usize,
    ) {
        // A checkpoint of a ledger that forgets, restored into a larger one: the missed calls are still
        // reported, and all guarantees hold.
        let (one, now) = ledger(&first, small);
        let mut other = Ledger::restore(rule(), 1000, &one.checkpoint(), now).unwrap();
        let mut all = first;
        let mut later = now;
        for (worker, number, wait) in second {
            later += wait;
            all.push((worker, number, wait));
            let _ = other.record(&call(worker, number), later);
        }
        let (exact, _) = ledger(&all, 1000);
        let truth = exact.clone().hottest(usize::MAX, later);
        for heat in other.hottest(usize::MAX, later) {
            let count = truth.iter().find(|one| one.loop_id == heat.loop_id).map_or(0, |one| one.calls);
            prop_assert!(heat.calls <= count && count <= heat.calls + heat.missed);
        }
    }

    #[test]
    fn any_bytes_are_a_checkpoint_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(kept) = Checkpoint::from_bytes(&bytes) {
            let _ = Ledger::restore(rule(), 100, &kept, 0);
        }
    }

    #[test]
    fn bytes_with_a_sum_that_fits_are_looked_at_all_the_same(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        bytes.insert(0, 1);
        let sum = Digest::of(&bytes).bits();
        bytes.extend(sum.to_le_bytes());
        if let Ok(kept) = Checkpoint::from_bytes(&bytes) {
            let _ = Ledger::restore(rule(), 100, &kept, 0);
        }
    }
}

#[test]
fn a_wrong_or_missing_byte_is_detected() {
    let (ledger, _) = ledger(&[(1, 1, 0), (2, 1, 30), (3, 2, 0)], 10);
    let bytes = ledger.checkpoint().to_bytes();
    for place in 0..bytes.len() {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[place] ^= 1 << bit;
            assert!(Checkpoint::from_bytes(&bytes).is_err(), "{place}");
        }
        assert!(Checkpoint::from_bytes(&bytes[..place]).is_err());
    }
    let next = CheckpointError::Version { found: 2 };
    assert_eq!(Checkpoint::from_bytes(&[&[2], &bytes[1..]].concat()), Err(next));
}

/// JSON may come from any writer.
#[test]
fn an_impossible_counter_is_refused() {
    let (ledger, now) = ledger(&[(1, 1, 0), (1, 1, 0), (2, 1, 0), (3, 2, 0), (3, 3, 0)], 2);
    let kept = serde_json::to_value(ledger.checkpoint()).unwrap();
    let restored = |kept: &Value| match serde_json::from_value::<Checkpoint>(kept.clone()) {
        Ok(kept) => Ledger::restore(rule(), 10, &kept, now).map(|_| ()).map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    assert_eq!(restored(&kept), Ok(()));
    for (place, value) in [
        ("/now/rows/0/calls", json!(0)),
        ("/now/rows/0/error", json!(4_294_967_295_u32)),
        ("/now/rows/0/repeats", json!(3)),
        ("/now/rows/0/workers", json!([])),
        ("/now/rows/0/workers", json!([1, 1])),
        ("/now/rows/0/workers", json!([2, 1])),
        ("/now/rows/0/workers", json!([1, 2, 3, 4, 5, 6, 7, 8, 9])),
        ("/now/rows/0/workers", json!([2_147_483_648_u32])),
        ("/now/rows/0/key", kept["now"]["rows"][1]["key"].clone()),
        ("/now/hand", json!(3)),
        ("/now/rows/0/key", json!("1")),
        ("/now/floor", json!(3)),
        ("/version", json!(2)),
        ("/window", json!({"calls": 40})),
        ("/window", json!({"time": 41})),
        ("/loops", json!([["0", "1"]])),
        ("/loops", Value::from(vec![json!(["0000000000000000", "0000000000000000"]); 65])),
    ] {
        let mut wrong = kept.clone();
        *wrong.pointer_mut(place).unwrap() = value.clone();
        assert!(restored(&wrong).is_err(), "{place} {value}");
    }
    let spoken = |rule, capacity| {
        let kept = ledger.checkpoint();
        Ledger::restore(rule, capacity, &kept, now).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(
        spoken(rule(), 1),
        "the checkpoint has 2 counters, and there is room for 1: restore it with a capacity of 2 or more"
    );
    assert_eq!(
        spoken(Rule::default(), 10),
        "the checkpoint was counted within another window: restore it with that"
    );
    assert_eq!(spoken(rule().calls(0), 10), "a rule of 0 calls is invalid: ask for 2 to 16777216");
}

#[test]
fn an_old_checkpoint_does_not_count_and_another_clock_is_noticed() {
    let (ledger, now) = ledger(&[(1, 1, 100), (2, 1, 0), (3, 1, 0)], 10);
    let restored = |at| Ledger::restore(rule(), 10, &ledger.checkpoint(), at).unwrap();
    assert!(restored(now).record(&call(4, 1), now).finding.is_some());
    assert!(restored(now + 10).record(&call(4, 1), now + 20).finding.is_some());
    assert!(restored(now + 40).record(&call(4, 1), now + 40).finding.is_none());
    // A clock that began again: the calls count from now on.
    assert!(restored(3).record(&call(4, 1), 5).finding.is_some());
    assert!(restored(3).record(&call(4, 1), 45).finding.is_none());
}
