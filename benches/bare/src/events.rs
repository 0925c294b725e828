//! Everything that a detector can be told, and everything that it answers.

use core::hint::black_box;

use unstuck_core::{Announced, Call, CallId, Detector, Digest, Finding, Outcome, Policy, Verdict};

use crate::input::Input;
use crate::words::show;

/// Tells `detector` of calls, outcomes, turns and messages, in an order that `input` decides.
pub(crate) fn tell<const W: usize, const OPEN: usize>(
    detector: &mut Detector<'_, W, OPEN>,
    input: &mut Input,
) {
    let policy = detector.policy();
    show_policy(policy, input);
    let Announced { id: mut earlier, .. } = detector.announce(call(input));
    while input.flag() {
        let Announced { id, verdict, settled } = detector.announce(call(input));
        black_box(id.seq());
        show_verdict(verdict.or_stronger(settled), policy, input);
        // Outcomes come in any order, and twice.
        let reported = if input.flag() { id } else { earlier };
        show_verdict(after(detector, reported, input), policy, input);
        earlier = id;
    }
    show_verdict(detector.finish(), policy, input);
    black_box(detector.clone());
}

/// What may happen after an announcement.
fn after<const W: usize, const OPEN: usize>(
    detector: &mut Detector<'_, W, OPEN>,
    id: CallId,
    input: &mut Input,
) -> Verdict {
    match input.below::<8>() {
        0 => detector.vetoed(id),
        1 => detector.text_turn(input.digest()),
        2 => detector.finish(),
        3 => {
            detector.user_message(input.digest());
            Verdict::PROCEED
        }
        4 if input.flag() => {
            detector.clear();
            Verdict::default()
        }
        _ => detector.outcome(id, outcome(input)),
    }
}

fn call(input: &mut Input) -> Call {
    let mut call = Call::new(input.tool(), input.digest()).tag(input.tag());
    if input.flag() {
        call = call.similar(input.digest());
    }
    if input.flag() {
        call = call.step(u64::from(input.below::<4>()));
    }
    call
}

fn outcome(input: &mut Input) -> Outcome {
    let result = if input.flag() { input.digest() } else { Digest::of(input.text().as_bytes()) };
    let mut outcome = if input.flag() { Outcome::failed(result) } else { Outcome::ok(result) };
    if input.flag() {
        outcome = outcome.near(input.digest());
    }
    if input.flag() {
        outcome = outcome.silent();
    }
    outcome
}

fn show_policy(policy: &Policy<'_>, input: &mut Input) {
    black_box((policy.window(), policy.texts().len(), policy.exempt().contains(input.tag())));
    show(format_args!("{}", policy.name()));
    for rule in policy.rules() {
        black_box(rule.is_judged_early());
    }
}

fn show_verdict(verdict: Verdict, policy: &Policy<'_>, input: &mut Input) {
    let action = if input.flag() { verdict.action } else { input.action() };
    show(format_args!("{verdict:?} {action} {}", action.name()));
    if let Some(finding) = verdict.finding {
        show_finding(&finding, policy);
        show(format_args!("{}", finding.nudge(action, input.text())));
    }
}

fn show_finding(finding: &Finding, policy: &Policy<'_>) {
    let Finding { kind, args, results, tag, tool, loop_id, .. } = finding;
    show(format_args!("{kind} {tag} {loop_id} {}", finding.rule_name(policy)));
    black_box([kind.name(), args.name(), results.name(), tag.name()]);
    black_box((tool.id(), loop_id.bits()));
    for seq in finding.calls() {
        black_box(seq);
    }
}
