//! Uses for the answers of a detector. Nothing is printed.

use core::hint::black_box;

use unstuck_core::{Finding, Kind, Nearness, Policy, RuleIndex, Statistics, Verdict};

use super::input::Input;
use super::words::show;

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
    let action = if input.flag() { verdict.action } else { input.action() };
    show(format_args!("{verdict:?} {action} {}", action.name()));
    if let Some(finding) = verdict.finding {
        let finding = if input.flag() { finding } else { another(finding, input) };
        show_finding(&finding, policy);
        let names = [input.text(), input.text(), input.text()];
        let lap = names.get(..input.below::<4>().into()).unwrap_or(&names);
        show(format_args!("{}", finding.nudge(action, input.text()).lap(lap)));
    }
}

/// Uses a finding as a host may, whose fields are public.
pub(crate) fn another(mut finding: Finding, input: &mut Input) -> Finding {
    if input.flag() {
        finding = Finding::elsewhere(finding.loop_id, finding.tool, input.byte().into());
    }
    let place = input.byte();
    finding.rule = if input.flag() { RuleIndex::Call(place) } else { RuleIndex::Text(place) };
    (finding.period, finding.laps) = (input.byte(), u16::from(input.byte()));
    (finding.first, finding.last) = (input.byte().into(), input.byte().into());
    finding
}

fn show_finding(finding: &Finding, policy: &Policy<'_>) {
    let Finding { kind, args, results, tag, tool, loop_id, .. } = finding;
    show(format_args!("{kind} {tag} {loop_id} {}", finding.rule_name(policy)));
    black_box([kind.name(), args.name(), results.name(), tag.name()]);
    black_box((tool.id(), loop_id.bits(), finding.is_about_prompts()));
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
        black_box((statistics.findings(kind), statistics.mean_confidence(kind)));
    }
}
