//! Declarations at run time, and the precedence of declarations.

use unstuck::{
    Action, Asked, BuildError, DECLARED_MAX, Declaration, Effect, Guard, KEY_MAX, Tag, Tool,
    ToolDeclaration, ToolRule,
};
use unstuck_core::{Call, Policy};
use unstuck_text::{PRESETS, Preset, Recipe};

/// The name of the tool in these tests, which is no hint to its kind.
const TOOL: &str = "gizmo";

/// Creates a guard that stops at the third equal call, even if the results differ.
fn guard(recipe: Recipe, policy: Policy<'static>) -> Guard {
    let policy = Box::leak(Box::new(policy));
    Guard::builder().policy(policy, recipe).build().expect("a guard")
}

fn repeat() -> &'static Preset {
    Preset::named("repeat").expect("a preset")
}

/// Returns whether calls that differ only in `n` are equal to the guard.
fn are_equal(guard: &Guard) -> bool {
    let mut guard = guard.begin("another", "main");
    let call = |guard: &mut Guard, n| {
        let args = format!(r#"{{"id":1,"n":{n}}}"#);
        guard.finished(&Asked::new(TOOL, args), "fine", false).judged()
    };
    (0..9).any(|n| call(&mut guard, n) > Action::Proceed)
}

/// Returns whether the guard treats the tool as a poll, which may get seven equal answers.
fn waits(guard: &Guard) -> bool {
    let mut guard = guard.begin("another", "main");
    let mut look = || guard.finished(&Asked::new(TOOL, "{}"), "the same", false).judged();
    [(); 7].map(|()| look()) == [Action::Proceed; 7] && look() > Action::Proceed
}

#[test]
fn a_key_that_is_declared_at_run_time_counts() {
    let mut guard = guard(repeat().recipe, *repeat().policy);
    assert!(!are_equal(&guard));
    assert!(guard.declare(TOOL, Declaration::new().key(["id"])));
    assert!(are_equal(&guard));
    assert!(guard.declare(TOOL, Declaration::new().key(["n"])), "the latest holds");
    assert!(!are_equal(&guard));
    guard.declare(TOOL, Declaration::new().key(["id"]));
    guard.forget_declared();
    assert!(!are_equal(&guard) && guard.declared() == 0);
}

#[test]
fn an_effect_that_is_declared_at_run_time_counts() {
    let mut guard = Guard::new();
    assert!(!waits(&guard));
    guard.declare(TOOL, Declaration::new().effect(Effect::Waits));
    assert!(waits(&guard));
}

#[test]
fn code_goes_before_the_run_and_the_recipe_before_code() {
    let own = ToolDeclaration::new(Tool::named(TOOL));
    let acts = own.effect(Effect::Acts).key(&[]);
    let waits_by_id = own.effect(Effect::Waits).key(&["id"]);
    let said = Declaration::new().effect(Effect::Waits).key(["id"]);
    for (recipe, code, run, expected) in [
        (None, None, None, false),
        (None, None, Some(&said), true),
        (None, Some(acts), Some(&said), false),
        (None, Some(waits_by_id), None, true),
        (Some(acts), Some(waits_by_id), Some(&said), false),
        (Some(waits_by_id), Some(acts), None, true),
    ] {
        for (preset, holds) in [(repeat(), are_equal as fn(&Guard) -> bool), (&PRESETS[0], waits)] {
            let tools: &[ToolDeclaration<'_>] = recipe.into_iter().collect::<Vec<_>>().leak();
            let recipe = Recipe { tools, ..preset.recipe };
            let builder = Guard::builder().policy(preset.policy, recipe);
            let builder = code.into_iter().fold(builder, unstuck::Builder::kind);
            let mut guard = builder.build().expect("a guard");
            if let Some(said) = run {
                guard.declare(TOOL, said.clone());
            }
            assert_eq!(holds(&guard), expected, "{recipe:?} {code:?} {run:?}");
        }
    }
}

#[test]
fn the_policy_goes_before_rules_of_code() {
    let rule = ToolRule::new(Tool::named(TOOL));
    let patience = |policy: ToolRule, code: ToolRule, recipe: &[ToolDeclaration<'static>]| {
        let policy = repeat().policy.with_tools(vec![policy].leak()).expect("a rule");
        let recipe = Recipe { tools: recipe.to_vec().leak(), ..repeat().recipe };
        let builder = Guard::builder().policy(Box::leak(Box::new(policy)), recipe).tool(code);
        let mut guard = builder.build().expect("a guard");
        let mut call = || guard.finished(&Asked::new(TOOL, "{}"), "", false).judged();
        (1..=9).find(|_| call() > Action::Proceed)
    };
    assert_eq!(patience(rule, rule, &[]), Some(3));
    assert_eq!(patience(rule, rule.patience(2), &[]), Some(5));
    assert_eq!(patience(rule.patience(1), rule.patience(2), &[]), Some(4));
    assert_eq!(patience(rule.patience(1), rule.exempt(), &[]), None);
    assert_eq!(patience(rule.exempt(), rule, &[]), None);
}

#[test]
fn a_declared_effect_goes_before_a_rule_of_code() {
    for (effect, expected) in [(None, true), (Some(Effect::Acts), false)] {
        let own = ToolDeclaration { effect, ..ToolDeclaration::new(Tool::named(TOOL)) };
        let recipe = Recipe { tools: vec![own].leak(), ..PRESETS[0].recipe };
        let builder = Guard::builder().policy(PRESETS[0].policy, recipe);
        let guard = builder.tool(ToolRule::new(Tool::named(TOOL)).poll()).build();
        assert_eq!(waits(&guard.expect("a guard")), expected, "{effect:?}");
    }
}

#[test]
fn an_exempt_tool_is_not_watched_unless_the_policy_has_a_rule_for_it() {
    let rule = ToolRule::new(Tool::named(TOOL));
    for (tools, watched) in [(vec![], false), (vec![rule], true)] {
        let policy = repeat().policy.with_tools(tools.leak()).expect("a rule");
        let mut guard = guard(repeat().recipe, policy);
        guard.declare(TOOL, Declaration::new().exempt());
        let before = guard.announce(&Asked::new(TOOL, "{}").id("1"));
        assert_eq!((before.ticket().is_some(), guard.ticket("1").is_some()), (watched, watched));
        assert_eq!(guard.after(before.ticket(), "", true).judged(), Action::Proceed);
        let mut call = || guard.finished(&Asked::new(TOOL, "{}"), "", false).judged();
        assert_eq!((0..9).any(|_| call() > Action::Proceed), watched);
        assert_eq!(guard.statistics().checks() > 0, watched);
    }
}

#[test]
fn a_call_that_the_policy_allows_stays_allowed() {
    let recipe = repeat().recipe;
    let allowed: &[Call] = vec![recipe.call(TOOL, r#"{"id":1,"n":2}"#)].leak();
    let policy = repeat().policy.with_allowed(allowed).expect("a call");
    let mut guard = guard(recipe, policy);
    guard.declare(TOOL, Declaration::new().key(["id"]));
    let mut call = |args: &str| guard.finished(&Asked::new(TOOL, args), "", false).judged();
    assert_eq!([(); 9].map(|()| call(r#"{"id":1,"n":2}"#)), [Action::Proceed; 9]);
    assert!((3..9).any(|n| call(&format!(r#"{{"id":1,"n":{n}}}"#)) > Action::Proceed));
}

#[test]
fn only_so_many_tools_are_declared() {
    let mut guard = Guard::new();
    for n in 0..10_000 {
        let said = Declaration::new().effect(Effect::Reads);
        assert_eq!(guard.declare(&n.to_string(), said), n < DECLARED_MAX, "{n}");
    }
    assert_eq!(guard.declared(), DECLARED_MAX);
    assert!(guard.declare("0", Declaration::new().exempt()), "it is known");
    assert!(guard.declare("0", Declaration::new()), "what says nothing makes room");
    assert_eq!(guard.declared(), DECLARED_MAX - 1);
    assert!(guard.declare("new", Declaration::new().exempt()));
}

#[test]
fn a_key_that_is_too_long_is_ignored_as_a_whole() {
    let (names, bytes) = KEY_MAX;
    let many = |count: usize| (0..count).map(|n| n.to_string());
    assert!(!Declaration::new().key(many(names)).is_empty());
    assert!(!Declaration::new().key(["x".repeat(bytes)]).is_empty());
    for key in [many(names + 1).collect(), vec!["id".to_owned(), "x".repeat(bytes + 1)], vec![]] {
        assert!(Declaration::new().key(key.clone()).is_empty(), "{key:?}");
    }
    assert!(Declaration::new().key(std::iter::repeat("id")).is_empty(), "and not read to its end");
}

#[test]
fn declarations_are_no_part_of_a_checkpoint() {
    let mut guard = guard(repeat().recipe, *repeat().policy);
    guard.declare(TOOL, Declaration::new().key(["id"]));
    let _ = guard.finished(&Asked::new(TOOL, r#"{"id":1,"n":1}"#), "", false);
    let builder = || Guard::builder().preset(repeat());
    let mut restored = builder().restore(&guard.save()).expect("a checkpoint");
    assert_eq!((restored.declared(), restored.save()), (0, guard.save()));
    restored.declare(TOOL, Declaration::new().key(["id"]));
    for n in 2..9 {
        let args = format!(r#"{{"id":1,"n":{n}}}"#);
        let decided = |guard: &mut Guard| guard.finished(&Asked::new(TOOL, &args), "", false);
        assert_eq!(decided(&mut restored).judged(), decided(&mut guard).judged());
    }
}

#[test]
fn a_contradiction_is_refused() {
    let own = ToolDeclaration::new(Tool::named(TOOL));
    let poll = ToolRule::new(Tool::named(TOOL)).poll();
    for (kind, rule) in [
        (own.effect(Effect::Reads).tag(Tag::Write), None),
        (own.effect(Effect::Waits).tag(Tag::Shell), None),
        (own.effect(Effect::Acts), Some(poll)),
    ] {
        let builder = Guard::builder().kind(kind);
        let error = rule.into_iter().fold(builder, unstuck::Builder::tool).build();
        let error = error.expect_err("a contradiction");
        assert!(matches!(error, BuildError::Contradiction { .. }));
        assert!(error.to_string().ends_with(": leave one of the two out"), "{error}");
    }
    let agrees = Guard::builder().kind(own.effect(Effect::Waits).tag(Tag::Poll)).tool(poll);
    assert!(agrees.build().is_ok());
}
