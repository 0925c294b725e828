//! Writes a policy as the text of a configuration.

use std::fmt::Write as _;

use unstuck_core::{Ladder, Pattern, Phase, Policy, Rule, Rung, Select, Tag, TextRule};
use unstuck_text::{Likeness, Preset, Recipe, ResultPart};

use super::choice;
use super::fields::quoted;
use super::tables::{EQUAL, PRIMARY_KEYS};

/// The optional tables that no preset has, as comments for the end of a configuration.
pub(super) const HINT: &str = concat!("\n", include_str!("hint.toml"));

/// Returns the policy `preset`, which has a name, as a configuration that a user can edit.
pub fn editable(preset: &Preset) -> String {
    let name = preset.policy.name();
    if let Some(text) = choice::text(name) {
        return text.to_owned();
    }
    let head = format!("# The preset {name}: edit it, and use it with `unstuck scan --config`.");
    format!("{head}\n{}{HINT}", config(preset))
}

/// Returns the configuration that describes `preset`, with every field.
///
/// The rules for single tools and calls are left out: a policy has their digests and not their
/// names.
pub fn config(preset: &Preset) -> String {
    let policy = preset.policy;
    let mut text = format!("name = {}\nwindow = {}\n", quoted(policy.name()), policy.window());
    let exempt = Tag::ALL.into_iter().filter(|tag| policy.exempt().contains(*tag));
    let exempt: Vec<String> = exempt.map(|tag| quoted(tag.name())).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "exempt = [{}]", exempt.join(", "));
    text.push_str(&recipe_table(&preset.recipe));
    text.extend(policy.rules().iter().filter_map(rule_table));
    for rule in policy.texts() {
        text.push_str(&text_table(rule));
    }
    text.push_str(&adaptive(policy));
    text
}

/// Returns the phases of a run, or nothing if there is only one.
fn adaptive(policy: &Policy<'_>) -> String {
    let (early, late) = policy.phases();
    let phases = [("early", early, Phase::new(0, 0)), ("late", late, Phase::new(u32::MAX, 0))];
    let phases = phases.iter().filter(|(_, phase, none)| phase != none);
    let lines: Vec<String> = phases.map(|(name, phase, _)| line(name, *phase)).collect();
    if lines.is_empty() { String::new() } else { format!("\n[adaptive]\n{}", lines.concat()) }
}

fn line(name: &str, phase: Phase) -> String {
    format!("{name} = {{ calls = {}, patience = {} }}\n", phase.calls, phase.patience)
}

/// Returns the table of a rule, or `None` if it is for one tool.
fn rule_table(rule: &Rule<'_>) -> Option<String> {
    let fields = [
        ("name", quoted(rule.name)),
        ("args", quoted(rule.args.name())),
        ("results", quoted(rule.results.name())),
        ("select", select(rule.select)?),
        ("outcomes", quoted(rule.outcomes.name())),
        ("pattern", pattern(rule.pattern)),
        ("progress", quoted(rule.progress.name())),
        ("silence", quoted(rule.silence.name())),
        ("silent_max", quoted(rule.silent_max.name())),
        ("force", quoted(rule.force.name())),
    ];
    Some(table("rule", &fields, &rule.ladder))
}

fn text_table(rule: &TextRule<'_>) -> String {
    let fields = [
        ("name", quoted(rule.name)),
        ("texts", quoted(rule.texts.name())),
        ("times", rule.times.to_string()),
    ];
    table("text", &fields, &rule.ladder)
}

fn table(name: &str, fields: &[(&str, String)], ladder: &Ladder<'_>) -> String {
    let basis = ("ladder.basis", quoted(ladder.basis.name()));
    let rungs = ("ladder.rungs", rungs(ladder.rungs));
    let fields = fields.iter().chain([&basis, &rungs]);
    let lines = fields.map(|(key, value)| format!("{key} = {value}\n"));
    format!("\n[[{name}]]\n{}", lines.collect::<String>())
}

fn rungs(rungs: &[Rung]) -> String {
    let line = |rung: &Rung| {
        format!("    {{ count = {}, action = {} }},\n", rung.count, quoted(rung.action.name()))
    };
    format!("[\n{}]", rungs.iter().map(line).collect::<String>())
}

fn select(select: Select) -> Option<String> {
    Some(match select {
        Select::Every => quoted("every"),
        Select::Unreported => quoted("unreported"),
        Select::Tag(tag) => format!("{{ tag = {} }}", quoted(tag.name())),
        Select::Except(tag) => format!("{{ except = {} }}", quoted(tag.name())),
        Select::Tool(_) => return None,
    })
}

fn pattern(pattern: Pattern) -> String {
    match pattern {
        Pattern::Streak { times } => format!("{{ times = {times} }}"),
        Pattern::Recurrence { times, within, novel: u8::MAX } => {
            format!("{{ times = {times}, within = {within} }}")
        }
        Pattern::Recurrence { times, within, novel } => {
            format!("{{ times = {times}, within = {within}, novel = {novel} }}")
        }
        Pattern::Cycle { period_min, period_max, laps } => {
            format!("{{ period = [{period_min}, {period_max}], laps = {laps} }}")
        }
    }
}

/// Returns the `[recipe]` table for `recipe`.
fn recipe_table(recipe: &Recipe) -> String {
    let likeness = match recipe.likeness {
        Likeness::Equal => quoted(EQUAL),
        Likeness::PrimaryKeys => quoted(PRIMARY_KEYS),
        Likeness::Words(percent) => format!("{{ words = {percent} }}"),
    };
    let result = match recipe.result {
        ResultPart::Whole => quoted("whole"),
        ResultPart::Head(characters) => format!("{{ head = {characters} }}"),
    };
    let masks: Vec<String> = recipe.masks.iter().map(|mask| quoted(mask.name())).collect();
    let counters = recipe.counters.iter().map(|counter| quoted(counter.text()));
    let counters: Vec<String> = counters.collect();
    format!(
        "\n[recipe]\nlikeness = {likeness}\nresult = {result}\nmasks = [{}]\ncounters = [{}]\n\
         failures = {}\nnear = {}\n",
        masks.join(", "),
        counters.join(", "),
        quoted(recipe.failures.name()),
        quoted(recipe.near.name())
    )
}
