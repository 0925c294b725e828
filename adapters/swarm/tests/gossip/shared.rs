//! A shared replica counts the calls of all threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use unstuck_swarm::{Action, SharedReplica, SwarmStore};

use crate::model::{frame_of, observation, replica, rule};

#[test]
fn threads_share_a_replica() {
    let store = SharedReplica::new(replica(&rule(10, 2), 0), || 5_000);
    thread::scope(|scope| {
        for worker in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for _ in 0..5 {
                    let _ = store.record(&observation(worker, 1));
                }
            });
        }
    });
    let verdict = store.look(observation(0, 1).call);
    let finding = verdict.finding.expect("a loop");
    assert_eq!((verdict.action, finding.calls, finding.workers), (Action::Block, 40, 8));
    // One replica sends a frame, and another merges it.
    let other = SharedReplica::new(replica(&rule(10, 2), 1), || 5_000);
    let frame = store.with(frame_of);
    let merged = other.with(|replica, now| replica.merge(&frame, now));
    assert_eq!(merged.map(|merged| merged.news), Ok(8));
    assert_eq!(other.look(observation(0, 1).call), verdict);
}

#[test]
fn a_thread_that_panicked_does_not_block_the_others() {
    let store = SharedReplica::new(replica(&rule(10, 2), 0), || 5_000);
    let _ = store.record(&observation(0, 1));
    let visit = || store.with(|_, _| panic!("as it may, where a host does more"));
    assert!(catch_unwind(AssertUnwindSafe(visit)).is_err());
    let _ = store.record(&observation(0, 1));
    assert_eq!(store.with(|replica, now| replica.hottest(1, now))[0].calls, 2);
}
