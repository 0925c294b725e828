//! Cases that neither the short sequences nor the random streams reach; each was a gap once.

use unstuck_core::{
    Action, Args, Ladder, Pattern, Policy, Results, Rule, Rung, Tag, TextRule, Texts,
};

use crate::model::{Answer, Asked, Event};
use crate::pair::{Ids, Pair};

fn ask(args: u8, step: u8) -> Event {
    Event::Announce(Asked { tool: 0, args, similar: args, tag: Tag::Other, step: Some(step) })
}

fn answer(call: usize, result: u8) -> Event {
    Event::Outcome(call, Answer { result, near: result, failed: false, silent: false, score: None })
}

/// A rule that is judged at announcement learns of progress while a later call of the same step
/// is open: what its run counters keep is what lies after the progress.
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

/// A loop that was found at a turn, with a call open that settles only after: the call has a lower
/// number than the turn's clock.
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

/// A step of more calls than are held is taken back in part: it goes on, although the records that
/// are left do not show where it began.
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
