//! Every error of a policy, with its message.

use std::collections::BTreeSet;

use unstuck_core::{
    Action, Args, Call, Detector, Digest, Ladder, Pattern, Phase, Policy, PolicyErrorKind,
    RULES_MAX, RUNGS_MAX, Results, Rule, Rung, TEXT_RULES_MAX, TOOL_RULES_MAX, TextRule, Texts,
    Tool, ToolRule,
};

const NUDGE: &[Rung] = &[Rung::new(3, Action::Nudge)];

const ONCE: Ladder<'_> = Ladder::by_loop_findings(&[Rung::new(1, Action::Nudge)]);

fn rule(pattern: Pattern) -> Rule<'static> {
    Rule::new("r", Args::Same, Results::Same, pattern, ONCE)
}

fn with_ladder(pattern: Pattern, rungs: &[(u16, Action)]) -> Result<(), String> {
    let rungs: Vec<Rung> = rungs.iter().map(|&(count, action)| Rung::new(count, action)).collect();
    let rules = [rule(pattern).ladder(Ladder::by_repetitions(&rungs))];
    Policy::new("p", 20, &rules).map(drop).map_err(|error| error.to_string())
}

fn with_rules(window: u8, patterns: &[Pattern]) -> Result<(), String> {
    let rules: Vec<Rule<'_>> = patterns.iter().copied().map(rule).collect();
    Policy::new("p", window, &rules).map(drop).map_err(|error| error.to_string())
}

const STREAK: Pattern = Pattern::Streak { times: 3 };

#[test]
fn policies_that_cannot_work_are_refused_with_a_reason() {
    let within_12 = Pattern::recurrence(3, 12);
    let cases = [
        with_rules(0, &[STREAK]),
        with_rules(65, &[STREAK]),
        with_rules(20, &[]),
        with_rules(20, &[STREAK; RULES_MAX + 1]),
        with_rules(20, &[Pattern::Streak { times: 1 }]),
        with_rules(20, &[Pattern::recurrence(1, 5)]),
        with_rules(20, &[Pattern::recurrence(3, 21)]),
        with_rules(20, &[Pattern::recurrence(6, 5)]),
        with_rules(20, &[Pattern::cycle(2, 5, 1)]),
        with_rules(20, &[Pattern::cycle(1, 5, 2)]),
        with_rules(20, &[Pattern::cycle(5, 4, 2)]),
        with_rules(4, &[Pattern::cycle(2, 5, 2)]),
        with_rules(64, &[STREAK, Pattern::cycle(2, 20, 2), Pattern::cycle(2, 5, 2)]),
        with_ladder(STREAK, &[]),
        with_ladder(STREAK, &[(3, Action::Nudge); 11]),
        with_ladder(STREAK, &[(0, Action::Nudge)]),
        with_ladder(within_12, &[(13, Action::Nudge)]),
        with_ladder(STREAK, &[(4, Action::Nudge), (4, Action::Warn)]),
        with_ladder(STREAK, &[(3, Action::Warn), (4, Action::Nudge)]),
        with_ladder(STREAK, &[(2, Action::Nudge), (3, Action::Warn)]),
        with_ladder(STREAK, &[(3, Action::StartOver), (5, Action::Stop)]),
    ];
    let messages: Vec<String> = cases.into_iter().map(Result::unwrap_err).collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn policies_just_inside_each_limit_work() {
    let rungs: Vec<_> = (3..).map(|count| (count, Action::Warn)).take(RUNGS_MAX + 1).collect();
    assert!(with_ladder(STREAK, &rungs).is_err());
    for result in [
        with_rules(1, &[STREAK]),
        with_rules(64, &[STREAK]),
        with_rules(20, &[STREAK; 8]),
        with_rules(20, &[Pattern::Streak { times: 2 }]),
        with_rules(20, &[Pattern::recurrence(2, 20)]),
        with_rules(20, &[Pattern::recurrence(20, 20)]),
        with_rules(5, &[Pattern::cycle(2, 5, 2)]),
        with_rules(64, &[Pattern::cycle(2, 20, 2), Pattern::cycle(2, 4, 2)]),
        with_ladder(STREAK, &[(1, Action::Nudge)]),
        with_ladder(Pattern::recurrence(3, 12), &[(12, Action::Nudge)]),
        with_ladder(STREAK, &[(3, Action::Warn), (4, Action::Warn), (5, Action::Stop)]),
        with_ladder(STREAK, &rungs[1..]),
    ] {
        assert_eq!(result, Ok(()));
    }
}

#[test]
fn rules_about_tools_calls_and_phases_are_checked() {
    let rules = [rule(STREAK)];
    let policy = Policy::new("p", 20, &rules).unwrap();
    let tools = |count: usize| -> Vec<ToolRule> {
        (0..count).map(|n| ToolRule::new(Tool::new(u32::try_from(n).unwrap()))).collect()
    };
    let texts = vec![TextRule::new("t", Texts::Any, 3, ONCE); TEXT_RULES_MAX + 1];
    let calls = vec![Call::new(Tool::new(0), Digest::of(b"{}")); TOOL_RULES_MAX + 1];
    let (many, twice) = (tools(TOOL_RULES_MAX + 1), [tools(9), tools(1)].concat());
    assert!(policy.with_texts(&texts[1..]).is_ok());
    assert!(policy.with_tools(&many[1..]).is_ok());
    assert!(policy.with_allowed(&calls[1..]).is_ok());
    assert!(policy.with_phases(Phase::new(5, 1), Phase::new(5, -1)).is_ok());
    assert!(policy.with_phases(Phase::NEVER_EARLY, Phase::NEVER_LATE).is_ok());
    let errors = [
        policy.with_texts(&texts),
        policy.with_tools(&many),
        policy.with_tools(&twice),
        policy.with_allowed(&calls),
        policy.with_phases(Phase::new(6, 1), Phase::new(5, -1)),
    ];
    let messages = errors.map(|error| error.unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn the_rule_about_text_is_checked_like_the_others() {
    let rules = [rule(STREAK)];
    let policy = Policy::new("p", 20, &rules).unwrap();
    let text = |times, rungs| {
        let rule = TextRule::new("t", Texts::Any, times, Ladder::by_repetitions(rungs));
        let rules = [rule];
        policy
            .with_texts(&rules)
            .map(drop)
            .map_err(|error| (error.rule.map(|rule| rule.to_string()), error.flaw))
    };
    assert_eq!(text(3, NUDGE), Ok(()));
    assert_eq!(
        text(1, NUDGE),
        Err((Some("t".to_owned()), PolicyErrorKind::TooFewTimes { times: 1 }))
    );
    assert_eq!(text(3, &[]), Err((Some("t".to_owned()), PolicyErrorKind::Rungs { rungs: 0 })));
}

#[test]
fn a_detector_must_hold_the_window() {
    let rules = [rule(STREAK)];
    let policy = Policy::new("p", 20, &rules).unwrap();
    assert!(Detector::<20>::new(&policy).is_ok());
    assert!(Detector::<64>::new(&policy).is_ok());
    let error = Detector::<19>::new(&policy).unwrap_err();
    assert_eq!(
        error.to_string(),
        "policy `p`: the window is 20 calls, but the detector holds 19: use a `Detector<20>` or \
         a shorter window",
    );
}

#[test]
fn a_policy_that_cannot_work_does_not_compile_as_a_constant() {
    // The presets show the other half: a constant with a policy that cannot work does not compile.
    const RULES: &[Rule<'_>] = &[Rule::new(
        "r",
        Args::Same,
        Results::Same,
        Pattern::Streak { times: 3 },
        Ladder::by_repetitions(NUDGE),
    )];
    const POLICY: Result<Policy<'_>, unstuck_core::PolicyError> = Policy::new("p", 20, RULES);
    assert!(POLICY.is_ok());
}

#[test]
fn names_of_rules_are_unique_within_each_preset() {
    for policy in unstuck_core::presets::ALL {
        let calls = policy.rules().iter().map(|rule| rule.name);
        let names: Vec<&str> = calls.chain(policy.texts().iter().map(|rule| rule.name)).collect();
        let unique: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len(), "{}", policy.name());
    }
}
