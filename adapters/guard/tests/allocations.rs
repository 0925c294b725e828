//! The number of allocations for a call, in a guard that has seen some.

use allocation_counter::measure;
use unstuck::{Action, Guard};

/// A guard with a full table of calls, all of them different.
fn warm() -> Guard {
    let mut guard = Guard::new();
    for n in 0..200 {
        assert_eq!(counted(&mut guard, &args(n), &result(n)).0, Action::Proceed);
    }
    guard
}

fn args(n: u32) -> String {
    format!(r#"{{"command":"cargo test --package part-{n} -- case_{n} --exact \"x {n}\""}}"#)
}

fn result(n: u32) -> String {
    format!("running 1 test\ntest case_{n} ... ok\n\ntest result: ok. {n} passed; 0 failed\n")
}

/// Makes a call. Returns the action on it, and the number of allocations without those of the metrics.
fn counted(guard: &mut Guard, args: &str, result: &str) -> (Action, u64) {
    let (loops, mut action, mut findings) = (guard.loops(), Action::Proceed, 0);
    let measured = measure(|| {
        let mut decision = guard.before("bash", args);
        findings += u64::from(decision.evidence().is_some());
        if !decision.is_blocked() {
            decision = guard.after(decision.ticket(), result, false);
            findings += u64::from(decision.evidence().is_some());
        }
        action = decision.action();
    });
    // One for the labels of the call, of each finding, and of each new loop.
    let labels = 1 + findings + u64::from(guard.loops() - loops);
    let of_metrics = if cfg!(feature = "metrics") { labels } else { 0 };
    (action, measured.count_total - of_metrics)
}

#[test]
fn a_new_call_takes_none() {
    let mut guard = warm();
    for n in 1000..1100 {
        let counted = counted(&mut guard, &args(n), &result(n));
        assert_eq!(counted, (Action::Proceed, 0), "{n}");
    }
}

#[test]
fn an_equal_call_takes_one_for_its_message() {
    let (mut guard, args) = (warm(), args(7));
    let calls: Vec<_> =
        (0..7).map(|_| counted(&mut guard, &args, "error: no such package")).collect();
    let expected = [
        (Action::Proceed, 0),
        (Action::Proceed, 0),
        (Action::Nudge, 1),
        // The same rung, and no message.
        (Action::Nudge, 0),
        (Action::Block, 1),
        (Action::Block, 1),
        (Action::Block, 1),
    ];
    assert_eq!(calls, expected);
}
