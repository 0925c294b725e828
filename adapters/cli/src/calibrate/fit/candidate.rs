//! Candidates: a policy with other numbers of repetitions in its rules about calls.

use unstuck_core::{Basis, Ladder, Pattern, Policy, PolicyError, Rule, Rung};

/// The change of each rule about calls, in order. A positive change is more patient.
pub(crate) type Moves = Vec<i16>;

/// The changed parts of a policy's rules.
#[derive(Clone, Debug)]
pub(crate) struct Candidate(Vec<Moved>);

/// The changed parts of a rule.
#[derive(Clone, Debug)]
struct Moved {
    pattern: Pattern,
    /// The rungs. If the ladder counts repetitions, they move with the rule.
    rungs: Vec<Rung>,
}

impl Candidate {
    /// Returns `policy` after these moves, or `None` if a number would leave its range.
    pub(crate) fn moved(policy: &Policy<'_>, moves: &[i16]) -> Option<Self> {
        let rules = policy.rules().iter().zip(moves).map(|(rule, by)| Moved::of(rule, *by));
        rules.collect::<Option<_>>().map(Self)
    }

    /// Returns `policy` with up to `patience` more repetitions in every rule. A recurrence cannot
    /// count beyond its window, and rungs above that are left out.
    pub(crate) fn patient(policy: &Policy<'_>, patience: u8) -> Self {
        Self(policy.rules().iter().map(|rule| Moved::patient(rule, patience)).collect())
    }

    /// Returns the result of `look` for `policy` with these rules, or `None` if the engine refuses
    /// them.
    pub(crate) fn try_on<T>(
        &self,
        policy: &Policy<'static>,
        look: impl FnOnce(&Policy<'_>) -> T,
    ) -> Option<T> {
        let rules = self.rules(policy);
        with_rules(policy, policy.name(), &rules).ok().map(|policy| look(&policy))
    }

    /// Returns `policy` with these rules and the name `name`, or `None` if the engine refuses it.
    /// The rules are leaked, because the program has only one such result.
    pub(crate) fn keep(self, policy: &Policy<'static>, name: &str) -> Option<Policy<'static>> {
        let rules = Box::leak(Box::new(self)).rules(policy).leak();
        with_rules(policy, name.to_owned().leak(), rules).ok()
    }

    fn rules<'c>(&'c self, policy: &Policy<'static>) -> Vec<Rule<'c>> {
        let rules = policy.rules().iter().zip(&self.0);
        let rules = rules.map(|(rule, moved)| {
            let ladder = Ladder { basis: rule.ladder.basis, rungs: &moved.rungs };
            rule.pattern(moved.pattern).ladder(ladder)
        });
        rules.collect()
    }
}

impl Moved {
    fn of(rule: &Rule<'_>, by: i16) -> Option<Self> {
        let pattern = asking(rule.pattern, repetitions(rule).checked_add_signed(by)?)?;
        let by = if rule.ladder.basis == Basis::Repetitions { by } else { 0 };
        let rung = |rung: &Rung| Some(Rung::new(rung.count.checked_add_signed(by)?, rung.action));
        let rungs = rule.ladder.rungs.iter().map(rung).collect::<Option<_>>()?;
        Some(Self { pattern, rungs })
    }

    fn patient(rule: &Rule<'_>, patience: u8) -> Self {
        let most = most(rule.pattern);
        let climbs = rule.ladder.basis == Basis::Repetitions;
        let first = rule.ladder.rungs.iter().map(|rung| rung.count).next().filter(|_| climbs);
        let room = most.saturating_sub(repetitions(rule).max(first.unwrap_or(0)));
        let by = i16::from(patience).min(i16::try_from(room).unwrap_or(i16::MAX));
        let as_it_is = || Self { pattern: rule.pattern, rungs: rule.ladder.rungs.to_vec() };
        let mut moved = Self::of(rule, by).unwrap_or_else(as_it_is);
        moved.rungs.retain(|rung| !climbs || rung.count <= most);
        moved
    }
}

/// Returns the number of repetitions that the rule asks for.
pub(crate) fn repetitions(rule: &Rule<'_>) -> u16 {
    match rule.pattern {
        Pattern::Streak { times } => times,
        Pattern::Recurrence { times: n, .. } | Pattern::Cycle { laps: n, .. } => n.into(),
    }
}

/// Returns the pattern with this number of repetitions, or `None` if it cannot count as far.
fn asking(pattern: Pattern, repetitions: u16) -> Option<Pattern> {
    let short = || u8::try_from(repetitions).ok();
    Some(match pattern {
        Pattern::Streak { .. } => Pattern::Streak { times: repetitions },
        Pattern::Recurrence { within, novel, .. } => {
            Pattern::Recurrence { times: short()?, within, novel }
        }
        Pattern::Cycle { period_min, period_max, .. } => {
            Pattern::cycle(period_min, period_max, short()?)
        }
    })
}

/// Returns the most repetitions that the pattern can count or store.
fn most(pattern: Pattern) -> u16 {
    match pattern {
        Pattern::Streak { .. } => u16::MAX,
        Pattern::Recurrence { within, .. } => within.into(),
        Pattern::Cycle { .. } => u8::MAX.into(),
    }
}

/// Returns `policy` with the name `name` and these rules about calls.
fn with_rules<'r>(
    policy: &Policy<'static>,
    name: &'r str,
    rules: &'r [Rule<'r>],
) -> Result<Policy<'r>, PolicyError> {
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
    use unstuck_text::{PRESETS, Preset};

    use super::*;
    use crate::calibrate::digested::Digested;
    use crate::read::inputs;
    use crate::read::progress::Progress;

    #[test]
    fn no_move_and_no_patience_leave_a_policy_as_it_is() {
        for preset in &PRESETS {
            let policy = preset.policy;
            let moved = Candidate::moved(policy, &vec![0; policy.rules().len()]);
            for candidate in [moved.expect("a candidate"), Candidate::patient(policy, 0)] {
                assert_eq!(candidate.clone().keep(policy, policy.name()).as_ref(), Some(policy));
                assert_eq!(candidate.try_on(policy, |tried| *tried == *policy), Some(true));
            }
        }
    }

    #[test]
    fn everything_but_the_rules_is_kept() {
        let early = Phase::new(9, 1);
        let policy = PRESETS[5].policy.with_phases(early, Phase::new(99, 0)).expect("phases");
        let kept = Candidate::patient(&policy, 1).keep(&policy, "other").expect("a policy");
        assert_eq!(
            (kept.name(), kept.texts(), kept.phases()),
            ("other", policy.texts(), policy.phases())
        );
    }

    /// Returns a rule with this pattern and these rungs.
    fn rule(pattern: Pattern, basis: Basis, rungs: &[Rung]) -> Rule<'_> {
        Rule::new("rule", Args::Same, Results::Same, pattern, Ladder { basis, rungs })
    }

    fn rungs(counts: &[u16]) -> Vec<Rung> {
        let actions = [Action::Nudge, Action::Warn, Action::Block];
        counts.iter().zip(actions).map(|(count, action)| Rung::new(*count, action)).collect()
    }

    #[test]
    fn a_ladder_moves_with_its_rule_where_it_counts_repetitions() {
        let streak = |times| Pattern::Streak { times };
        let by_findings = Basis::LoopFindings;
        for (pattern, basis, counts, by, expected) in [
            (streak(3), Basis::Repetitions, &[3, 4, 6][..], 2, Some((streak(5), &[5, 6, 8][..]))),
            (streak(3), Basis::Repetitions, &[3, 4, 6], -1, Some((streak(2), &[2, 3, 5]))),
            (streak(3), by_findings, &[1, 2, 3], 2, Some((streak(5), &[1, 2, 3]))),
            (
                Pattern::cycle(2, 5, 2),
                Basis::Repetitions,
                &[2],
                3,
                Some((Pattern::cycle(2, 5, 5), &[5])),
            ),
            (Pattern::cycle(2, 5, 255), Basis::Repetitions, &[255], 1, None),
            (streak(3), Basis::Repetitions, &[1], -2, None),
            (streak(3), Basis::Repetitions, &[3], -4, None),
        ] {
            let rungs_before = rungs(counts);
            let moved = Moved::of(&rule(pattern, basis, &rungs_before), by);
            let moved = moved.map(|moved| (moved.pattern, moved.rungs));
            let expected = expected.map(|(pattern, counts)| (pattern, rungs(counts)));
            assert_eq!(moved, expected, "{pattern:?} {by}");
        }
    }

    #[test]
    fn a_recurrence_is_as_patient_as_it_can_be() {
        let repetitions = Basis::Repetitions;
        for (times, basis, counts, patience, expected_times, expected) in [
            (3, repetitions, &[3, 5][..], 2, 5, &[5, 7][..]),
            (3, repetitions, &[3, 5], 4, 7, &[7]),
            (3, repetitions, &[3, 5], 9, 8, &[8]),
            (3, repetitions, &[6, 7], 9, 5, &[8]),
            (8, repetitions, &[8], 1, 8, &[8]),
            (3, Basis::AllFindings, &[1, 9], 9, 8, &[1, 9]),
        ] {
            let rungs_before = rungs(counts);
            let pattern = Pattern::recurrence(times, 8);
            let moved = Moved::patient(&rule(pattern, basis, &rungs_before), patience);
            assert_eq!(moved.pattern, Pattern::recurrence(expected_times, 8), "{counts:?}");
            let actions = rungs_before.iter().map(|rung| rung.action);
            let expected =
                expected.iter().zip(actions).map(|(count, action)| Rung::new(*count, action));
            assert_eq!(moved.rungs, expected.collect::<Vec<_>>(), "{counts:?}");
        }
    }

    #[test]
    fn a_policy_that_the_engine_refuses_is_no_candidate() {
        let policy = Preset::named("start_over").expect("a preset").policy;
        let taken =
            |by| Candidate::moved(policy, &[by])?.try_on(policy, |taken| taken.rules().len());
        // Five among twenty: fewer than two are no repetition, more than twenty there cannot be.
        assert_eq!([-4, -3, 15, 16].map(taken), [None, Some(1), Some(1), None]);
        for patience in 0..=u8::MAX {
            for preset in &PRESETS {
                let candidate = Candidate::patient(preset.policy, patience);
                assert!(candidate.try_on(preset.policy, |_| ()).is_some(), "{patience}");
            }
        }
    }

    /// Returns the first finding of `policy` in each of the recorded runs.
    fn firsts(preset: &Preset, policy: &Policy<'_>) -> Vec<Option<usize>> {
        let runs = inputs::find(&[concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs").into()]);
        let runs = runs.found.iter().map(|input| {
            let run = Digested::of(input, &preset.recipe, &Progress::of([])).expect("a run");
            run.first(policy)
        });
        runs.collect()
    }

    #[test]
    fn a_patient_policy_is_as_patient_as_one_whose_run_is_all_an_early_phase() {
        for preset in &PRESETS {
            for patience in [1, 2, 5, 16] {
                let (early, late) = (Phase::new(u32::MAX, patience), Phase::new(u32::MAX, 0));
                let adaptive = preset.policy.with_phases(early, late).expect("phases");
                let expected = firsts(preset, &adaptive);
                let candidate = Candidate::patient(preset.policy, patience.unsigned_abs());
                let found = candidate.try_on(preset.policy, |policy| firsts(preset, policy));
                assert_eq!(found, Some(expected), "{} {patience}", preset.policy.name());
            }
        }
    }
}
