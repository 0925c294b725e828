//! Reports of the host after a decision, and what it may ask the guard.

use unstuck::{Asked, Guard};

use super::{ARGS, actions, fail};

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
