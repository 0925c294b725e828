//! Cases that neither the short sequences nor the random streams reach. Each was once a gap.

use unstuck_core::{
    Action, Args, Ladder, Pattern, Phase, Policy, Results, Rule, Rung, Select, Tag, TextRule, Texts,
};

use crate::model::{CallSpec, Event, OutcomeSpec};
use crate::pair::{Ids, Pair};

fn ask(args: u8, step: u8) -> Event {
    Event::Announce(CallSpec { args, similar: args, step: Some(step), ..CallSpec::PLAIN })
}

fn answer(call: usize, result: u8) -> Event {
    Event::Outcome(call, OutcomeSpec { result, near: Some(result), ..OutcomeSpec::PLAIN })
}

/// A rule that is judged at announcement learns of progress while a later call of the same step is
/// open. Its run counters keep only the records after the progress.
#[test]
fn progress_while_a_later_call_is_open() {
    const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Nudge)]);
    let pattern = Pattern::cycle(2, 2, 2);
    let rules = [Rule::new("r", Args::Same, Results::Ignored, pattern, LADDER)];
    let policy = Policy::new("p", 12, &rules).unwrap();
    let mut pair: Pair<'_, 12> = Pair::new(&policy);
    let mut ids = Ids::default();
    let (first, second) = ([ask(0, 0), ask(1, 0)], [answer(0, 0), answer(1, 0)]);
    let third = [ask(0, 1), ask(1, 1), answer(2, 1), ask(0, 2)];
    for event in first.into_iter().chain(second).chain(third) {
        pair.take(event, &mut ids).unwrap();
    }
}

/// A turn finds a loop while a call is open that settles only later. The call has a lower number
/// than the turn's clock.
#[test]
fn a_call_settles_after_a_turn_found_a_loop() {
    const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Nudge)]);
    let pattern = Pattern::Streak { times: 2 };
    let rules = [Rule::new("r", Args::Same, Results::Same, pattern, LADDER)];
    let texts = [TextRule::new("t", Texts::Inside, 4, LADDER)];
    let policy = Policy::new("p", 8, &rules).unwrap().with_texts(&texts).unwrap();
    let mut pair: Pair<'_, 8> = Pair::new(&policy);
    let mut ids = Ids::default();
    let calls = [ask(0, 0), answer(0, 0), ask(0, 1)];
    let turn = Event::Text(1, 4);
    for event in calls.into_iter().chain([turn, answer(1, 0), turn]) {
        pair.take(event, &mut ids).unwrap();
    }
}

/// A step of more calls than are held is taken back in part. The step goes on, although the
/// remaining records do not show its beginning.
#[test]
fn a_long_step_goes_on_after_a_retry() {
    const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Nudge)]);
    let pattern = Pattern::Streak { times: 2 };
    let rules = [Rule::new("r", Args::Same, Results::Same, pattern, LADDER)];
    let policy = Policy::new("p", 8, &rules).unwrap();
    for calls in 9..20 {
        for taken in 1..=8 {
            let mut pair: Pair<'_, 8> = Pair::new(&policy);
            let mut ids = Ids::default();
            let step = (0..calls).flat_map(|call| [ask(0, 1), answer(call, 0)]);
            let more =
                [ask(0, 1), answer(calls, 0), Event::Retry(1), ask(0, 1), answer(calls + 1, 0)];
            for event in step.chain([Event::Retry(taken)]).chain(more) {
                pair.take(event, &mut ids).unwrap();
            }
        }
    }
}

/// The ladder of the rules about runaways: a block at the fifth repetition, and a stop at the
/// eighth.
const STEEP: Ladder<'_> = Ladder::by_repetitions(&[
    Rung::new(3, Action::Nudge),
    Rung::new(4, Action::Warn),
    Rung::new(5, Action::Block),
    Rung::new(8, Action::Stop),
]);

const THREE: Pattern = Pattern::Streak { times: 3 };

/// A rule about equal results that asks for proof.
const CAREFUL: Rule<'_> =
    Rule::new("careful", Args::Same, Results::Same, THREE, STEEP).forced_on_proof();

/// The fate of one call.
#[derive(Clone, Copy)]
enum Fate {
    /// It came back with these bytes.
    Bytes(u8),
    /// It failed with these bytes.
    Failed(u8),
    /// It came back with "still running".
    Pending,
    Vetoed,
    Cancelled,
    Lost,
}

/// Plays calls on both detectors with windows of two capacities. Each step is a list of arguments
/// and fates. Returns the strongest action of each step.
fn played(policy: &Policy<'_>, steps: &[Vec<(u8, Fate)>]) -> Vec<Action> {
    let narrow = played_on(Pair::<'_, 12>::new(policy), steps);
    assert_eq!(narrow, played_on(Pair::<'_, 64>::new(policy), steps));
    assert_eq!(narrow, played_on(Pair::<'_, 12>::new(policy).thorough(), steps));
    narrow
}

fn played_on<const W: usize>(mut pair: Pair<'_, W>, steps: &[Vec<(u8, Fate)>]) -> Vec<Action> {
    let mut ids = Ids::default();
    let mut take = |pair: &mut Pair<'_, W>, event| match pair.take(event, &mut ids) {
        Ok(said) => said.action,
        Err(difference) => panic!("at {event:?}:\n{difference}"),
    };
    let mut strongest = Vec::new();
    for (step, calls) in (0..).zip(steps) {
        let first = pair.calls();
        let asked = calls.iter().map(|(args, _)| ask(*args, step)).collect::<Vec<_>>();
        let announced = asked.into_iter().map(|event| take(&mut pair, event)).max();
        let events = calls.iter().zip(first..).filter_map(|((_, fate), call)| match *fate {
            Fate::Bytes(raw) => {
                Some(Event::Outcome(call, OutcomeSpec { raw, ..OutcomeSpec::PLAIN }))
            }
            Fate::Failed(raw) => {
                Some(Event::Outcome(call, OutcomeSpec { raw, failed: true, ..OutcomeSpec::PLAIN }))
            }
            Fate::Pending => {
                Some(Event::Outcome(call, OutcomeSpec { pending: true, ..OutcomeSpec::PLAIN }))
            }
            Fate::Vetoed => Some(Event::Veto(call)),
            Fate::Cancelled => Some(Event::Cancel(call)),
            Fate::Lost => None,
        });
        let events: Vec<Event> = events.collect();
        let settled = events.into_iter().map(|event| take(&mut pair, event)).max();
        strongest.push(announced.max(settled).unwrap_or_default());
    }
    strongest
}

/// Returns the same call, made `times` times.
fn row(fate: Fate, times: usize) -> Vec<Vec<(u8, Fate)>> {
    vec![vec![(0, fate)]; times]
}

/// Returns the numbers of the first steps that ask for a block and a stop, counted from 1.
fn forced(actions: &[Action]) -> [Option<usize>; 2] {
    [Action::Block, Action::Stop]
        .map(|least| actions.iter().position(|action| *action >= least).map(|n| n + 1))
}

/// A call that acts gets warnings for a long time, and is stopped as a runaway. Only consecutive
/// calls with equal bytes count.
#[test]
fn a_call_runs_away_at_the_24th_equal_answer() {
    use Fate::{Bytes, Cancelled, Lost, Pending, Vetoed};
    let rules = [CAREFUL];
    let policy = Policy::new("p", 12, &rules).unwrap();
    let all = |parts: &[Vec<Vec<(u8, Fate)>>]| parts.concat();
    let once = |calls: &[(u8, Fate)]| vec![calls.to_vec()];
    let same = |times| row(Bytes(0), times);
    let cases = [
        ("23", same(23), [None, None]),
        ("24", same(24), [Some(24), None]),
        ("26", same(26), [Some(24), None]),
        ("27", same(27), [Some(24), Some(27)]),
        ("a veto goes on", all(&[same(9), row(Vetoed, 2), same(16)]), [Some(24), Some(27)]),
        ("vetoes alone", row(Vetoed, 27), [Some(5), Some(8)]),
        ("other bytes", all(&[same(4), row(Bytes(1), 23)]), [None, None]),
        (
            "other bytes after a veto",
            all(&[same(4), row(Vetoed, 1), row(Bytes(1), 23)]),
            [None, None],
        ),
        (
            "cancelled ones do not count",
            all(&[same(20), once(&[(0, Cancelled)]), once(&[(1, Cancelled)]), same(4)]),
            [Some(26), None],
        ),
        (
            "more cancelled ones than the window reaches",
            all(&[same(20), vec![vec![(1, Cancelled)]; 12], same(23)]),
            [None, None],
        ),
        (
            "issued together with a cancelled one",
            vec![vec![(1, Cancelled), (0, Bytes(0))]; 24],
            [Some(24), None],
        ),
        ("two in each step", vec![vec![(0, Bytes(0)), (0, Bytes(0))]; 24], [Some(24), None]),
        ("another call between", all(&[same(20), once(&[(1, Bytes(0))]), same(23)]), [None, None]),
        (
            "another call between that was lost",
            all(&[same(20), once(&[(1, Lost)]), same(23)]),
            [None, None],
        ),
        ("a lost one between", all(&[same(20), row(Lost, 1), same(23)]), [None, None]),
        ("a poll", row(Pending, 30), [None, None]),
        ("a poll, then vetoes", all(&[row(Pending, 30), row(Vetoed, 4)]), [None, None]),
        (
            "a poll, a veto, and the answer of the poll",
            all(&[row(Pending, 1), row(Vetoed, 1), same(23)]),
            [None, None],
        ),
        ("a poll between", all(&[same(20), row(Pending, 1), same(23)]), [None, None]),
    ];
    for (what, steps, expected) in cases {
        assert_eq!(forced(&played(&policy, &steps)), expected, "{what}");
    }
}

/// A call that resembles the calls of a blocked loop is not blocked if no answer to it could be
/// near theirs.
#[test]
fn a_similar_call_is_not_part_of_a_loop_of_near_answers() {
    let rule = Rule::new("r", Args::Similar, Results::Near, THREE, STEEP);
    let rules = [rule];
    let policy = Policy::new("p", 8, &rules).unwrap();
    for near in [None, Some(0)] {
        let mut pair: Pair<'_, 8> = Pair::new(&policy);
        let mut ids = Ids::default();
        let mut announced = |args| {
            let call = pair.calls();
            let said =
                pair.take(Event::Announce(CallSpec { args, ..CallSpec::PLAIN }), &mut ids).unwrap();
            let answer = OutcomeSpec { near, ..OutcomeSpec::PLAIN };
            pair.take(Event::Outcome(call, answer), &mut ids).unwrap();
            said.action
        };
        let judged = [0, 0, 0, 0, 0, 0, 1].map(&mut announced);
        assert_eq!(judged[5..], [Action::Block, Action::Proceed], "{near:?}");
    }
}

/// Without proof, a warning is fresh at each rung, and then less and less often.
#[test]
fn a_warning_without_proof_is_repeated() {
    const BY_FINDINGS: Ladder<'_> =
        Ladder::by_all_findings(&[Rung::new(1, Action::Nudge), Rung::new(3, Action::StartOver)]);
    const MILD: Ladder<'_> =
        Ladder::by_repetitions(&[Rung::new(3, Action::Nudge), Rung::new(5, Action::Warn)]);
    for (ladder, expected) in [
        (STEEP, vec![3, 4, 5, 8, 13, 21]),
        // The third repetition is the first finding.
        (BY_FINDINGS, vec![3, 5, 6, 8, 11, 16]),
        // A ladder that ends in a warning is not capped, and gives no reminders.
        (MILD, vec![3, 5]),
    ] {
        let rules = [CAREFUL.ladder(ladder)];
        let policy = Policy::new("p", 8, &rules).unwrap();
        let mut pair: Pair<'_, 12> = Pair::new(&policy);
        let mut ids = Ids::default();
        let fresh = (0..23).filter(|call| {
            let asked = ask(0, u8::try_from(*call).unwrap());
            let said = [asked, answer(*call, 0)].map(|event| pair.take(event, &mut ids).unwrap());
            said[1].fresh
        });
        assert_eq!(fresh.map(|call| call + 1).collect::<Vec<_>>(), expected, "{ladder:?}");
    }
}

/// An answer with other bytes continues a row only if the policy's window holds no answer any
/// more, however many records a detector holds.
#[test]
fn a_row_of_vetoes_forgets_the_answer_that_left_the_window() {
    const LATE: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(40, Action::Block)]);
    let rules = [CAREFUL.ladder(LATE)];
    for vetoes in 6..16 {
        let policy = Policy::new("p", 8, &rules).unwrap();
        let steps = [row(Fate::Bytes(0), 12), row(Fate::Vetoed, vetoes), row(Fate::Bytes(1), 30)];
        let _ = played(&policy, &steps.concat());
    }
}

/// An announced call is not blocked for a row that another call has ended.
#[test]
fn a_runaway_that_ended_blocks_nothing() {
    let often = CAREFUL.pattern(Pattern::recurrence(3, 12));
    let early = Rule::new("early", Args::Same, Results::Ignored, THREE, STEEP).forced_on_proof();
    let any = Rule::new("any", Args::Any, Results::Ignored, THREE, STEEP).forced_on_proof();
    for rule in [often, early, any] {
        let rules = [rule];
        let policy = Policy::new("p", 12, &rules).unwrap();
        let other = vec![(1, Fate::Bytes(0))];
        let steps = [row(Fate::Bytes(0), 25), vec![other], row(Fate::Bytes(0), 3)].concat();
        let actions = played(&policy, &steps);
        assert!(actions[24] == Action::Block, "{rule:?}: {actions:?}");
        assert!(
            actions[25..].iter().all(|action| *action < Action::Block),
            "{rule:?}: {actions:?}"
        );
    }
}

/// A call that first works and then fails with the same bytes is in no row of equal answers.
#[test]
fn successes_and_failures_are_separate_rows() {
    let early = Rule::new("early", Args::Same, Results::Ignored, THREE, STEEP);
    let rules = [early.forced_on_proof().ignore_progress()];
    let policy = Policy::new("p", 12, &rules).unwrap();
    for times in [12, 24] {
        let steps = [row(Fate::Bytes(0), 12), row(Fate::Failed(0), times + 1)].concat();
        let blocked = (times == 24).then_some(37);
        assert_eq!(forced(&played(&policy, &steps)), [blocked, None], "{times}");
    }
}

/// A block ends if another rule than the blocking one finds the loop, because the proof was not
/// checked again.
#[test]
fn a_block_ends_with_the_finding_of_another_rule() {
    const SLOW: Ladder<'_> =
        Ladder::by_repetitions(&[Rung::new(6, Action::Warn), Rung::new(9, Action::Block)]);
    let often = Rule::new("often", Args::Same, Results::Same, Pattern::recurrence(6, 12), SLOW);
    let rules = [often, CAREFUL];
    let policy = Policy::new("p", 12, &rules).unwrap();
    let mut pair: Pair<'_, 12> = Pair::new(&policy);
    let mut ids = Ids::default();
    let judged = (0..7).map(|call| {
        let asked = CallSpec { idempotent: true, step: u8::try_from(call).ok(), ..CallSpec::PLAIN };
        let answer = OutcomeSpec { raw: u8::from(call == 5), ..OutcomeSpec::PLAIN };
        [Event::Announce(asked), Event::Outcome(call, answer)]
            .map(|event| pair.take(event, &mut ids).unwrap().action)
    });
    let judged: Vec<[Action; 2]> = judged.collect();
    assert_eq!(judged[4..6], [[Action::Proceed, Action::Block], [Action::Block, Action::Warn]]);
    assert_eq!(judged[6][0], Action::Proceed);
}

/// A rule with negative patience has no more proof than before.
#[test]
fn patience_is_no_proof() {
    const LADDERS: [Ladder<'_>; 2] = [
        Ladder::by_repetitions(&[Rung::new(3, Action::Block)]),
        Ladder::by_loop_findings(&[Rung::new(1, Action::Block)]),
    ];
    let patterns = [Pattern::Streak { times: 5 }, Pattern::recurrence(5, 9)];
    for (pattern, ladder) in patterns.into_iter().flat_map(|p| LADDERS.map(|l| (p, l))) {
        for (results, more) in [(Results::Same, -3), (Results::Ignored, -3), (Results::Same, 3)] {
            let rules = [Rule::new("r", Args::Same, results, pattern, ladder).forced_on_proof()];
            let policy = Policy::new("p", 12, &rules).unwrap();
            let phases = (Phase::new(60, more), Phase::new(60, 0));
            let policy = policy.with_phases(phases.0, phases.1).unwrap();
            let actions = played(&policy, &row(Fate::Bytes(0), 23));
            assert!(actions.contains(&Action::Warn), "{rules:?}: {actions:?}");
            assert_eq!(forced(&actions), [None; 2], "{rules:?}");
        }
    }
}

/// The message that came longest ago is the first that counts as new again.
#[test]
fn messages_are_forgotten_in_the_order_they_came() {
    const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Nudge)]);
    let rules = [CAREFUL];
    let texts = [TextRule::new("prompt", Texts::Prompt, 2, LADDER)];
    let policy = Policy::new("p", 8, &rules).unwrap().with_texts(&texts).unwrap();
    let mut pair: Pair<'_, 8> = Pair::new(&policy);
    let mut ids = Ids::default();
    // The first message comes again before the ninth makes room.
    let said = (0..8).chain([0, 8, 0, 0, 1, 1, 2]);
    let actions = said.map(|n| pair.take(Event::UserMessage(n), &mut ids).unwrap().action);
    let nudges: Vec<usize> = actions
        .enumerate()
        .filter(|(_, action)| *action > Action::Proceed)
        .map(|(n, _)| n)
        .collect();
    assert_eq!(nudges, [11, 13]);
}

/// Plays calls with these kinds, arguments and answers under `rule`. Returns at which of them, counted from 1, it is first
/// found.
fn found_at(rule: Rule<'_>, calls: &[(Tag, u8, OutcomeSpec)]) -> Option<usize> {
    let rules = [rule];
    let policy = Policy::new("p", 24, &rules).unwrap();
    let mut pair: Pair<'_, 24> = Pair::new(&policy);
    let mut ids = Ids::default();
    let mut judged = (0..).zip(calls).map(|(n, (tag, args, answer))| {
        let asked = CallSpec { tag: *tag, args: *args, ..CallSpec::PLAIN };
        pair.take(Event::Announce(asked), &mut ids).unwrap();
        pair.take(Event::Outcome(n, *answer), &mut ids).unwrap().action > Action::Proceed
    });
    judged.position(|is_found| is_found).map(|n| n + 1)
}

/// What an answer proves, and what came before it, moves the place at which a rule finds a loop.
#[test]
fn patience_by_evidence() {
    const ONCE: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Nudge)]);
    const FIVE: Pattern = Pattern::Streak { times: 5 };
    let plain = OutcomeSpec::PLAIN;
    let weak = OutcomeSpec { weak: true, telling: false, ..plain };
    let pending = OutcomeSpec { pending: true, ..plain };
    let started = OutcomeSpec { weak: true, telling: false, ..pending };
    let rule = |args, results, pattern| Rule::new("r", args, results, pattern, ONCE);
    let calls = |tag, answer, is_new: bool| {
        (0..20).map(|n| (tag, if is_new { n } else { 0 }, answer)).collect::<Vec<_>>()
    };

    let near = rule(Args::SameTool, Results::Near, FIVE);
    assert_eq!(found_at(near, &calls(Tag::Shell, plain, true)), Some(5));
    assert_eq!(found_at(near, &calls(Tag::Shell, weak, true)), Some(8));
    // A call that comes again is no new thing.
    assert_eq!(found_at(near, &calls(Tag::Shell, weak, false)), Some(5));

    let polls = rule(Args::Same, Results::Same, Pattern::recurrence(8, 20));
    let polls = polls.select(Select::Tag(Tag::Poll)).ignore_progress();
    assert_eq!(found_at(polls, &calls(Tag::Shell, pending, false)), Some(8));
    assert_eq!(found_at(polls, &calls(Tag::Shell, started, false)), Some(5));
    // Other calls, so many at first, bring news meanwhile.
    for (news, expected) in [(3, Some(11)), (4, None)] {
        let mut mixed = calls(Tag::Shell, plain, true);
        mixed.truncate(news + 1);
        mixed.remove(0);
        mixed.extend(calls(Tag::Shell, pending, false).into_iter().take(12));
        assert_eq!(found_at(polls, &mixed), expected, "{news}");
    }

    let searches = rule(Args::SameTool, Results::Near, FIVE);
    let search = |written: bool, is_like: bool| {
        let mut all = calls(Tag::Search, plain, true);
        if written {
            all.insert(0, (Tag::Write, 90, OutcomeSpec { near: Some(7), result: 7, ..plain }));
        }
        let like = rule(Args::Similar, Results::Same, FIVE);
        found_at(if is_like { like } else { searches }, &all)
    };
    assert_eq!(search(false, false), Some(10), "they have little in common");
    assert_eq!(search(false, true), Some(5));
    // Nine searches later, the write is no reason to check.
    assert_eq!(search(true, true), Some(11));
}
