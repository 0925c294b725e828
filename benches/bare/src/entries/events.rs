//! Every event of a detector, and every answer.

use core::hint::black_box;

use unstuck_core::{Announced, Call, CallId, Detector, Digest, Outcome, Verdict};

use super::control::control;
use super::input::Input;
use super::replies::{show_nearness, show_policy, show_statistics, show_verdict};
use super::texts::turn;

/// Sends `detector` calls, outcomes, turns and messages, in an order that `input` determines.
pub(crate) fn tell<const W: usize, const OPEN: usize>(
    detector: &mut Detector<'_, W, OPEN>,
    input: &mut Input,
) {
    let policy = detector.policy();
    show_policy(policy, input);
    let mut earlier = announce(detector, input);
    while input.flag() {
        let id = announce(detector, input);
        black_box(id.seq());
        // Outcomes arrive in any order, and some of them twice.
        let reported = if input.flag() { id } else { earlier };
        let verdict = after(detector, reported, input);
        show_verdict(verdict, policy, input);
        after_each(detector, reported, input);
        control(detector, verdict.finding, input);
        show_statistics(detector.statistics(), input);
        detector.nearness().for_each(|near| show_nearness(near, policy));
        let nearer = detector.nearness().reduce(|a, b| if b.is_nearer_than(a) { b } else { a });
        let nearest = detector.nearest();
        [nearer, nearest].into_iter().flatten().for_each(|near| show_nearness(near, policy));
        earlier = id;
    }
    show_verdict(detector.finish(), policy, input);
    black_box(detector.clone());
}

/// Announces a call, with one verdict for all calls that settle, or with one for each.
fn announce<const W: usize, const OPEN: usize>(
    detector: &mut Detector<'_, W, OPEN>,
    input: &mut Input,
) -> CallId {
    let (policy, call) = (detector.policy(), call(input));
    if input.flag() {
        let Announced { id, verdict, settled } = detector.announce(call);
        show_verdict(verdict.or_stronger(settled), policy, input);
        return id;
    }
    let (id, verdict) = detector.announce_each(call, |one| show_verdict(one, policy, input));
    show_verdict(verdict, policy, input);
    id
}

/// Sends one of the events that may follow an announcement.
fn after<const W: usize, const OPEN: usize>(
    detector: &mut Detector<'_, W, OPEN>,
    id: CallId,
    input: &mut Input,
) -> Verdict {
    match input.below::<8>() {
        0 => detector.vetoed(id),
        1 => detector.cancel(id),
        2 => detector.finish(),
        3 => detector.text_turn(turn(input)),
        4 => detector.text_turn(input.digest()),
        5 => {
            let message = input.digest();
            black_box(detector.has_heard(message));
            detector.user_message(message)
        }
        6 if input.flag() => {
            detector.clear();
            Verdict::default()
        }
        _ => detector.outcome(id, outcome(input)),
    }
}

/// Does the same, and uses every verdict.
fn after_each<const W: usize, const OPEN: usize>(
    detector: &mut Detector<'_, W, OPEN>,
    id: CallId,
    input: &mut Input,
) {
    let (policy, event, outcome) = (detector.policy(), input.below::<4>(), outcome(input));
    let each = |verdict| show_verdict(verdict, policy, input);
    match event {
        0 => detector.vetoed_each(id, each),
        1 => detector.cancel_each(id, each),
        2 => detector.finish_each(each),
        _ => detector.outcome_each(id, outcome, each),
    }
}

pub(crate) fn call(input: &mut Input) -> Call {
    let mut call = Call::new(input.tool(), input.digest()).tag(input.tag());
    if input.flag() {
        call = call.similar(input.digest());
    }
    if input.flag() {
        call = call.step(u64::from(input.below::<4>()));
    }
    if input.flag() {
        call = call.idempotent();
    }
    black_box((call.digest(), call.has_tag(input.tag())));
    call
}

pub(crate) fn outcome(input: &mut Input) -> Outcome {
    let result = if input.flag() { input.digest() } else { Digest::of(input.text().as_bytes()) };
    let mut outcome = if input.flag() { Outcome::failed(result) } else { Outcome::ok(result) };
    if input.flag() {
        outcome = outcome.near(input.digest());
    }
    if input.flag() {
        outcome = outcome.score(u32::from(input.byte()));
    }
    if input.flag() {
        outcome = outcome.silent();
    }
    if input.flag() {
        outcome = outcome.raw(input.digest());
    }
    match input.below::<4>() {
        0 => outcome = outcome.pending(),
        1 => outcome = outcome.timed_out(),
        _ => {}
    }
    black_box((outcome.digest(), outcome.has_failed()));
    outcome
}
