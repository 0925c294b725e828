//! Every error of a policy, with its message.

use std::collections::BTreeSet;

use unstuck_core::{
    Action, Args, Call, Detector, Digest, Ladder, Pattern, Phase, Policy, PolicyErrorKind, Results,
    Rule, Rung, TEXT_RULES_MAX, TOOL_RULES_MAX, TextRule, Texts, Tool, ToolRule,
};

const NUDGE: &[Rung] = &[Rung::new(3, Action::Nudge)];

const ONCE: Ladder<'_> = Ladder::by_loop_findings(&[Rung::new(1, Action::Nudge)]);

fn rule(pattern: Pattern) -> Rule<'static> {
    Rule::new("r", Args::Same, Results::Same, pattern, ONCE)
}

const STREAK: Pattern = Pattern::Streak { times: 3 };

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
