//! Reports of the host after a decision, and what it may ask the guard.

use unstuck::{Action, Asked, Decision, Guard};

use super::{ARGS, actions, fail};

/// The decision on the third equal failure.
fn third(guard: &mut Guard) -> Decision {
    assert_eq!(actions(guard, 2), [Action::Proceed; 2]);
    fail(guard, ARGS).1.expect("the third call runs")
}

#[test]
fn a_loop_that_is_silenced_is_not_found_again() {
    let mut guard = Guard::new();
    let id = third(&mut guard).evidence().expect("a loop").finding.loop_id;
    guard.silence(id);
    assert_eq!(actions(&mut guard, 9), [Action::Proceed; 9]);
    assert_eq!(guard.statistics().false_positives(), 0);
}

#[test]
fn a_false_positive_after_a_stop_lets_the_call_run_again() {
    let mut guard = Guard::new();
    let stopped = loop {
        let (before, _) = fail(&mut guard, ARGS);
        if before.action() == Action::Stop {
            break before;
        }
    };
    assert!(guard.before("bash", ARGS).is_blocked());
    guard.false_positive(stopped.evidence().expect("a loop"));
    assert!(!guard.before("bash", ARGS).is_blocked());
    assert_eq!(guard.statistics().false_positives(), 1);
}

#[test]
fn one_loop_counts_once_in_a_run_and_a_blocked_call_counts_once() {
    let mut guard = Guard::new();
    let _ = actions(&mut guard, 8);
    assert_eq!((guard.loops(), guard.blocked_calls()), (1, 3));
    assert!(guard.statistics().actions(Action::Block) > 1, "the engine counts verdicts");
    guard.clear();
    let _ = actions(&mut guard, 3);
    assert_eq!((guard.loops(), guard.blocked_calls()), (2, 3));
    let restored = Guard::builder().restore(&guard.save()).expect("a checkpoint");
    assert_eq!((restored.loops(), restored.blocked_calls()), (2, 3));
}

#[test]
fn the_nearest_rule_is_named() {
    let mut guard = Guard::new();
    assert_eq!(guard.nearest(), None);
    let _ = actions(&mut guard, 2);
    let near = guard.nearest().expect("two equal calls");
    assert_eq!(
        (guard.policy().rule_name(near.rule), near.held, near.needed),
        ("same-effect", 2, 3)
    );
}

#[test]
fn a_look_ahead_agrees_with_the_decision_and_changes_no_guard() {
    let mut guard = Guard::new();
    for _ in 0..9 {
        let (before, peeked) = (guard.save(), guard.peek(&Asked::new("bash", ARGS)));
        assert_eq!(guard.save(), before);
        assert_eq!(peeked.ticket(), None);
        assert_eq!(peeked.is_blocked(), fail(&mut guard, ARGS).0.is_blocked());
    }
}

#[test]
fn progress_that_no_result_shows_ends_a_loop() {
    for (moves, is_found) in [(false, true), (true, false)] {
        let mut guard = Guard::new();
        let found = (0..8).any(|_| {
            let ticket = guard.before("step_forward", "{}").ticket();
            if moves {
                guard.progress();
            }
            guard.after(ticket, "ok", false).judged() > Action::Proceed
        });
        assert_eq!(found, is_found, "moves: {moves}");
    }
}
