//! Events that the oracle does not reach, or that deserve a test of their own.

use proptest::prelude::*;
use unstuck_core::{
    Action, Args, Call, CallId, Detector, Digest, Ladder, OPEN_MAX, Outcome, Pattern, Results,
    Rule, Rung, Tag, Tool, Turn, Verdict, presets,
};

use crate::{Balanced, answer, balanced, call, read, with_rule};

/// Announces a call and reports its outcome at once.
fn run(detector: &mut Balanced, args: u8, result: u8) -> Verdict {
    let announced = detector.announce(call(args));
    detector.outcome(announced.id, answer(result))
}

#[test]
fn a_blocked_loop_stays_blocked_until_something_moves() {
    let mut detector = balanced();
    for expected in ["proceed", "proceed", "nudge", "nudge", "block"] {
        let announced = detector.announce(read(0));
        assert_eq!(detector.outcome(announced.id, answer(0)).action.name(), expected);
    }
    // The next call is blocked before it runs, and the veto does not end the loop.
    let announced = detector.announce(read(0));
    assert_eq!((announced.verdict.action, announced.verdict.fresh), (Action::Block, false));
    assert_eq!(detector.vetoed(announced.id).action, Action::Block);
    let again = detector.announce(read(0));
    assert_eq!(again.verdict.action, Action::Block);
    let ids = [announced, again].map(|announced| announced.verdict.finding.unwrap().loop_id);
    assert_eq!(ids[0], ids[1]);
    // Another call may run. After a different answer, the first call may run again too.
    assert_eq!(run(&mut detector, 1, 1).action, Action::Proceed);
    assert_eq!(run(&mut detector, 0, 9).action, Action::Proceed);
    assert_eq!(detector.announce(call(0)).verdict.action, Action::Proceed);
}

#[test]
fn a_host_that_runs_a_blocked_call_is_judged_by_what_came_back() {
    let mut detector = balanced();
    for _ in 0..5 {
        let announced = detector.announce(read(0));
        let _ = detector.outcome(announced.id, answer(0));
    }
    let announced = detector.announce(read(0));
    assert_eq!(announced.verdict.action, Action::Block);
    assert_eq!(detector.outcome(announced.id, answer(7)), Verdict::PROCEED);
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
fn every_further_attempt_climbs_to_the_stop() {
    let mut detector = balanced();
    let mut actions = Vec::new();
    for _ in 0..8 {
        let announced = detector.announce(read(0));
        let verdict = if announced.verdict.action >= Action::Block {
            detector.vetoed(announced.id)
        } else {
            detector.outcome(announced.id, answer(0))
        };
        actions.push(verdict.action.name());
    }
    let expected = ["proceed", "proceed", "nudge", "nudge", "block", "block", "block", "stop"];
    assert_eq!(actions, expected);
    // The history is empty, but the sequence numbers go on.
    let announced = detector.announce(call(0));
    assert_eq!((announced.verdict.action, announced.id.seq()), (Action::Proceed, Some(8)));
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
fn a_loop_has_one_id_wherever_it_is_entered() {
    let ids = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]].map(|lap| {
        let mut detector = balanced();
        let verdicts = [lap, lap].concat().into_iter().map(|n| run(&mut detector, n, n));
        verdicts.last().unwrap().finding.unwrap().loop_id
    });
    assert_eq!((ids[0], ids[0]), (ids[1], ids[2]));
    assert_ne!(ids[0], ids[3], "the other way round is another loop");
}

#[test]
fn a_verdict_is_fresh_once_for_each_rung() {
    let mut detector = balanced();
    let fresh: Vec<usize> = (1..24).filter(|_| run(&mut detector, 0, 0).fresh).collect();
    assert_eq!(fresh, [3, 5, 8, 13, 21], "a call that acts is warned of ever more seldom");
}

#[test]
fn a_ladder_is_armed_again_when_the_loop_has_ended() {
    let mut detector = balanced();
    for _ in 0..3 {
        let _ = run(&mut detector, 0, 0);
    }
    for n in 1..=25 {
        let _ = run(&mut detector, n, n);
    }
    let again = [(); 3].map(|()| run(&mut detector, 0, 0));
    assert_eq!(again.map(|verdict| verdict.action.name()), ["proceed", "proceed", "nudge"]);
    assert!(again[2].fresh);
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
fn the_oldest_of_too_many_open_calls_settles_as_unreported() {
    let mut detector = balanced();
    let open: Vec<CallId> = (0..=u8::try_from(OPEN_MAX).unwrap())
        .map(|n| detector.announce(call(n).step(1)).id)
        .collect();
    assert_eq!(detector.outcome(open[0], answer(0)), Verdict::PROCEED);
    // The other calls still wait. Once reported, the same calls are a lap with equal results.
    for (n, id) in (1..).zip(&open[1..]) {
        assert_eq!(detector.outcome(*id, answer(n)), Verdict::PROCEED);
    }
    let again: Vec<Verdict> =
        (1..=u8::try_from(OPEN_MAX).unwrap()).map(|n| run(&mut detector, n, n)).collect();
    assert_eq!(again.last().unwrap().action, Action::Nudge);
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
fn two_rungs_in_one_event_are_both_reported() {
    const RUNGS: [Rung; 3] =
        [Rung::new(1, Action::Nudge), Rung::new(2, Action::Warn), Rung::new(9, Action::Block)];
    let pattern = Pattern::cycle(2, 2, 2);
    let ladder = Ladder::by_loop_findings(&RUNGS);
    let mut detector: Detector<'_, 8> =
        with_rule(Rule::new("r", Args::Same, Results::Same, pattern, ladder));
    // The calls are A, then B and A, then B and A. The last two settle with one event.
    let first = detector.announce(call(0).step(0)).id;
    let _ = detector.outcome(first, answer(0));
    let judged = [1, 2, 3].map(|step| {
        let [b, a] = [1, 0].map(|args| detector.announce(call(args).step(step)).id);
        assert_eq!(detector.outcome(a, answer(0)), Verdict::PROCEED);
        let verdict = detector.outcome(b, answer(1));
        (verdict.action, verdict.fresh)
    });
    let expected = [(Action::Proceed, false), (Action::Warn, true), (Action::Warn, false)];
    assert_eq!(judged, expected);
}

#[test]
fn nothing_is_blocked_ahead_while_other_calls_are_open() {
    let mut detector = balanced();
    for _ in 0..5 {
        let _ = run(&mut detector, 0, 0);
    }
    let other = detector.announce(call(1).step(7));
    let same = detector.announce(call(0).step(7));
    assert_eq!([other, same].map(|a| a.verdict.action), [Action::Proceed; 2]);
    let alone = detector.announce(call(0).step(8));
    assert_eq!(alone.verdict.action, Action::Proceed, "another call came between");
}

#[test]
fn a_failure_is_blocked_ahead_by_a_rule_about_failures() {
    const BLOCK: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Block)]);
    let pattern = Pattern::Streak { times: 2 };
    let mut detector: Detector<'_, 8> =
        with_rule(Rule::new("r", Args::Same, Results::Same, pattern, BLOCK).failed());
    for expected in [Action::Proceed, Action::Block] {
        let announced = detector.announce(call(0));
        assert_eq!(announced.verdict.action, Action::Proceed);
        let outcome = Outcome::failed(Digest::of(b"no"));
        assert_eq!(detector.outcome(announced.id, outcome).action, expected);
    }
    assert_eq!(detector.announce(call(0)).verdict.action, Action::Block);
}

#[test]
fn calls_that_settle_at_the_end_are_judged() {
    const NUDGE: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Nudge)]);
    let pattern = Pattern::recurrence(2, 8);
    let mut detector: Detector<'_, 8> =
        with_rule(Rule::new("r", Args::Same, Results::Same, pattern, NUDGE));
    let first = detector.announce(call(1)).id;
    assert_eq!(detector.outcome(first, answer(1)), Verdict::PROCEED);
    // The first call of the next step is never answered, so the second call waits for the end.
    let [_, second] = [0, 1].map(|args| detector.announce(call(args).step(1)).id);
    assert_eq!(detector.outcome(second, answer(1)), Verdict::PROCEED);
    assert_eq!(detector.finish().action, Action::Nudge);
    assert_eq!(detector.finish(), Verdict::PROCEED);
}

#[test]
fn silence_never_stops_a_run() {
    let mut detector = balanced();
    let mut strongest = Action::Proceed;
    for _ in 0..20 {
        let announced = detector.announce(call(0));
        let silence = Outcome::ok(Digest::of(b"")).silent();
        let verdict = announced.verdict.or_stronger(detector.outcome(announced.id, silence));
        strongest = strongest.max(verdict.action);
    }
    assert_eq!(strongest, Action::Warn);
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
fn an_automatic_message_is_no_new_instruction() {
    let mut detector = balanced();
    let go_on = Digest::of(b"please continue");
    let mut actions = Vec::new();
    for _ in 0..3 {
        let _ = detector.user_message(go_on);
        actions.push(run(&mut detector, 0, 0).action.name());
    }
    assert_eq!(actions, ["proceed", "proceed", "nudge"]);
    let _ = detector.user_message(Digest::of(b"something else"));
    assert_eq!(run(&mut detector, 0, 0).action, Action::Proceed);
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

/// Returns the actions of `count` equal calls that read.
fn reads(detector: &mut Balanced, count: usize) -> Vec<Action> {
    let mut read = || {
        let announced = detector.announce(read(0));
        detector.outcome(announced.id, answer(0)).or_stronger(announced.verdict).action
    };
    (0..count).map(|_| read()).collect()
}

#[test]
fn nothing_is_proved_while_something_is_under_way() {
    let mut detector = balanced();
    let job = detector.announce(call(9));
    let _ = detector.outcome(job.id, answer(9).pending());
    let actions = reads(&mut detector, 19);
    assert!(actions.iter().all(|action| *action < Action::Block), "{actions:?}");
    // The job has left the window.
    assert!(reads(&mut detector, 3).iter().any(|action| *action >= Action::Block));
}

#[test]
fn the_first_block_after_reminders_is_fresh() {
    let mut detector = balanced();
    let acts = (0..30).map(|_| {
        let announced = detector.announce(call(0));
        detector.outcome(announced.id, answer(0))
    });
    let fresh: Vec<_> =
        acts.filter(|verdict| verdict.fresh).map(|verdict| verdict.action).collect();
    assert!(fresh.contains(&Action::Block), "{fresh:?}");
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
fn a_tool_that_works_again_after_a_time_out_is_no_loop_without_a_rule_about_tools() {
    const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Warn)]);
    const RULE: Rule<'_> =
        Rule::new("late", Args::Any, Results::Near, Pattern::recurrence(2, 8), LADDER).failures();
    for works in [false, true] {
        let mut detector: Detector<'_, 8> = with_rule(RULE);
        let late = Outcome::failed(Digest::of(b"timed out")).near(Digest::of(b"late")).transient();
        let first = detector.announce(call(0));
        assert_eq!(detector.outcome(first.id, late).finding, None);
        if works {
            let between = detector.announce(call(1));
            assert_eq!(detector.outcome(between.id, answer(1)).finding, None);
        }
        let again = detector.announce(call(2));
        assert_eq!(detector.outcome(again.id, late).finding.is_none(), works);
    }
}

#[test]
fn a_failing_call_goes_on_whatever_the_user_says() {
    let said = |detector: &mut Balanced, n: u8| {
        assert_eq!(detector.user_message(Digest::of(&[n])).finding, None);
    };
    let fails = |detector: &mut Balanced, call: Call| {
        let announced = detector.announce(call);
        assert_eq!(announced.verdict.finding, None, "nothing is refused that the user asked for");
        detector.outcome(announced.id, Outcome::failed(Digest::of(b"no seat"))).action
    };
    let mut detector = balanced();
    let actions: Vec<_> = (0..9)
        .map(|n| {
            said(&mut detector, n);
            fails(&mut detector, call(0))
        })
        .collect();
    let [none, nudge, warn] = [Action::Proceed, Action::Nudge, Action::Warn];
    assert_eq!(actions[..4], [none, none, none, nudge]);
    assert_eq!(actions.iter().max(), Some(&warn));
    // What the agent does otherwise is a new run.
    said(&mut detector, 20);
    assert_eq!([1, 0, 0].map(|args| fails(&mut detector, read(args).tag(Tag::Read))), [none; 3]);
    // A blocked call may run again if the user asks for it.
    let mut detector = balanced();
    let refused = (0..9).find_map(|_| {
        let asked = detector.announce(call(0));
        let is_refused = asked.verdict.action >= Action::Block;
        let _ = detector.outcome(asked.id, Outcome::failed(Digest::of(b"no seat")));
        is_refused.then_some(asked.id)
    });
    assert!(refused.is_some());
    said(&mut detector, 1);
    fails(&mut detector, call(0));
    // A tool that writes tries again what failed, however the arguments differ.
    let mut detector = balanced();
    let tries = |n: u8| {
        said(&mut detector, n);
        let call = call(n).tag(Tag::Write);
        let announced = detector.announce(call);
        let error = Outcome::failed(Digest::of(b"no seat")).near(Digest::of(b"no seat"));
        detector.outcome(announced.id, error).action
    };
    assert_eq!([0, 1, 2, 3].map(tries), [none, none, none, nudge]);
}

#[test]
fn different_things_that_do_not_exist_are_found_later_than_one_error() {
    let first = |is_absent: bool, asked: fn(u8) -> u8| {
        let mut detector = balanced();
        (0..9).find(|n| {
            let error = Outcome::failed(Digest::of(b"not found")).near(Digest::of(b"not found"));
            let announced = detector.announce(call(asked(*n)));
            let error = if is_absent { error.weak() } else { error };
            detector.outcome(announced.id, error).finding.is_some()
        })
    };
    assert_eq!([false, true].map(|is_absent| first(is_absent, |n| n)), [Some(3), Some(6)]);
    assert_eq!(first(true, |_| 0), Some(2), "the same thing");
}

#[test]
fn searches_that_find_nothing_are_judged_by_what_they_have_in_common() {
    let first = |is_alike: bool, wrote: bool| {
        let mut detector = balanced();
        if wrote {
            let write =
                detector.announce(Call::new(Tool::new(9), Digest::of(b"w")).tag(Tag::Write));
            assert_eq!(detector.outcome(write.id, answer(9)).finding, None);
        }
        (0..12).find(|n| {
            let group = Digest::of(&[if is_alike { 0 } else { *n }]);
            let search = call(*n).tag(Tag::Search).similar(group);
            let announced = detector.announce(search);
            let nothing = Outcome::ok(Digest::of(&[*n])).near(Digest::of(b"nothing"));
            detector.outcome(announced.id, nothing).finding.is_some()
        })
    };
    assert_eq!(first(true, false), Some(4));
    assert_eq!([first(false, false), first(true, true)], [Some(9); 2]);
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
