//! Makes the rules about calls of a policy more patient.

use unstuck_core::{Basis, Ladder, Pattern, Policy, PolicyError, Rule, Rung, STREAK_MAX};
use unstuck_text::Preset;

/// Returns `preset` with the name `name` and up to `patience` more repetitions in every rule about
/// calls. Everything else stays.
///
/// The result is leaked, because a replay borrows its policy for as long as the program runs.
pub(super) fn patient(preset: &'static Preset, patience: u8, name: &str) -> &'static Preset {
    let rules = preset.policy.rules().iter().map(|rule| patient_rule(rule, patience));
    let rules: Vec<Rule<'static>> = rules.collect();
    let policy = with_rules(preset.policy, name.to_owned().leak(), rules.leak());
    // No rule asks for more repetitions than its pattern can count.
    let policy = Box::leak(Box::new(policy.expect("a policy that the engine accepts")));
    Box::leak(Box::new(Preset { policy, recipe: preset.recipe }))
}

/// Returns the number of repetitions that a pattern asks for.
pub(super) fn repetitions(pattern: Pattern) -> u16 {
    match pattern {
        Pattern::Streak { times } => times,
        Pattern::Recurrence { times: n, .. } | Pattern::Cycle { laps: n, .. } => n.into(),
    }
}

/// Returns the rule with up to `patience` more repetitions. If its ladder counts repetitions, it
/// moves with the rule. A recurrence cannot count beyond its window, and rungs above that are left
/// out.
fn patient_rule(rule: &Rule<'static>, patience: u8) -> Rule<'static> {
    let Ladder { basis, rungs } = rule.ladder;
    let is_moved = basis == Basis::Repetitions;
    let first = rungs.first().filter(|_| is_moved).map_or(0, |rung| rung.count);
    let most = most(rule.pattern);
    let room = most.saturating_sub(repetitions(rule.pattern).max(first));
    let by = patience.min(u8::try_from(room).unwrap_or(u8::MAX));
    let rule = rule.pattern(match rule.pattern {
        Pattern::Streak { times } => Pattern::Streak { times: times + u16::from(by) },
        Pattern::Recurrence { times, within, novel } => {
            Pattern::Recurrence { times: times + by, within, novel }
        }
        Pattern::Cycle { period_min, period_max, laps } => {
            Pattern::cycle(period_min, period_max, laps + by)
        }
    });
    if by == 0 || !is_moved {
        return rule;
    }
    let rungs = rungs.iter().filter_map(|rung| {
        let count = rung.count.checked_add(by.into()).filter(|count| *count <= most)?;
        Some(Rung::new(count, rung.action))
    });
    rule.ladder(Ladder { basis, rungs: rungs.collect::<Vec<_>>().leak() })
}

/// Returns the most repetitions that the pattern can count or store.
fn most(pattern: Pattern) -> u16 {
    match pattern {
        Pattern::Streak { .. } => STREAK_MAX,
        Pattern::Recurrence { within, .. } => within.into(),
        Pattern::Cycle { .. } => u8::MAX.into(),
    }
}

/// Returns `policy` with the name `name` and these rules about calls.
fn with_rules(
    policy: &Policy<'static>,
    name: &'static str,
    rules: &'static [Rule<'static>],
) -> Result<Policy<'static>, PolicyError> {
    let (early, late) = policy.phases();
    Policy::new(name, policy.window(), rules)?
        .with_exempt(policy.exempt())
        .with_silenced(policy.silenced())
        .with_texts(policy.texts())?
        .with_tools(policy.tools())?
        .with_allowed(policy.allowed())?
        .with_phases(early, late)
}

#[cfg(test)]
mod tests {
    use unstuck_core::{Action, Args, Phase, Results};
    use unstuck_report::replay::Replay;
    use unstuck_text::PRESETS;

    use super::*;
    use crate::calibrate::runs::{first, replayed};
    use crate::read::inputs;
    use crate::read::progress::Progress;

    /// Returns `preset` with these phases.
    fn adaptive(preset: &Preset, early: Phase, late: Phase) -> &'static Preset {
        let policy = preset.policy.with_phases(early, late).expect("phases");
        let policy = Box::leak(Box::new(policy));
        Box::leak(Box::new(Preset { policy, recipe: preset.recipe }))
    }

    #[test]
    fn without_patience_a_policy_stays_as_it_is() {
        for preset in &PRESETS {
            assert_eq!(patient(preset, 0, preset.policy.name()).policy, preset.policy);
        }
    }

    #[test]
    fn everything_but_the_rules_is_kept() {
        let preset = adaptive(&PRESETS[5], Phase::new(9, 1), Phase::new(99, 0));
        let kept = patient(preset, 1, "other").policy;
        let policy = preset.policy;
        assert_eq!(
            (kept.name(), kept.texts(), kept.phases()),
            ("other", policy.texts(), policy.phases())
        );
    }

    #[test]
    fn the_engine_accepts_a_policy_with_any_patience() {
        for preset in &PRESETS {
            for patience in 0..=u8::MAX {
                assert_eq!(patient(preset, patience, "other").policy.name(), "other");
            }
        }
    }

    fn rungs(counts: &[u16]) -> &'static [Rung] {
        let actions = [Action::Nudge, Action::Warn, Action::Block];
        let rungs = counts.iter().zip(actions).map(|(count, action)| Rung::new(*count, action));
        rungs.collect::<Vec<_>>().leak()
    }

    #[test]
    fn a_rule_and_its_ladder_move_as_far_as_they_can() {
        let streak = |times| Pattern::Streak { times };
        let five_laps = |laps| Pattern::cycle(2, 5, laps);
        let among_eight = |times| Pattern::recurrence(times, 8);
        let (repetitions, findings) = (Basis::Repetitions, Basis::LoopFindings);
        for (pattern, basis, counts, patience, moved, expected) in [
            (streak(3), repetitions, &[3, 4, 6][..], 2, streak(5), &[5, 6, 8][..]),
            (streak(3), findings, &[1, 2, 3], 2, streak(5), &[1, 2, 3]),
            (five_laps(2), repetitions, &[2], 3, five_laps(5), &[5]),
            (five_laps(254), repetitions, &[254, 255], 9, five_laps(255), &[255]),
            (five_laps(9), repetitions, &[300], 9, five_laps(9), &[300]),
            (among_eight(3), repetitions, &[3, 5], 2, among_eight(5), &[5, 7]),
            (among_eight(3), repetitions, &[3, 5], 4, among_eight(7), &[7]),
            (among_eight(3), repetitions, &[3, 5], 9, among_eight(8), &[8]),
            (among_eight(3), repetitions, &[6, 7], 9, among_eight(5), &[8]),
            (among_eight(8), repetitions, &[8], 1, among_eight(8), &[8]),
            (among_eight(3), Basis::AllFindings, &[1, 9], 9, among_eight(8), &[1, 9]),
        ] {
            let ladder = Ladder { basis, rungs: rungs(counts) };
            let rule = Rule::new("rule", Args::Same, Results::Same, pattern, ladder);
            let actions = rule.ladder.rungs.iter().map(|rung| rung.action);
            let expected = expected.iter().zip(actions);
            let expected: Vec<Rung> =
                expected.map(|(count, action)| Rung::new(*count, action)).collect();
            let found = patient_rule(&rule, patience);
            assert_eq!((found.pattern, found.ladder.rungs), (moved, &*expected), "{pattern:?}");
        }
    }

    #[test]
    fn a_patient_policy_is_as_patient_as_one_whose_run_is_all_an_early_phase() {
        let runs = inputs::find(&[concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs").into()]);
        for preset in &PRESETS {
            let policies = [1, 2, 5, 16].map(|more: u8| {
                let early = Phase::new(u32::MAX, more.cast_signed());
                let adaptive = adaptive(preset, early, Phase::new(u32::MAX, 0));
                [patient(preset, more, preset.policy.name()), adaptive]
            });
            for input in &runs.found {
                let replays = policies.as_flattened().iter().map(|preset| Replay::new(preset));
                let run = replayed(input, &Progress::hidden(), replays.collect()).expect("a run");
                let firsts = run
                    .findings
                    .into_iter()
                    .map(|found| first(found.list).map(|found| (found.rule, found.calls_before)));
                let firsts: Vec<_> = firsts.collect();
                for pair in firsts.chunks(2) {
                    assert_eq!(pair[0], pair[1], "{} {}", input.name(), preset.policy.name());
                }
            }
        }
    }
}
