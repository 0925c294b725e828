//! The same events for a detector whose capacity is erased.

use core::hint::black_box;

use unstuck_core::{Announced, AnyDetector, Verdict};

use super::control::loop_id;
use super::events::{call, outcome};
use super::input::Input;
use super::replies::{show_nearness, show_policy, show_statistics, show_verdict};
use super::texts::turn;

/// Sends `detector` every kind of event, in an order that `input` determines.
pub(crate) fn tell_any(detector: &mut dyn AnyDetector<'_>, input: &mut Input) {
    let policy = detector.policy();
    show_policy(policy, input);
    while input.flag() {
        let (call, outcome) = (call(input), outcome(input));
        let Announced { id, verdict, settled } = detector.announce(call);
        let verdict = match input.below::<16>() {
            0 => detector.vetoed(id),
            1 => detector.cancel(id),
            2 => detector.finish(),
            3 => detector.text_turn(turn(input)),
            4 => detector.peek(call),
            5 => detector.outcome(id, outcome),
            _ => verdict.or_stronger(settled),
        };
        show_verdict(verdict, policy, input);
        let event = input.below::<16>();
        let each: &mut dyn FnMut(Verdict) = &mut |one| show_verdict(one, policy, input);
        match event {
            0 => detector.vetoed_each(id, each),
            1 => detector.cancel_each(id, each),
            2 => detector.finish_each(each),
            3 => detector.outcome_each(id, outcome, each),
            _ => {
                let (id, verdict) = detector.announce_each(call, each);
                black_box(id.seq());
                each(verdict);
            }
        }
        if let Some(finding) = verdict.finding {
            detector.false_positive(&finding);
        }
        hear(detector, input);
    }
}

/// Sends the events that are not calls, and the queries between two calls.
fn hear(detector: &mut dyn AnyDetector<'_>, input: &mut Input) {
    match input.below::<8>() {
        0 => {
            let _ = black_box(detector.user_message(input.digest()));
        }
        1 => detector.clear(),
        2 => {
            black_box(detector.retry(usize::from(input.byte())));
        }
        3 => detector.progress(),
        4 => detector.silence(loop_id(input)),
        _ => {}
    }
    let policy = detector.policy();
    show_statistics(detector.statistics(), input);
    detector.nearness(&mut |near| show_nearness(near, policy));
    detector.nearest().into_iter().for_each(|near| show_nearness(near, policy));
}
