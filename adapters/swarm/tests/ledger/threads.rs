//! A shared ledger counts like a ledger in one thread.

use std::panic::{self, AssertUnwindSafe};
use std::thread;

use unstuck_swarm::{Rule, SharedLedger, SwarmStore as _, Verdict, Window};

use super::call;

#[test]
fn no_call_of_eight_threads_is_lost() {
    let rule = Rule::default().window(Window::Time { span: u64::MAX });
    let store = SharedLedger::with_capacity(rule, 4, 10_000).unwrap();
    thread::scope(|scope| {
        for worker in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for n in 0..10_000 {
                    let _ = store.record_at(&call(worker, n % 100), n);
                }
            });
        }
    });
    let hottest = store.hottest_at(1000, 10_000);
    assert_eq!(hottest.len(), 100);
    assert!(hottest.iter().all(|heat| (heat.calls, heat.workers, heat.missed) == (800, 8, 0)));
    assert!(store.look_at(call(0, 0).call, 0).finding.is_some());
    store.clear();
    assert_eq!(store.hottest(1), []);
}

#[test]
fn a_window_of_calls_counts_all_parts_together() {
    let rule = Rule::default().calls(3).window(Window::Calls { span: 100 });
    let store = SharedLedger::with_capacity(rule, 16, 10_000).unwrap();
    let mut other = 1..;
    for n in 0..3 {
        let verdict = store.record(&call(n, 0));
        assert_eq!(verdict.finding.is_some(), n == 2);
        for number in other.by_ref().take(20) {
            assert_eq!(store.record(&call(n, number)), Verdict::PROCEED);
        }
    }
    for number in other.take(100) {
        let _ = store.record(&call(0, number));
    }
    assert_eq!(store.record(&call(4, 0)), Verdict::PROCEED);
    assert!(store.memory() > 0);
}

#[test]
fn a_thread_that_panics_does_not_stop_the_others() {
    let store = SharedLedger::with_capacity(Rule::default(), 1, 100).unwrap();
    let died = panic::catch_unwind(AssertUnwindSafe(|| {
        let _ = store.record(&call(0, 0));
        panic::resume_unwind(Box::new(()));
    }));
    assert!(died.is_err());
    for worker in 1..9 {
        assert_eq!(store.record(&call(worker, 0)), Verdict::PROCEED);
    }
    assert!(store.record(&call(9, 0)).finding.is_some());
    assert!(store.look(call(0, 0).call).finding.is_some());
}
