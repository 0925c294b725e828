//! Control events: calls taken back, cancelled or allowed, wrong findings, and progress.

use proptest::prelude::*;
use unstuck_core::{
    Action, Args, Call, CallId, Detector, Digest, Finding, Kind, Ladder, LoopId, OPEN_MAX, Outcome,
    Pattern, Policy, RAISE_MAX, Results, Rule, Rung, SILENCED_MAX, Select, Tag, Tool, ToolRule,
    Verdict, presets,
};

use crate::{Balanced, answer, balanced, call, with_rule};

fn run<const W: usize>(detector: &mut Detector<'_, W>, call: Call, outcome: Outcome) -> Verdict {
    let announced = detector.announce(call);
    announced.verdict.or_stronger(detector.outcome(announced.id, outcome))
}

fn actions<const W: usize>(detector: &mut Detector<'_, W>, times: usize) -> Vec<&'static str> {
    (0..times).map(|_| run(detector, call(0), answer(0)).action.name()).collect()
}

fn finding(detector: &mut Balanced) -> Finding {
    let mut verdicts = (0..64).map(|_| run(detector, call(0), answer(0)));
    verdicts.find_map(|verdict| verdict.finding).expect("a loop is found")
}

#[test]
fn no_more_is_taken_back_than_is_held() {
    let mut detector = balanced();
    assert_eq!(detector.retry(3), 0);
    let _ = actions(&mut detector, 2);
    let open = detector.announce(call(0)).id;
    assert_eq!(detector.retry(usize::MAX), 3);
    assert_eq!(detector.outcome(open, answer(0)), Verdict::PROCEED, "it was taken back");
    assert_eq!(detector.announce(call(0)).id.seq(), Some(0), "numbers are given again");
}

#[test]
fn the_two_highest_scores_are_one() {
    let (mut detector, worst) = (balanced(), u32::MAX);
    let scored = [worst, worst - 1, worst, 0].map(|score| {
        run(&mut detector, call(0).tag(Tag::Test), answer(0).score(score)).action.name()
    });
    assert_eq!(scored, ["proceed", "proceed", "nudge", "proceed"]);
}

#[test]
fn a_peek_changes_nothing_and_predicts_the_verdict() {
    let mut detector = balanced();
    for _ in 0..12 {
        let before = format!("{detector:?}");
        let peeked = detector.peek(call(0));
        assert_eq!(format!("{detector:?}"), before);
        let announced = detector.announce(call(0));
        assert_eq!(announced.verdict, peeked);
        let _ = detector.outcome(announced.id, answer(0));
    }
}

#[test]
fn only_the_silenced_loop_is_silent() {
    let mut detector = balanced();
    let wrong = finding(&mut detector);
    detector.silence(wrong.loop_id);
    assert_eq!(actions(&mut detector, 20), ["proceed"; 20]);
    assert_eq!(detector.peek(call(0)), Verdict::PROCEED, "nor is it blocked");
    let other = (0..3).map(|_| run(&mut detector, call(1), answer(1)).action);
    assert_eq!(other.max(), Some(Action::Nudge));
    detector.clear();
    assert_eq!(actions(&mut detector, 3), ["proceed"; 3], "a cleared history keeps feedback");
}

#[test]
fn too_many_silenced_loops_forget_the_first() {
    let mut detector = balanced();
    let wrong = finding(&mut detector);
    detector.silence(wrong.loop_id);
    for n in 0..SILENCED_MAX as u64 {
        detector.silence(LoopId::from_bits(n << 8));
    }
    detector.clear();
    assert_eq!(actions(&mut detector, 3), ["proceed", "proceed", "nudge"]);
}

#[test]
fn a_policy_can_silence_loops() {
    let id = finding(&mut balanced()).loop_id;
    let silenced = [id];
    let policy = presets::BALANCED.with_silenced(&silenced);
    let mut detector: Detector<'_, 20> = Detector::new(&policy).unwrap();
    assert_eq!(actions(&mut detector, 9), ["proceed"; 9]);
    assert_eq!(detector.statistics().findings(Kind::Streak), 0);
}

#[test]
fn false_positives_raise_the_rule_for_the_tool_up_to_a_bound() {
    let mut detector = balanced();
    for round in 0..2 * usize::from(RAISE_MAX) {
        detector.clear();
        let args = u8::try_from(round).unwrap();
        let verdicts = (0..64).map(|_| run(&mut detector, call(args), answer(0)));
        let streaks = verdicts.map(|verdict| verdict.finding);
        let mut streaks = streaks.map(|found| found.filter(|found| found.kind == Kind::Streak));
        let first = streaks.position(|found| found.is_some()).map(|place| place + 1);
        assert_eq!(first, Some(3 + round.min(usize::from(RAISE_MAX))), "round {round}");
        drop(streaks);
        let wrong = run(&mut detector, call(args), answer(0)).finding.unwrap();
        detector.false_positive(&wrong);
    }
    let wrong = u32::from(2 * RAISE_MAX);
    assert_eq!(detector.statistics().false_positives(), wrong);
    // The rule judges another tool as before.
    let other = Call::new(Tool::new(2), Digest::of(b"x"));
    let judged: Vec<_> = (0..3).map(|_| run(&mut detector, other, answer(0)).action).collect();
    assert_eq!(judged, [Action::Proceed, Action::Proceed, Action::Nudge]);
}

#[test]
fn taking_back_an_open_call_forgets_nothing_else() {
    // The laps of a cycle of eight lie beyond the window. Every call is lost once and sent again.
    let mut detector = balanced();
    let mut highest = 0;
    for n in 0..40_u8 {
        highest = highest.max(run(&mut detector, call(n % 8), answer(n % 8)).rung);
        let _ = detector.announce(call(n % 8 + 1));
        detector.retry(1);
    }
    assert_eq!(highest, 3, "the rung of the fourth lap, and the fifth");
}

/// A rule that is judged at announcement does not know the answers when it counts again, either.
#[test]
fn counting_again_ignores_answers_where_the_rule_did() {
    const LADDER: Ladder<'_> =
        Ladder::by_loop_findings(&[Rung::new(1, Action::Nudge), Rung::new(2, Action::Warn)]);
    let twice = Rule::new("r", Args::SameTool, Results::Ignored, Pattern::recurrence(2, 4), LADDER);
    let rules = [twice.select(Select::Except(Tag::Test)).silent_at_most(Action::Nudge)];
    let policy = Policy::new("p", 20, &rules).unwrap();
    let answers =
        [answer(0), answer(0).silent(), answer(0).transient(), Outcome::failed(Digest::of(b"e"))];
    for last in answers {
        let mut detector: Detector<'_, 20> = Detector::new(&policy).unwrap();
        let _ = run(&mut detector, call(0), answer(0));
        // Work that the rule does not see.
        let _ = run(&mut detector, call(1).tag(Tag::Test), answer(0));
        let judged = [0, 1].map(|_| run(&mut detector, call(0), last));
        assert_eq!(judged.map(|verdict| verdict.action), [Action::Nudge, Action::Warn], "{last:?}");
        let mut retried = detector.clone();
        let _ = retried.announce(call(0));
        retried.retry(1);
        let expected = detector.announce(call(0)).verdict;
        assert!(!expected.fresh, "{last:?}");
        assert_eq!(retried.announce(call(0)).verdict, expected, "{last:?}");
    }
}

#[test]
fn a_dropped_call_stays_dropped_when_others_are_taken_back() {
    let mut detector: Detector<'_, 20, 2> = with_rule(
        Rule::new("r", Args::Same, Results::Ignored, Pattern::recurrence(3, 8), NUDGE_WARN)
            .select(Select::Unreported),
    );
    // The first of three simultaneous calls is dropped, because two may wait. It does not count as
    // unreported.
    for (args, step) in [(0, 1), (1, 1), (2, 1), (0, 2), (0, 3)] {
        let _ = detector.announce(call(args).step(step));
    }
    assert_eq!(detector.retry(2), 2);
    let judged = [4, 5, 6, 7].map(|step| detector.announce(call(0).step(step)).settled.action);
    assert_eq!(judged, [Action::Proceed, Action::Proceed, Action::Proceed, Action::Nudge]);
}

const NUDGE_WARN: Ladder<'_> =
    Ladder::by_repetitions(&[Rung::new(3, Action::Nudge), Rung::new(5, Action::Warn)]);

fn streak() -> Rule<'static> {
    Rule::new("r", Args::Same, Results::Same, Pattern::Streak { times: 3 }, NUDGE_WARN)
}

#[test]
fn an_exempt_tool_and_an_allowed_call_are_not_recorded() {
    let rules = [streak()];
    let tools = [ToolRule::new(Tool::new(1)).exempt()];
    let allowed = [call(0)];
    let policy = Policy::new("p", 20, &rules).unwrap();
    let exempt = policy.with_tools(&tools).unwrap();
    let allowing = policy.with_allowed(&allowed).unwrap();
    for policy in [exempt, allowing] {
        let mut detector: Detector<'_, 20> = Detector::new(&policy).unwrap();
        assert_eq!(actions(&mut detector, 9), ["proceed"; 9]);
        assert_eq!(detector.announce(call(0)).id.seq(), None);
        assert_eq!(detector.statistics().checks(), 0);
        let other = detector.announce(Call::new(Tool::new(2), Digest::of(b"x")));
        assert_eq!(other.id.seq(), Some(0));
    }
}

proptest! {
    /// Calls that are answered in turn and then taken back do not change later verdicts, as long
    /// as the window has lost no record to them.
    #[test]
    fn what_was_taken_back_was_never_there(
        before in prop::collection::vec((0..3_u8, 0..2_u8), 0..8),
        taken in prop::collection::vec((0..3_u8, 0..2_u8), 1..8),
        after in prop::collection::vec((0..3_u8, 0..2_u8), 1..8),
    ) {
        let play = |detector: &mut Balanced, calls: &[(u8, u8)]| -> Vec<Verdict> {
            calls.iter().map(|&(args, n)| run(detector, call(args), answer(n))).collect()
        };
        let (mut plain, mut retried) = (balanced(), balanced());
        let _ = play(&mut plain, &before);
        let _ = play(&mut retried, &before);
        let judged = play(&mut retried, &taken);
        prop_assume!(judged.iter().all(|verdict| verdict.action < Action::StartOver));
        prop_assert_eq!(retried.retry(taken.len()), taken.len());
        prop_assert_eq!(play(&mut plain, &after), play(&mut retried, &after));
    }

    /// Cancelling a whole batch of calls has the same effect as not announcing it.
    #[test]
    fn a_cancelled_batch_was_never_there(
        before in prop::collection::vec((0..3_u8, 0..2_u8), 0..6),
        batch in prop::collection::vec(0..3_u8, 1..OPEN_MAX),
    ) {
        let mut detector = balanced();
        for &(args, n) in &before {
            let _ = run(&mut detector, call(args), answer(n));
        }
        let near = |detector: &Balanced| detector.nearness().map(|n| n.held).collect::<Vec<_>>();
        let expected = near(&detector);
        let open: Vec<CallId> =
            batch.iter().map(|&args| detector.announce(call(args).step(1)).id).collect();
        for id in open {
            prop_assert_eq!(detector.cancel(id), Verdict::PROCEED);
        }
        prop_assert_eq!(near(&detector), expected);
    }
}
