//! Policies that are checked at run time. Some are valid, others are not.

use core::array::from_fn;

use unstuck_core::{
    Args, Call, Ladder, LoopId, Pattern, Phase, Policy, PolicyError, RULES_MAX, Results, Rule,
    Rung, Select, TEXT_RULES_MAX, TOOL_RULES_MAX, TagSet, TextRule, Texts, ToolRule,
};

use super::control::loop_id;
use super::events::call;
use super::input::Input;
use super::words::show;

/// Calls `use_it` with a policy made from `input`, or shows the error.
pub(crate) fn with_policy(input: &mut Input, use_it: fn(&Policy<'_>, &mut Input)) {
    let rungs: [Rung; 12] = from_fn(|_| Rung::new(u16::from(input.byte()), input.action()));
    let rules: [Rule<'_>; RULES_MAX + 1] = from_fn(|_| rule(&rungs, input));
    let texts: [TextRule<'_>; TEXT_RULES_MAX + 1] = from_fn(|_| text_rule(&rungs, input));
    let tools: [ToolRule; TOOL_RULES_MAX + 1] = from_fn(|_| tool_rule(input));
    let allowed: [Call; TOOL_RULES_MAX + 1] = from_fn(|_| call(input));
    let silenced: [LoopId; 2] = from_fn(|_| loop_id(input));
    let made = policy(&rules, &texts, input)
        .map(|policy| policy.with_silenced(some_of(&silenced, input)))
        .and_then(|policy| policy.with_tools(some_of(&tools, input)))
        .and_then(|policy| policy.with_allowed(some_of(&allowed, input)))
        .and_then(|policy| policy.with_phases(phase(input), phase(input)));
    match made {
        Ok(policy) => use_it(&policy, input),
        Err(error) => show(format_args!("{error} {}", error.policy.as_str())),
    }
}

fn policy<'p>(
    rules: &'p [Rule<'p>],
    texts: &'p [TextRule<'p>],
    input: &mut Input,
) -> Result<Policy<'p>, PolicyError> {
    let policy = Policy::new(input.text(), input.byte(), some_of(rules, input))?;
    let exempt = TagSet::EMPTY.with(input.tag());
    let policy = if input.flag() { policy } else { policy.with_exempt(exempt) };
    policy.with_texts(some_of(texts, input))
}

fn tool_rule(input: &mut Input) -> ToolRule {
    let rule = ToolRule::new(input.tool()).patience(input.byte().cast_signed());
    match input.below::<4>() {
        0 => rule.exempt(),
        1 => rule.poll(),
        _ => rule,
    }
}

fn phase(input: &mut Input) -> Phase {
    Phase::new(u32::from(input.byte()), input.byte().cast_signed())
}

fn text_rule<'p>(rungs: &'p [Rung], input: &mut Input) -> TextRule<'p> {
    let texts = match input.below::<4>() {
        0 => Texts::Same,
        1 => Texts::Any,
        2 => Texts::Prompt,
        _ => Texts::Inside,
    };
    TextRule::new(input.text(), texts, u16::from(input.byte()), ladder(rungs, input))
}

fn rule<'p>(rungs: &'p [Rung], input: &mut Input) -> Rule<'p> {
    let (args, results) = (args(input), results(input));
    let (shape, ladder) = (pattern(input), ladder(rungs, input));
    let mut rule = Rule::new(input.text(), args, results, shape, ladder).select(select(input));
    if input.flag() {
        rule = if input.flag() { rule.failed() } else { rule.failures() };
    }
    if input.flag() {
        rule = rule.forced_on_proof();
    }
    if input.flag() {
        let ignores = input.flag();
        rule = if ignores { rule.ignore_progress() } else { rule.respect_progress_anywhere() };
    }
    if input.flag() {
        rule = rule.pattern(pattern(input)).ladder(self::ladder(rungs, input));
    }
    if input.flag() {
        rule = rule.count_silence();
    }
    rule.silent_at_most(input.action())
}

fn args(input: &mut Input) -> Args {
    match input.below::<4>() {
        0 => Args::Same,
        1 => Args::Similar,
        2 => Args::SameTool,
        _ => Args::Any,
    }
}

fn results(input: &mut Input) -> Results {
    match input.below::<3>() {
        0 => Results::Ignored,
        1 => Results::Same,
        _ => Results::Near,
    }
}

fn select(input: &mut Input) -> Select {
    match input.below::<4>() {
        0 => Select::Every,
        1 => Select::Tag(input.tag()),
        2 => Select::Except(input.tag()),
        _ => Select::Unreported,
    }
}

fn pattern(input: &mut Input) -> Pattern {
    let (a, b, c) = (input.byte(), input.byte(), input.byte());
    match input.below::<4>() {
        0 => Pattern::Streak { times: u16::from(a) },
        1 => Pattern::recurrence(a, b),
        2 => Pattern::cycle(a, b, c),
        _ => Pattern::Recurrence { times: a, within: b, novel: c },
    }
}

fn ladder<'p>(rungs: &'p [Rung], input: &mut Input) -> Ladder<'p> {
    let rungs = some_of(rungs, input);
    match input.below::<3>() {
        0 => Ladder::by_repetitions(rungs),
        1 => Ladder::by_loop_findings(rungs),
        _ => Ladder::by_all_findings(rungs),
    }
}

/// Returns the first few items of `all`, from no item to all items.
fn some_of<'s, T>(all: &'s [T], input: &mut Input) -> &'s [T] {
    let most = if input.flag() { input.below::<16>() } else { input.byte() };
    all.get(..usize::from(most)).unwrap_or(all)
}
