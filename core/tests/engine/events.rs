//! Events that the oracle does not reach, or that deserve a test of their own.

use proptest::prelude::*;
use unstuck_core::{
    Action, Args, CallId, Detector, Digest, Ladder, OPEN_MAX, Outcome, Pattern, Results, Rule,
    Rung, Tag, Turn, Verdict, presets,
};

use crate::{Balanced, answer, balanced, call, read, with_rule};

/// Announces a call and reports its outcome at once.
fn run(detector: &mut Balanced, args: u8, result: u8) -> Verdict {
    let announced = detector.announce(call(args));
    detector.outcome(announced.id, answer(result))
}

#[test]
fn a_blocked_call_is_reported_with_the_outcome_before_it() {
    for failed in [false, true] {
        let mut detector = balanced();
        let mut said = Vec::new();
        for _ in 0..8 {
            let announced = detector.announce(call(0));
            let verdict = if announced.verdict.action >= Action::Block {
                detector.vetoed(announced.id)
            } else {
                let result = Digest::of(b"no");
                let outcome = if failed { Outcome::failed(result) } else { Outcome::ok(result) };
                detector.outcome(announced.id, outcome)
            };
            said.extend(verdict.finding.map(|finding| finding.has_failed()));
        }
        assert_eq!(said, [failed; 6]);
    }
}

#[test]
fn a_finding_names_the_calls_that_prove_it() {
    let mut detector = balanced();
    let _ = run(&mut detector, 9, 9);
    let verdicts = [(0, 0), (1, 1), (0, 0), (1, 1)].map(|(a, r)| run(&mut detector, a, r));
    let finding = verdicts[3].finding.unwrap();
    assert_eq!(finding.rule_name(detector.policy()), "cycle");
    assert_eq!((finding.period, finding.laps), (2, 2));
    assert_eq!((finding.first, finding.last), (1, 4));
    assert_eq!(finding.calls().collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(finding.confidence, 100);
}

#[test]
fn outcomes_that_are_late_double_or_foreign_change_nothing() {
    let mut detector = balanced();
    let first = detector.announce(call(0)).id;
    let second = detector.announce(call(1)).id;
    assert_eq!(detector.outcome(first, answer(0)), Verdict::PROCEED, "it settled unreported");
    let _ = detector.outcome(second, answer(1));
    assert_eq!(detector.outcome(second, answer(2)), Verdict::PROCEED);
    let foreign = balanced().announce(call(0)).id;
    assert_eq!(detector.outcome(foreign, answer(0)), Verdict::PROCEED);
    detector.clear();
    assert_eq!(detector.outcome(second, answer(1)), Verdict::PROCEED);
}

#[test]
fn calls_that_are_exempt_have_no_number() {
    let mut detector: Detector<'_, 20> = Detector::new(&presets::START_OVER).unwrap();
    let thought = detector.announce(call(0).tag(Tag::Think));
    assert_eq!(thought.id.seq(), None);
    assert_eq!(detector.outcome(thought.id, answer(0)), Verdict::PROCEED);
    assert_eq!(detector.announce(call(0)).id.seq(), Some(0));
}

#[test]
fn each_verdict_of_one_event_is_available() {
    const ONCE: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Nudge)]);
    let mut detector: Detector<'_, 8> =
        with_rule(Rule::new("r", Args::Same, Results::Same, Pattern::recurrence(2, 8), ONCE));
    // Each step has two calls that are answered in reverse, so both settle with one event.
    let judged = [1, 2, 3].map(|step| {
        let [a, b] = [0, 1].map(|args| detector.announce(call(args).step(step)).id);
        assert_eq!(detector.outcome(b, answer(1)), Verdict::PROCEED);
        let mut judged = Vec::new();
        detector.outcome_each(a, answer(0), |verdict| {
            judged.push((verdict.fresh, verdict.finding.map(|finding| finding.last)));
        });
        judged
    });
    let second = [(true, Some(2)), (true, Some(3))];
    let third = [(false, Some(4)), (false, Some(5))];
    assert_eq!(judged, [vec![], second.to_vec(), third.to_vec()]);
}

#[test]
fn a_detector_can_have_room_for_more_open_calls() {
    let mut detector: Detector<'_, 20, 12> = Detector::new(&presets::BALANCED).unwrap();
    let mut last = Verdict::PROCEED;
    for step in 0..2 {
        let open = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|n| detector.announce(call(n).step(step)).id);
        for (n, id) in (0..).zip(open) {
            last = detector.outcome(id, answer(n));
        }
    }
    assert_eq!(last.finding.map(|finding| finding.period), Some(9));
}

#[test]
fn a_streak_is_counted_beyond_the_window() {
    const WARN: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(30, Action::Warn)]);
    let thirty = Pattern::Streak { times: 30 };
    let mut detector: Detector<'_, 4> =
        with_rule(Rule::new("r", Args::Same, Results::Same, thirty, WARN));
    let mut verdict = Verdict::PROCEED;
    for _ in 0..30 {
        assert_eq!(verdict, Verdict::PROCEED);
        let announced = detector.announce(call(0));
        verdict = detector.outcome(announced.id, answer(0));
    }
    let finding = verdict.finding.unwrap();
    assert_eq!((finding.laps, finding.first, finding.last), (30, 0, 29));
    assert_eq!(finding.calls().collect::<Vec<_>>(), [25, 26, 27, 28, 29]);
}

#[test]
fn news_of_the_host_ends_a_row_of_turns() {
    let mut detector = balanced();
    for _ in 0..9 {
        assert_eq!(detector.text_turn(Digest::of(b"Waiting.")), Verdict::PROCEED);
        detector.notified();
    }
    let row = (0..3).map(|_| detector.text_turn(Digest::of(b"Waiting.")).action);
    assert_eq!(row.last(), Some(Action::Nudge));
}

#[test]
fn turns_without_text_are_found_two_turns_later() {
    let first = |turn: Turn| {
        let mut detector = balanced();
        (1..9).find(|_| detector.text_turn(turn).finding.is_some())
    };
    let turn = Turn::new(Digest::of(b""));
    assert_eq!([turn, turn.silent()].map(first), [Some(3), Some(5)]);
}

#[test]
fn the_highest_step_is_a_step_of_its_own() {
    for (step, together) in [(7, true), (u64::MAX, false)] {
        let mut detector = balanced();
        let rows = [0, 0, 0].map(|args| {
            let announced = detector.announce(read(args).step(step));
            detector.outcome(announced.id, answer(args)).finding.is_some()
        });
        assert_eq!(rows[2], !together, "duplicates of one step count once");
    }
}

proptest! {
    /// The same batches of calls get the same single verdicts when answered in two different
    /// orders.
    #[test]
    fn the_order_of_arrival_does_not_matter(
        batches in prop::collection::vec(
            prop::collection::vec((0..3_u8, 0..2_u8, any::<u32>()), 1..=OPEN_MAX),
            1..24,
        ),
    ) {
        let mut found = [Vec::new(), Vec::new()];
        for (found, shuffled) in found.iter_mut().zip([false, true]) {
            let mut detector = balanced();
            for (step, batch) in (0..).zip(&batches) {
                let mut open: Vec<(u32, CallId, u8)> = Vec::new();
                for &(args, result, order) in batch {
                    let call = call(args).step(step);
                    let (id, verdict) = detector.announce_each(call, |one| found.push(one));
                    found.push(verdict);
                    open.push((order, id, result));
                }
                if shuffled {
                    open.sort_unstable_by_key(|(order, ..)| *order);
                }
                for (_, id, result) in open {
                    detector.outcome_each(id, answer(result), |one| found.push(one));
                }
            }
        }
        prop_assert_eq!(&found[0], &found[1]);
    }
}
