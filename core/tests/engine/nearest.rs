//! The nearest rule is the first among the nearnesses of all rules.

use proptest::prelude::*;
use unstuck_core::{Detector, Digest, Nearness, Outcome, Policy, RuleIndex, Tag, presets};

use crate::{Balanced, call};

fn watching(policy: &'static Policy<'static>) -> Balanced {
    Detector::new(policy).expect("a window of at most 20")
}

/// Makes a call and answers it at once.
fn run(detector: &mut Balanced, args: u8, answer: u8) {
    let tag = if args == 0 { Tag::Test } else { Tag::Other };
    let announced = detector.announce(call(args).tag(tag));
    let digest = Digest::of(&[answer]);
    let outcome = if answer == 0 { Outcome::failed(digest) } else { Outcome::ok(digest) };
    let _ = detector.outcome(announced.id, outcome);
}

/// Returns the name of the nearest rule and its nearness.
fn nearest_rule(detector: &Balanced) -> Option<(&'static str, u16, u16)> {
    let near = detector.nearest()?;
    Some((detector.policy().rule_name(near.rule), near.held, near.needed))
}

#[test]
fn the_first_of_equally_near_rules_is_returned() {
    let mut detector = watching(&presets::BALANCED);
    let mut seen = Vec::new();
    for args in [1, 1, 2, 1, 2] {
        run(&mut detector, args, 1);
        seen.extend(nearest_rule(&detector));
    }
    // First the streak and the recurrence are equally near. Then the streak ends, and in the end
    // two laps are done.
    let row = [1, 2, 1].map(|held| ("same-effect", held, 3));
    assert_eq!(seen[..3], row);
    assert_eq!(seen[3..], [("ragged-repeat", 3, 3), ("cycle", 4, 4)]);
}

#[test]
fn rules_about_talk_count_like_rules_about_calls() {
    let mut detector = watching(&presets::BALANCED);
    run(&mut detector, 1, 1);
    for held in 1..=2 {
        let _ = detector.text_turn(Digest::of(b"done"));
        let expected = if held == 1 { "same-effect" } else { "same-text" };
        assert_eq!(nearest_rule(&detector), Some((expected, held, 3)));
    }
}

#[test]
fn nothing_is_near_before_the_first_call_and_after_the_history_is_cleared() {
    let mut detector = watching(&presets::BALANCED);
    assert_eq!(nearest_rule(&detector), None);
    run(&mut detector, 1, 1);
    assert!(nearest_rule(&detector).is_some());
    let _ = detector.user_message(Digest::of(b"something else"));
    assert_eq!(nearest_rule(&detector), Some(("same-prompt", 1, 5)), "the message itself is left");
    detector.clear();
    assert_eq!(nearest_rule(&detector), None);
}

#[test]
fn a_rule_about_talk_has_its_own_index() {
    let mut detector = watching(&presets::NUDGE);
    let _ = detector.text_turn(Digest::of(b"hm"));
    assert_eq!(detector.nearest().map(|near| near.rule), Some(RuleIndex::Text(0)));
}

/// Returns whether `near` is nearer than `other`, as fractions of a finding.
fn is_nearer(near: Nearness, other: Nearness) -> bool {
    f64::from(near.held) / f64::from(near.needed) > f64::from(other.held) / f64::from(other.needed)
}

proptest! {
    #[test]
    fn no_rule_is_nearer_and_none_before_it_as_near(
        policy in 0..presets::ALL.len(),
        events in prop::collection::vec((0..5_u8, 0..2_u8), 0..40),
    ) {
        let mut detector = watching(presets::ALL[policy]);
        for (what, answer) in events {
            match what {
                4 => drop(detector.text_turn(Digest::of(&[answer]))),
                3 => drop(detector.announce(call(answer).step(7))),
                args => run(&mut detector, args, answer),
            }
            let all: Vec<Nearness> = detector.nearness().collect();
            let Some(nearest) = detector.nearest() else {
                prop_assert!(all.iter().all(|near| near.held == 0));
                continue;
            };
            let place = all.iter().position(|near| *near == nearest).expect("one of all");
            prop_assert!(!all.iter().any(|near| is_nearer(*near, nearest)));
            prop_assert!(all[..place].iter().all(|near| is_nearer(nearest, *near)));
        }
    }
}
