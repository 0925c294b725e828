//! Uses for the answers of a detector, as text. Nothing is printed.

use core::fmt::{self, Write};
use core::hint::black_box;

use unstuck_core::{Finding, Kind, Nearness, Policy, Statistics, Verdict};

use super::another;
use super::input::{Input, one_of};

/// A writer of text that nobody reads. The compiler cannot predict whether it fails.
struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        black_box(Ok(()))
    }
}

/// Writes `words`, and hides from the compiler that they are not read.
pub(crate) fn show(words: fmt::Arguments<'_>) {
    let _ = black_box(Nowhere.write_fmt(words));
}

pub(crate) fn show_policy(policy: &Policy<'_>, input: &mut Input) {
    black_box((policy.window(), policy.exempt().contains(input.tag()), policy.phases()));
    black_box((policy.tools(), policy.allowed(), policy.silenced()));
    show(format_args!("{}", policy.name()));
    for rule in policy.rules() {
        black_box(rule.is_judged_early());
    }
    for rule in policy.texts() {
        show(format_args!("{} {}", rule.name, rule.texts.name()));
    }
}

pub(crate) fn show_verdict(verdict: Verdict, policy: &Policy<'_>, input: &mut Input) {
    let action = one_of([verdict.action, input.action()], input);
    show(format_args!("{verdict:?} {action} {}", action.name()));
    if let Some(finding) = verdict.finding {
        let finding = one_of([finding, another(finding, input)], input);
        show_finding(&finding, policy);
        let names = [input.text(), input.text(), input.text()];
        let lap = names.get(..input.below::<4>().into()).unwrap_or(&names);
        show(format_args!(
            "{}",
            finding.nudge(action, input.text()).lap(lap).failing(input.text())
        ));
    }
}

fn show_finding(finding: &Finding, policy: &Policy<'_>) {
    let Finding { kind, args, results, tag, tool, loop_id, .. } = finding;
    show(format_args!("{kind} {tag} {loop_id} {}", finding.rule_name(policy)));
    black_box([kind.name(), args.name(), results.name(), tag.name()]);
    black_box((
        tool.id(),
        loop_id.bits(),
        finding.is_about_prompts(),
        finding.with_failure(finding.failure()),
    ));
    for seq in finding.calls().chain(finding.lap()) {
        black_box(seq);
    }
}

pub(crate) fn show_nearness(near: Nearness, policy: &Policy<'_>) {
    show(format_args!("{} {near:?}", policy.name()));
}

pub(crate) fn show_statistics(statistics: &Statistics, input: &mut Input) {
    show(format_args!("{statistics:?}"));
    black_box((statistics.checks(), statistics.false_positives()));
    black_box(statistics.actions(input.action()));
    for kind in Kind::ALL {
        black_box(statistics.findings(kind));
    }
}
