//! A ledger that threads share counts as one that nobody shares.

use std::panic::{self, AssertUnwindSafe};
use std::thread;

use unstuck_swarm::{Rule, SharedLedger, SwarmStore as _, Verdict, Window};

use super::call;

#[test]
fn no_call_of_eight_threads_is_lost() {
    let rule = Rule::default().window(Window::Time { span: u64::MAX });
    let board = SharedLedger::with_capacity(rule, 4, 10_000).unwrap();
    thread::scope(|scope| {
        for worker in 0..8 {
            let board = &board;
            scope.spawn(move || {
                for n in 0..10_000 {
                    let _ = board.record_at(&call(worker, n % 100), n);
                }
            });
        }
    });
    let hottest = board.hottest_at(1000, 10_000);
    assert_eq!(hottest.len(), 100);
    assert!(hottest.iter().all(|heat| (heat.calls, heat.workers, heat.missed) == (800, 8, 0)));
    assert!(board.look_at(call(0, 0).call, 0).finding.is_some());
    board.clear();
    assert_eq!(board.hottest(1), []);
}

#[test]
fn a_window_of_calls_is_that_of_all_parts_together() {
    let rule = Rule::default().calls(3).window(Window::Calls { span: 100 });
    let board = SharedLedger::with_capacity(rule, 16, 10_000).unwrap();
    let mut other = 1..;
    for n in 0..3 {
        let verdict = board.record(&call(n, 0));
        assert_eq!(verdict.finding.is_some(), n == 2);
        for number in other.by_ref().take(20) {
            assert_eq!(board.record(&call(n, number)), Verdict::PROCEED);
        }
    }
    for number in other.take(100) {
        let _ = board.record(&call(0, number));
    }
    assert_eq!(board.record(&call(4, 0)), Verdict::PROCEED);
    assert!(board.memory() > 0);
}

#[test]
fn a_thread_that_dies_takes_nobody_with_it() {
    let board = SharedLedger::with_capacity(Rule::default(), 1, 100).unwrap();
    let died = panic::catch_unwind(AssertUnwindSafe(|| {
        let _ = board.record(&call(0, 0));
        panic::resume_unwind(Box::new(()));
    }));
    assert!(died.is_err());
    for worker in 1..9 {
        assert_eq!(board.record(&call(worker, 0)), Verdict::PROCEED);
    }
    assert!(board.record(&call(9, 0)).finding.is_some());
    assert!(board.look(call(0, 0).call).finding.is_some());
}
